"""Chance in reports: beside the score, in contrasts between forms, and where it is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables.making_runs import DYNAMIC, STANDARD, answer, answers, csv_rows, printed, write_run

from mmdyn.record import Condition, Record
from mmdyn.tables import Summary, summarise, write_csv
from mmdyn.tables.scale import CORRECTED, UNKNOWN

NAMED = "p{:03}".format


def asked(marks: str, condition: Condition = STANDARD, chance: float | None = 0.25, **more: object) -> list[Record]:
    return answers(marks, condition, chance=chance, **more)


def of(tmp_path: Path, *records: list[Record], by: tuple[str, ...] = ()) -> Summary:
    run = write_run(tmp_path / "run", [record for some in records for record in some])
    return summarise([run], by=by)


def test_a_condition_shows_chance_and_the_corrected_score(tmp_path: Path) -> None:
    summary = of(tmp_path, asked("11110000ur"))
    (row,) = summary.conditions
    assert (row.score, row.chance, row.unread, row.uncorrected) == (0.4, 0.25, 0.2, 0)
    assert row.corrected == pytest.approx((4 - 4 / 3) / 10, abs=1e-6)
    assert row.corrected_ci95 is not None and row.corrected_ci95[0] < row.corrected < (row.corrected_ci95[1] or 0)
    mapped = "corrected for chance: Wilson at effective n (graded), of scores mapped onto 0 to 1"
    assert row.method == f"Wilson; {mapped}"
    lines = printed(summary)
    assert "condition score chance for chance read n unparsed refused failed method" in lines
    low, high = (100 * (end or 0) for end in row.corrected_ci95)
    assert f"standard 40.0 [16.8, 68.7] 25.0 26.7 [{low:.1f}, {high:.1f}] 20.0 10 1 1 0 1" in lines
    assert "not read; that assumes that a model knows an answer or guesses." in " ".join(lines)
    write_csv(summary, tmp_path / "out.csv")
    (cells,) = csv_rows(tmp_path / "out.csv", "score")
    assert [cells[name] for name in ("chance", "corrected", "uncorrected", "unread")] == [
        "0.25",
        "0.266667",
        "0",
        "0.2",
    ]
    assert float(cells["corrected_low"]) == row.corrected_ci95[0]


def test_nothing_is_said_where_nothing_can_be_guessed(tmp_path: Path) -> None:
    summary = of(tmp_path, asked("1100", chance=0.0))
    assert (summary.conditions[0].corrected, summary.conditions[0].corrected_ci95) == (0.5, summary.conditions[0].ci95)
    assert summary.conditions[0].method == "Wilson"
    assert "chance" not in " ".join(printed(summary))


def test_forms_that_differ_in_chance_are_compared_on_the_corrected_scale(tmp_path: Path) -> None:
    """Of 40 the model knows 20 and guesses the others: a quarter is hit as choices, half as claims."""
    summary = of(tmp_path, asked("1" * 25 + "0" * 15), asked("1" * 30 + "0" * 10, DYNAMIC, 0.5))
    (found,) = summary.contrasts
    assert (found.scale, found.delta, found.raw_delta, found.note) == ("corrected", 0.0, 0.125, CORRECTED)
    assert found.ci95 is not None and found.ci95[0] < 0 < found.ci95[1] and found.p is not None and found.p > 0.5
    assert "standard → dynamic (chain pad)" in " ".join(printed(summary))
    assert any("+0.0 [" in line and "] +12.5 " in line for line in printed(summary))
    assert " points corrected for chance (+12.5 raw), 40 pairs, " in repr(summary)
    write_csv(summary, tmp_path / "out.csv")
    assert [csv_rows(tmp_path / "out.csv", "contrast")[0][name] for name in ("scale", "raw_delta")] == ["corrected", "0.125"]  # fmt: skip


def test_one_form_is_compared_on_the_raw_scale(tmp_path: Path) -> None:
    (found,) = of(tmp_path, asked("1111"), asked("1010", DYNAMIC)).contrasts
    assert (found.scale, found.delta, found.raw_delta, found.note) == ("raw", -0.5, -0.5, "")


def test_a_pooled_contrast_is_corrected_answer_by_answer(tmp_path: Path) -> None:
    """Of two chains one asks for a claim: a parent's answers are corrected before they are averaged."""
    claims = Condition("dynamic", "convert")
    summary = of(tmp_path, asked("1100"), asked("1100", DYNAMIC), asked("1010", claims, 0.5))
    scales = {found.held["chain"]: (found.scale, found.delta) for found in summary.contrasts}
    assert scales["pad"] == ("raw", 0.0) and scales["convert"][0] == "corrected"
    pooled = [(1 + 1) / 2, (1 - 1) / 2, (-1 / 3 + 1) / 2, (-1 / 3 - 1) / 2]
    standard = [1, 1, -1 / 3, -1 / 3]
    assert scales["all"] == ("corrected", pytest.approx((sum(pooled) - sum(standard)) / 4, abs=1e-6))
    row = next(row for row in summary.conditions if row.factors["chain"] == "all")
    assert (row.chance, row.corrected) == (0.375, pytest.approx(sum(pooled) / 4, abs=1e-6))


def test_cells_of_a_breakdown_are_on_the_scale_of_the_whole(tmp_path: Path) -> None:
    same = [answer(NAMED(n), n % 2, asked, chance=0.25, fields={"half": 1}) for n in range(4) for asked in (Condition(), DYNAMIC)]  # fmt: skip
    other = [answer(NAMED(n), 1.0, asked, chance=chance, fields={"half": 2}) for n in range(4, 8) for asked, chance in ((Condition(), 0.25), (DYNAMIC, 0.5))]  # fmt: skip
    (found,) = of(tmp_path, same, other, by=("half",)).contrasts
    assert [cell["scale"] for cell in found.by["half"].values()] == ["corrected", "corrected"]
    assert [cell["delta"] for cell in found.by["half"].values()] == [0.0, 0.0]


def test_a_significant_contrast_is_said_to_be_corrected(tmp_path: Path) -> None:
    text = " ".join(printed(of(tmp_path, asked("1" * 20), asked("0" * 20, DYNAMIC, 0.0))))
    assert CORRECTED.endswith("so that it can lie beyond 100 points")
    assert "dynamic is 100.0 points lower than standard" in text and f"20 pairs). But {CORRECTED}." in text


def test_where_guessing_earns_all_nothing_is_corrected(tmp_path: Path) -> None:
    sure = [answer("sure", 1.0, condition, chance=1.0) for condition in (Condition(), DYNAMIC)]
    summary = of(tmp_path, asked("1100"), asked("1100", DYNAMIC, 0.5), sure)
    assert [(row.n, row.uncorrected) for row in summary.conditions] == [(5, 1), (5, 1)]
    assert summary.conditions[0].corrected == pytest.approx(1 / 3, abs=1e-6)
    assert [(found.n, found.left_out) for found in summary.contrasts] == [(4, 1)]


def test_scores_of_earlier_versions_are_not_taken_for_scores_without_chance(tmp_path: Path) -> None:
    summary = of(tmp_path, asked("1100", chance=None), asked("1000", DYNAMIC, None))
    row, (found,) = summary.conditions[0], summary.contrasts
    assert (row.score, row.chance, row.corrected, row.note) == (0.5, None, None, UNKNOWN)
    assert (found.scale, found.delta, found.note) == ("raw", -0.25, UNKNOWN)
    assert f"Chance: {UNKNOWN}." in printed(summary)
