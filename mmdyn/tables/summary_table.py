"""The summary for people: how far the runs are, scores, contrasts and judges. Shares are in percent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console

from mmdyn.context import ALL, HINT, NONE, Context
from mmdyn.tables.contexts import BASES, MEANINGS, known_context, place_of
from mmdyn.tables.contrast_table import print_contrasts
from mmdyn.tables.meaning_judges import print_judges
from mmdyn.tables.results import pick
from mmdyn.tables.run_state import RunState
from mmdyn.tables.scale import UNKNOWN
from mmdyn.tables.strengths import print_strengths
from mmdyn.tables.summary_rows import ConditionRow, ScoreCell, SummaryRows
from mmdyn.tables.terminal import (
    CHANCE,
    CORRECTED,
    CUT_OFF,
    NEEDS_JUDGE,
    NOT_READ,
    clean,
    names_of,
    open_console,
    percent,
    print_cells,
    print_grid,
)

LAID = {
    NONE: "nothing",
    "distractor": "as many other knowledge points as it has of its own",
    "retrieved": "looked-up points",
    "mixed": "its own and looked-up points",
    "gold": "its own knowledge points",
    HINT: "its own hint of that kind",
    ALL: "all its hints",
    "withheld": "nothing in place of its pictures",
    "captioned": "their captions in place of its pictures",
}
"""What lies beside a question, by a context's source, or its family, and what becomes of its pictures."""

DECIDES = {"unsure": "on what rules do not settle", "wrong": "on what rules do not call right", "all": "on everything"}
"""What judges decide on, by their mode."""

WAYS = {
    "inline": "…:inline = the model elaborates on the points before it answers",
    "two-turn": "…:two-turn = the model writes on the points before it sees the question",
}
"""What the model is to do with points."""

CHANCE_MEANS = (
    "Chance is what guessing earns. A score corrected for chance is (score - chance) / (1 - chance) of each answer, 0"
    " where it was refused or not read; that assumes that a model knows an answer or guesses."
)


def print_summary(summary: SummaryRows, file: TextIO | None = None) -> None:
    """Print how far the runs are, the scores, the contrasts, what is significant, how strong variants are, who judged.

    Args:
        summary: what is printed.
        file: where; without it standard output.
    """
    console = open_console(file)
    for line in (*(line for state in summary.runs for line in state_lines(state)), *_legend_lines(summary.conditions)):
        console.print(clean(line))
    if summary.conditions:
        _print_scores(console, summary.conditions)
    if summary.contrasts:
        print_contrasts(console, summary.contrasts, list(summary.conditions[0].by))
    print_strengths(console, summary.strengths)
    print_judges(console, summary.judges)


def state_lines(state: RunState) -> Iterator[str]:
    """How far a run is, what it took and how it was scored, in sentences."""
    if state.asked < state.planned:
        yield f"{state.name} is not finished: {state.asked} of {state.planned} asked so far."
    if state.waiting:
        yield f"{state.name}: {state.waiting}."
    if state.unscored:
        again = "`mmdyn score`, with the same --judge," if "+" in state.scorer else "`mmdyn score`"
        yield f"{state.name}: {state.unscored} answers are not scored yet; {again} scores them."
    if state.needs_judge and not state.waiting and "+" not in state.scorer:
        ask = "`mmdyn score RUN --judge MODEL` asks one"
        yield f"{state.name}: {state.needs_judge} answers need a judge and had none; {ask}."
    if state.failed:
        yield f"{state.name}: {state.failed} never answered (failed), left out of every score and contrast."
    if state.corrected:
        said = "scored by another golden answer than their sample had when it was asked"
        yield f"{state.name}: {said}: {state.corrected}."
    for mode, count in state.skipped.items():
        yield f"{state.name}: {count} samples could not be asked in mode {mode}."
    for spent in state.spending:
        if spent.prompt_tokens or spent.completion_tokens or spent.cost:
            yield f"{state.name}: {spent.model}: {spent.tokens}, cost {spent.money}."
    if state.asked:
        who = f"and by the judge {' and then '.join(state.judges)} ({DECIDES.get(state.judge_mode)})"
        judged = who if state.judges else "without a judge"
        yield f"{state.name}: scored by the policy {state.scorer.partition('+')[0]}, {judged}."


def _legend_lines(rows: Sequence[ConditionRow]) -> Iterator[str]:
    """What the contexts are, and what they are broken down by, where there are any."""
    names = {row.factors["context"] for row in rows}
    if names - {BASES["context"]}:
        if said := _legend(names):
            yield f"Contexts (what lies beside the question): {said}."
        yield from (f"{name}: {MEANINGS[name]}." for name in rows[0].by if name in MEANINGS)
    if any(row.chance for row in rows):
        yield CHANCE_MEANS
    if any(row.n and row.chance is None for row in rows):
        yield f"Chance: {UNKNOWN}."


def _legend(names: Iterable[str]) -> str:
    """What the contexts of these names lay beside a question, and what the model is to do with it; each is said
    once."""
    contexts = [context for context in map(known_context, sorted(names, key=place_of)) if context]
    said = dict(pair for context in contexts for pair in _meanings(context))
    ways = {context.elaborate for context in contexts if context.source}
    return "; ".join(
        [*(f"{name} = {meaning}" for name, meaning in said.items()), *(WAYS[way] for way in WAYS if way in ways)]
    )


def _meanings(context: Context) -> Iterator[tuple[str, str]]:
    """Names that stand for all contexts which lay the same there, and what that is."""
    if context.pictures != "shown":
        yield Context(pictures=context.pictures).name, LAID[context.pictures]
    if context.family == HINT:
        yield (f"{HINT}:{ALL}", LAID[ALL]) if context.hint == ALL else (f"{HINT}:KIND", LAID[HINT])
    elif context.source or context.pictures == "shown":
        yield Context(context.source).name, LAID[context.source or NONE]


def _print_scores(console: Console, rows: Sequence[ConditionRow]) -> None:
    title = "Scores in percent with 95 % intervals; n counts parent samples, the other counts are answers"
    if any(row.bound for row in rows):
        title += "; at least: open answers, or blanks in words, had no judge"
    wrong = [{CUT_OFF: row.truncated, **pick(row, "unparsed", "refused")} for row in rows]
    whole = [{**names_of(row), **_score(row), **counts, **_left(row)} for row, counts in zip(rows, wrong, strict=True)]
    print_grid(console, title, whole)
    cells = [(names_of(row), row.by) for row in rows]
    print_cells(console, "Scores by {}", cells, lambda cell: {**_score(cell), **_left(cell)})


def _score(cell: ScoreCell | ConditionRow) -> dict[str, object]:
    shown: dict[str, object] = dict.fromkeys((CHANCE, CORRECTED, NOT_READ), "")
    if cell.chance:
        shown |= {CHANCE: f"{100 * cell.chance:.1f}", CORRECTED: percent(cell.corrected, cell.corrected_ci95)}
    if cell.chance and cell.unread:
        shown[NOT_READ] = f"{100 * cell.unread:.1f}"
    return {"score": percent(cell.score, cell.ci95), **shown, "n": cell.n, "method": cell.method or cell.note}


def _left(cell: ScoreCell | ConditionRow) -> dict[str, object]:
    return {NEEDS_JUDGE: cell.needs_judge, **pick(cell, "unscored", "failed")}
