"""What lay beside questions: breakdowns by it, answers that leak, and what was spent on elaborating."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tables.making_runs import answer, answers, csv_rows, printed, write_run

from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.record import Condition, ContextInfo, Contrast, Record, Reply, Usage
from mmdyn.tables import Breakdown, Summary, summarise, write_csv
from mmdyn.tables.contexts import leaks_of
from mmdyn.tables.summary_rows import ConditionRow
from mmdyn.work import EXPANSION, Expansion, Store

NONE, GOLD, RETRIEVED = Condition(), Condition(context="kprag"), Condition(context="kprag:retrieved")
MIXED, HINT = Condition(context="kprag:mixed"), Condition(context="hint:all")


def built(points: int, own: int = 0, hits: int = 0, *, leaks: bool = False) -> ContextInfo:
    return ContextInfo(tuple(f"p{place}" for place in range(points)), own, hits, leaks)


def beside(condition: Condition, *each: ContextInfo | None, value: float = 1.0, **more: Any) -> list[Record]:
    """A record for each parent q0, q1, … with what lay there."""
    return [answer(f"q{n}", value, condition, beside=one, **more) for n, one in enumerate(each)]


def counts(row: ConditionRow, name: str) -> dict[str, int]:
    return {value: cell.n for value, cell in row.by[name].items()}


def pairs(row: Contrast, name: str) -> dict[str, tuple[object, object, object]]:
    return {value: (cell["n"], cell["left_out"], cell["delta"]) for value, cell in row.by[name].items()}


def summary_of(folder: Path, records: Iterable[Record], *by: str) -> Summary:
    return summarise([write_run(folder / "run", records)], by=by)


def test_a_condition_is_broken_down_by_what_lay_there(tmp_path: Path) -> None:
    fields = {"difficulty": "hard"}
    records = [
        *beside(NONE, None, None, None, None, fields=fields),
        *beside(RETRIEVED, built(3, 2, 2), built(3, 2, 1), built(2, 1, 0), built(11), fields=fields),
        *beside(HINT, built(3, 2), fields=fields),
    ]
    none, retrieved, hint = summary_of(tmp_path, records, "retrieval", "difficulty", "knowledge_count").conditions
    assert list(none.by) == ["retrieval", "difficulty", "knowledge_count"]
    assert counts(none, "retrieval") == counts(none, "knowledge_count") == {"(not given)": 4}
    assert counts(retrieved, "retrieval") == {"(not given)": 1, "hit": 1, "miss": 1, "part": 1}
    assert list(counts(retrieved, "knowledge_count").items()) == [("2", 1), ("3", 2), ("11", 1)]
    assert counts(retrieved, "difficulty") == {"hard": 4}
    assert counts(hint, "retrieval") == counts(hint, "knowledge_count") == {"(not given)": 1}


@pytest.mark.parametrize("condition", [GOLD, MIXED, Condition(context="distractor")])
def test_own_points_that_were_laid_there_were_not_found(tmp_path: Path, condition: Condition) -> None:
    (row,) = summary_of(tmp_path, beside(condition, built(2, 2, 2)), "retrieval").conditions
    assert counts(row, "retrieval") == {"(not given)": 1}
    assert Breakdown(["retrieval"]).of(*beside(condition, built(2, 2, 2))) == ("(not given)",)


def test_values_are_listed_in_reading_order(tmp_path: Path) -> None:
    miss, hit, part = built(10, 2, 0, leaks=True), built(9, 2, 2), built(2, 2, 1)
    records = [
        *beside(NONE, *[None] * 5, value=0.0),
        *beside(RETRIEVED, miss, part, hit, built(1), hit),
        *beside(RETRIEVED, miss, part, hit, built(1), miss, epoch=1),
    ]
    summary = summary_of(tmp_path, records, "retrieval", "answer_leak", "knowledge_count")
    for row in (summary.conditions[1], summary.contrasts[0]):
        assert list(row.by["retrieval"]) == ["hit", "part", "miss", "varies", "(not given)"]
        assert list(row.by["answer_leak"]) == ["no", "in part", "yes"]
        assert list(row.by["knowledge_count"]) == ["1", "2", "9", "10", "varies"]


def test_draws_that_found_different_points_are_a_cell_of_their_own(tmp_path: Path) -> None:
    none, found = Condition("dynamic", "blur"), Condition("dynamic", "blur", "kprag:retrieved")
    hit, part, miss = built(3, 2, 2), built(3, 2, 1), built(3, 2, 0)
    records = [
        *(answer(f"q{n}", float(n == 0), none, draw=draw) for n in range(4) for draw in (0, 1)),
        *beside(found, hit, hit, miss, part),
        *beside(found, hit, part, miss, miss, value=0.0, draw=1),
    ]
    (row,) = summary_of(tmp_path, records, "retrieval").contrasts
    assert (row.a, row.b, row.held["chain"], row.n, row.delta) == ("none", "kprag:retrieved", "blur", 4, 0.25)
    assert pairs(row, "retrieval") == {"hit": (1, 0, -0.5), "miss": (1, 0, 0.5), "varies": (2, 0, 0.5)}


def test_draws_and_chains_that_differ_are_said_to(tmp_path: Path) -> None:
    one, other = (Condition("dynamic", chain, "kprag:retrieved") for chain in ("blur", "pad"))
    hit, miss = built(2, 1, 1, leaks=True), built(3, 1, 0)
    records = [*beside(one, hit, miss, hit), *beside(one, hit, miss, miss, draw=1), *beside(other, hit, hit, hit)]
    blur, pad, pooled = summary_of(tmp_path, records, "answer_leak", "retrieval", "knowledge_count").conditions
    assert counts(blur, "answer_leak") == {"in part": 1, "no": 1, "yes": 1}
    assert counts(blur, "retrieval") == {"hit": 1, "miss": 1, "varies": 1}
    assert counts(blur, "knowledge_count") == {"2": 1, "3": 1, "varies": 1}
    assert counts(pad, "answer_leak") == {"yes": 3}
    assert counts(pooled, "answer_leak") == {"in part": 2, "yes": 1}
    assert counts(pooled, "knowledge_count") == {"2": 1, "varies": 2}


def test_what_never_got_an_answer_is_counted_where_it_belongs(tmp_path: Path) -> None:
    records = [*beside(RETRIEVED, built(1, 1, 1)), answer("q1", None, RETRIEVED, error="gone", beside=built(1, 1, 0))]
    (row,) = summary_of(tmp_path, records, "retrieval").conditions
    found = {value: (cell.n, cell.failed) for value, cell in row.by["retrieval"].items()}
    assert found == {"hit": (1, 0), "miss": (0, 1)}


def test_a_contrast_takes_it_from_the_side_that_has_it(tmp_path: Path) -> None:
    records = [
        *beside(NONE, None, None, None, value=0.0),
        *beside(RETRIEVED, built(2, 1, 1), built(3, 1, 0)),
        *beside(GOLD, built(4, 1, 1), built(5, 1, 1)),
    ]
    by = {f"{row.a} {row.b}": row for row in summary_of(tmp_path, records, "retrieval", "knowledge_count").contrasts}
    assert list(by) == ["none kprag:retrieved", "none kprag", "kprag:retrieved kprag"]
    first, second, third = by.values()
    assert pairs(first, "retrieval") == {"(not given)": (0, 1, None), "hit": (1, 0, 1.0), "miss": (1, 0, 1.0)}
    assert pairs(second, "retrieval") == {"(not given)": (2, 1, 1.0)}
    assert pairs(third, "retrieval") == {"hit": (1, 0, 0.0), "miss": (1, 0, 0.0)}
    assert pairs(third, "knowledge_count") == {"4": (1, 0, 0.0), "5": (1, 0, 0.0)}


def test_a_contrast_leaks_where_either_side_does(tmp_path: Path) -> None:
    yes, no = built(1, leaks=True), built(1)
    records = [*beside(RETRIEVED, yes, yes, no, no), *beside(GOLD, yes, no, yes, no)]
    (found,) = summary_of(tmp_path, records).contrasts
    assert {value: cell["n"] for value, cell in found.by["answer_leak"].items()} == {"no": 1, "yes": 3}
    assert leaks_of(found) == 3


def test_what_leaks_in_part_is_left_out_too(tmp_path: Path) -> None:
    half = [*beside(GOLD, built(1, leaks=True), built(1)), *beside(GOLD, built(1), built(1), epoch=1)]
    (found,) = summary_of(tmp_path, [*beside(RETRIEVED, built(1), built(1)), *half]).contrasts
    assert {value: cell["n"] for value, cell in found.by["answer_leak"].items()} == {"in part": 1, "no": 1}
    assert leaks_of(found) == 1


def leaking(count: int = 12) -> list[Record]:
    """Gold points help in all of 12 questions, of which four have the answer beside them, and distractors in none."""
    parents = range(count)
    return [
        *(answer(f"q{n}", 0.0) for n in parents),
        *(answer(f"q{n}", 0.0, Condition(context="distractor"), beside=built(1)) for n in parents),
        *(answer(f"q{n}", float(n < 9), GOLD, beside=built(1, leaks=n < 4)) for n in parents),
    ]


def test_leaks_are_told_without_being_asked_for(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, leaking())
    distractor, gold, between = summary.contrasts
    assert distractor.by == {} and [row.by for row in summary.conditions] == [{}, {}, {}]
    assert pairs(gold, "answer_leak") == pairs(between, "answer_leak") == {"no": (8, 0, 0.625), "yes": (4, 0, 1.0)}
    assert (gold.n, gold.delta) == (12, 0.75)
    write_csv(summary, tmp_path / "out.csv")
    names = ("a", "b", "value", "n", "estimate")
    assert [" ".join(row[name] for name in names) for row in csv_rows(tmp_path / "out.csv") if row["by"]] == [
        "none kprag no 8 0.625", "none kprag yes 4 1.0", "distractor kprag no 8 0.625", "distractor kprag yes 4 1.0"
    ]  # fmt: skip


def test_the_contrast_is_printed_with_and_without_the_leaks(tmp_path: Path) -> None:
    lines = printed(summary_of(tmp_path, leaking()))
    place = next(n for n, line in enumerate(lines) if line.startswith("Contrasts without the questions whose context"))
    assert lines[place + 2] == "contrast all leaks without adj. p n method"
    assert lines[place + 4] == "none → kprag +75.0 [+32.6, +91.1] 4 +62.5 [+9.8, +86.3] 0.12 8 1"
    assert lines[place + 5].startswith("distractor → kprag +75.0 [")
    assert not any(line.startswith("Contrasts by") for line in lines)


def test_leaks_that_are_asked_for_are_printed_once(tmp_path: Path) -> None:
    lines = printed(summary_of(tmp_path, leaking(), "answer_leak"))
    assert [line.split(";")[0] for line in lines if line.startswith("Contrasts ")][1:] == ["Contrasts by answer_leak"]


def test_of_many_chains_leaks_are_printed_for_all_together(tmp_path: Path) -> None:
    chains = [Condition(), Condition("dynamic", "blur"), Condition("dynamic", "pad")]
    gold = [msgspec.structs.replace(chain, context="kprag") for chain in chains]
    records = [
        *(record for chain in chains for record in beside(chain, None, None, value=0.0)),
        *(record for chain in gold for record in beside(chain, built(1, leaks=True), built(1))),
    ]
    summary = summary_of(tmp_path / "two", records)
    leaking = [row.held["chain"] for row in summary.contrasts if "answer_leak" in row.by]
    assert leaking == ["", "blur", "pad", "all"], "JSON keeps each"
    assert leaks_printed(summary) == ["none → kprag (standard, direct)", "none → kprag (dynamic all)"]
    one = summary_of(tmp_path / "one", [record for record in records if record.condition.chain != "pad"])
    assert leaks_printed(one) == ["none → kprag (standard, direct)", "none → kprag (dynamic blur)"]


def leaks_printed(summary: Summary) -> list[str]:
    """The contrasts in the table of leaks."""
    lines = printed(summary)
    place = next(n for n, line in enumerate(lines) if line.startswith("Contrasts without"))
    rows = lines[place + 4 : lines.index("", place + 4)]
    return [row.partition(")")[0] + ")" for row in rows]


def test_where_all_leak_nothing_is_left(tmp_path: Path) -> None:
    records = [*answers("00"), *(answer(f"s{n:02}", 1.0, GOLD, beside=built(1, leaks=True)) for n in range(2))]
    lines = printed(summary_of(tmp_path, records))
    (line,) = (line for line in lines if line.endswith(" 2 - - 0 1"))
    assert line.startswith("none → kprag (standard, direct) +100.0 [")


def test_without_leaks_nothing_is_added(tmp_path: Path) -> None:
    gold = [answer(f"s{n:02}", 1.0, GOLD, beside=built(1)) for n in range(4)]
    summary = summary_of(tmp_path, [*answers("0101"), *gold])
    assert [row.by for row in summary.contrasts] == [{}]
    assert not any("holds the answer" in line for line in printed(summary))


def test_what_leaks_on_both_sides_of_another_contrast_is_not_told_unasked(tmp_path: Path) -> None:
    dynamic = Condition("dynamic", "pad", "kprag")
    records = [*beside(GOLD, built(1, leaks=True)), *beside(dynamic, built(1, leaks=True))]
    assert [row.by for row in summary_of(tmp_path / "a", records).contrasts] == [{}]
    (asked,) = summary_of(tmp_path / "b", records, "answer_leak").contrasts
    assert pairs(asked, "answer_leak") == {"yes": (1, 0, 0.0)}


def test_the_names_are_known_only_where_something_lay_beside(tmp_path: Path) -> None:
    known = "answer_leak, knowledge_count, language, retrieval, task_type"
    with pytest.raises(UserError, match=rf"'retrieva' \(did you mean 'retrieval'\?\): break down by {known}"):
        summary_of(tmp_path / "a", beside(GOLD, built(1)), "retrieva")
    with pytest.raises(UserError, match="no record has a field 'retrieval': break down by language, task_type"):
        summary_of(tmp_path / "b", answers("10"), "retrieval")


def test_a_field_of_the_same_name_counts_where_nothing_lay_beside(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, answers("10", fields={"retrieval": "easy"}), "retrieval")
    (row,) = summary.conditions
    assert counts(row, "retrieval") == {"easy": 2}
    assert not any(line.startswith(("Contexts", "retrieval:")) for line in printed(summary)), "it is the set's own"


def test_other_reports_break_down_by_it_too(tmp_path: Path) -> None:
    breakdown = Breakdown(["answer_leak", "retrieval", "knowledge_count", "context"])
    (record,) = beside(RETRIEVED, built(3, 2, 1, leaks=True))
    assert breakdown.of(record) == ("yes", "part", "3", "kprag:retrieved")
    assert breakdown.of(answer("q1", 1.0)) == ("(not given)", "(not given)", "(not given)", "none")
    breakdown.check()


def test_a_breakdown_shows_only_conditions_that_it_says_something_of(tmp_path: Path) -> None:
    records = [*beside(NONE, None, value=0.0), *beside(RETRIEVED, built(2, 1, 1)), *beside(GOLD, built(1))]
    lines = printed(summary_of(tmp_path, records, "retrieval"))
    assert "retrieval: of the question's own points all (hit), some (part) or none (miss) were looked up." in lines
    start = lines.index("Scores by retrieval (m1, exam)")
    assert lines[start + 4 : start + 6] == ["standard, kprag:retrieved", "hit 100.0 [20.7, 100.0] 1 0 1"]
    assert lines[start + 6] == ""


def test_what_a_model_wrote_first_is_counted_as_spent(tmp_path: Path) -> None:
    reply = Reply("A", usage=Usage(100, 10), cost=0.5, currency="USD")
    record = msgspec.structs.replace(answer("q0", 1.0, Condition(context="kprag:two-turn")), reply=reply, expansion="e")
    run = write_run(tmp_path / "run", [record])
    first = Reply("It floats.", usage=Usage(1000, 200), cost=0.25, currency="USD")
    with Store(run.records_folder) as store:
        store.put(EXPANSION, "e", canonical(Expansion("m1", first)))
    (state,) = summarise([run]).runs
    (spent,) = state.spending
    assert (spent.replies, spent.prompt_tokens, spent.completion_tokens, spent.cost) == (2, 1100, 210, {"USD": 0.75})
