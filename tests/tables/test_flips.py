"""Samples that went from right to wrong and back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from running import typed
from tables.making_runs import DYNAMIC, answer, answers, write_run

from making import choice
from mmdyn.record import Condition, Record
from mmdyn.sample import Option, Sample
from mmdyn.table import Flips
from mmdyn.tables import FORMATS, Report, Row, tabulate
from mmdyn.work import RunFolder

SHUFFLE = Condition("dynamic", "shuffle")


def flips_of(run: RunFolder) -> Report:
    return tabulate([run], [Flips()])


def befores(run: RunFolder) -> list[Row]:
    """The row of the standard question of each flip."""
    return flips_of(run).rows("flips", "a score")


def told(row: Row) -> list[str]:
    return [row.factors[name] for name in ("chain", "direction", "question", "variants", "expected", "read")]


def lines(run: RunFolder) -> list[str]:
    return [re.sub(" {2,}", " | ", line.strip()) for line in FORMATS["text"](flips_of(run)).splitlines()]


def test_both_directions_losses_first(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*answers("1100x1"), *answers("011011", DYNAMIC)])
    assert list(map(told, befores(run))) == [
        ["pad", "right to wrong", "s00", "1 of 1 wrong", "B (three)", "A → A"],
        ["pad", "wrong to right", "s02", "1 of 1 right", "B (three)", "A → A"],
    ]
    assert [(row.quantity, row.value, row.n) for row in flips_of(run).rows("flips")] == [
        ("a score", 1.0, 1), ("b score", 0.0, 1), ("a score", 0.0, 1), ("b score", 1.0, 1),
    ]  # fmt: skip
    shared = {"model": "m1", "set": "exam", "factor": "variant", "a": "standard", "b": "dynamic", "context": "none"}
    assert shared.items() <= befores(run)[0].factors.items()
    assert flips_of(run).to_json() == flips_of(run).to_json()


@pytest.mark.parametrize("where", [{"chain": ("pad",)}, {"variant": ("dynamic",)}, {"mode": ("dynamic",)}])
def test_a_part_of_the_changed_questions_is_paired_with_the_standard_ones(
    tmp_path: Path, where: dict[str, tuple[str, ...]]
) -> None:
    run = write_run(tmp_path / "run", [*answers("1100"), *answers("0110", DYNAMIC), *answers("0011", SHUFFLE)])
    (part,) = tabulate([run], [Flips(where=where)]).parts
    chains = [row.factors["chain"] for row in part.rows if row.quantity == "a score"]
    assert chains == ["pad", "pad"] + ["shuffle"] * 4 * ("chain" not in where)


def test_a_line_a_question_and_chain(tmp_path: Path) -> None:
    records = [
        *answers("11"),
        *answers("00", DYNAMIC),
        *answers("10", DYNAMIC, draw=1),
        *answers("00", DYNAMIC, draw=2),
    ]
    run = write_run(tmp_path / "run", [*records, *answers("u1", SHUFFLE)])
    sides = "How many sides has a triangle?"
    assert lines(run) == [
        "Flips: questions that a chain turned (m1, exam)", "",
        "chain | question | variants | asked", "─" * 63,
        f"pad | s00 | 2 of 3 wrong | {sides}",
        f"pad | s01 | 3 of 3 wrong | {sides}",
        f"shuffle | s00 | 1 of 1 wrong | {sides}",
        "", "in all rows: direction right to wrong, expected B (three), read A → A", "3 right to wrong", "",
    ]  # fmt: skip
    assert [row.factors["chain"] for row in befores(run)] == ["pad", "pad", "shuffle"], "none over all chains together"


def test_none_is_said(tmp_path: Path) -> None:
    assert "no question was turned" in FORMATS["text"](flips_of(write_run(tmp_path / "run", answers("1"))))
    shown = typed("report", tmp_path / "run", "--flips", "--quiet")
    assert (shown.exit_code, "no question was turned" in shown.stdout) == (0, True)


def turned(tmp_path: Path, before: Sample, after: Sample, read: Any = ("A",)) -> tuple[str, str]:
    """What was expected and read where a variant is wrong, below the question that was right."""
    records = [answer(before.id, 1.0, sample=before, extracted=["B"])]
    records.append(answer(before.id, 0.0, DYNAMIC, sample=after, extracted=read))
    (row,) = befores(write_run(tmp_path / "run", records, samples=[before, after]))
    return row.factors["expected"], row.factors["read"]


def test_what_is_expected_of_both_sides_stands_beside_what_was_read(tmp_path: Path) -> None:
    before = choice("p", texts=("one", "two", "three"))
    moved = tuple(Option(label, text) for label, text in zip("ABC", ("two", "one", "three"), strict=True))
    after = replace(before, id="p~pad~0", options=moved, answer=("A",))
    assert turned(tmp_path / "moved", before, after, ["C"]) == ("B (two) → A (two)", "B → C")
    assert turned(tmp_path / "same", before, replace(before, id="p~pad~0")) == ("B (two)", "B → A")
    gone: dict[str, Any] = {"options": (), "task_type": "fill_in_the_blank", "answer": (("2", "two"), ("x",))}
    found = turned(tmp_path / "gone", before, replace(before, id="p~pad~0", **gone), None)
    assert found == ("B (two) → 2 or two, x", "B → nothing")
    claim = Sample("q", "Seven is a\nprime number.", "true_false", True)
    options = (Option("A", "False"), Option("B", "True"))
    chosen = replace(claim, id="q~pad~0", options=options, answer=("B",), task_type="single_choice")
    assert turned(tmp_path / "claim", claim, chosen) == ("true → B (True)", "B → A")


def test_long_questions_and_answers_are_cut(tmp_path: Path) -> None:
    sample = choice("s00", question="一" * 200)
    records = [answer("s00", 1.0, sample=sample), answer("s00", 0.0, DYNAMIC, extracted="x" * 99)]
    (row,) = befores(write_run(tmp_path / "run", records, samples=[sample]))
    assert row.factors["asked"] == "一" * 39 + "…" and row.factors["read"] == f"A → {'x' * 23}…"


def test_draws_that_are_even_are_no_flip(tmp_path: Path) -> None:
    draws = [answer("p", 1.0, DYNAMIC), answer("p", 0.0, DYNAMIC, draw=1)]
    assert befores(write_run(tmp_path / "even", [answer("p", 1.0), *draws])) == []
    run = write_run(tmp_path / "most", [answer("p", 1.0), *draws, answer("p", 0.0, DYNAMIC, draw=2)])
    (row,) = flips_of(run).rows("flips", "b score")
    assert (row.value, row.n, row.factors["variants"]) == (0.333333, 3, "2 of 3 wrong")


def test_a_sample_that_is_not_in_the_store_leaves_its_words_out(tmp_path: Path) -> None:
    records: list[Record] = [answer("p", 1.0), answer("p", 0.0, DYNAMIC)]
    (row,) = befores(write_run(tmp_path / "run", records, keep_samples=False))
    assert (row.factors["question"], row.factors["expected"], row.factors["asked"]) == ("p", "", "")
