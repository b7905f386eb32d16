"""What rules alone give open answers is shown as a lower bound, and what needs a judge is counted, wherever a score
stands."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from tables.making_runs import DYNAMIC, STANDARD, answer, change, score, write_run

from mmdyn.record import Condition, Record
from mmdyn.stats import wilson
from mmdyn.tables import report
from mmdyn.tables.rows import BY_RULES

OPEN, CHOICE = {"kind": "open"}, {"kind": "choice"}


def marked(record: Record, *, bound: bool) -> Record:
    assert record.score is not None
    return replace(record, score=replace(record.score, confidence=0.8, needs_judge=True, lower_bound=bound))


def exam(condition: Condition = STANDARD, right: int = 4, epoch: int = 0) -> list[Record]:
    """Ten answers: the first few are right, an unparsed choice needs a judge, and so do two open answers, whose 0 is a
    bound."""

    def one(place: int, fields: dict[str, str], **more: str) -> Record:
        return answer(f"s{place}", float(place < right), condition, epoch=epoch, fields=fields, **more)

    choices = [one(place, CHOICE) for place in range(7)]
    lost = marked(one(7, CHOICE, status="unparsed"), bound=False)
    return [*choices, lost, marked(one(8, OPEN), bound=True), marked(one(9, OPEN), bound=True)]


def test_a_condition_with_open_answers_is_at_least_so_good(tmp_path: Path) -> None:
    found = report(write_run(tmp_path / "run", exam()), by=["kind"])
    row, low = score(found), round(wilson(0.4, 10)[0], 6)
    assert (row.value, row.bound, row.ci95, row.needs_judge) == (0.4, "lower", (low, None), 3)
    choice, opened = (score(found, by="kind", kind=kind) for kind in ("choice", "open"))
    assert (choice.value, choice.bound, choice.needs_judge) == (0.5, "", 1), "what was not read is worth 0, no bound"
    assert choice.ci95 and choice.ci95[1] is not None
    assert (opened.value, opened.bound, opened.ci95, opened.needs_judge) == (0.0, "lower", (0.0, None), 2)
    assert found.runs[0].needs_judge == 3


def test_without_open_answers_nothing_is_a_bound(tmp_path: Path) -> None:
    row = score(report(write_run(tmp_path / "run", [record for record in exam() if record.fields == CHOICE])))
    assert (row.bound, row.needs_judge) == ("", 1)


def test_a_contrast_of_bounds_is_marked_where_compared_answers_need_a_judge(tmp_path: Path) -> None:
    choices = [record for record in exam(Condition("dynamic", "color")) if record.fields == CHOICE]
    found = report(write_run(tmp_path / "run", [*exam(), *exam(DYNAMIC, right=3), *choices]), by=["kind"])
    pad, color = change(found, chain="pad"), change(found, chain="color")
    assert (pad.value, pad.needs_judge, pad.note) == (-0.1, 6, BY_RULES) and pad.ci95 is not None
    assert (color.n, color.needs_judge, color.note) == (8, 2, ""), "its open answers are not compared"
    assert [change(found, by="kind", chain="pad", kind=kind).note for kind in ("choice", "open")] == ["", BY_RULES]
    assert {side: change(found, side, chain="pad").bound for side in "ab"} == {"a": "lower", "b": "lower"}
    assert {side: change(found, side, chain="color").bound for side in "ab"} == {"a": "", "b": ""}
