"""The default report of small runs, computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from tables.making_runs import DYNAMIC, SETS, answer, answers, change, changes, score, scores, write_run

from mmdyn.data import ChainStrength
from mmdyn.data.strength import Role
from mmdyn.errors import InputError, UserError
from mmdyn.record import Condition
from mmdyn.stats import wilson
from mmdyn.tables import changes_of, main_changes, report, scores_of

KPRAG, SHUFFLE = Condition(context="kprag"), Condition("dynamic", "shuffle")


def test_a_tiny_run_by_hand(tmp_path: Path) -> None:
    found = report(write_run(tmp_path / "run", [*answers("1111111100"), *answers("110001ur0x", DYNAMIC)]))
    standard, dynamic = scores(found)
    assert found.complete
    assert (standard.n, standard.value, standard.ci95) == (10, 0.8, (0.490162, 0.943318))
    place = {"model": "m1", "set": "exam", "variant": "dynamic", "chain": "pad", "context": "none", "style": "direct"}
    assert list(standard.factors.items()) == [*(place | {"variant": "standard", "chain": "(not given)"}).items()]
    assert (dynamic.factors, dynamic.n, dynamic.value) == (place, 9, 0.333333)
    assert (dynamic.answers, dynamic.unparsed, dynamic.refused, dynamic.failed, dynamic.unscored) == (9, 1, 1, 1, 0)
    assert score(found, "unread").value == 0.222222
    # Over s00 to s08 five went from right to wrong (s02, s03, s04, s06, s07) and none came back; s09 failed.
    row = change(found)
    shared = {"chain": "pad", "context": "none", "style": "direct"}
    sides = {"model": "m1", "set": "exam", "factor": "variant", "a": "standard", "b": "dynamic"}
    assert list(row.factors.items()) == [*(sides | shared).items()]
    assert (row.n, row.left_out, row.failed, row.unparsed, row.refused) == (9, 1, 1, 1, 1)
    assert (row.value, row.unit, row.p, row.p_adjusted) == (-0.555556, "points", 0.03125, 0.03125)
    assert (row.ci95, row.method, row.scale) == ((-0.811221, -0.090219), "Tango; mid-p McNemar", "raw")
    assert [change(found, side).value for side in "ab"] == [0.888889, 0.333333]
    assert changes(found, "raw difference") == [], "it is the difference"


def test_draws_and_epochs_do_not_inflate_n(tmp_path: Path) -> None:
    once = [*answers("1111100000"), *answers("1100000000", DYNAMIC)]
    more = [*once, *answers("1100000000", DYNAMIC, draw=1), *answers("1100000000", DYNAMIC, draw=2)]
    more += [*answers("1111100000", epoch=1), *answers("1100000000", DYNAMIC, epoch=1)]
    single, several = report(write_run(tmp_path / "a", once)), report(write_run(tmp_path / "b", more))
    for one, other in zip(scores(single), scores(several), strict=True):
        assert one.ci95 == other.ci95 and other.n == 10
    assert score(several, chain="pad").answers == 40
    one, other = change(single), change(several)
    assert (one.value, one.ci95, one.p, one.n) == (other.value, other.ci95, other.p, other.n)


def test_a_parents_draws_are_averaged_first(tmp_path: Path) -> None:
    """One that failed is left out and the others count."""
    records = [answer("p", 1.0, DYNAMIC), answer("p", 0.0, DYNAMIC, draw=1), answer("q", 1.0, DYNAMIC, language="zh")]
    records += [answer("q", None, DYNAMIC, draw=1, error="timed out")]
    found = score(report(write_run(tmp_path / "run", records)))
    assert (found.n, found.value, found.failed) == (2, 0.75, 1)
    assert found.method == "Wilson at effective n (graded)"


def test_a_judge_that_failed_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    records = [answer("p", None, status="failed", rule="the judge did not answer"), answer("q", 1.0)]
    found = report(write_run(tmp_path / "run", records))
    assert (score(found).n, score(found).failed, found.failed) == (1, 1, 1)
    assert [failure.reason for failure in found.failures] == ["the judge did not answer"]


def test_groups_widen_the_interval(tmp_path: Path) -> None:
    grouped = [answer(f"s{n:02}", float(mark), group=f"g{n // 4}") for n, mark in enumerate("1111000011110000")]
    together = score(report(write_run(tmp_path / "run", grouped)))
    assert together.value == 0.5 and together.ci95 == pytest.approx(wilson(0.5, 4), abs=1e-6)


def test_several_chains_also_give_a_row_over_all_of_them(tmp_path: Path) -> None:
    """Over all chains each weighs the same, however many questions have it."""
    records = [*answers("1111"), *answers("1100", DYNAMIC), *answers("1", SHUFFLE)]
    found = report(write_run(tmp_path / "run", records))
    assert [(row.factors["chain"], row.value, row.n, row.answers) for row in scores(found)] == [
        ("(not given)", 1.0, 4, 4), ("pad", 0.5, 4, 4), ("shuffle", 1.0, 1, 1), ("all", 0.75, 4, 5)
    ]  # fmt: skip
    assert [(row.factors["chain"], row.value, row.left_out) for row in changes(found)] == [
        ("pad", -0.5, 0), ("shuffle", 0.0, 3), ("all", -0.25, 0)
    ]  # fmt: skip


def test_a_chain_of_few_questions_is_not_in_the_row_over_all(tmp_path: Path) -> None:
    """Fewer than ten, where another chain has as many."""
    blur = Condition("dynamic", "blur")
    for few, pooled in ((9, 0.8), (10, 1.6 / 3)):
        records = [*answers("1" * 10), *answers("1" * 8 + "00", DYNAMIC), *answers("1" * 8 + "00", SHUFFLE)]
        found = report(write_run(tmp_path / str(few), [*records, *answers("0" * few, blur)]))
        assert score(found, chain="all").value == pytest.approx(pooled, abs=1e-6)
        assert (score(found, chain="blur").value, score(found, chain="blur").n) == (0.0, few)


def test_a_chain_that_is_no_treatment_is_not_in_the_row_over_all(tmp_path: Path) -> None:
    roles: dict[str, Role] = {"pad": "treatment", "shuffle": "treatment", "image.null": "null", "blur@1": "dose"}
    strength = {chain: ChainStrength(4, 0.1, role=role) for chain, role in roles.items()}
    records = [
        record
        for place, chain in enumerate(roles)
        for record in answers("1" * place + "0" * (4 - place), Condition("dynamic", chain))
    ]
    sets = (SETS[0], replace(SETS[1], strength=strength))
    found = report(write_run(tmp_path / "run", [*answers("1111"), *records], sets=sets))
    assert {row.factors["chain"]: row.value for row in scores(found)} == {
        "(not given)": 1.0, "pad": 0.0, "shuffle": 0.25, "image.null": 0.5, "blur@1": 0.75, "all": 0.125
    }  # fmt: skip
    assert change(found, chain="all").value == -0.875


def test_what_was_not_read_stands_beside_a_change(tmp_path: Path) -> None:
    """Of ten answers two and three were not read: the change is also told over the six that were read on both sides."""
    found = report(write_run(tmp_path / "run", [*answers("11111111uu"), *answers("11000uu1r1", DYNAMIC)]))
    assert [change(found, f"unread {side}").value for side in "ab"] == [0.2, 0.3]
    row = change(found, "difference where read")
    assert (row.value, row.n, row.p, row.p_adjusted) == (-0.5, 6, None, None) and row.ci95 is not None
    plain = report(write_run(tmp_path / "plain", [*answers("11"), *answers("10", DYNAMIC)]))
    assert [row.quantity for row in plain.rows("contrasts")] == ["a", "b", "difference"]


def test_points_weigh_scores_and_differences(tmp_path: Path) -> None:
    records = [answer("p", 1.0, weight=6.0), answer("q", 0.0, weight=2.0)]
    records += [answer("p", 0.0, DYNAMIC, weight=6.0), answer("q", 1.0, DYNAMIC, weight=2.0)]
    found = report(write_run(tmp_path / "run", records, scorer="exam"))
    assert score(found, variant="standard").value == 0.75
    row = change(found)
    assert (row.value, row.method) == (-0.5, "empirical likelihood (few differ, weighted)")
    assert (row.ci95, row.p) == (None, None)
    assert row.note == "too few to tell: fewer than three independent parents or groups"


def test_parents_of_one_condition_only_are_left_out_and_counted(tmp_path: Path) -> None:
    row = change(report(write_run(tmp_path / "run", [*answers("1111.x"), *answers("11..11", DYNAMIC)])))
    # Pairs: s00, s01. Left out: s02 and s03 (not asked as dynamic), s04 (not asked as standard), s05 (failed as standard).
    assert (row.n, row.left_out) == (2, 4)


def test_no_pair_gives_no_number_and_says_why(tmp_path: Path) -> None:
    records = [*answers("11.."), *answers("..11", DYNAMIC), *answers("xx", KPRAG)]
    found = report(write_run(tmp_path / "run", records))
    row = change(found, factor="variant")
    assert (row.n, row.left_out, row.note) == (0, 4, "no question was answered under both")
    assert (row.value, row.ci95, row.p, row.p_adjusted) == (None, None, None, None)
    assert {change(found, side, factor="variant").value for side in "ab"} == {None}
    failed = score(found, context="kprag")
    assert (failed.n, failed.value, failed.ci95, failed.failed) == (0, None, None, 2)
    assert failed.note == "no answer has score"


@pytest.mark.parametrize(("planned", "complete"), [(11, False), (10, True)])
def test_a_half_finished_run_says_so(tmp_path: Path, planned: int, complete: bool) -> None:
    found = report(write_run(tmp_path / "run", answers("111111110x"), planned=planned))
    assert found.complete is complete
    assert (found.runs[0].asked, found.runs[0].planned, found.runs[0].failed) == (10, planned, 1)


def test_answers_that_are_not_scored_yet_are_counted_apart(tmp_path: Path) -> None:
    records = [*answers("110"), answer("s03", 1.0, scored=False), *answers("1111", DYNAMIC)]
    found = report(write_run(tmp_path / "run", records))
    standard = score(found, variant="standard")
    assert not found.complete
    assert (standard.n, standard.unscored, found.runs[0].unscored) == (3, 1, 1)
    assert (change(found).left_out, change(found).unscored) == (1, 1)


def test_an_empty_run_is_reported(tmp_path: Path) -> None:
    found = report(write_run(tmp_path / "run", [], sets=SETS[:1]))
    assert found.complete and [row for part in found.parts for row in part.rows] == []


def test_equal_ids_of_two_sets_stay_apart(tmp_path: Path) -> None:
    records = [*answers("11"), *answers("00", set="other", group="g")]
    found = scores(report(write_run(tmp_path / "run", records)))
    assert [(row.factors["set"], row.value) for row in found] == [("exam", 1.0), ("other", 0.0)]
    assert found[0].method == "Wilson"


@pytest.mark.parametrize(("changes", "problem"), [
    ({"value": 1.5}, "sample p has the score 1.5: a scorer must give 0 to 1"),
    ({"value": None}, "sample p has the score None: a scorer must give 0 to 1"),
    ({"value": 1.0, "weight": -2.0}, "sample p weighs -2.0: a weight must be positive"),
])  # fmt: skip
def test_a_score_out_of_range_is_refused(tmp_path: Path, changes: dict[str, float | None], problem: str) -> None:
    run = write_run(tmp_path / "run", [answer("p", **changes)])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=problem):
        report(run)


def test_the_json_is_as_designed_and_the_same_every_time(tmp_path: Path) -> None:
    records = [*answers("1111111100", fields={"grade": 10}), *answers("110001ur0x", DYNAMIC, fields={"grade": 10})]
    first = report(write_run(tmp_path / "a" / "run", records).folder, by=["grade"]).to_json()
    assert first == report(write_run(tmp_path / "b" / "run", reversed(records)), by=["grade"]).to_json()
    read = json.loads(first)
    assert list(read) == ["schema", "title", "complete", "failed", "runs", "failures", "parts"]
    assert read["schema"] == 1, "counted up when what there was means something else, or is gone"
    tables = [(part["kind"], part["by"]) for part in read["parts"]]
    assert tables[:4] == [("scores", ""), ("scores", "grade"), ("contrasts", ""), ("contrasts", "grade")]
    assert list(read["parts"][0]) == ["kind", "title", "across", "rows", "notes", "columns", "by"]
    counts = "n left_out variants_left_out not_applicable rejected doubtful answers unparsed refused truncated failed unscored needs_judge"
    texts = "p p_adjusted judged at_most chains over_read scale differs mark method note paper paper_model"
    assert list(read["parts"][3]["rows"][0]) == f"factors quantity unit value ci95 {counts} {texts}".split()


def test_pages_read_conditions_and_changes_whole(tmp_path: Path) -> None:
    """Every condition, and every contrast, with all its numbers."""
    records = [
        *answers("1100", chance=0.25),
        *answers("1000", DYNAMIC, chance=0.5),
        *answers("u100", SHUFFLE, chance=0.25),
    ]
    found = report(write_run(tmp_path / "run", [*records, *answers("1111", KPRAG, chance=0.25)]))
    told = scores_of(found.parts)
    assert [one.score for one in told] == scores(found)
    assert [one.chance and one.chance.value for one in told] == [0.25, 0.25, 0.5, 0.25, 0.375]
    assert [one.corrected and one.corrected.value for one in told] == [0.333333, 1.0, -0.5, 0.083333, -0.208333]
    assert [one.unread and one.unread.value for one in told] == [None, None, None, 0.25, 0.125]
    compared = changes_of(found.parts)
    assert [one.difference for one in compared] == changes(found)
    assert [one.a and one.a.value for one in compared] == [one.value for one in changes(found, "a")]
    assert [one.raw and one.raw.value for one in compared] == [-0.25, -0.25, -0.25, 0.5]
    assert [one.is_main for one in compared] == [True, True, True, True]
    (main,) = main_changes(found.parts)
    assert main.factors == change(found, chain="all").factors, "over all chains where there are several"


def test_no_run_and_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run is given"):
        report()
    with pytest.raises(InputError, match=r"no run\.json in it"):
        report(tmp_path)
