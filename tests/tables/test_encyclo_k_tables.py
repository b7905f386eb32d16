"""Encyclo-K's tables: its numbers from its counts, and what is known by construction."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables.making_counts import Cell, counted_run
from tables.paper_numbers import percent, published, row, told

QUESTIONS = {
    "Science": 1242, "Engineering": 881, "Literature": 825, "Medicine": 736, "History": 686, "Law": 189,
    "Economics": 124, "Agriculture": 112, "Education": 109, "Management": 73, "Philosophy": 61,
}  # fmt: skip
"""Table 2 of the paper."""
POSITIONS = dict(zip("ABCDEFGH", (880, 877, 913, 884, 657, 435, 262, 130), strict=True))
BEST = "OpenAI-GPT-5.1-high"


def counts(model: str) -> list[Cell]:
    """A model's right answers of each discipline, from the paper's percentages."""
    percents = {line["discipline"]: float(line["value"]) for line in published("encyclo_k.table3") if line["model"] == model}
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


@pytest.mark.parametrize(("model", "alike"), [("Gemini-2.5-Pro", False), ("Qwen3-32B", False)])
def test_positions(tmp_path: Path, model: str, alike: bool) -> None:
    """The paper sees no bias of position; its own counts of all three models say otherwise."""
    lines = [line for line in published("encyclo_k.table5") if line["model"] == model and line["answer_position"] != "all"]
    rights = {line["answer_position"]: round(float(line["value"]) * POSITIONS[line["answer_position"]] / 100) for line in lines}
    cells = [({"model": model, "answer_position": place}, rights[place], n) for place, n in POSITIONS.items()]
    found = told("encyclo_k.table5", counted_run(tmp_path / "run", cells))
    assert [(cell.factors["answer_position"], cell.n) for cell in found.parts[0].rows] == [*POSITIONS.items(), ("all", 5038)]
    assert all(percent(cell.value) == percent(cell.paper) for cell in found.parts[0].rows)
    test = row(found, 1, "range")
    assert test.p is not None and (test.p < 0.05) is not alike
