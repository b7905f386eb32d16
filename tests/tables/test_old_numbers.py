"""The numbers of twelve diverse runs (ten_runs.py) are what they were when they were kept, but for what was changed on
purpose.

old_numbers/NAME.json is a list of facts, one a line: the number `value` of a `quantity` under `factors` in a `part` of the
report, or in the part of `title` of a table, with its interval, tests, counts and texts. What is zero, empty or missing is
left out. RULES say what was changed on purpose: of which facts, and which of their numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace
from tables.ten_runs import MARKS, RUNS, Kept

from mmdyn.table import FieldTests
from mmdyn.tables import Row, report, summary_parts, tabulate
from mmdyn.work import RunFolder

OLD = Path(__file__).parent / "old_numbers"
TEXT = ("brief", "why", "notes", "runs", "flips")
"""Parts that are of text, or of other things than rows now: flips are one for a question and chain."""

NAMES = {"corrected": "corrections", "judged": "cascades", "errorkinds": "errors", "meaningjudges": "judges"}
NAMES |= {"fieldtests": "where"}
"""What parts were called."""

UNMENDED = {"want of reasoning": "mended by no context"}
"""What rows of contexts were called."""

NUMBERS = ("value", "ci95", "p", "p_adjusted", "scale", "differs", "mark", "n", "left_out", "variants_left_out")
COUNTS = ("failed", "unscored", "needs_judge", "unparsed", "refused", "truncated")

Fact = dict[str, Any]
Key = tuple[str, str, str, frozenset[tuple[str, str]]]


class Rule(NamedTuple):
    """What was changed on purpose, and why: the numbers `names` of the facts and rows (None where there is none)."""

    why: str
    names: tuple[str, ...]
    holds: Callable[[Fact, Any], bool]


def over_chains(fact: Fact) -> bool:
    return fact["factors"].get("chain") == "all" or fact["part"] == "paired"


def names_chains(fact: Fact) -> bool:
    """Whether a fact is of a table whose rows name chains, or that may rank models over them."""
    return "chain" in fact["factors"] or "chain" in fact["title"] or fact["part"] in ("ranking", "leaderboard")


RULES = (
    Rule("a family is a question", ("p_adjusted",), lambda fact, row: row is not None),
    Rule("tests with power, and few that err tell little", ("ci95", "p", "mark"), lambda fact, row: row is not None),
    Rule("each chain weighs the same", NUMBERS, lambda fact, row: row is not None and over_chains(fact)),
    Rule("a mean over chains is of no standard question", NUMBERS, lambda fact, row: "title" in fact and names_chains(fact)),
    Rule(
        "intervals hold whatever a judge will say", ("value", "ci95", "p", "p_adjusted", "bound"),
        lambda fact, row: row is not None and bool(row.judged or "wait for a judge" in row.note),
    ),
    Rule(
        "a set has one scale", NUMBERS,
        lambda fact, row: row is not None and row.scale == "corrected" and fact.get("scale") != "corrected",
    ),
    Rule("what a chain is there to change is no other difference", ("differs",), lambda fact, row: row is not None),
    Rule("pairs count what they lack", ("variants_left_out",), lambda fact, row: fact["part"] == "paired"),
    Rule("no floor without noise", NUMBERS, lambda fact, row: fact["part"] == "noise"),
    Rule(
        "contexts that leak no answer are not broken down by it", NUMBERS,
        lambda fact, row: row is None and fact["part"] == "contrasts by answer_leak",
    ),
    Rule("a change is over all chains", ("value", "p"), lambda fact, row: row is not None and fact["part"] == "where"),
    Rule("marks go by tests that hold whatever a judge will say", ("mark",), lambda fact, row: row is not None),
    Rule("a corrected score counts questions", ("n",), lambda fact, row: fact["part"] == "corrections"),
    Rule("sensitivity and specificity are told once, of their calibration", ("value",), lambda fact, row: row is None and fact["quantity"] in ("sensitivity", "specificity")),
    Rule("what is not known is no 0", ("value",), lambda fact, row: row is not None and row.value is None and (fact["part"], fact["quantity"]) == ("judges", "kept")),
    Rule("items are counted where there are any", ("value",), lambda fact, row: row is None and fact["quantity"] in ("items", "met") and fact["value"] == 0),
)  # fmt: skip


def rows_of(runs: Sequence[RunFolder], kept: Kept, folder: Path) -> Iterator[tuple[str, str, Any]]:
    """Every row that is compared, with the kind of its part and, in tables of declarations, the part's title."""
    summary = tabulate(runs, [*summary_parts(kept.by, repeats=kept.repeats, auc=kept.auc), FieldTests()])
    for part in summary.parts:
        name = NAMES.get(part.kind, part.kind) + (f" by {part.by}" if part.by else "")
        yield from ((kind, "", row) for one in part.rows for kind, row in as_before(name, one))
    if summary.rows("judged"):
        counts = {"unjudged": "no_verdict", "else_rules": "else_rules"}
        for name, count in counts.items():
            total = sum(getattr(state, count) for state in summary.runs)
            yield "cascades", "", Row(factors={}, quantity=name, unit="count", value=total)
    for method in kept.corrections:
        corrected = report(*runs, correct=method, labels=folder / MARKS if method.startswith("ppi") else None)
        yield from (("corrections", "", row) for row in corrected.rows("corrected"))
    for table in tabulate(runs, kept.tables).parts:
        yield from ((table.kind, table.title, row) for row in table.rows)


