"""The tables of Encyclo-K out of composed sets, answered by models of known ability through the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.real_sets import source
from composing import secret_in
from knowing import expected
from shell import mmdyn

from mmdyn.data import SampleSet
from mmdyn.work import RunFolder

pytestmark = pytest.mark.slow

ABILITIES = {"strong": 0.9, "weak": 0.5, "poor": 0.15, "guesser": 0.0}
"""The share of statements that a model knows; they come in another order than this, so that no table has it by
chance."""
FIRST = 0.4
"""The share of choices to which `biased` says A unread; of the others it knows as much as `weak`."""
MODELS = {name: (knows, 0.0) for name, knows in ABILITIES.items()} | {"biased": (0.5, FIRST)}
KNOWING = Path(__file__).resolve().parents[1] / "knowing.py"
TAXONOMY = {"law": ("civil", "penal"), "science": ("optics", "botany"), "history": ("ancient",)}
FACTS = {"strong": (8, "reasoning", 900), "weak": (8, "chat", 90), "poor": (1, "reasoning", 500), "guesser": (1, "chat", 50)}  # fmt: skip
"""Size, kind and tokens of a response."""
EACH = 150
"""True statements of a subfield: so many that none stands in many questions, as those would then be right together."""


def write_bank(file: Path) -> Path:
    """True statements and their falsifications in each of ten subfields."""
    lines: list[dict[str, Any]] = []
    for discipline, fields in TAXONOMY.items():
        for field, part in ((field, part) for field in fields for part in ("early", "late")):
            about = {"discipline": discipline, "field": field, "subfield": f"{part} {field}"}
            for number in range(EACH):
                id, text = f"{field}-{part}-{number}", f"In {part} {field}, rule number {number} "
                lines.append({"id": id, "text": f"{text}holds.", "label": True, **about})
                lines.append({"id": f"{id}-false", "text": f"{text}fails.", "label": False, "pair": id, **about})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


class Board:
    """A bank, sets that are composed of it, and runs over them."""

    def __init__(self, folder: Path, bank: Path) -> None:
        self.folder, self.bank = folder, bank

    def composed(self, name: str, *words: object) -> Path:
        often = ("--max-uses", 1000, "--secret", secret_in(self.folder))
        done = mmdyn("compose", self.bank, "-o", self.folder / name, "-q", *often, *words)
        assert done.returncode == 0, done.stderr
        return self.folder / name

    def asked(self, run: str, *sets: Path, models: dict[str, tuple[float, float]] = MODELS) -> Path:
        words: list[object] = ["eval", *sets, "-o", self.folder / run, "-q"]
        for name in sorted(models):
            knows, first = models[name]
            tokens = FACTS.get(name, (0, "", 10))[2]
            words += ["-m", f"{KNOWING}:Knowing,bank={self.bank},name={name},{knows=},{first=},{tokens=}"]
        done = mmdyn(*words)
        assert done.returncode == 0, done.stderr
        return self.folder / run


def tables(run: Path, *words: object) -> list[list[dict[str, Any]]]:
    """The rows of each part of what a report prints; models go by their names alone."""
    done = mmdyn("report", run, *words, "--format", "json", "-q")
    assert done.returncode == 0, done.stderr
    parts = [part["rows"] for part in json.loads(done.stdout)["parts"]]
    for row in (row for rows in parts for row in rows):
        row["model"] = row["factors"].get("model", "").removeprefix("python:")
    return parts


def by_model(rows: list[dict[str, Any]], quantity: str, **factors: str) -> dict[str, dict[str, Any]]:
    """The row of each model with a quantity and values of other factors."""
    wanted = factors.items()
    return {row["model"]: row for row in rows if row["quantity"] == quantity and wanted <= row["factors"].items()}


def near(row: dict[str, Any], value: float) -> bool:
    """Whether a value lies in an interval, or within half of its half-width: these tests look at dozens of intervals,
    of which 95 % hold the value, and must not fail by the other 5 %."""
    low, high = row["ci95"]
    return bool(abs(value - (low + high) / 2) <= 0.75 * (high - low))


def questions(*sets: Path) -> Iterator[Any]:
    return (sample for folder in sets for sample in SampleSet(folder))


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    folder = tmp_path_factory.mktemp("board")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MMDYN_CACHE", str(folder / "cache"))
        yield Board(folder, write_bank(folder / "bank.jsonl"))


@pytest.fixture(scope="module")
def seeds(board: Board) -> list[Path]:
    return sorted(
        board.composed("seeds", "--questions", 250, "--share-by", "subfield", "--sweep", "seed=0-4").iterdir()
    )


@pytest.fixture(scope="module")
def run(board: Board, seeds: list[Path]) -> Path:
    return board.asked("of-seeds", *seeds)


def test_models_stand_in_the_order_of_their_abilities_at_the_scores_that_these_give(
    run: Path, seeds: list[Path]
) -> None:
    samples = list(questions(*seeds))
    (rows,) = tables(run, "--pivot", "model")
    scores = by_model(rows, "score")
    for name, (knows, first) in MODELS.items():
        assert near(scores[name], float(np.mean([expected(sample, knows, first) for sample in samples]))), name
    ranked = sorted(ABILITIES, key=lambda name: -scores[name]["value"])
    assert ranked == list(ABILITIES)
    (rows,) = tables(run, "--leaderboard", "discipline")
    ranks = {row["model"]: row["value"] for row in rows if row["quantity"] == "rank"}
    assert ranks == {"strong": 1, "weak": 2, "biased": 3, "poor": 4, "guesser": 5}
    (rows,) = tables(run, "--pivot", "model", "--measure", "corrected")
    assert near(by_model(rows, "corrected")["guesser"], 0.0)


def test_only_the_model_with_a_position_bias_shows_one(run: Path, seeds: list[Path]) -> None:
    at, spread, counts = tables(run, "--table", "encyclo_k.table5")
    p = {name: row["p_adjusted"] for name, row in by_model(spread, "range").items()}
    assert p.pop("biased") < 0.0001 and set(p) == set(ABILITIES) and min(p.values()) > 0.05
    samples = list(questions(*seeds))
    for letter in "ABCDEFGH":
        here = [sample for sample in samples if sample.answer == (letter,)]
        assert by_model(counts, "questions", answer_position=letter)["poor"]["value"] == len(here)
        biased = by_model(at, "score", answer_position=letter)["biased"]
        assert near(biased, float(np.mean([expected(sample, 0.5, FIRST) for sample in here]))), letter


def test_the_slope_with_the_number_of_options_is_that_of_the_abilities(board: Board) -> None:
    sets = sorted(board.composed("options", "--questions", 250, "--sweep", "options=4-8").iterdir())
    run = board.asked("of-options", *sets)
    samples = list(questions(*sets))
    at, trend = tables(run, "--table", "encyclo_k.figure4_options")
    slopes = by_model(trend, "slope")
    sizes = np.array([len(sample.options) for sample in samples])
    assert set(sizes) == set(range(4, 9))
    for name, (knows, first) in MODELS.items():
        known = np.array([expected(sample, knows, first) for sample in samples])
        slope = float(np.polyfit(sizes, known, 1)[0])
        assert (slope < 0 or name == "strong") and near(slopes[name], slope), (name, slope, slopes[name])
        for size in range(4, 9):
            row = by_model(at, "score", options=str(size))[name]
            assert near(row, float(known[sizes == size].mean())), (name, size)
    told = {name for name, row in slopes.items() if row["ci95"][1] < 0}
    assert told >= {"poor", "guesser"} and "strong" not in told, "who knows less loses more"


def test_the_spread_over_seeds_is_that_of_the_scores_printed_and_the_order_steady(run: Path) -> None:
    at, spread, ranking = tables(run, "--table", "encyclo_k.figure4")
    per_seed: dict[str, list[float]] = {}
    for row in (row for row in at if row["factors"]["set"] != "all"):
        per_seed.setdefault(row["model"], []).append(row["value"])
    for name, values in per_seed.items():
        assert len(values) == 5
        assert by_model(spread, "sd")[name]["value"] == pytest.approx(np.std(values, ddof=1), abs=1e-5)
        assert by_model(spread, "range")[name]["value"] == pytest.approx(max(values) - min(values), abs=1e-5)
        assert by_model(spread, "range")[name]["p_adjusted"] > 0.05
    found = {row["quantity"]: row["value"] for row in ranking}
    assert (found["tau"], found["reversals"], found["pairs compared"]) == (1.0, 0, 100)
    (of_field,) = tables(run, "--spread", "seed")
    for name, row in by_model(of_field, "sd").items():
        assert row["value"] == by_model(spread, "sd")[name]["value"]


def test_disciplines_and_levels_are_those_of_the_bank(run: Path) -> None:
    (rows,) = tables(run, "--table", "encyclo_k.table3")
    assert {row["factors"]["discipline"] for row in rows} == {*TAXONOMY, "all", "mean"}
    subfields, fields, disciplines = tables(run, "--table", "encyclo_k.table4")
    for part, means in ((subfields, 10), (fields, 5), (disciplines, 3)):
        strong = next(row for row in part if row["model"] == "strong" and "mean" in row["factors"].values())
        assert f"mean of {means} means" in strong["method"] and 0.9 < strong["value"] < 1


def test_one_statement_a_claim_and_several_are_three_settings(board: Board) -> None:
    of_form = [board.composed(form, "--questions", 400, "--form", form) for form in ("choice", "claim", "statement")]
    models = {name: MODELS[name] for name in ("strong", "weak", "guesser")}
    run = board.asked("of-forms", *of_form, models=models)
    scores, corrected, polarities = tables(run, "--table", "encyclo_k.figure6")
    claimed = [truth for sample in SampleSet(of_form[2]) for truth in sample.meta["true"]]
    assert by_model(polarities, "true_statements", setting="statement")["weak"]["value"] == pytest.approx(np.mean(claimed), abs=1e-6)  # fmt: skip
    assert {row["factors"]["setting"] for row in scores} == {"multi", "claim", "statement", "all"}
    claims = [len(sample.meta["statements"]) for sample in SampleSet(of_form[1])]
    for name, (knows, _) in models.items():
        choice = float(np.mean([expected(sample, knows) for sample in SampleSet(of_form[0])]))
        claim = float(
            np.mean([(2 + knows**count + knows) / 4 for count in claims])
        )  # half are true; false ones miss by one
        for setting, value in (("multi", choice), ("claim", claim), ("statement", (1 + knows) / 2)):
            assert near(by_model(scores, "score", setting=setting)[name], value), (name, setting)
        statement = by_model(corrected, "corrected", setting="statement")[name]
        assert near(statement, knows)
    by_type, _ = tables(board.asked("of-two", of_form[0], of_form[2], models=models), "--table", "encyclo_k.figure3")
    both = [by_model(by_type, "score", task_type=kind)["weak"]["value"] for kind in ("single_choice", "true_false")]
    assert both == [by_model(scores, "score", setting=setting)["weak"]["value"] for setting in ("multi", "statement")]


def judged(run: Path, asked: Path, setting: str) -> dict[str, float]:
    """Each model's mean over questions of the share of statements judged right, out of the replies alone."""
    truths = {sample.id: sample for sample in SampleSet(asked)}
    records = [record for record in RunFolder(run).records() if record.set == asked.name]
    answered = {(record.model, record.sample): record.reply.text for record in records}
    alone = {sample.meta["statements"][0]: id for id, sample in truths.items() if sample.fields["setting"] == "alone"}
    found = dict[str, list[float]]()
    for model in {model for model, _ in answered}:
        for sample in (one for one in truths.values() if one.fields["setting"] == "together"):
            said = answered[model, sample.id].removeprefix("Answer: ")
            right = list[bool]()
            for place, truth in enumerate(sample.meta["true"]):
                if setting == "together":
                    named = "ABCDEFGHIJ"[place] in said
                    right.append((named == ("are correct" in sample.question)) == truth)
                else:
                    right.append(answered[model, alone[sample.meta["statements"][place]]] == f"Answer: {truth}")
            found.setdefault(model.removeprefix("python:"), []).append(sum(right) / len(right))
    return {model: float(np.mean(values)) for model, values in found.items()}


