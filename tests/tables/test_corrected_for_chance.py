"""Chance in reports: beside the score, in contrasts between forms, and where it is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables.making_runs import DYNAMIC, STANDARD, answer, answers, change, changes, score, scores, write_run

from mmdyn.record import Condition, Record
from mmdyn.table import Paired
from mmdyn.tables import Report, report, tabulate
from mmdyn.tables.pairing import CORRECTED

NAMED = "p{:03}".format


def asked(marks: str, condition: Condition = STANDARD, chance: float = 0.25, **more: object) -> list[Record]:
    return answers(marks, condition, chance=chance, **more)


def of(tmp_path: Path, *records: list[Record], by: tuple[str, ...] = ()) -> Report:
    return report(write_run(tmp_path / "run", [record for some in records for record in some]), by=by)


def test_a_condition_has_chance_and_the_corrected_score(tmp_path: Path) -> None:
    found = of(tmp_path, asked("11110000ur"))
    assert [score(found, name).value for name in ("score", "chance", "unread")] == [0.4, 0.25, 0.2]
    row = score(found, "corrected")
    assert row.value == pytest.approx((4 - 4 / 3) / 10, abs=1e-6)
    assert row.ci95 is not None and row.ci95[0] < row.value < (row.ci95[1] or 0)
    assert (row.n, row.left_out, row.scale) == (10, 0, "")
    assert row.method.startswith("Wilson at effective n (graded)")
    assert (score(found).unparsed, score(found).refused, score(found).method) == (1, 1, "Wilson")


def test_nothing_is_corrected_where_nothing_can_be_guessed(tmp_path: Path) -> None:
    found = of(tmp_path, asked("1100", chance=0.0))
    assert [row.quantity for row in found.parts[0].rows] == ["score"]
    assert score(found).method == "Wilson"


def test_forms_that_differ_in_chance_are_compared_on_the_corrected_scale(tmp_path: Path) -> None:
    """Of 40 the model knows 20 and guesses the others: a quarter is hit as choices, half as claims."""
    found = of(tmp_path, asked("1" * 25 + "0" * 15), asked("1" * 30 + "0" * 10, DYNAMIC, 0.5))
    row, raw = change(found), change(found, "raw difference")
    assert (row.scale, row.value, row.note) == ("corrected", 0.0, CORRECTED)
    assert row.ci95 is not None and row.ci95[0] < 0 < (row.ci95[1] or 0) and row.p is not None and row.p > 0.5
    assert (raw.scale, raw.value, raw.n, raw.p) == ("raw", 0.125, 40, None)
    assert [(change(found, side).value, change(found, side).scale) for side in "ab"] == [(0.5, "corrected")] * 2


def test_one_form_is_compared_on_the_raw_scale(tmp_path: Path) -> None:
    found = of(tmp_path, asked("1111"), asked("1010", DYNAMIC))
    assert (change(found).scale, change(found).value, change(found).note) == ("raw", -0.5, "")
    assert changes(found, "raw difference") == []


def test_a_pooled_contrast_is_corrected_answer_by_answer(tmp_path: Path) -> None:
    """Of two chains one asks for a claim: a parent's answers are corrected before they are averaged."""
    claims = Condition("dynamic", "convert")
    found = of(tmp_path, asked("1100"), asked("1100", DYNAMIC), asked("1010", claims, 0.5))
    scales = {row.factors["chain"]: (row.scale, row.value) for row in changes(found)}
    assert scales["pad"] == ("corrected", 0.0) and scales["convert"][0] == "corrected", "one scale a set"
    pooled = [(1 + 1) / 2, (1 - 1) / 2, (-1 / 3 + 1) / 2, (-1 / 3 - 1) / 2]
    standard = [1, 1, -1 / 3, -1 / 3]
    assert scales["all"] == ("corrected", pytest.approx((sum(pooled) - sum(standard)) / 4, abs=1e-6))
    assert score(found, "chance", chain="all").value == 0.375
    assert score(found, "corrected", chain="all").value == pytest.approx(sum(pooled) / 4, abs=1e-6)


def test_cells_of_a_breakdown_are_on_the_scale_of_the_whole(tmp_path: Path) -> None:
    same = [answer(NAMED(n), n % 2, asked, chance=0.25, fields={"half": 1}) for n in range(4) for asked in (Condition(), DYNAMIC)]  # fmt: skip
    other = [answer(NAMED(n), 1.0, asked, chance=chance, fields={"half": 2}) for n in range(4, 8) for asked, chance in ((Condition(), 0.25), (DYNAMIC, 0.5))]  # fmt: skip
    found = of(tmp_path, same, other, by=("half",))
    assert [(row.scale, row.value) for row in changes(found, by="half")] == [("corrected", 0.0)] * 2
    assert [row.value for row in changes(found, "raw difference", by="half")] == [0.0, 0.0]


def test_a_pair_of_factors_is_on_the_scale_of_contrasts(tmp_path: Path) -> None:
    """What `Paired` compares is what a contrast would: of measures other than the score nothing is corrected."""
    run = write_run(tmp_path / "run", [*asked("11000ur"), *asked("1010011", DYNAMIC, 0.5)])
    pairs = [Paired(factor="variant", a="standard", b="dynamic", measure=name) for name in ("score", "unread")]
    told, (score_part, unread) = change(report(run)), tabulate([run], pairs).parts
    by_quantity = {row.quantity: row for row in score_part.rows}
    paired = by_quantity["difference"]
    assert [*by_quantity] == ["standard", "dynamic", "difference", "raw difference"]
    assert (paired.value, paired.ci95, paired.p, paired.scale) == (told.value, told.ci95, told.p, "corrected")
    assert (paired.note, by_quantity["raw difference"].value) == (
        CORRECTED,
        change(report(run), "raw difference").value,
    )
    assert [row.quantity for row in unread.rows] == ["standard", "dynamic", "difference"]
    assert {row.scale for row in unread.rows} == {""}


def test_where_guessing_earns_all_nothing_is_corrected(tmp_path: Path) -> None:
    sure = [answer("sure", 1.0, condition, chance=1.0) for condition in (Condition(), DYNAMIC)]
    found = of(tmp_path, asked("1100"), asked("1100", DYNAMIC, 0.5), sure)
    assert [row.n for row in scores(found)] == [5, 5]
    assert [(row.n, row.left_out) for row in scores(found, "corrected")] == [(4, 1)] * 2
    assert score(found, "corrected", variant="standard").value == pytest.approx(1 / 3, abs=1e-6)
    assert (change(found).n, change(found).left_out) == (4, 1)
    alone = change(of(tmp_path / "alone", [sure[0]], [answer("sure", 1.0, DYNAMIC, chance=0.5)]))
    assert (alone.n, alone.left_out, alone.value, alone.note) == (0, 1, None, "guessing earns all on one side")
