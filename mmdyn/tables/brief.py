"""A report in ten lines: scores, how much of them survives, and what to distrust."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mmdyn.record import Contrast
from mmdyn.tables.contrast_table import is_main, remarks, said_of
from mmdyn.tables.results import POOLED
from mmdyn.tables.summary_rows import ConditionRow, SummaryRows
from mmdyn.tables.terminal import names_of, p_value, percent

MODELS, LINES = 2, 10


def brief_lines(summary: SummaryRows) -> list[str]:
    """Ten lines at most: how far the runs are, of the best two models scores and change, and what to distrust."""
    asked, planned = (sum(getattr(run, name) for run in summary.runs) for name in ("asked", "planned"))
    rows = dict[tuple[str, str, str], list[ConditionRow]]()
    for row in summary.conditions:
        rows.setdefault((row.run, row.model, row.set), []).append(row)
    best = sorted(rows, key=lambda who: -max(row.score or 0 for row in rows[who][:1]))
    more = f"; the best {MODELS} of {len(best)} models and sets follow" if len(best) > MODELS else ""
    names = ", ".join(run.name for run in summary.runs)
    lines = [f"{names}: {asked} of {planned} answers, {summary.failed} failed{more}"]
    for who in best[:MODELS]:
        scores = [f"{names_of(row)['condition']} {percent(row.score, row.ci95)}" for row in _few(rows[who])]
        lines += [f"{', '.join(filter(None, who))}: {'; '.join(scores)}", *_drops(summary.contrasts, who)]
    found = list(dict.fromkeys(doubts(summary)))
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
    change = percent(row.delta, row.ci95, "+")
    return f"{change} points, {row.n} pairs, adjusted p {p_value(row.p_adjusted)}"


def doubts(summary: SummaryRows) -> Iterator[str]:
    """What a reader must know before a number is believed, the worst first."""
    for state in summary.runs:
        if not state.complete:
            yield f"{state.name} is not finished or not scored: {state.asked} of {state.planned} asked"
    if failed := summary.failed:
        yield f"{failed} answers failed, and are left out of every number"
    if waiting := sum(state.needs_judge for state in summary.runs):
        yield f"{waiting} answers need a judge and had none: scores with open answers are lower bounds"
    for row in summary.contrasts:
        if row.factor == "variant":
            yield from (f"{row.a} to {row.b}: {remark}" for remark in remarks(row.note, row.differs, row.scale))
    if weak := sorted({row.chain for row in summary.strengths if row.weak}):
        yield f"the variants of {', '.join(weak)} are weak: they hardly differ from their parents"
    yield from (f"{row.set}: {row.note}" for row in summary.judges if row.note)