@pytest.mark.parametrize("uses", [1, 6])
def test_question_level_is_the_mean_over_questions_of_the_judgments_of_their_statements(
    board: Board, uses: int
) -> None:
    """Alone and together, whatever the policy, also where questions share statements."""
    many = ("--questions", 40 * uses, "--statements", "4-9", "--max-uses", uses, "--seed", uses)
    multi, out = board.composed(f"multi-{uses}", *many), board.folder / f"judged-{uses}"
    assert mmdyn("build", "judgments", multi, "-o", out, "-q").returncode == 0
    alone = [sample for sample in SampleSet(out) if sample.fields["setting"] == "alone"]
    shared = max(len(sample.meta["questions"]) for sample in alone)
    assert shared == 1 if uses == 1 else shared > 2
    models = {name: MODELS[name] for name in ("strong", "guesser")}
    run = board.asked(f"of-judged-{uses}", multi, out, models=models)
    rescored = mmdyn("score", run, "--policy", "strict", "-q")
    assert rescored.returncode == 0, rescored.stderr
    scores, corrected, polarities = tables(run, "--table", "encyclo_k.figure6")
    level = np.mean([np.mean(sample.meta["true"]) for sample in SampleSet(multi)])
    for setting in ("alone", "together"):
        shown = by_model(scores, "score", setting=setting)
        for name, value in judged(run, out, setting).items():
            assert shown[name]["value"] == pytest.approx(value, abs=1e-6), (setting, name)
            assert near(shown[name], (1 + MODELS[name][0]) / 2)
            truths = by_model(polarities, "true_statements", setting=setting)[name]["value"]
            assert truths == pytest.approx(level, abs=1e-6)
        assert abs(by_model(corrected, "corrected", setting=setting)["guesser"]["value"]) < 0.1


