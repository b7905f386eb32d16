"""What lay beside questions: breakdowns by it, answers that leak, and what was spent on elaborating."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tables.making_runs import answer, answers, change, changes, scores, write_run

from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.record import Condition, ContextInfo, Record, Reply, Usage
from mmdyn.tables import Breakdown, Report, report
from mmdyn.work import EXPANSION, Expansion, Store

NONE, GOLD, RETRIEVED = Condition(), Condition(context="kprag"), Condition(context="kprag:retrieved")
MIXED, HINT = Condition(context="kprag:mixed"), Condition(context="hint:all")


def built(points: int, own: int = 0, hits: int = 0, *, leaks: bool = False) -> ContextInfo:
    return ContextInfo(tuple(f"p{place}" for place in range(points)), own, hits, leaks)


def beside(condition: Condition, *each: ContextInfo | None, value: float = 1.0, **more: Any) -> list[Record]:
    """A record for each parent q0, q1, … with what lay there."""
    return [answer(f"q{n}", value, condition, beside=one, **more) for n, one in enumerate(each)]


def counts(found: Report, name: str, **factors: str) -> dict[str, int]:
    """How many questions of a condition have each value."""
    return {row.factors[name]: row.n for row in scores(found, by=name, **factors)}


def pairs(found: Report, name: str, **factors: str) -> dict[str, tuple[int, int, float | None]]:
    return {row.factors[name]: (row.n, row.left_out, row.value) for row in changes(found, by=name, **factors)}


def report_of(folder: Path, records: Iterable[Record], *by: str) -> Report:
    return report(write_run(folder / "run", records), by=by)


def test_a_condition_is_broken_down_by_what_lay_there(tmp_path: Path) -> None:
    fields = {"difficulty": "hard"}
    records = [
        *beside(NONE, None, None, None, None, fields=fields),
        *beside(RETRIEVED, built(3, 2, 2), built(3, 2, 1), built(2, 1, 0), built(11), fields=fields),
        *beside(HINT, built(3, 2), fields=fields),
    ]
    found = report_of(tmp_path, records, "retrieval", "difficulty", "knowledge_count")
    broken = ["retrieval", "difficulty", "knowledge_count"]
    assert [(part.kind, part.by) for part in found.parts if part.by and part.rows] == [
        *(("scores", name) for name in broken), *(("contrasts", name) for name in broken)
    ]  # fmt: skip
    for name in ("retrieval", "knowledge_count"):
        assert counts(found, name, context="none") == {"(not given)": 4}
        assert counts(found, name, context="hint:all") == {"(not given)": 1}
    retrieved = {name: counts(found, name, context="kprag:retrieved") for name in broken}
    assert retrieved["retrieval"] == {"(not given)": 1, "hit": 1, "miss": 1, "part": 1}
    assert list(retrieved["knowledge_count"].items()) == [("2", 1), ("3", 2), ("11", 1)]
    assert retrieved["difficulty"] == {"hard": 4}


@pytest.mark.parametrize("condition", [GOLD, MIXED, Condition(context="distractor")])
def test_own_points_that_were_laid_there_were_not_found(tmp_path: Path, condition: Condition) -> None:
    records = beside(condition, built(2, 2, 2))
    assert counts(report_of(tmp_path, records, "retrieval"), "retrieval") == {"(not given)": 1}
    assert Breakdown(["retrieval"]).of(*records) == ("(not given)",)


def test_values_are_listed_in_reading_order(tmp_path: Path) -> None:
    miss, hit, part = built(10, 2, 0, leaks=True), built(9, 2, 2), built(2, 2, 1)
    records = [
        *beside(NONE, *[None] * 5, value=0.0),
        *beside(RETRIEVED, miss, part, hit, built(1), hit),
        *beside(RETRIEVED, miss, part, hit, built(1), miss, epoch=1),
    ]
    found = report_of(tmp_path, records, "retrieval", "answer_leak", "knowledge_count")
    orders = {
        "retrieval": ["hit", "part", "miss", "varies", "(not given)"],
        "answer_leak": ["no", "in part", "yes"],
        "knowledge_count": ["1", "2", "9", "10", "varies"],
    }
    for name, order in orders.items():
        assert list(counts(found, name, context="kprag:retrieved")) == list(pairs(found, name)) == order


def test_draws_that_found_different_points_are_a_cell_of_their_own(tmp_path: Path) -> None:
    none, retrieved = Condition("dynamic", "blur"), Condition("dynamic", "blur", "kprag:retrieved")
    hit, part, miss = built(3, 2, 2), built(3, 2, 1), built(3, 2, 0)
    records = [
        *(answer(f"q{n}", float(n == 0), none, draw=draw) for n in range(4) for draw in (0, 1)),
        *beside(retrieved, hit, hit, miss, part),
        *beside(retrieved, hit, part, miss, miss, value=0.0, draw=1),
    ]
    found = report_of(tmp_path, records, "retrieval")
    row = change(found, a="none", b="kprag:retrieved", chain="blur")
    assert (row.n, row.value) == (4, 0.25)
    assert pairs(found, "retrieval") == {"hit": (1, 0, -0.5), "miss": (1, 0, 0.5), "varies": (2, 0, 0.5)}


def test_draws_and_chains_that_differ_are_said_to(tmp_path: Path) -> None:
    one, other = (Condition("dynamic", chain, "kprag:retrieved") for chain in ("blur", "pad"))
    hit, miss = built(2, 1, 1, leaks=True), built(3, 1, 0)
    records = [*beside(one, hit, miss, hit), *beside(one, hit, miss, miss, draw=1), *beside(other, hit, hit, hit)]
    found = report_of(tmp_path, records, "answer_leak", "retrieval", "knowledge_count")
    assert counts(found, "answer_leak", chain="blur") == {"in part": 1, "no": 1, "yes": 1}
    assert counts(found, "retrieval", chain="blur") == {"hit": 1, "miss": 1, "varies": 1}
    assert counts(found, "knowledge_count", chain="blur") == {"2": 1, "3": 1, "varies": 1}
    assert counts(found, "answer_leak", chain="pad") == {"yes": 3}
    assert counts(found, "answer_leak", chain="all") == {"in part": 2, "yes": 1}
    assert counts(found, "knowledge_count", chain="all") == {"2": 1, "varies": 2}


def test_what_never_got_an_answer_is_counted_where_it_belongs(tmp_path: Path) -> None:
    records = [*beside(RETRIEVED, built(1, 1, 1)), answer("q1", None, RETRIEVED, error="gone", beside=built(1, 1, 0))]
    found = scores(report_of(tmp_path, records, "retrieval"), by="retrieval")
    assert {row.factors["retrieval"]: (row.n, row.failed) for row in found} == {"hit": (1, 0), "miss": (0, 1)}


def test_a_contrast_takes_it_from_the_side_that_has_it(tmp_path: Path) -> None:
    records = [
        *beside(NONE, None, None, None, value=0.0),
        *beside(RETRIEVED, built(2, 1, 1), built(3, 1, 0)),
        *beside(GOLD, built(4, 1, 1), built(5, 1, 1)),
    ]
    found = report_of(tmp_path, records, "retrieval", "knowledge_count")
    first, second, third = ((row.factors["a"], row.factors["b"]) for row in changes(found))
    assert (first, second, third) == (("none", "kprag:retrieved"), ("none", "kprag"), ("kprag:retrieved", "kprag"))

    def of(sides: tuple[str, str], name: str) -> dict[str, tuple[int, int, float | None]]:
        return pairs(found, name, a=sides[0], b=sides[1])

    assert of(first, "retrieval") == {"(not given)": (0, 1, None), "hit": (1, 0, 1.0), "miss": (1, 0, 1.0)}
    assert of(second, "retrieval") == {"(not given)": (2, 1, 1.0)}
    assert of(third, "retrieval") == {"hit": (1, 0, 0.0), "miss": (1, 0, 0.0)}
    assert of(third, "knowledge_count") == {"4": (1, 0, 0.0), "5": (1, 0, 0.0)}


def test_a_contrast_leaks_where_either_side_does(tmp_path: Path) -> None:
    yes, no = built(1, leaks=True), built(1)
    records = [*beside(RETRIEVED, yes, yes, no, no), *beside(GOLD, yes, no, yes, no)]
    assert pairs(report_of(tmp_path, records), "answer_leak") == {"no": (1, 0, 0.0), "yes": (3, 0, 0.0)}


def test_what_leaks_in_part_is_told_apart(tmp_path: Path) -> None:
    half = [*beside(GOLD, built(1, leaks=True), built(1)), *beside(GOLD, built(1), built(1), epoch=1)]
    found = report_of(tmp_path, [*beside(RETRIEVED, built(1), built(1)), *half])
    assert pairs(found, "answer_leak") == {"no": (1, 0, 0.0), "in part": (1, 0, 0.0)}


def test_leaks_are_told_without_being_asked_for(tmp_path: Path) -> None:
    """Gold points help in 9 of 12 questions, of which four have the answer beside them, and distractors in none."""
    parents = range(12)
    records = [
        *(answer(f"q{n}", 0.0) for n in parents),
        *(answer(f"q{n}", 0.0, Condition(context="distractor"), beside=built(1)) for n in parents),
        *(answer(f"q{n}", float(n < 9), GOLD, beside=built(1, leaks=n < 4)) for n in parents),
    ]
    found = report_of(tmp_path, records)
    assert pairs(found, "answer_leak", b="distractor") == {}
    told = {"no": (8, 0, 0.625), "yes": (4, 0, 1.0)}
    assert pairs(found, "answer_leak", a="none", b="kprag") == told
    assert pairs(found, "answer_leak", a="distractor", b="kprag") == told
    assert scores(found, by="answer_leak") == [] and [part.by for part in found.parts if part.by] == ["answer_leak"]
    assert (change(found, a="none", b="kprag").n, change(found, a="none", b="kprag").value) == (12, 0.75)
    without = change(found, by="answer_leak", a="none", b="kprag", answer_leak="no")
    assert (without.p, without.ci95) == (0.03125, change(report_of(tmp_path / "x", records[4:12] + records[28:])).ci95)
    asked = report_of(tmp_path / "asked", records, "answer_leak")
    assert [part.kind for part in asked.parts if part.by] == ["scores", "contrasts"], (
        "those that are asked for are told once"
    )


def test_of_many_chains_each_says_whether_it_leaks(tmp_path: Path) -> None:
    chains = [Condition(), Condition("dynamic", "blur"), Condition("dynamic", "pad")]
    gold = [msgspec.structs.replace(chain, context="kprag") for chain in chains]
    records = [
        *(record for chain in chains for record in beside(chain, None, None, value=0.0)),
        *(record for chain in gold for record in beside(chain, built(1, leaks=True), built(1))),
    ]
    rows = changes(report_of(tmp_path, records), by="answer_leak")
    leaking = dict.fromkeys(row.factors["chain"] for row in rows)
    assert list(leaking) == ["(not given)", "blur", "pad", "all"]


def test_without_leaks_nothing_is_added(tmp_path: Path) -> None:
    gold = [answer(f"s{n:02}", 1.0, GOLD, beside=built(1)) for n in range(4)]
    assert changes(report_of(tmp_path, [*answers("0101"), *gold]), by="answer_leak") == []


def test_what_leaks_on_both_sides_of_another_contrast_is_not_told_unasked(tmp_path: Path) -> None:
    dynamic = Condition("dynamic", "pad", "kprag")
    records = [*beside(GOLD, built(1, leaks=True)), *beside(dynamic, built(1, leaks=True))]
    assert pairs(report_of(tmp_path / "a", records), "answer_leak") == {}
    assert pairs(report_of(tmp_path / "b", records, "answer_leak"), "answer_leak") == {"yes": (1, 0, 0.0)}


def test_the_names_are_known_only_where_something_lay_beside(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'retrieva' \(did you mean 'retrieval'\?\): break down by .*knowledge_count,"):
        report_of(tmp_path / "a", beside(GOLD, built(1)), "retrieva")
    with pytest.raises(UserError, match=r"no record has a field 'retrieval': break down by ((?!knowledge_count).)*$"):
        report_of(tmp_path / "b", answers("10"), "retrieval")


def test_a_field_of_the_same_name_counts_where_nothing_lay_beside(tmp_path: Path) -> None:
    found = report_of(tmp_path, answers("10", fields={"retrieval": "easy"}), "retrieval")
    assert counts(found, "retrieval") == {"easy": 2}


def test_other_reports_break_down_by_it_too(tmp_path: Path) -> None:
    breakdown = Breakdown(["answer_leak", "retrieval", "knowledge_count", "context"])
    (record,) = beside(RETRIEVED, built(3, 2, 1, leaks=True))
    assert breakdown.of(record) == ("yes", "part", "3", "kprag:retrieved")
    assert breakdown.of(answer("q1", 1.0)) == ("(not given)", "(not given)", "(not given)", "none")
    breakdown.check()


def test_what_a_model_wrote_first_is_counted_as_spent(tmp_path: Path) -> None:
    reply = Reply("A", usage=Usage(100, 10), cost=0.5, currency="USD")
    record = msgspec.structs.replace(answer("q0", 1.0, Condition(context="kprag:two-turn")), reply=reply, expansion="e")
    run = write_run(tmp_path / "run", [record])
    first = Reply("It floats.", usage=Usage(1000, 200), cost=0.25, currency="USD")
    with Store(run.records_folder) as store:
        store.put(EXPANSION, "e", canonical(Expansion("m1", first)))
    (state,) = report(run).runs
    (spent,) = state.spending
    assert (spent.replies, spent.prompt_tokens, spent.completion_tokens, spent.cost) == (2, 1100, 210, {"USD": 0.75})
