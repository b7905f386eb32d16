"""The numbers of diverse runs (ten_runs.py) are what they were when they were kept, but for what was changed on purpose.

old_numbers/NAME.json is a list of facts, one a line: the number `value` of a `quantity` under `factors` in a `part` of the
report, or in the part of `title` of a table, with its interval, tests, counts and texts. What is zero, empty or missing is
left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tables.ten_runs import MARKS, RUNS, Kept

from mmdyn.tables import report, tabulate, why
from mmdyn.work import RunFolder

OLD = Path(__file__).parent / "old_numbers"

CHANGED: dict[tuple[str, str, str], str] = {}
"""Why numbers were changed on purpose, by (run, part, quantity)."""

COUNTS = ("n", "left_out", "variants_left_out", "failed", "unscored", "needs_judge", "unparsed", "refused", "truncated")
NUMBERS = ("value", "ci95", "p", "p_adjusted", "bound", "scale", "differs", "mark", *COUNTS)
TEXTS = ("method", "note")
PAGES = ("brief", "why", "notes")
"""Parts that are of text alone; notes are those of a table."""

SILENT = ("chance", "corrected", "unread", "raw difference")
"""Numbers that stood beside others, and had no texts of their own unless these were kept."""

NOT_TOLD = ("unparsed", "refused", "truncated", "unscored", "failed", "needs_judge", "bound")
"""What rows other than scores did not say before; where they did it is the same."""

Fact = dict[str, Any]
Key = tuple[str, str, str, frozenset[tuple[str, str]]]


def rows_of(runs: Sequence[RunFolder], kept: Kept, folder: Path) -> Iterator[tuple[str, str, Any]]:
    """Every row that is compared, with the kind of its part and, in tables of declarations, the part's title."""
    summary: Any = report(*runs, by=kept.by, flips=kept.flips, repeats=kept.repeats, auc=kept.auc)
    page: Any = why(*runs)
    for part in (*summary.parts, *(part for part in page.parts if part.kind == "where")):
        yield from ((part.kind, "", row) for row in part.rows)
    for method in kept.corrections:
        labels = folder / MARKS if method.startswith("ppi") else None
        corrected: Any = report(*runs, correct=method, labels=labels)
        for part in (part for part in corrected.parts if part.kind == "corrections"):
            yield from ((part.kind, "", row) for row in part.rows)
    for table in tabulate(runs, kept.tables).parts:
        yield from ((row.kind, table.title, row) for row in table.rows)


def pages_of(runs: Sequence[RunFolder], kept: Kept, folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Every text that is compared, in lines, with its part and title."""
    for name, page in (("brief", report(*runs, by=kept.by)), ("why", why(*runs))):
        yield name, "", repr(page).replace(f"{folder}/", "").splitlines()
    yield from (("notes", part.title, part.notes) for part in tabulate(runs, kept.tables).parts if part.notes)


def facts_of(name: str) -> list[Fact]:
    found: list[Fact] = json.loads((OLD / f"{name}.json").read_text("utf-8"))
    return found


def key_of(fact: Fact) -> Key:
    return fact["part"], fact.get("title", ""), fact["quantity"], frozenset(fact["factors"].items())


def row_key(kind: str, title: str, row: Any) -> Key:
    return kind, title, row.quantity, frozenset(row.factors.items())


def said(found: Any, names: Iterable[str]) -> Fact:
    """What a fact, or a row, says under these names, without what is zero, empty or missing; no number is not 0."""
    get = found.get if isinstance(found, dict) else lambda name: getattr(found, name, None)
    told = {name: get(name) for name in names}
    told = {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()}
    numbers = ("value", "p", "p_adjusted")
    return {
        name: value
        for name, value in told.items()
        if value is not None and (name in numbers or value) and (name, value) != ("scale", "raw")
    }


def differences(
    name: str, facts: Iterable[Fact], rows: Iterable[tuple[str, str, Any]], names: Sequence[str]
) -> Iterator[str]:
    """What rows say otherwise than facts; what is no longer there; and new rows of quantities that there were."""
    old = {key_of(fact): fact for fact in facts}
    new = {row_key(kind, title, row): row for kind, title, row in rows}
    for key, fact in old.items():
        part, title, quantity, _ = key
        if (name, part, quantity) in CHANGED:
            continue
        where = f"{title or part}, {quantity}, {fact['factors']}"
        if key not in new:
            yield f"{where}: is no longer there"
            continue
        was, now = said(fact, names), said(new[key], names)
        silent = quantity in SILENT and part.startswith(("scores", "contrasts"))
        free = (*TEXTS,) * silent + (NOT_TOLD if (part, quantity) != ("scores", "score") else ())
        compared = [one for one in names if one in was or one not in free]
        changed = [f"{one} {was.get(one)} -> {now.get(one)}" for one in compared if was.get(one) != now.get(one)]
        if changed:
            yield f"{where}: {', '.join(changed)}"
    quantities, places = {key[:3] for key in old}, {(*key[:2], key[3]) for key in old}
    for key in new:
        if key[:3] in quantities and (*key[:2], key[3]) not in places and (name, key[0], key[2]) not in CHANGED:
            yield f"{key[1] or key[0]}, {key[2]}, {dict(key[3])}: was not there"


def shown(found: list[str]) -> str:
    return "\n".join([f"{len(found)} differences:", *found[:40]])


@pytest.mark.parametrize("name", RUNS)
def test_old_numbers(name: str, tmp_path: Path) -> None:
    runs = RUNS[name].make(tmp_path / "runs")
    facts = [fact for fact in facts_of(name) if fact["part"] not in PAGES]
    found = [*differences(name, facts, rows_of(runs, RUNS[name], tmp_path / "runs"), NUMBERS)]
    assert not found, shown(found)


@pytest.mark.parametrize("name", RUNS)
def test_methods_and_notes(name: str, tmp_path: Path) -> None:
    runs, facts = RUNS[name].make(tmp_path / "runs"), facts_of(name)
    rows = rows_of(runs, RUNS[name], tmp_path / "runs")
    found = [*differences(name, [fact for fact in facts if fact["part"] not in PAGES], rows, TEXTS)]
    old = {(fact["part"], fact.get("title", "")): fact["text"] for fact in facts if fact["part"] in PAGES}
    new = {(part, title): lines for part, title, lines in pages_of(runs, RUNS[name], tmp_path / "runs")}
    for part, title in dict.fromkeys((*old, *new)):
        was, now = old.get((part, title), []), new.get((part, title), [])
        if (name, part, "") not in CHANGED:
            found += [f"{part} {title}: - {line}" for line in was if line not in now]
            found += [f"{part} {title}: + {line}" for line in now if line not in was]
    assert not found, shown(found)


def test_each_fact_is_one_of_its_kind() -> None:
    assert {file.stem for file in OLD.glob("*.json")} == {*RUNS}
    for name in RUNS:
        keys = [key_of(fact) for fact in facts_of(name) if fact["part"] not in PAGES]
        assert len(keys) == len({*keys}) > 30
    known = {(name, fact["part"], fact.get("quantity", "")) for name in RUNS for fact in facts_of(name)}
    assert CHANGED.keys() <= known, "what was changed on purpose is among the facts"
