"""The tables of MDK12-Bench's paper, on records of which the right answer is known, and the paper's own numbers."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from benchmarks.making_mdk12 import StandIns, write_mdk12
from running import typed
from tables.making_counts import Cell, counted_run
from tables.making_runs import DYNAMIC, answer, write_run
from tracked import ROOT, tracked

from mmdyn.data import SampleSet, convert
from mmdyn.errors import InputError, UserError
from mmdyn.keys import canonical
from mmdyn.plugins import load
from mmdyn.run import estimate_config, read_config, run_config
from mmdyn.tables import (
    FORMATS,
    Design,
    ErrorLabel,
    draw,
    keep_design,
    label_kind,
    models_of,
    named_table,
    named_tables,
    read_model_facts,
    survey,
    tabulate,
)
from mmdyn.tables.blocks import Row
from mmdyn.tables.factors import plain_model
from mmdyn.work import RunFolder, Store
from perturb import perturb

DISCIPLINES = ("math", "physics", "chemistry", "biology", "geography", "information_science")
LEVELS = ("easy", "medium", "hard")
PUBLISHED = resources.files("mmdyn.benchmarks") / "published"
Rows = dict[tuple[str, ...], Row]


def parts(run: RunFolder, name: str, paper: str = "", **more: Any) -> list[Rows]:
    """The rows of every part of a table, by the values of their factors and their quantity."""
    table, published = named_table(f"mdk12.{name}", paper)
    found = tabulate([run], table, published=published, **more)
    return [{(*row.factors.values(), row.quantity): row for row in part.rows} for part in found.parts]


def made(folder: Path, *cells: Cell) -> RunFolder:
    return counted_run(folder / "run", cells)


def published(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((PUBLISHED / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def percent(row: Row) -> float:
    assert row.value is not None
    return round(100 * row.value, 2)


def test_table_3_is_the_mean_over_18_cells_beside_the_papers(tmp_path: Path) -> None:
    cells = list(product(DISCIPLINES, LEVELS))
    sizes = dict(zip(cells, (10, 20, 40) * 6, strict=True))
    right = {cell: place % 10 + 1 for place, cell in enumerate(cells)}
    own = [({"model": "openai:gpt-4o", "discipline": a, "difficulty": b}, right[a, b], sizes[a, b]) for a, b in cells]
    rest = [({"model": "mine", "discipline": a, "difficulty": b}, 5, 10) for a, b in cells[:-1]]
    (rows,) = parts(made(tmp_path, *own, *rest), "table3")
    shares = [100 * right[cell] / sizes[cell] for cell in cells]
    assert percent(rows["openai:gpt-4o", "math", "hard", "score"]) == 7.5
    whole = rows["openai:gpt-4o", "mean", "mean", "score"]
    assert percent(whole) == pytest.approx(sum(shares) / 18, abs=0.01) and whole.n == sum(sizes.values())
    assert percent(rows["openai:gpt-4o", "all", "all", "score"]) == pytest.approx(
        100 * sum(right.values()) / 420, abs=0.01
    )
    assert (whole.paper, whole.paper_model) == (0.59, "GPT-4o")
    assert rows["openai:gpt-4o", "math", "hard", "score"].paper == 0.453
    assert rows["mine", "math", "hard", "score"].paper_model == "Gemini2-thinking", (
        "the paper's best for any other model"
    )
    assert ("mine", *cells[-1], "score") not in rows, "a cell without a record"
    assert percent(rows["mine", "mean", "mean", "score"]) == 50 and rows["mine", "mean", "mean", "score"].n == 170
    (rows,) = parts(RunFolder(tmp_path / "run"), "table3", paper="qvq-72b")
    assert rows["mine", "math", "easy", "score"].paper == 0.609


def test_figure_3_has_means_and_the_gap(tmp_path: Path) -> None:
    cells = [
        ({"model": "m", "discipline": d, "difficulty": level}, right, 20)
        for d, level, right in (
            ("math", "easy", 12),
            ("math", "hard", 6),
            ("biology", "easy", 18),
            ("biology", "hard", 10),
        )
    ]
    disciplines, levels, gaps, whole = parts(made(tmp_path, *cells), "figure3")
    assert [percent(disciplines["m", name, "score"]) for name in ("math", "biology", "all")] == [45, 70, 57.5]
    assert [key[1] for key in levels] == ["easy", "hard", "all"]
    gap = gaps["m", "difference"]
    assert percent(gap) == 35 and gap.n == 80 and gap.ci95 and gap.ci95[0] > 0
    assert (percent(whole["difference",]), whole["difference",].paper) == (35, 0.083)
    assert (percent(gaps["m", "easy"]), percent(gaps["m", "hard"])) == (75, 40)


def drop_cells(
    model: str, standard: Iterable[int], dynamic: Iterable[int], chain: str = "pad", n: int = 10
) -> list[Cell]:
    """Of each level `n` questions and so many right ones, asked as they are and changed."""
    cells: list[Cell] = []
    for level, right, kept in zip(LEVELS, standard, dynamic, strict=True):
        cells.append(({"model": model, "difficulty": level}, right, n))
        cells.append(({"model": model, "difficulty": level, "variant": "dynamic", "chain": chain}, kept, n))
    return cells


def test_table_4_pairs_the_questions_that_were_changed(tmp_path: Path) -> None:
    more = [
        ({"model": "m", "difficulty": "easy", "year": 2020}, 0, 50),
        ({"model": "m", "difficulty": "hard", "context": "kprag"}, 10, 10),
    ]
    run = made(tmp_path, *drop_cells("m", (9, 8, 5), (6, 6, 5)), *more)
    whole, levels = parts(run, "table4")
    assert [percent(whole["m", name]) for name in ("standard", "dynamic", "difference")] == [73.33, 56.67, 16.67]
    assert (whole["m", "difference"].n, whole["m", "difference"].left_out) == (30, 50)
    assert [percent(levels["m", level, "difference"]) for level in LEVELS] == [30, 20, 0], "a tie is no drop"
    beside = [whole["m", name].paper for name in ("standard", "dynamic", "difference")]
    assert beside == [0.581, 0.416, 0.165] and levels["m", "hard", "dynamic"].paper == 0.362
    (row,) = [
        row
        for row in published("mdk12.table4")
        if (row["model"], row["difficulty"], row["quantity"]) == ("Qwen2-VL-7B", "easy", "")
    ]
    assert float(row["value"]) == -2.8, "the only gain"


def test_what_was_changed_is_told_by_the_chain(tmp_path: Path) -> None:
    def of(chain: str, right: int, n: int = 10) -> Cell:
        return ({"model": "m", "difficulty": "easy", "variant": "dynamic", "chain": chain}, right, n)

    chains = [
        of("pad", 6),
        of("color@mild", 4),
        of("image.style+color", 2),
        of("convert:blank", 7),
        of("paraphrase+substitute", 7),
    ]
    cells = [({"model": "m", "difficulty": "easy"}, 9, 10), ({"model": "m", "difficulty": "hard"}, 0, 90)]
    shown, image, text, both = parts(made(tmp_path, *cells, *chains, of("pad+convert", 2)), "modality")
    assert [key[1] for key in shown] == ["nothing", "image", "text", "both"], "and no total over them"
    drops = [part["m", "difference"] for part in (image, text, both)]
    assert [(percent(row), row.n) for row in drops] == [(50, 10), (20, 10), (70, 10)]
    assert percent(image["m", "image"]) == 40, "a question counts once, with the mean over its chains"


def test_figure_4_has_the_slope_and_oldest_less_newest(tmp_path: Path) -> None:
    def year(number: int, right: int, level: str = "easy", model: str = "m") -> Cell:
        return ({"model": model, "difficulty": level, "year": number}, right, 20)

    falling = [year(2016 + place, 18 - 2 * place) for place in range(5)]
    flat = [year(2016 + place, 10, "hard") for place in range(5)]
    cells, slopes, ends, levels, over = parts(made(tmp_path, *falling, *flat, year(2020, 7, model="one")), "figure4")
    assert [percent(cells["m", "easy", str(y), "score"]) for y in (2016, 2018, 2020)] == [90, 70, 50]
    assert percent(slopes["m", "slope"]) == -5 and slopes["m", "levels"].value == 5
    assert percent(ends["m", "difference"]) == 20
    assert [percent(levels["m", level, "difference"]) for level in ("easy", "hard", "all")] == [40, 0, 20]
    assert [over[level, "difference"].paper for level in ("easy", "hard", "all")] == [0.123, 0.116, 0.126]
    assert slopes["one", "slope"].value is None and "two levels" in slopes["one", "slope"].note, "one year has no trend"


def test_figure_5_is_what_knowledge_adds(tmp_path: Path) -> None:
    cells: list[Cell] = []
    for level, none, kprag in zip(LEVELS, (10, 8, 6), (13, 10, 6), strict=True):
        cells += [
            ({"model": "m", "difficulty": level}, none, 20),
            ({"model": "m", "difficulty": level, "context": "kprag"}, kprag, 20),
        ]
    points, over, *_ = parts(made(tmp_path, *cells), "figure5")
    gains = [points["m", level, "difference"] for level in LEVELS]
    assert [percent(row) for row in gains] == [15, 10, 0]
    beside = [over[level, "difference"] for level in LEVELS]
    assert [(percent(row), row.paper) for row in beside] == [(15, 0.069), (10, 0.06), (0, 0.021)]


def test_figure_6_is_the_labels_of_wrong_answers(tmp_path: Path) -> None:
    run = made(tmp_path, ({"model": "m"}, 5, 25), ({"model": "sure"}, 25, 25))
    (empty,) = parts(run, "figure6")
    assert not empty
    design = Design("judge", "0123abcd", {"votes": 1}, per=10, seed=0)
    with Store(run.records_folder) as store:
        keep_design(store, design, 1)
        for place, one in enumerate(draw(survey(run), 10, 0)):
            kind = "reasoning" if place < 6 else "visual"
            store.put(label_kind(design.id), one.key, canonical(ErrorLabel((kind,))))
    (rows,) = parts(run, "figure6")
    shares = {key[-1]: percent(row) for key, row in rows.items() if key[2] == "all" and row.unit == "share"}
    assert shares == {"question": 0, "reasoning": 60, "visual": 40, "incomplete": 0, "other": 0}
    judge = "judge (0123abcd)"
    assert {key[:2] for key in rows} == {("m", judge)} and rows["m", judge, "variant standard", "reasoning"].n == 20
    assert {"all", "variant standard", "context none"} == {key[2] for key in rows}


def facts_file(folder: Path, text: str) -> Path:
    (folder / "models.csv").write_text(text, encoding="utf-8")
    return folder / "models.csv"


def test_reasoning_and_sizes_go_by_what_the_user_says_of_models(tmp_path: Path) -> None:
    told = "model,family,size,kind\nA-7B,a,7,chat\na-72b,a,72,chat\na-72b-think,a,72,reasoning\n"
    facts = read_model_facts(facts_file(tmp_path, told))
    rights = {"openai:org/a-7b": 8, "openai:a-72b": 12, "openai:a-72b-think": 16, "unknown": 20}
    run = made(tmp_path, *[({"model": model, "difficulty": "easy"}, right, 20) for model, right in rights.items()])
    whole, levels = parts(run, "reasoning", facts=facts)
    assert (percent(whole["a", "72", "difference"]), whole["a", "72", "difference"].n) == (20, 20)
    assert percent(levels["a", "72", "easy", "difference"]) == 20
    shown, slopes = parts(run, "sizes", facts=facts)
    assert [percent(shown["a", "chat", size, "score"]) for size in ("7", "72")] == [40, 60]
    assert percent(slopes["a", "chat", "slope"]) == pytest.approx(20 / 65, abs=0.01)
    assert slopes["a", "reasoning", "slope"].value is None, "one size has no trend"
    assert ("(not given)", "(not given)", "(not given)", "score") in shown
    with pytest.raises(UserError, match=r"no record has a field 'family'.*; --models FILE says more of models"):
        parts(run, "reasoning")


@pytest.mark.parametrize("text", ["", "family,size\na,7\n"])
def test_facts_of_no_models(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="names no models: begin with a line such as model,family,size,kind"):
        read_model_facts(facts_file(tmp_path, text))
    with pytest.raises(InputError, match="no such file or folder"):
        read_model_facts(tmp_path / "missing.csv")


def test_the_papers_models_are_known_and_a_file_adds_to_them(tmp_path: Path) -> None:
    rights = {
        "openai:gpt-4o": 10,
        "openai:o1": 14,
        "hf:Qwen/Qwen2.5-VL-7B-Instruct": 9,
        "Qwen2.5-VL-72B": 13,
        "mine": 4,
    }
    run = made(tmp_path, *[({"model": model, "difficulty": "easy"}, right, 20) for model, right in rights.items()])
    known = models_of("mdk12.reasoning")
    whole, _ = parts(run, "reasoning", facts=known)
    pair = whole["GPT", "(not given)", "difference"]
    assert (percent(pair), pair.n, pair.paper) == (20, 20, 0.065)
    shown, slopes = parts(run, "sizes", facts=known)
    assert [shown["Qwen2.5-VL", "chat", size, "score"].paper for size in ("7", "72")] == [0.603, 0.675]
    assert percent(slopes["Qwen2.5-VL", "chat", "slope"]) == pytest.approx(20 / 65, abs=0.01)
    told = "model,size,kind\nmine,7,chat\no1,,chat\n"
    shown, _ = parts(run, "sizes", facts=read_model_facts(facts_file(tmp_path, told), known))
    assert {key[:4] for key in shown} >= {
        ("mine", "(not given)", "chat", "7"),
        ("openai:o1", "GPT", "chat", "(not given)"),
    }


@pytest.mark.parametrize("name", ["reasoning", "sizes"])
@pytest.mark.parametrize("known", [True, False])
def test_a_table_by_facts_says_which_file_it_wants(tmp_path: Path, name: str, known: bool) -> None:
    models = ("GPT-4o", "GPT-o1", "Qwen2.5-VL-7B", "Qwen2.5-VL-72B") if known else ("baseline:lexical",)
    run = made(tmp_path, *[({"model": model, "difficulty": "easy"}, 5, 20) for model in models])
    result = typed("report", run.folder, "--table", f"mdk12.{name}", "--format", "json", "-q")
    assert result.exit_code == (not known)
    notes = {note for part in json.loads(result.stdout)["parts"] for note in part["notes"]}
    wanted = "nothing is known of baseline:lexical: say it with --models FILE, a CSV file that begins with the line "
    assert (f"{wanted}model,family,size,kind" in notes) is not known


def test_the_papers_reasoning_and_sizes_are_those_of_its_table_3_and_its_models() -> None:
    overall = {row["model"]: float(row["value"]) for row in published("mdk12.table3") if row["discipline"] == "mean"}
    families = {
        (row["family"], row["size"] or "(not given)", row["kind"]): row["model"]
        for row in published("mdk12.models")
        if row["model"] in overall
    }
    told = models_of("mdk12.table3")
    assert {plain_model(name) for name in overall} <= told["kind"].keys()
    for name, kind in (("reasoning", "quantity"), ("sizes", "kind")):
        for row in published(f"mdk12.{name}"):
            if row[kind]:
                assert overall[families[row["family"], row["size"], row[kind]]] == float(row["value"])
    assert not models_of("r_bench.table4")


def test_mini_against_full(tmp_path: Path) -> None:
    from mmdyn.work import SetEntry

    sets = tuple(SetEntry(name, name, f"sets/{name}", name) for name in ("full", "mini"))
    rights = {("a", "full"): 80, ("a", "mini"): 7, ("b", "full"): 40, ("b", "mini"): 4}
    cells = [
        ({"model": model, "set": name}, right, 100 if name == "full" else 10) for (model, name), right in rights.items()
    ]
    shown, gaps, order = parts(counted_run(tmp_path / "run", cells, sets=sets), "mini_full")
    assert [percent(shown["a", name, "score"]) for name in ("full", "mini")] == [80, 70]
    assert [percent(gaps[model, "difference"]) for model in "ab"] == [-10, 0]
    assert order["tau",].value == 1 and order["reversals",].value == 0


def test_edges(tmp_path: Path) -> None:
    fields = {"fields": {"difficulty": "easy", "discipline": "math", "year": 2020}}
    one = write_run(tmp_path / "one", [answer("q", 1.0, model="m", **fields)])
    (rows,) = parts(one, "table3")
    assert percent(rows["m", "math", "easy", "score"]) == 100 and rows["m", "mean", "mean", "score"].n == 1
    assert parts(one, "figure3")[2]["m", "difference"].value is None, "there is no hard one"
    failed = write_run(tmp_path / "failed", [answer(f"q{n}", None, model="m", error="500", **fields) for n in range(3)])
    (rows,) = parts(failed, "table3")
    row = rows["m", "math", "easy", "score"]
    assert (row.value, row.n, row.failed) == (None, 0, 3)
    tied = made(tmp_path, *[({"model": model, "difficulty": "easy", "discipline": "math"}, 10, 20) for model in "ab"])
    rows = parts(tied, "figure3")[1]
    assert {row.mark for row in rows.values()} == {""}, "equal models are not told apart"


def test_the_papers_table_3_against_itself() -> None:
    """Its Overall is the mean over the 18 cells, but for five models, which docs/papers/mdk12.md lists."""
    cells, overall = dict[str, list[float]](), dict[str, float]()
    for row in published("mdk12.table3"):
        if row["discipline"] == "mean":
            overall[row["model"]] = float(row["value"])
        else:
            cells.setdefault(row["model"], []).append(float(row["value"]))
    assert {len(values) for values in cells.values()} == {18} and cells.keys() == overall.keys()
    off = {model: round(overall[model] - sum(values) / 18, 2) for model, values in cells.items()}
    assert {model: by for model, by in off.items() if abs(by) > 0.06} == {
        "Gemini2-thinking": 1.01, "Gemini2-flash": -0.34, "GPT-4o": -1.46, "Claude-3.7": -0.11, "Qwen2.5-VL-7B": 0.16,
    }  # fmt: skip


def test_the_papers_table_4_against_itself() -> None:
    numbers = {
        (row["part"], row["model"], row["difficulty"], row["quantity"]): float(row["value"])
        for row in published("mdk12.table4")
    }
    drops = {key[:3]: value for key, value in numbers.items() if not key[3]}
    assert len(numbers) == 3 * len(drops) == 72
    for key, value in drops.items():
        assert numbers[*key, "standard"] - numbers[*key, "dynamic"] == pytest.approx(value, abs=0.11), key
    overall = [value for key, value in drops.items() if key[0] == "0"]
    assert sum(overall) / 6 == pytest.approx(11.38, abs=0.01), "the text says 13.7"


def test_opencompass_table_1_against_itself() -> None:
    numbers = dict[str, dict[str, float]]()
    for row in published("opencompass.table1"):
        numbers.setdefault(row["model"], {})[row["set"]] = float(row["value"])
    assert len(numbers) == 52 and {len(of) for of in numbers.values()} == {7}
    for model, of in numbers.items():
        assert of.pop("mean") == pytest.approx(sum(of.values()) / 6, abs=0.0101), model


def test_every_table_has_its_numbers_under_names_that_it_has() -> None:
    tables = {table.name: table for table in load("benchmarks", "mdk12").tables}
    assert [*tables] == [
        "table3",
        "figure3",
        "table4",
        "modality",
        "figure4",
        "figure5",
        "figure6",
        "reasoning",
        "sizes",
        "mini_full",
    ]
    for file in tracked("mmdyn/benchmarks/published/*.csv"):
        name = file.name.removeprefix("mdk12.").removesuffix(".csv")
        for row in published(file.name.removesuffix(".csv")) if name in tables else ():
            part = tables[name].parts[int(row["part"])]
            given = {key for key, value in row.items() if value} - {"part", "value", "quantity"}
            assert given == {*part.by}, (file.name, row)


def test_a_wheel_carries_the_published_numbers() -> None:
    pytest.importorskip("hatchling")
    from hatchling.builders.wheel import WheelBuilder

    builder = WheelBuilder(str(ROOT))
    carried = {file.distribution_path for file in builder.recurse_included_files()}
    assert {file.relative_to(ROOT).as_posix() for file in tracked("mmdyn/benchmarks/published/*")} <= carried


def test_the_ready_run_asks_its_three_modes_of_a_set_in_the_papers_form(tmp_path: Path) -> None:
    given = write_mdk12(tmp_path / "MDK12-Mini", 1, years=(2016, 2025))
    standard = convert(given, tmp_path / "mini", benchmark="mdk12", name="mdk12")
    assert {len([sample for sample in standard if sample.fields["difficulty"] == level]) for level in LEVELS} == {12}
    take = "difficulty=easy:2,medium:2,hard:3"
    changed = perturb(standard, tmp_path / "made", ops="mdk12", seed=1, take=take, judge="embedded", quiet=True)
    configured = ROOT / "configs" / "mdk12.yaml"
    with StandIns([standard, SampleSet(changed.folder)]) as server:
        model = f"openai:fable-7b,base_url={server.url},max_tokens=2048"
        changes = [f"sets=[{{benchmark: mdk12, path: {given}}}]", f"models=['{model}']", f"out={tmp_path}/run"]
        changes += [
            f"conditions.take={take}",
            "execution.quiet=true",
            f"scoring.judges=['openai:judge,base_url={server.url}']",
        ]
        config = read_config(configured, changes)
        asked = {row.mode: row.to_ask for row in estimate_config(config).rows}
        run = run_config(config)
    assert asked == {"standard": 36, "dynamic": len(changed), "kprag": 36}
    assert run.config.planned == sum(asked.values()) == len(list(run.records()))
    whole, _ = parts(run, "table4")
    assert whole["openai:fable-7b", "difference"].n == len({sample.parent for sample in changed}) == 7
    printed = typed("report", tmp_path / "run", "--table", "mdk12.table4", "--format", "json", "-q")
    assert printed.exit_code == 0 and json.loads(printed.stdout)["parts"][0]["rows"][0]["n"] == 7


@pytest.mark.parametrize("paper", ["mdk12", "opencompass", "encyclo_k", "acadreason", "r_bench"])
def test_every_table_stands_in_the_docs(paper: str) -> None:
    page = (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")
    for name in named_tables():
        if name.startswith(f"{paper}."):
            assert page.count("\n$ mmdyn report runs/") and f"--table {name}" in page, name


FIELDS = {"difficulty": "easy", "discipline": "math", "year": 2020}
FACTS = {name: {"m": value} for name, value in (("family", "f"), ("size", "7"), ("kind", "chat"))}


@pytest.mark.parametrize("name", [table.name for table in load("benchmarks", "mdk12").tables])
@pytest.mark.parametrize("what", ["one", "failed", "changed", "twins"])
def test_every_table_of_little_has_no_number_that_is_none(tmp_path: Path, name: str, what: str) -> None:
    """One answer, none, answers to variants alone, and models that are equal: what can be told, with its count."""
    records = {
        "one": [answer("q", 1.0, model="m", fields=FIELDS)],
        "failed": [answer(f"q{n}", None, model="m", error="500", fields=FIELDS) for n in range(3)],
        "changed": [answer("q", 0.0, DYNAMIC, model="m", fields=FIELDS)],
        "twins": [answer(f"q{n}", float(n < 2), model=model, fields=FIELDS) for model in "mn" for n in range(4)],
    }[what]
    table, published = named_table(f"mdk12.{name}")
    run = write_run(tmp_path / "run", records)
    found = tabulate([run], table, published=published, facts=FACTS)
    shown = {"one": 1.0, "twins": 0.5}
    for part in found.parts:
        assert part.rows or part.notes, "where nothing can be told, it says why"
        for row in part.rows:
            assert row.value is not None or row.note, (part.title, row)
            assert not row.mark and row.p is None, "nothing is told apart"
            assert row.unit != "share" or row.value in (None, shown.get(what, 0.0))
    for form in FORMATS.values():
        assert form(found)