def test_what_is_said_of_models_gives_the_last_two_figures(run: Path, tmp_path: Path) -> None:
    facts = tmp_path / "models.csv"
    lines = [f"python:{name},{size},{kind}\n" for name, (size, kind, _) in FACTS.items()]
    facts.write_text("model,size,kind\n" + "".join(lines))
    where = ("--models", facts, "--where", f"model={','.join(f'python:{name}' for name in FACTS)}")
    (thinking,) = tables(run, "--table", "encyclo_k.figure3_thinking", *where)
    differences = {row["factors"]["size"]: row for row in thinking if row["quantity"] == "difference"}
    assert differences.keys() == {"1", "8"} and all(row["ci95"][0] > 0 for row in differences.values())
    tokens, scores, characters = tables(run, "--table", "encyclo_k.figure7", *where)
    assert {row["value"] for row in characters} == {len("Answer: A")}
    counted = {(row["factors"]["size"], row["factors"]["kind"]): row["value"] for row in tokens}
    assert counted == {(str(size), kind): tokens for size, kind, tokens in FACTS.values()}
    assert {(row["factors"]["size"], row["factors"]["kind"]) for row in scores} == set(counted)


def test_real_statements_are_answered_by_who_knows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    folder = source("statements") / "dev"
    english, chinese = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("creak.jsonl", "gaokao_statements_zh.jsonl")
    )
    lines = [
        {"id": row["ex_id"], "text": row["sentence"], "label": row["label"] == "true", "discipline": "common sense"}
        for row in english
    ]
    lines += [
        {"id": row["id"], "text": row["statement"], "language": "zh"}
        | {key: row[key] for key in ("label", "discipline")}
        for row in chinese
    ]
    bank = tmp_path / "bank.jsonl"
    bank.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    real = Board(tmp_path, bank)
    small = mmdyn("compose", bank, "-o", tmp_path / "small", "--questions", 300)
    assert small.returncode == 2 and "Physics (zh) has 2 true and 2 false ones" in small.stderr
    composed = real.composed("set", "--questions", 300, "--skip-small")
    models = {"all": (1.0, 0.0), "weak": (0.5, 0.0), "guesser": (0.0, 0.0)}
    scores = by_model(tables(real.asked("run", composed, models=models), "--pivot", "model,language")[0], "score")
    assert scores["all"]["value"] == 1.0
    for name in ("weak", "guesser"):
        known = float(np.mean([expected(sample, models[name][0]) for sample in SampleSet(composed)]))
        assert near(scores[name], known), (name, known)
