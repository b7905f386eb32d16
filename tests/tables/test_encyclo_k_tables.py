"""Encyclo-K's tables: its numbers from its counts, and what is known by construction."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from shell import mmdyn
from tables.making_counts import Cell, counted, counted_run
from tables.making_runs import write_run
from tables.paper_numbers import percent, published, row, told

from making import choice
from mmdyn.record import Reply, Usage
from mmdyn.sample import Option
from mmdyn.tables import models_of, named_table, read_model_facts, tabulate
from mmdyn.tables.factors import plain_model
from mmdyn.work import RunFolder

QUESTIONS = {
    "Science": 1242, "Engineering": 881, "Literature": 825, "Medicine": 736, "History": 686, "Law": 189,
    "Economics": 124, "Agriculture": 112, "Education": 109, "Management": 73, "Philosophy": 61,
}  # fmt: skip
"""Table 2 of the paper."""
POSITIONS = dict(zip("ABCDEFGH", (880, 877, 913, 884, 657, 435, 262, 130), strict=True))
BEST = "OpenAI-GPT-5.1-high"


def counts(model: str) -> list[Cell]:
    """A model's right answers of each discipline, from the paper's percentages."""
    percents = {
        line["discipline"]: float(line["value"]) for line in published("encyclo_k.table3") if line["model"] == model
    }
    return [({"model": model, "discipline": name}, round(percents[name] * n / 100), n) for name, n in QUESTIONS.items()]


def test_from_the_papers_counts_the_papers_numbers_come_out(tmp_path: Path) -> None:
    found = told("encyclo_k.table3", counted_run(tmp_path / "run", counts(BEST)))
    whole, mean = (row(found, discipline=value) for value in ("all", "mean"))
    assert (percent(whole.value), percent(mean.value)) == (62.07, 64.97)
    assert (whole.paper, mean.paper, whole.paper_model) == (0.6207, 0.6497, BEST)
    assert (whole.n, mean.n) == (5038, 5038)
    for name in QUESTIONS:
        cell = row(found, discipline=name)
        assert cell.n == QUESTIONS[name] and percent(cell.value) == percent(cell.paper)


def test_the_papers_table_agrees_with_itself() -> None:
    """Every cell is a whole number of questions, and every average that of the questions."""
    lines = published("encyclo_k.table3")
    models = dict.fromkeys(line["model"] for line in lines)
    assert len(models) == 58
    for model in models:
        own = {line["discipline"]: float(line["value"]) for line in lines if line["model"] == model}
        right = {name: round(own[name] * n / 100) for name, n in QUESTIONS.items()}
        assert all(abs(100 * right[name] / n - own[name]) <= 0.005 + 1e-9 for name, n in QUESTIONS.items())
        assert abs(100 * sum(right.values()) / 5038 - own["all"]) <= 0.005 + 1e-9


def test_levels_of_aggregation(tmp_path: Path) -> None:
    """Four questions of one subfield and one of each of two others, which are one field: 1/4, 1, 0 right."""
    places = [("s", "a", "p", 1, 4), ("s", "b", "q", 1, 1), ("s", "b", "r", 0, 1), ("t", "c", "u", 1, 1)]
    cells = [({"discipline": d, "field": f, "subfield": s}, right, n) for d, f, s, right, n in places]
    found = told("encyclo_k.table4", counted_run(tmp_path / "run", cells))
    assert percent(row(found, 0, subfield="all").value) == percent(3 / 7)
    assert percent(row(found, 0, subfield="mean").value) == percent((1 / 4 + 1 + 0 + 1) / 4)
    assert percent(row(found, 1, field="mean").value) == percent((1 / 4 + 1 / 2 + 1) / 3)
    assert percent(row(found, 2, discipline="mean").value) == percent((2 / 6 + 1) / 2)
    assert [len(part.rows) for part in found.parts] == [2, 2, 2]
    assert row(found, 0, subfield="mean").paper == 0.6392 and row(found, 2, discipline="all").paper == 0.6207


def at_positions(folder: Path, rights: dict[str, int], asked: dict[str, int], model: str = "m1") -> RunFolder:
    """A run with so many right answers to questions whose right option is A, B, …"""
    options = tuple(Option(label, f"option {label}") for label in asked)
    samples = {label: replace(choice(f"at-{label}"), options=options, answer=(label,)) for label in asked}
    records = [
        record
        for label, n in asked.items()
        for record in counted([({"model": model, "parent": label}, rights[label], n)], digest=samples[label].digest)
    ]
    return write_run(folder, records, samples=samples.values(), keep_samples=False)


@pytest.mark.parametrize("model", ["Gemini-2.5-Pro", "Qwen3-32B"])
def test_positions_from_the_papers_counts(tmp_path: Path, model: str) -> None:
    """The paper sees no bias of position; its own counts tell positions apart."""
    lines = {
        line["answer_position"]: float(line["value"])
        for line in published("encyclo_k.table5")
        if line["model"] == model
    }
    rights = {label: round(lines[label] * n / 100) for label, n in POSITIONS.items()}
    found = told("encyclo_k.table5", at_positions(tmp_path / "run", rights, POSITIONS, model))
    cells = found.parts[0].rows
    assert [(cell.factors["answer_position"], cell.n) for cell in cells] == [*POSITIONS.items(), ("all", 5038)]
    assert all(percent(cell.value) == percent(cell.paper) for cell in cells)
    assert [(count.value, count.paper) for count in found.parts[2].rows] == [
        (n, n) for n in (*POSITIONS.values(), 5038)
    ]
    test = row(found, 1, "range")
    assert test.p is not None and test.p < 0.001
    assert percent(test.value, 1) == round(max(lines.values()) - min(lines.values()), 1)


def test_positions_that_are_alike(tmp_path: Path) -> None:
    found = told(
        "encyclo_k.table5", at_positions(tmp_path / "run", {"A": 20, "B": 21, "C": 19}, dict.fromkeys("ABC", 40))
    )
    test = row(found, 1, "range")
    assert test.value == 0.05 and test.p is not None and test.p > 0.5


def test_one_statement_and_several(tmp_path: Path) -> None:
    """A guesser is right on half of the statements and on a fifth of the choices, which is no decline."""
    asked = {"true_false": ("statement", 0.5, 50), "single_choice": ("multi", 0.2, 20)}
    cells: list[Cell] = [
        ({"setting": setting, "task_type": kind, "parent_type": kind, "chance": chance}, right, 100)
        for kind, (setting, chance, right) in asked.items()
    ]
    run = counted_run(tmp_path / "run", cells)
    found = told("encyclo_k.figure3", run)
    assert [percent(row(found, 0, task_type=kind).value) for kind in asked] == [50, 20]
    assert [percent(row(found, 1, task_type=kind).value) for kind in asked] == [0, 0]
    assert [row(found, 0, task_type=kind).paper for kind in asked] == [0.6928, 0.4899]
    more: list[Cell] = [({"setting": "alone", "chance": 0.5}, 3, 4), ({"setting": "together", "chance": 0.5}, 9, 10)]
    three = told("encyclo_k.figure6", counted_run(tmp_path / "three", [*cells, *more]))
    settings = ("statement", "alone", "together", "multi")
    assert [percent(row(three, 0, setting=name).value) for name in settings] == [50, 75, 90, 20]
    assert [percent(row(three, 1, setting=name).value) for name in settings] == [0, 50, 80, 0]
    assert [row(three, 0, setting=name).paper for name in settings] == [0.6928, 0.645, 0.645, 0.4899]
    assert all(row(three, 2, setting=name).value is None for name in settings), "these samples were not composed"


def test_a_table_of_some_records(tmp_path: Path) -> None:
    """`--where` leaves out what the table would have, and adds nothing that it leaves out."""
    cells: list[Cell] = [({"set": f"seed-{seed}", "discipline": "Law"}, seed, 4) for seed in range(3)]
    run = counted_run(tmp_path / "run", cells)
    table, _ = named_table("encyclo_k.table3")
    narrow = table.narrowed({"set": ("seed-1", "seed-2")})
    assert percent(row(tabulate([run], narrow), discipline="Law").value) == 37.5
    assert tabulate([run], narrow.narrowed({"set": ("seed-0",)})).parts[0].rows == []
    shown = mmdyn("report", run.folder, "--table", "encyclo_k.table3", "--where", "set=seed-2", "--format", "csv", "-q")
    assert shown.returncode == 0 and ",0.5," in shown.stdout


def test_thinking_by_size(tmp_path: Path) -> None:
    """Of 40 questions the thinking one of 8B has 30 right, the other 20 of the same; the 32B pair differs in none."""
    models = {
        "big-think": ("32", "reasoning", 30),
        "big": ("32", "chat", 30),
        "small-think": ("8", "reasoning", 30),
        "small": ("8", "chat", 20),
    }
    run = counted_run(tmp_path / "run", [({"model": name}, right, 40) for name, (_, _, right) in models.items()])
    file = tmp_path / "models.csv"
    file.write_text(
        "model,size,kind\n" + "".join(f"{name},{size},{kind}\n" for name, (size, kind, _) in models.items())
    )
    table, numbers = named_table("encyclo_k.figure3_thinking")
    found = tabulate([run], table, published=numbers, facts=read_model_facts(file))
    small, big = (row(found, 0, "difference", size=size) for size in ("8", "32"))
    assert (percent(small.value), percent(big.value), small.n) == (25, 0, 40)
    assert (small.paper, big.paper) == (0.0717, 0.0947) and small.p is not None and small.p < 0.01


def test_the_papers_hybrid_models_are_known() -> None:
    known = models_of("encyclo_k.figure7")
    pairs = {(size, known["kind"][model]) for model, size in known["size"].items()}
    thinking = published("encyclo_k.figure3_thinking")
    assert pairs == {(line["size"], line["quantity"]) for line in thinking if line["quantity"]}
    overall = {
        plain_model(row["model"]): row["value"] for row in published("encyclo_k.table3") if row["discipline"] == "all"
    }
    assert known["size"].keys() <= overall.keys()


def test_lengths_by_size(tmp_path: Path) -> None:
    texts = [
        (f"m{size}{kind}", size, kind, tokens)
        for size, kind, tokens in (("8", "chat", 818), ("14", "chat", 40), ("14", "reasoning", 4000))
    ]
    records = [
        replace(record, reply=Reply("A", usage=Usage(10, tokens)))
        for name, _, _, tokens in texts
        for record in counted([({"model": name}, 1, 4)])
    ]
    run = write_run(tmp_path / "run", records)
    facts = {"size": {name: size for name, size, _, _ in texts}, "kind": {name: kind for name, _, kind, _ in texts}}
    found = tabulate(
        [run], named_table("encyclo_k.figure7")[0], published=named_table("encyclo_k.figure7")[1], facts=facts
    )
    assert [row(found, 0, size=size, kind=kind).value for _, size, kind, _ in texts] == [818, 40, 4000]
    assert [row(found, 0, size=size, kind="chat").paper for size in ("8", "14")] == [818, 40.73]
    assert percent(row(found, 1, size="14", kind="chat").paper) == 17.98


def test_seeds(tmp_path: Path) -> None:
    """Two models over three seeds: m1 is ahead in two of them, as far as counts go."""
    rights = {"m1": (30, 32, 28), "m2": (20, 22, 29)}
    cells = [
        ({"model": name, "set": f"seed-{seed}"}, right, 40)
        for name, each in rights.items()
        for seed, right in enumerate(each)
    ]
    found = told("encyclo_k.figure4", counted_run(tmp_path / "run", cells))
    assert [percent(row(found, 0, model="m1", set=f"seed-{seed}").value) for seed in range(3)] == [75, 80, 70]
    spread = {one.quantity: one for one in found.parts[1].rows if one.factors["model"] == "m2"}
    assert [percent(spread[name].value, 1) for name in ("lowest", "highest", "range")] == [50, 72.5, 22.5]
    ranking = {one.quantity: one.value for one in found.parts[2].rows}
    assert (ranking["reversals"], ranking["sure reversals"], ranking["pairs compared"]) == (2, 0, 3)


def test_options_cost(tmp_path: Path) -> None:
    """Of 4, 7 and 10 options 80, 65 and 50 of 100 are right: 5 points an option."""
    made = {
        n: replace(choice(f"of-{n}"), options=tuple(Option(label, label * 2) for label in "ABCDEFGHIJ"[:n]))
        for n in (4, 7, 10)
    }
    rights = {4: 80, 7: 65, 10: 50}
    records = [
        record
        for n, sample in made.items()
        for record in counted([({"parent": f"{n}"}, rights[n], 100)], digest=sample.digest)
    ]
    run = write_run(tmp_path / "run", records, samples=made.values(), keep_samples=False)
    found = told("encyclo_k.figure4_options", run, "DeepSeek-R1")
    assert [percent(row(found, 0, options=str(n)).value) for n in (4, 7, 10)] == [80, 65, 50]
    assert (row(found, 0, options="4").paper, row(found, 0, options="7").paper) == (0.6408, None)
    assert percent(row(found, 1, "slope").value) == -5


@pytest.mark.parametrize(("right", "n", "value"), [(0, 30, 0.0), (1, 1, 1.0)])
def test_all_wrong_and_one_question(tmp_path: Path, right: int, n: int, value: float) -> None:
    found = told("encyclo_k.table3", counted_run(tmp_path / "run", [({"discipline": "Law"}, right, n)]))
    [cell] = [one for one in found.parts[0].rows if one.factors["discipline"] == "Law"]
    assert (cell.value, cell.n, cell.paper) == (value, n, 0.7037)


def test_all_failed_and_an_empty_cell(tmp_path: Path) -> None:
    cells = [
        ({"model": "m1", "discipline": "Law", "error": "500"}, 0, 5),
        ({"model": "m2", "discipline": "History"}, 2, 5),
    ]
    found = told("encyclo_k.table3", counted_run(tmp_path / "run", cells))
    assert found.failed == 5
    failed = row(found, model="m1", discipline="Law")
    assert (failed.value, failed.failed) == (None, 5) and failed.note
    assert not [one for one in found.parts[0].rows if one.factors == {"model": "m2", "discipline": "Law"}]


def test_ties_are_marked_for_nobody(tmp_path: Path) -> None:
    cells = [({"model": name, "discipline": "Law"}, 30, 60) for name in ("m1", "m2")]
    found = told("encyclo_k.table3", counted_run(tmp_path / "run", cells))
    assert {one.mark for one in found.parts[0].rows} == {""}