def as_before(kind: str, row: Row) -> Iterator[tuple[str, Row]]:
    """A row of judges or of wrong answers as there were facts of it, with the kind of its part."""
    yield kind, row
    if kind == "cascades" and row.quantity == "score":
        yield kind, Row(factors=row.factors, quantity="answers", unit="count", value=row.answers)
    if kind == "errors":
        name, _, value = row.factors["subset"].partition(" ")
        factors = {"model": row.factors["model"], "judge": "judge"} | ({name: value} if value else {})
        share = row.unit == "share"
        factors |= {"kind": row.quantity} if share else {}
        quantity = "of wrong answers" if share else row.quantity
        yield kind + f" by {name}" * bool(value), replace(row, factors=factors, quantity=quantity)


def facts_of(name: str) -> list[Fact]:
    found: list[Fact] = json.loads((OLD / f"{name}.json").read_text("utf-8"))
    return found


def key_of(fact: Fact) -> Key:
    return (
        fact["part"],
        fact.get("title", ""),
        fact["quantity"],
        frozenset((name, UNMENDED.get(value, value)) for name, value in fact["factors"].items()),
    )


def said(found: Any, name: str) -> Any:
    value = found.get(name) if isinstance(found, dict) else getattr(found, name, None)
    value = list(value) if isinstance(value, tuple) else value
    if name in ("value", "p", "p_adjusted"):
        return value
    return None if name == "scale" and value == "raw" else value or None


def changed(fact: Fact, row: Any) -> list[str]:
    """The numbers that a row says otherwise than a fact; of counts those that the fact has."""
    if row is None:
        return ["value"]
    names = [name for name in NUMBERS if name != "n" or "n" in fact]
    names += [name for name in COUNTS if name in fact]
    return [name for name in names if said(fact, name) != said(row, name)]


def rows_by_key(rows: Iterator[tuple[str, str, Any]]) -> dict[Key, Any]:
    """Rows by what they are called; a judge of errors had no id in its name."""
    found = dict[Key, Any]()
    for kind, title, row in rows:
        factors = row.factors
        if kind == "errorkinds":
            factors = {"model": factors["model"], "judge": "judge", "answers": factors["subset"]}
        found[kind, title, row.quantity, frozenset(factors.items())] = row
    return found


def differences(facts: Sequence[Fact], rows: Iterator[tuple[str, str, Any]]) -> Iterator[str]:
    """What rows say otherwise than facts, where no rule has it so."""
    new = rows_by_key(rows)
    for fact in facts:
        row = new.get(key_of(fact))
        allowed = {name for rule in RULES if rule.holds(fact, row) for name in rule.names}
        if names := [name for name in changed(fact, row) if name not in allowed]:
            told = [f"{name} {said(fact, name)} -> {said(row, name) if row else 'no row'}" for name in names]
            yield f"{fact.get('title') or fact['part']}, {fact['quantity']}, {fact['factors']}: {', '.join(told)}"


@pytest.mark.parametrize("name", RUNS)
def test_old_numbers(name: str, tmp_path: Path) -> None:
    runs = RUNS[name].make(tmp_path / "runs")
    facts = [fact for fact in facts_of(name) if fact["part"] not in TEXT]
    found = [*differences(facts, rows_of(runs, RUNS[name], tmp_path / "runs"))]
    assert not found, "\n".join([f"{len(found)} differences:", *found[:40]])


def test_rules_leave_most_numbers_as_they_were(tmp_path: Path) -> None:
    same = told = 0
    for name in ("models_and_groups", "two_sets", "styles_and_shots", "doses"):
        runs = RUNS[name].make(tmp_path / name)
        new = rows_by_key(rows_of(runs, RUNS[name], tmp_path / name))
        for fact in facts_of(name):
            if fact["part"] not in TEXT and (row := new.get(key_of(fact))):
                told, same = told + 1, same + (said(fact, "value") == said(row, "value"))
    assert told > 700 and same > 0.85 * told


def test_each_fact_is_one_of_its_kind() -> None:
    assert {file.stem for file in OLD.glob("*.json")} == {*RUNS}
    for name in RUNS:
        keys = [key_of(fact) for fact in facts_of(name) if fact["part"] not in ("brief", "why", "notes")]
        assert len(keys) == len({*keys}) > 30
