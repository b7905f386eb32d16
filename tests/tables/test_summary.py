"""The summary of small runs, computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tables.making_runs import DYNAMIC, SETS, answer, answers, printed, write_run

from mmdyn.errors import InputError, UserError
from mmdyn.record import Condition, Contrast
from mmdyn.stats import wilson
from mmdyn.tables import Summary, report, summarise
from mmdyn.tables.summary_rows import ConditionRow

KPRAG = Condition(context="kprag")


def row(summary: Summary, chain: str = "", context: str = "none") -> ConditionRow:
    wanted = {"chain": chain, "context": context}
    (found,) = (row for row in summary.conditions if row.factors | wanted == row.factors)
    return found


def variant_contrast(summary: Summary, chain: str = "pad") -> Contrast:
    (found,) = (each for each in summary.contrasts if each.factor == "variant" and each.held["chain"] == chain)
    return found


def test_a_tiny_run_by_hand(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*answers("1111111100"), *answers("110001ur0x", DYNAMIC)])
    summary = summarise([run])
    standard, dynamic = row(summary), row(summary, "pad")
    assert summary.complete
    assert (standard.n, standard.score, standard.ci95) == (10, 0.8, (0.490162, 0.943318))
    assert list(standard.factors.items())[1:] == [
        ("chain", ""), ("context", "none"), ("style", "direct"), ("language", "en")
    ]  # fmt: skip
    assert (dynamic.n, dynamic.score) == (9, 0.333333)
    assert (dynamic.ok, dynamic.unparsed, dynamic.refused, dynamic.failed, dynamic.unscored) == (7, 1, 1, 1, 0)
    (contrast,) = summary.contrasts
    # Over s00 to s08 five went from right to wrong (s02, s03, s04, s06, s07) and none came back; s09 failed.
    assert (contrast.factor, contrast.a, contrast.b) == ("variant", "standard", "dynamic")
    assert contrast.held == {"chain": "pad", "context": "none", "style": "direct"}
    assert (contrast.n, contrast.left_out, contrast.failed) == (9, 1, 1)
    assert (contrast.delta, contrast.p, contrast.p_adjusted) == (-0.555556, 0.03125, 0.03125)
    assert contrast.ci95 == (-0.811221, -0.090219)
    assert contrast.method == "Tango; mid-p McNemar"


def test_draws_and_epochs_do_not_inflate_n(tmp_path: Path) -> None:
    once = [*answers("1111100000"), *answers("1100000000", DYNAMIC)]
    more = [*once, *answers("1100000000", DYNAMIC, draw=1), *answers("1100000000", DYNAMIC, draw=2)]
    more += [*answers("1111100000", epoch=1), *answers("1100000000", DYNAMIC, epoch=1)]
    single, several = summarise([write_run(tmp_path / "a", once)]), summarise([write_run(tmp_path / "b", more)])
    for chain in ("", "pad"):
        assert row(single, chain).ci95 == row(several, chain).ci95
        assert row(several, chain).n == 10
    assert row(several, "pad").ok == 40
    assert single.contrasts == several.contrasts


def test_a_parents_draws_are_averaged_first(tmp_path: Path) -> None:
    """One that failed is left out and the others count; the languages of a condition are joined."""
    records = [answer("p", 1.0, DYNAMIC), answer("p", 0.0, DYNAMIC, draw=1), answer("q", 1.0, DYNAMIC, language="zh")]
    records += [answer("q", None, DYNAMIC, draw=1, error="timed out")]
    found = row(summarise([write_run(tmp_path / "run", records)]), "pad")
    assert (found.n, found.score, found.failed, found.factors["language"]) == (2, 0.75, 1, "en+zh")
    assert found.method == "Wilson at effective n (graded)"


def test_a_judge_that_failed_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    records = [answer("p", None, status="failed", rule="the judge did not answer"), answer("q", 1.0)]
    summary = summarise([write_run(tmp_path / "run", records)])
    assert (row(summary).n, row(summary).failed, summary.failed) == (1, 1, 1)
    assert [failure.reason for failure in summary.failures] == ["the judge did not answer"]


def test_groups_widen_the_interval(tmp_path: Path) -> None:
    grouped = [answer(f"s{n:02}", float(mark), group=f"g{n // 4}") for n, mark in enumerate("1111000011110000")]
    together = row(summarise([write_run(tmp_path / "run", grouped)]))
    assert together.score == 0.5 and together.ci95 == pytest.approx(wilson(0.5, 4), abs=1e-6)


def test_several_chains_also_give_a_row_over_all_of_them(tmp_path: Path) -> None:
    records = [*answers("11"), *answers("10", DYNAMIC), *answers("0", Condition("dynamic", "shuffle"))]
    summary = summarise([write_run(tmp_path / "run", records)])
    assert [condition.factors["chain"] for condition in summary.conditions] == ["", "pad", "shuffle", "all"]
    # s00: mean of 1 and 0; s01 has one chain only: 0.
    assert (row(summary, "all").n, row(summary, "all").score, row(summary, "all").ok) == (2, 0.25, 3)
    assert variant_contrast(summary, "all").delta == -0.75
    assert variant_contrast(summary, "shuffle").left_out == 1


def test_points_weigh_scores_and_differences(tmp_path: Path) -> None:
    records = [answer("p", 1.0, weight=6.0), answer("q", 0.0, weight=2.0)]
    records += [answer("p", 0.0, DYNAMIC, weight=6.0), answer("q", 1.0, DYNAMIC, weight=2.0)]
    summary = summarise([write_run(tmp_path / "run", records, scorer="exam")])
    assert row(summary).score == 0.75
    assert variant_contrast(summary).delta == -0.5
    found = variant_contrast(summary)
    assert (found.method, found.ci95, found.p) == ("empirical likelihood (few differ, weighted)", None, None)
    assert found.note == "too few to tell: fewer than three independent parents or groups"


def test_parents_of_one_condition_only_are_left_out_and_counted(tmp_path: Path) -> None:
    summary = summarise([write_run(tmp_path / "run", [*answers("1111.x"), *answers("11..11", DYNAMIC)])])
    # Pairs: s00, s01. Left out: s02 and s03 (not asked as dynamic), s04 (not asked as standard), s05 (failed as standard).
    assert (variant_contrast(summary).n, variant_contrast(summary).left_out) == (2, 4)


def test_no_pair_gives_no_number_and_says_why(tmp_path: Path) -> None:
    records = [*answers("11.."), *answers("..11", DYNAMIC), *answers("xx", KPRAG)]
    summary = summarise([write_run(tmp_path / "run", records)])
    found = variant_contrast(summary)
    assert (found.n, found.left_out) == (0, 4)
    assert (found.delta, found.ci95, found.p, found.p_adjusted) == (None, None, None, None)
    assert found.note == "no parent was answered under both conditions"
    failed = row(summary, context="kprag")
    assert (failed.n, failed.score, failed.ci95, failed.failed) == (0, None, None, 2)
    assert failed.note == "no parent has an answer that is scored"


@pytest.mark.parametrize(("planned", "complete"), [(11, False), (10, True)])
def test_a_half_finished_run_says_so(tmp_path: Path, planned: int, complete: bool) -> None:
    summary = summarise([write_run(tmp_path / "run", answers("111111110x"), planned=planned)])
    assert summary.complete is complete
    assert (summary.runs[0].asked, summary.runs[0].planned, summary.runs[0].failed) == (10, planned, 1)


def test_answers_that_are_not_scored_yet_are_counted_apart(tmp_path: Path) -> None:
    records = [*answers("110"), answer("s03", 1.0, scored=False), *answers("1111", DYNAMIC)]
    summary = summarise([write_run(tmp_path / "run", records)])
    assert not summary.complete
    assert (row(summary).n, row(summary).unscored, summary.runs[0].unscored) == (3, 1, 1)
    assert variant_contrast(summary).left_out == 1


def test_an_empty_run_is_reported(tmp_path: Path) -> None:
    summary = summarise([write_run(tmp_path / "run", [], sets=SETS[:1])])
    assert (summary.complete, summary.conditions, summary.contrasts, printed(summary)) == (True, [], [], [])


def test_equal_ids_of_two_sets_stay_apart(tmp_path: Path) -> None:
    records = [*answers("11"), *answers("00", set="other", group="g")]
    summary = summarise([write_run(tmp_path / "run", records)])
    assert [(found.set, found.score) for found in summary.conditions] == [("exam", 1.0), ("other", 0.0)]
    assert summary.conditions[0].method == "Wilson"


@pytest.mark.parametrize(("changes", "problem"), [
    ({"value": 1.5}, "sample p has the score 1.5: a scorer must give 0 to 1"),
    ({"value": None}, "sample p has the score None: a scorer must give 0 to 1"),
    ({"value": 1.0, "weight": -2.0}, "sample p weighs -2.0: a weight must be positive"),
])  # fmt: skip
def test_a_score_out_of_range_is_refused(tmp_path: Path, changes: dict[str, float | None], problem: str) -> None:
    run = write_run(tmp_path / "run", [answer("p", **changes)])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=problem):
        summarise([run])


def test_the_json_is_as_designed_and_the_same_every_time(tmp_path: Path) -> None:
    records = [*answers("1111111100", fields={"grade": 10}), *answers("110001ur0x", DYNAMIC, fields={"grade": 10})]
    first = report(write_run(tmp_path / "a" / "run", records).folder, by=["grade"]).to_json()
    assert first == report(write_run(tmp_path / "b" / "run", reversed(records)), by=["grade"]).to_json()
    read = json.loads(first)
    assert list(read) == ["schema", "complete", "runs", "conditions", "contrasts", "strengths", "judges", "failures"]
    counts = "n left_out failed needs_judge variants_left_out"
    numbers = f"{counts} delta ci95 p p_adjusted method note scale raw_delta"
    assert list(read["contrasts"][0]["by"]["grade"]["10"]) == numbers.split()
    cell = (
        "n score ci95 chance corrected corrected_ci95 uncorrected unread failed unscored needs_judge bound method note"
    )
    assert list(read["conditions"][0]["by"]["grade"]["10"]) == cell.split()
    counts = "ok unparsed refused truncated failed unscored needs_judge bound method note by"
    chance = "chance corrected corrected_ci95 uncorrected unread"
    assert list(read["conditions"][0]) == f"run model set factors n score ci95 {chance} {counts}".split()


def test_no_run_and_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run is given"):
        report()
    with pytest.raises(InputError, match=r"no run\.json in it"):
        report(tmp_path)
