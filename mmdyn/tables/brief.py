"""A report in ten lines: scores, how much of them survives, and what to distrust."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TypeVar

from mmdyn.record import Contrast
from mmdyn.tables.contrast_table import is_main, remarks, said_of
from mmdyn.tables.contrasts import Sides
from mmdyn.tables.results import POOLED
from mmdyn.tables.summary_rows import ConditionRow, SummaryRows
from mmdyn.tables.terminal import names_of, p_value, percent

C = TypeVar("C", Contrast, Sides)

LINES = 10
FEW, WIDE = 30, 0.2
"""A change tells little where it is of fewer questions, or its interval reaches farther to one side."""


def brief_lines(summary: SummaryRows) -> list[str]:
    """Ten lines at most: how far the runs are, scores and change of as many models as fit, the best first, with the
    chain that takes most where there is room, and what to distrust."""
    asked, planned = (sum(getattr(run, name) for run in summary.runs) for name in ("asked", "planned"))
    rows = dict[tuple[str, str, str], list[ConditionRow]]()
    for row in summary.conditions:
        rows.setdefault((row.run, row.model, row.set), []).append(row)
    best = sorted(rows, key=lambda who: -max(row.score or 0 for row in rows[who][:1]))
    found, told = list(dict.fromkeys(doubts(summary))), list[list[str]]()
    for who in best:
        scores = [f"{names_of(row)['condition']} {percent(row.score, row.ci95)}" for row in _few(rows[who])]
        told.append([f"{', '.join(filter(None, who))}: {'; '.join(scores)}", *_drops(summary.contrasts, who)])
    room = LINES - 1 - bool(found)
    told = told if sum(map(len, told)) <= room else [block[:2] for block in told]
    shown = sum(end <= room for end in accumulate(map(len, told)))
    more = f"; the best {shown} of {len(best)} models and sets follow" if len(best) > shown else ""
    names = ", ".join(run.name for run in summary.runs)
    lines = [f"{names}: {asked} of {planned} answers, {summary.failed} failed{more}", *chain(*told[:shown])]
    room = LINES - len(lines)
    lines += [f"distrust: {doubt}" for doubt in found[:room]]
    if len(found) > room:
        lines[-1] += f" (and {len(found) - room} more; the whole report says them)"
    return lines


def _few(rows: Sequence[ConditionRow]) -> Sequence[ConditionRow]:
    """The first condition and that over all chains, or the last where there is none."""
    pooled = [row for row in rows[1:] if row.factors["chain"] == POOLED]
    return [rows[0], *(pooled or rows[1:])[-1:]]


def _drops(contrasts: Sequence[Contrast], who: tuple[str, str, str]) -> Iterator[str]:
    """The main change of a model, and the chain that takes most."""
    found = [row for row in contrasts if (row.held.get("run", who[0]), row.model, row.set) == who]
    found = [row for row in found if row.factor == "variant" and is_main(row) and row.delta is not None]
    if not found:
        return
    whole = next((row for row in found if row.held["chain"] == POOLED), found[0])
    worst = min((row for row in found if row.held["chain"] != POOLED), key=lambda row: row.delta or 0, default=whole)
    yield f"  dynamic - standard {_told(whole)}"
    if worst is not whole and (worst.delta or 0) < 0:
        yield f"  {said_of(worst.held)} takes most: {_told(worst)}"


def _told(row: Contrast) -> str:
    scale = f" corrected for chance ({100 * (row.raw_delta or 0):+.1f} raw)" * (row.scale == "corrected")
    change = f"{percent(row.delta, row.ci95, '+')} points{scale}"
    return f"{change}, {row.n} pairs, adjusted p {p_value(row.p_adjusted)}"


def main_changes(contrasts: Sequence[C]) -> list[C]:
    """The change from standard to dynamic of each model on each set, over all chains or over the one that there is,
    where all else is as usual."""
    found = dict[tuple[str, str, str], C]()
    for row in contrasts:
        who = (row.held.get("run", ""), row.model, row.set)
        if row.factor == "variant" and is_main(row) and (who not in found or row.held["chain"] == POOLED):
            found[who] = row
    return list(found.values())


def _few_questions(contrasts: Sequence[Contrast]) -> Iterator[str]:
    """Of main changes that tell little, within what they lie, those of as many questions together."""
    ends = dict[int, list[float]]()
    for row in main_changes(contrasts):
        if row.delta is not None and row.ci95 and (row.n < FEW or max(abs(end - row.delta) for end in row.ci95) > WIDE):
            ends.setdefault(row.n, []).extend(row.ci95)
    for n, found in ends.items():
        tell = "1 question tells" if n == 1 else f"{n} questions tell"
        low, high = (round(100 * end) for end in (min(found), max(found)))
        yield f"standard to dynamic: {tell} little: the change may lie anywhere from {low:+d} to {high:+d} points"


def doubts(summary: SummaryRows) -> Iterator[str]:
    """What a reader must know before a number is believed, the worst first."""
    for state in summary.runs:
        if not state.complete:
            yield f"{state.name} is not finished or not scored: {state.asked} of {state.planned} asked"
    if failed := summary.failed:
        yield f"{failed} answers failed, and are left out of every number"
    yield from _few_questions(summary.contrasts)
    if waiting := sum(state.needs_judge for state in summary.runs):
        yield f"{waiting} answers need a judge and had none: scores with open answers are lower bounds"
    for row in main_changes(summary.contrasts):
        yield from (f"{row.a} to {row.b}: {remark}" for remark in remarks(row.note, row.differs, row.scale))
    if weak := sorted({row.chain for row in summary.strengths if row.weak}):
        yield f"the variants of {', '.join(weak)} are weak: they hardly differ from their parents"
    yield from (f"{row.set}: {row.note}" for row in summary.judges if row.note)
