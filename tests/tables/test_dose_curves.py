"""Severity curves over runs whose answers are known: fit, band, slope, half dose and area by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from tables.making_runs import SETS, answers, write_run

from mmdyn.data import ChainStrength
from mmdyn.record import Condition, Record
from mmdyn.stats import paired_difference, wilson
from mmdyn.table import Curves
from mmdyn.tables import FORMATS, Report, Row, TablePart, table_charts, tabulate
from mmdyn.work import RunFolder

STRENGTH = {
    "blur@1": ChainStrength(20, 0.0, ssim=0.9, legibility=0.8),
    "blur@3": ChainStrength(20, 0.0, ssim=0.7, legibility=0.6),
    "blur@5": ChainStrength(20, 0.0, ssim=0.5, legibility=0.2),
}
MARKS = {"": 18, "blur@1": 14, "blur@3": 16, "blur@5": 2}
Z4 = 2.4977054744123723
"""The quantile of 1 - 0.05 / 8: four intervals at once."""


def under(chain: str, right: int, n: int = 20, **more: Any) -> list[Record]:
    """Of three times so many questions."""
    return answers(3 * ("1" * right + "0" * (n - right)), Condition("dynamic", chain) if chain else Condition(), **more)


def curves_run(folder: Path, *records: list[Record], strength: dict[str, ChainStrength] = STRENGTH) -> RunFolder:
    sets = (SETS[0], replace(SETS[1], strength=strength))
    return write_run(folder / "run", [record for those in records for record in those], sets=sets)


def curves(folder: Path, *records: list[Record], strength: dict[str, ChainStrength] = STRENGTH) -> TablePart:
    return tabulate([curves_run(folder, *records, strength=strength)], [Curves()]).parts[0]


def of(part: TablePart, quantity: str, **factors: str) -> Row:
    found = [row for row in part.rows if row.quantity == quantity and factors.items() <= row.factors.items()]
    assert len(found) == 1
    return found[0]


def column(part: TablePart, quantity: str) -> dict[str, float | None]:
    return {row.factors["dose"]: row.value for row in part.rows if row.quantity == quantity}


BLUR = [under(chain, right) for chain, right in MARKS.items()]


def test_scores_fit_and_band_stand_at_their_doses(tmp_path: Path) -> None:
    found = curves(tmp_path, *BLUR)
    assert column(found, "corrected") == {"0": 0.9, "0.2": 0.7, "0.4": 0.8, "0.8": 0.1}
    assert column(found, "fit") == {"0": 0.9, "0.2": 0.75, "0.4": 0.75, "0.8": 0.1}
    ends = {chain: wilson(right / 20, 60, Z4) for chain, right in MARKS.items()}
    row = of(found, "corrected", level="1")
    assert row.ci95 == pytest.approx(ends["blur@1"], abs=1e-6) and row.method == "Wilson, simultaneous (Bonferroni)"
    low, high = of(found, "fit", level="1").ci95 or (0, 0)
    assert low == pytest.approx(ends["blur@3"][0], abs=1e-6), "the later level bounds the earlier one from below"
    assert high == pytest.approx(ends["blur@1"][1], abs=1e-6)
    assert of(found, "fit", level="3").ci95 == pytest.approx((ends["blur@3"][0], ends["blur@1"][1]), abs=1e-6)
    assert of(found, "fit", level="standard").ci95 == pytest.approx(ends[""], abs=1e-6)


def test_slope_half_dose_and_area_sum_a_curve_up(tmp_path: Path) -> None:
    found = curves(tmp_path, *BLUR)
    doses, scores = np.array([0, 0.2, 0.4, 0.8]), np.array([0.9, 0.7, 0.8, 0.1])
    slope = of(found, "slope per 0.1 of dose")
    assert slope.value == pytest.approx(0.1 * np.polyfit(doses, scores, 1)[0], abs=1e-6)
    assert slope.p is not None and slope.p < 1e-4 and slope.factors["level"] == "all"
    assert slope.note == "dose: the share of lines of print that are no longer read alike"
    half = of(found, "half dose")
    assert half.value == round(0.4 + 0.4 * (0.75 - 0.45) / (0.75 - 0.1), 4) and half.ci95 == (0.4, 0.8)
    area = of(found, "area")
    assert area.value == pytest.approx((0.8 * 0.2 + 0.75 * 0.2 + 0.45 * 0.4) / 0.8, abs=1e-6)
    assert area.n == 60 and area.ci95 is not None and area.ci95[0] < area.value < (area.ci95[1] or 0)


@pytest.mark.parametrize(("strength", "doses", "said"), [
    ({"legibility": None}, ["0", "0.1", "0.5"], "1 - SSIM of the pictures"),
    ({"legibility": None, "ssim": None}, ["0", "0.3", "0.7"], "the share of tokens changed"),
])  # fmt: skip
def test_a_dose_is_what_was_measured_at_all_levels(
    tmp_path: Path, strength: dict[str, Any], doses: list[str], said: str
) -> None:
    levels = {
        "words@1": ChainStrength(20, 0.3, 0.9, legibility=0.9),
        "words@5": replace(ChainStrength(20, 0.7, 0.5), **strength),
    }
    levels["words@1"] = replace(levels["words@1"], ssim=levels["words@5"].ssim and 0.9)
    found = curves(tmp_path, under("", 18), under("words@5", 4), under("words@1", 12), strength=levels)
    assert [*column(found, "fit")] == doses and of(found, "slope per 0.1 of dose").note == f"dose: {said}"


def test_a_half_that_is_not_reached_says_how_far_it_is_sure(tmp_path: Path) -> None:
    found = tabulate([curves_run(tmp_path / "a", *(under(chain, 18) for chain in MARKS))], [Curves()])
    row = of(found.parts[0], "half dose")
    assert (row.value, row.ci95) == (None, (0.8, None))
    assert row.note == "not reached by dose 0.8, surely not by 0.8"
    assert msgspec.json.decode(msgspec.json.encode(found), type=Report) == found, "as the viewer keeps reports"
    for form in ("text", "markdown", "latex", "html"):
        assert "over 0.80" in FORMATS[form](found), "a dose, in no percent, though there is no number"
    open_end = of(curves(tmp_path / "b", under("", 18), under("blur@1", 17), under("blur@5", 7)), "half dose")
    assert open_end.ci95 == (0.2, None) and open_end.value is not None
    text = FORMATS["text"](
        tabulate([curves_run(tmp_path / "c", under("", 18), under("blur@1", 17), under("blur@5", 7))], [Curves()])
    )
    assert f"{open_end.value:.2f} [0.20, –]" in text


def test_a_standard_score_of_guesses_has_no_half(tmp_path: Path) -> None:
    row = of(curves(tmp_path, *(under(chain, 5, chance=0.25) for chain in MARKS)), "half dose")
    assert (row.value, row.note) == (None, "not told: the standard score is not told apart from guessing")


def test_only_questions_with_every_level_count(tmp_path: Path) -> None:
    found = curves(tmp_path, *BLUR[:3], answers("1" * 9 + "0" * 42 + 9 * ".", Condition("dynamic", "blur@5")))
    assert {row.n for row in found.rows} == {51} and {row.left_out for row in found.rows} == {9}


@pytest.mark.parametrize(("chains", "note"), [
    (("blur@1",), "no operator stands alone at two severities or more: `mmdyn perturb SET --ops blur@1,blur@3,blur@5`"),
    (("blur@1", "blur@3+pad"), "no operator stands alone at two severities or more: `mmdyn perturb SET --ops blur@1,blur@3,blur@5`"),
    (("noise@1", "noise@3"), "the run does not say how strong all the levels are: `mmdyn perturb` measures it"),
])  # fmt: skip
def test_what_is_no_curve_says_why(tmp_path: Path, chains: tuple[str, ...], note: str) -> None:
    found = curves(tmp_path, under("", 18), *(under(chain, 9) for chain in chains))
    assert [(row.value, row.note) for row in found.rows] == [(None, note)]


def test_a_level_that_nobody_answered_leaves_nothing(tmp_path: Path) -> None:
    found = curves(tmp_path, *BLUR[:2], answers("x" * 60, Condition("dynamic", "blur@5")))
    assert [(row.value, row.note, row.failed) for row in found.rows] == [
        (None, "no question was answered under the standard form and all levels", 60)
    ]


def test_areas_of_models_are_compared_question_by_question(tmp_path: Path) -> None:
    other = [
        under(chain, right, model="m2") for chain, right in (("", 18), ("blur@1", 4), ("blur@3", 3), ("blur@5", 1))
    ]
    found = curves(tmp_path, *BLUR, *other)
    assert [(row.factors["model"], row.mark) for row in found.rows if row.quantity == "area"] == [
        ("m1", "best"),
        ("m2", ""),
    ]
    chart = table_charts(tabulate([curves_run(tmp_path / "b", *BLUR, *other)], [Curves()]).parts)["curves"]
    assert (chart.kind, chart.along, len(chart.points)) == ("line", "dose", 8)
    assert chart.points[1][:3] == ("m1, blur", "0.2", 75.0) and {point.series for point in chart.points} == {
        "m1, blur",
        "m2, blur",
    }


def test_the_band_holds_a_slope_of_nothing(tmp_path: Path) -> None:
    found = curves(tmp_path, *(under(chain, 12) for chain in MARKS))
    slope = of(found, "slope per 0.1 of dose")
    assert (slope.value, slope.p) == (0.0, paired_difference(np.zeros(60), np.ones(60), np.arange(60), 2.0).p)
