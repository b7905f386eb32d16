"""AcadReason's tables: its numbers from its counts, checklist items pooled, hints, and answers that no judge saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from tables.making_runs import answer, write_run
from tables.paper_numbers import percent, published, row, told

from making import open_ended
from mmdyn.keys import canonical
from mmdyn.record import Condition, Judgement
from mmdyn.work import JudgeEntry, RunFolder, Store, judged_kind

ITEMS = {"computer science": 111, "math": 107, "economics": 76, "philosophy": 53, "law": 48}
DOMAINS = tuple(ITEMS)
KIND = "mdk12@1+all(aaaa)"
JUDGE = JudgeEntry("judge", "aaaa", {"rubrics": {"checklist": 1, "match": 1}})


class Judged(NamedTuple):
    """An answer: whether it meets the golden one, how many items it meets, and of how many. seen: a judge was asked."""

    domain: str
    passes: bool
    met: int
    items: int
    seen: bool = True


def judged_run(folder: Path, asked: Mapping[tuple[str, str], Sequence[Judged]], judge: JudgeEntry = JUDGE) -> RunFolder:
    """A run whose answers, by model and context, were judged by the checklists. Question n of one is n of all."""
    records, judgements, samples = [], {}, {}
    for (model, context), given in asked.items():
        for place, (domain, passes, met, items, seen) in enumerate(given):
            checklist = tuple(f"says {number}" for number in range(items))
            sample = samples.setdefault(place, replace(open_ended(f"q{place:03}"), checklist=checklist))
            made = answer(sample.id, float(passes), Condition(context=context), model=model, sample=sample, task_type="open_ended", parent_type="open_ended", fields={"discipline": domain}, status="ok" if seen else "unparsed")  # fmt: skip
            records.append(made)
            if seen:
                judgements[made.key] = Judgement(
                    float(passes), (float(passes),), items=tuple(n < met for n in range(items))
                )
    run = write_run(
        folder, records, samples=samples.values(), keep_samples=False, scorer=KIND, judges=(judge,), judge_mode="all"
    )
    with Store(run.records_folder) as store:
        for key, judgement in judgements.items():
            store.put(judged_kind(JUDGE.id), key, canonical(judgement))
    return run


def domain(name: str, passed: int, met: int) -> list[Judged]:
    """Ten questions with all items of a domain of the paper; the first ones pass, and items are met one after the
    other."""
    sizes = [ITEMS[name] // 10 + (place < ITEMS[name] % 10) for place in range(10)]
    found = list[Judged]()
    for place, size in enumerate(sizes):
        found.append(Judged(name, place < passed, min(met, size), size))
        met -= found[-1].met
    return found


GPT_5 = {"computer science": (0, 15), "economics": (2, 35), "law": (4, 25), "math": (0, 55), "philosophy": (2, 30)}
"""Table 1 of the paper: questions that pass, of 10, and items that are met."""


def test_from_the_papers_counts_the_papers_numbers_come_out(tmp_path: Path) -> None:
    given = [one for name, (passed, met) in GPT_5.items() for one in domain(name, passed, met)]
    assert (len(given), sum(one.met for one in given), sum(one.items for one in given)) == (50, 160, 395)
    found = told("acadreason.table1", judged_run(tmp_path / "run", {("GPT-5", "none"): given}))
    passed, checklist = (row(found, part, discipline="all") for part in (0, 1))
    assert (percent(passed.value, 1), percent(checklist.value, 1)) == (16.0, 40.5)
    assert (passed.paper, checklist.paper, checklist.paper_model) == (0.16, 0.405, "GPT-5")
    for name in DOMAINS:
        for part in (0, 1):
            cell = row(found, part, discipline=name)
            assert percent(cell.value, 1) == percent(cell.paper, 1) and cell.n == 10
    for figure, part in (("figure2", 1), ("figure11", 0)):
        shown = told(f"acadreason.{figure}", RunFolder(tmp_path / "run"))
        assert row(shown, 0, discipline="law").value == row(found, part, discipline="law").value


CONTRADICTIONS = {
    ("table1", "Claude-4-sonnet"), ("table1", "AFM"), ("table1", "WebThinker"), ("table1", "MiroThinker"), ("table1", "WebDancer"),
}  # fmt: skip
"""Lines whose domains are no counts of items, or whose overall score is not that of all 395 items."""


def test_the_papers_tables_agree_with_themselves_but_for_five_lines() -> None:
    wrong = set[tuple[str, str]]()
    for table in ("table1", "table4", "table5", "table6"):
        lines = [line for line in published(f"acadreason.{table}") if line["part"] == "1"]
        for model in dict.fromkeys(line["model"] for line in lines):
            own = {line["discipline"]: float(line["value"]) for line in lines if line["model"] == model}
            met = {name: round(own[name] * n / 100) for name, n in ITEMS.items()}
            cells = any(abs(100 * met[name] / n - own[name]) > 0.0501 for name, n in ITEMS.items())
            if cells or abs(100 * sum(met.values()) / 395 - own["all"]) > 0.0501:
                wrong.add((table, model))
    assert wrong == CONTRADICTIONS


def test_items_are_pooled_over_questions(tmp_path: Path) -> None:
    """1 of 1 and 0 of 9 are 1 of 10, and no mean of 1 and 0."""
    given = [Judged("law", True, 1, 1), Judged("law", False, 0, 9)]
    found = told("acadreason.table1", judged_run(tmp_path / "run", {("m", "none"): given}))
    assert (row(found, 0, discipline="law").value, row(found, 1, discipline="law").value) == (0.5, 0.1)


def test_an_answer_that_no_judge_was_asked_about_meets_nothing(tmp_path: Path) -> None:
    """An empty one, whose five items count; of one that the rules call right the items are not known."""
    given = [Judged("law", True, 5, 5), Judged("law", False, 0, 5, seen=False), Judged("math", True, 0, 4, seen=False)]
    found = told("acadreason.table1", judged_run(tmp_path / "run", {("m", "none"): given}))
    assert (row(found, 0, discipline="law").value, row(found, 1, discipline="law").value) == (0.5, 0.5)
    assert (row(found, 0, discipline="math").value, row(found, 1, discipline="math").value) == (1.0, None)


def test_judges_that_look_at_no_checklist_say_nothing_of_items(tmp_path: Path) -> None:
    given = [Judged("law", True, 0, 0), Judged("law", False, 0, 5, seen=False)]
    run = judged_run(tmp_path / "run", {("m", "none"): given}, JudgeEntry("judge", "aaaa", {"rubrics": {"match": 1}}))
    found = told("acadreason.table1", run)
    assert (row(found, 0, discipline="law").value, row(found, 1, discipline="law").value) == (0.5, None)


HINTED = {
    ("m", "none"): [Judged("law", False, 1, 4), Judged("math", False, 0, 4)],
    ("m", "hint:background"): [Judged("law", False, 2, 4), Judged("math", False, 0, 4)],
    ("m", "hint:definition"): [Judged("law", True, 4, 4), Judged("math", False, 0, 4)],
    ("m", "hint:methodology"): [Judged("law", True, 4, 4), Judged("math", False, 2, 4)],
    ("m", "hint:all"): [Judged("law", True, 4, 4), Judged("math", True, 4, 4)],
}


def test_hints(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", HINTED)
    found = told("acadreason.table2", run, "GPT-5")
    contexts = [context for _, context in HINTED]
    assert [percent(row(found, 0, context=context).value) for context in contexts] == [0, 0, 50, 50, 100]
    assert [percent(row(found, 1, context=context).value) for context in contexts] == [12.5, 25, 50, 75, 100]
    assert [percent(row(found, 1, context=context).paper, 1) for context in contexts] == [40.5, 42.5, 50.9, 64.3, 67.8]
    for name, _, law in (
        ("table4", "hint:background", 50),
        ("table5", "hint:definition", 100),
        ("table6", "hint:methodology", 100),
    ):
        each = told(f"acadreason.{name}", run, "o3")
        assert percent(row(each, 1, discipline="law").value) == law
        assert row(each, 1, discipline="all").paper == {"table4": 0.38, "table5": 0.489, "table6": 0.562}[name]


def test_gains_by_hints(tmp_path: Path) -> None:
    """Parts: pass rate and checklist score by the four kinds, of the model, then of each discipline."""
    found = told("acadreason.figure3", judged_run(tmp_path / "run", HINTED))
    assert [percent(row(found, part, "difference").value) for part in range(8)] == [
        0,
        50,
        50,
        100,
        12.5,
        37.5,
        62.5,
        87.5,
    ]
    assert percent(row(found, 14, "difference", discipline="math").value) == 50
    assert percent(row(found, 12, "difference", discipline="law").value) == 25


def test_gains_are_averaged_over_models(tmp_path: Path) -> None:
    more = {("n", "none"): [Judged("law", False, 3, 4)], ("n", "hint:background"): [Judged("law", False, 2, 4)]}
    run = judged_run(tmp_path / "run", {key: given[:1] for key, given in HINTED.items()} | more)
    found = told("acadreason.figure3", run)
    gains = {name: row(found, 4, "difference", model=name).value for name in ("m", "n")}
    assert gains == {"m": 0.25, "n": -0.25} and row(found, 12, "difference", discipline="law").value == 0


@pytest.mark.parametrize("table", ["table1", "table2", "figure2", "figure3", "figure11"])
def test_all_failed(tmp_path: Path, table: str) -> None:
    records = [answer(f"q{n}", None, error="500", fields={"discipline": "law"}) for n in range(3)]
    found = told(f"acadreason.{table}", write_run(tmp_path / "run", records))
    assert found.failed == 3 and all(one.value is None for part in found.parts for one in part.rows)
