"""Where answers wait for a judge, numbers hold whatever it will say, and what needs a judge is counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tables.making_runs import DYNAMIC, STANDARD, answer, change, score, write_run

from mmdyn.record import Condition, Record
from mmdyn.stats import wilson
from mmdyn.tables import report

OPEN, CHOICE = {"kind": "open"}, {"kind": "choice"}


def unsure(record: Record) -> Record:
    assert record.score is not None
    return replace(record, score=replace(record.score, confidence=0.8, needs_judge=True))


def exam(condition: Condition = STANDARD, right: int = 4, epoch: int = 0) -> list[Record]:
    """Ten answers: the first few are right, an unparsed choice needs a judge, and so do two open answers, which were
    read."""

    def one(place: int, fields: dict[str, str], **more: str) -> Record:
        return answer(f"s{place}", float(place < right), condition, epoch=epoch, fields=fields, **more)

    choices = [one(place, CHOICE) for place in range(7)]
    return [*choices, unsure(one(7, CHOICE, status="unparsed")), unsure(one(8, OPEN)), unsure(one(9, OPEN))]


def test_the_interval_of_a_score_holds_whatever_a_judge_says(tmp_path: Path) -> None:
    found = report(write_run(tmp_path / "run", exam()), by=["kind"])
    row, ends = score(found), (wilson(0.4, 10)[0], wilson(0.6, 10)[1])
    assert (row.value, row.judged, row.needs_judge) == (0.4, (0.4, 0.6), 3)
    assert row.ci95 == pytest.approx(ends, abs=1e-6)
    choice, opened = (score(found, by="kind", kind=kind) for kind in ("choice", "open"))
    assert (choice.value, choice.judged, choice.needs_judge) == (0.5, None, 1), "what was not read does not wait"
    assert choice.ci95 == pytest.approx(wilson(0.5, 8), abs=1e-6)
    assert (opened.value, opened.judged, opened.ci95, opened.needs_judge) == (0.0, (0.0, 1.0), (0.0, 1.0), 2)
    assert found.runs[0].needs_judge == 3


def test_what_was_not_read_does_not_wait(tmp_path: Path) -> None:
    row = score(report(write_run(tmp_path / "run", [record for record in exam() if record.fields == CHOICE])))
    assert (row.judged, row.needs_judge) == (None, 1)


def test_a_contrast_waits_where_compared_answers_do(tmp_path: Path) -> None:
    choices = [record for record in exam(Condition("dynamic", "color")) if record.fields == CHOICE]
    found = report(write_run(tmp_path / "run", [*exam(), *exam(DYNAMIC, right=3), *choices]), by=["kind"])
    pad, color = change(found, chain="pad"), change(found, chain="color")
    assert (pad.value, pad.judged, pad.p, pad.needs_judge) == (-0.1, (-0.3, 0.1), 1.0, 6)
    assert pad.ci95 is not None and pad.ci95[0] < -0.3 and pad.ci95[1] > 0.1
    assert (color.n, color.needs_judge, color.judged) == (8, 2, None), "its open answers are not compared"
    assert [change(found, by="kind", chain="pad", kind=kind).judged for kind in ("choice", "open")] == [
        None,
        (-1.0, 1.0),
    ]
    assert [change(found, side, chain="pad").judged for side in "ab"] == [(0.4, 0.6), (0.3, 0.5)]
    assert [change(found, side, chain="color").judged for side in "ab"] == [None, None]


def test_a_drop_that_no_verdict_can_undo_is_significant(tmp_path: Path) -> None:
    records = [answer(f"q{place:02}", 1.0) for place in range(30)]
    lost = [answer(f"q{place:02}", 0.0, DYNAMIC) for place in range(28)]
    lost += [unsure(answer(f"q{place:02}", 0.0, DYNAMIC)) for place in (28, 29)]
    row = change(report(write_run(tmp_path / "run", [*records, *lost])))
    settled = [answer(one.sample.partition("~")[0], float(place >= 28), DYNAMIC) for place, one in enumerate(lost)]
    best = change(report(write_run(tmp_path / "best", [*records, *settled])))
    assert (row.value, row.judged) == (-1.0, (-1.0, best.value)) and row.p == best.p and (row.p or 1) < 1e-6
