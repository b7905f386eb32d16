"""The summary for people: tables and sentences on a terminal. Scores and differences are in percent."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TextIO, TypeVar

import msgspec
from rich.console import Console
from rich.text import Text

from mmdyn.keys import Json, canonical
from mmdyn.record import Contrast
from mmdyn.sample import Answer
from mmdyn.tables.calibration import Share
from mmdyn.tables.context_columns import LEAK, MEANINGS, NO, leaks_of
from mmdyn.tables.contexts import legend
from mmdyn.tables.contrast_names import grouped, is_main, over_chains, said_of, sides_of
from mmdyn.tables.contrasts import BASES
from mmdyn.tables.flips import Flip, Reply
from mmdyn.tables.grid import Grid
from mmdyn.tables.judges import JudgeRow
from mmdyn.tables.measurement_cache import named
from mmdyn.tables.results import NOT_GIVEN, POOLED, RunState
from mmdyn.tables.summary import ConditionRow, Summary

PLAIN_WIDTH = 160
"""Columns where the output is no terminal."""

SIGNIFICANT = 0.05
SHOWN_CHARS = 80
COMMON = ("run", "model", "set", "held")
"""What is said once above a table where all its rows have it in common."""

_SHARES = {"precision": "precision", "recall = sensitivity": "recall", "specificity": "specificity"}
"""What a calibration's shares are called in a heading and in a Calibration."""

CUT_OFF = "cut\noff"
NEEDS_JUDGE = "needs\njudge"
SELDOM = (CUT_OFF, "unparsed", "refused", NEEDS_JUDGE, "unscored")
"""Counts that get a column only where one of them is not 0."""


Row = TypeVar("Row", ConditionRow, Contrast)


class OfCondition(Protocol):
    """A row about one condition."""

    @property
    def run(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def set(self) -> str: ...
    @property
    def factors(self) -> dict[str, str]: ...


def print_summary(summary: Summary, file: TextIO | None = None) -> None:
    """Print how far the runs are, the scores, the contrasts, what is significant and who judged, to `file` or standard
    output."""
    console = open_console(file)
    for state in summary.runs:
        for line in _state_lines(state):
            console.print(clean(line))
    if summary.conditions:
        for line in _legend_lines(summary.conditions):
            console.print(clean(line))
        _print_scores(console, summary.conditions)
    contrasts = sorted(summary.contrasts, key=lambda row: not is_main(row))
    if contrasts:
        by = list(summary.conditions[0].by)
        _print_contrasts(console, contrasts, by)
        if LEAK not in by:
            _print_leaks(console, contrasts)
    for contrast in contrasts:
        if contrast.p_adjusted is not None and contrast.p_adjusted < SIGNIFICANT:
            console.print(clean(sentence(contrast)))
    for row in summary.judges:
        console.print(clean(_judge(row)), soft_wrap=True)
    if any(row.calibrations for row in summary.judges):
        _print_calibrations(console, summary.judges)


def print_flips(flips: Sequence[Flip], file: TextIO | None = None) -> None:
    """Print the flips to `file` or standard output, a sample a block, in lines that are as long as they need to be."""
    console = open_console(file)
    console.print(clean(f"Flips: {len(flips)} in all contrasts"))
    heading = ""
    for flip in flips:
        said = ", ".join(f"{name} {value}" for name, value in flip.held.items() if value)
        if (title := f"{flip.model or flip.set}: {flip.a} to {flip.b} ({said}), {flip.direction}") != heading:
            console.print(clean(title), soft_wrap=True)
            heading = title
        console.print(clean(f"  {flip.parent}"), soft_wrap=True)
        for side, replies in ((flip.a, flip.a_replies), (flip.b, flip.b_replies)):
            for reply in replies:
                console.print(clean(f"    {side}: {_reply(reply)}"), soft_wrap=True)


def sentence(contrast: Contrast) -> str:
    """A contrast that has a difference, in words."""
    assert contrast.delta is not None and contrast.ci95 is not None
    who = f"{contrast.model} on {contrast.set}" if contrast.model else contrast.set
    verb = "higher" if contrast.delta > 0 else "lower"
    low, high = (100 * bound for bound in contrast.ci95)
    but = f" But {contrast.note}." if contrast.note else ""
    return (
        f"{who}: {contrast.b} is {abs(100 * contrast.delta):.1f} points {verb} than {contrast.a}"
        f" ({said_of(contrast.held)}; 95 % interval {low:+.1f} to {high:+.1f}, adjusted p"
        f" {p_value(contrast.p_adjusted)}, {contrast.n} pairs).{but}"
    )


def open_console(file: TextIO | None = None) -> Console:
    """A console on `file` or standard output that interprets nothing in what is printed."""
    file = file or sys.stdout
    width = None if file.isatty() else PLAIN_WIDTH
    return Console(file=file, width=width, markup=False, emoji=False, highlight=False)


def clean(text: str) -> Text:
    """Text for a terminal: what a model or a file brought cannot move the cursor or hide other text."""
    return Text("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text))


def _state_lines(state: RunState) -> Iterator[str]:
    if state.asked < state.planned:
        yield f"{state.name} is not finished: {state.asked} of {state.planned} asked so far."
    if state.waiting:
        yield f"{state.name}: {state.waiting}."
    if state.unscored:
        judged = ", with the same --judge," if "+" in state.scorer else ""
        yield f"{state.name}: {state.unscored} answers are not scored yet; `mmdyn score`{judged} scores them."
    if state.needs_judge and not state.waiting and "+" not in state.scorer:
        yield (
            f"{state.name}: {state.needs_judge} answers need a judge and had none; `mmdyn score RUN --judge MODEL` asks"
            " one."
        )
    if state.failed:
        yield f"{state.name}: {state.failed} never answered (failed), left out of every score and contrast."
    if state.corrected:
        yield (
            f"{state.name}: scored by another golden answer than their sample had when it was asked: {state.corrected}."
        )
    for mode, count in state.skipped.items():
        yield f"{state.name}: {count} samples could not be asked in mode {mode}."
    for spent in state.spending:
        if spent.prompt_tokens or spent.completion_tokens or spent.cost:
            yield f"{state.name}: {spent.model}: {spent.tokens}, cost {spent.money}."


def _legend_lines(rows: Sequence[ConditionRow]) -> Iterator[str]:
    """What the contexts are, and what they are broken down by, where there are any."""
    contexts = {row.factors["context"] for row in rows}
    if contexts != {BASES["context"]}:
        if said := legend(contexts):
            yield f"Contexts (what lies beside the question): {said}."
        for name in rows[0].by:
            if name in MEANINGS:
                yield f"{name}: {MEANINGS[name]}."


def _print_scores(console: Console, rows: Sequence[ConditionRow]) -> None:
    title = "Scores in percent with 95 % intervals; n counts parent samples, the other counts are answers"
    if any(row.bound for row in rows):
        title += "; at least: open answers, or blanks in words, had no judge"
    counts = ("unparsed", "refused", "needs_judge", "unscored", "failed")
    whole = [
        {
            **names_of(row),
            **_score(row),
            CUT_OFF: str(row.truncated),
            **{name.replace("_", "\n"): str(getattr(row, name)) for name in counts},
        }
        for row in rows
    ]
    print_grid(console, title, whole)
    for name in dict.fromkeys(name for row in rows for name in row.by):
        parts = [
            {
                **names_of(row),
                "value": value,
                **_score(cell),
                NEEDS_JUDGE: str(cell.needs_judge),
                "unscored": str(cell.unscored),
                "failed": str(cell.failed),
            }
            for row in _telling(rows, name)
            for value, cell in row.by[name].items()
        ]
        print_grid(console, f"Scores by {name}", parts, name)


def _print_contrasts(console: Console, rows: Sequence[Contrast], by: Sequence[str]) -> None:
    title = "Contrasts in points, paired by parent sample; p adjusted by Holm over all of them"
    whole = [{**names, **_delta(msgspec.structs.asdict(row))} for row, names in zip(rows, grouped(rows), strict=True)]
    print_grid(console, title, whole)
    for name in by:
        parts = [
            {**sides_of(row), "value": value, **_delta(cell)}
            for row in _telling(rows, name)
            for value, cell in row.by[name].items()
        ]
        print_grid(console, f"Contrasts by {name}; p adjusted by Holm over all breakdowns", parts, name)


def _telling(rows: Sequence[Row], name: str) -> Sequence[Row]:
    """The rows that a breakdown says something of, or all where it says nothing of any."""
    return [row for row in rows if row.by[name].keys() - {NOT_GIVEN}] or rows


def _print_leaks(console: Console, rows: Sequence[Contrast]) -> None:
    """The contrasts between contexts of which some hold the answer, with these questions and without them.

    Of several chains all together stand for each.
    """
    title = "Contrasts without the questions whose context holds the answer; p adjusted by Holm over all breakdowns"
    pooled = {over_chains(row) for row in rows if row.held.get("chain") == POOLED}
    leaking = [
        row
        for row in rows
        if row.factor == "context" and leaks_of(row) and (row.held["chain"] == POOLED or over_chains(row) not in pooled)
    ]
    parts = [{**names, **_without_leaks(row)} for row, names in zip(leaking, grouped(leaking), strict=True)]
    if parts:
        print_grid(console, title, parts)


def _without_leaks(row: Contrast) -> dict[str, str]:
    cell = row.by[LEAK].get(NO)
    without = _delta(cell) if cell else dict.fromkeys(("change", "adj. p", "method"), "-") | {"n": "0"}
    return {
        "all": percent(row.delta, row.ci95, sign="+"),
        "leaks": str(leaks_of(row)),
        "without": without["change"],
        **{name: without[name] for name in ("adj. p", "n", "method")},
    }


def _judge(row: JudgeRow) -> str:
    where = f"{row.run}, {row.set}" if row.run else row.set
    note = f"{row.note}." if row.note else ""
    if not row.judge:
        return f"{where}: {note}"
    redrawn = f", {row.redrawn} more attempts rejected and drawn again" if row.redrawn else ""
    done = f"{row.kept} variants kept, {row.rejected} rejected{redrawn}"
    return f"{where}: judged by {_who(row)}: {done}. {note[:1].upper()}{note[1:]}".rstrip()


def _who(row: JudgeRow) -> str:
    return f"{row.judge} ({row.id})" if row.id else row.judge


def _print_calibrations(console: Console, rows: Sequence[JudgeRow]) -> None:
    console.print()
    console.print(
        "Judges on labelled pairs: how well they reject changed questions, in percent with 95 % intervals (Wilson)"
    )
    grid = _grid(["labelled file", "pairs", "no\nverdict", *_SHARES])
    judges = {_who(row): row.calibrations for row in rows if row.calibrations}
    for who, calibrations in judges.items():
        grid.add_heading(clean(who))
        for found in calibrations:
            shares = (_share(getattr(found, name)) for name in _SHARES.values())
            grid.add_row(*map(clean, (f"  {named(found)}", str(found.n), str(found.failed), *shares)))
    grid.print(console)


def _share(share: Share | None) -> str:
    return f"{percent(share.value, (share.low, share.high))} of {share.n}" if share else "no such pair"


def names_of(row: OfCondition) -> dict[str, str]:
    """Run, model, set and condition, for people."""
    factors = row.factors
    context = [] if factors["context"] == "none" else [factors["context"]]
    style = [] if factors["style"] == "direct" else [factors["style"]]
    condition = ", ".join([f"{factors['variant']} {factors['chain']}".strip(), *context, *style])
    return {"run": row.run, "model": row.model, "set": row.set, "condition": condition}


def _score(cell: Any) -> dict[str, str]:
    return {"score": percent(cell.score, cell.ci95), "n": str(cell.n), "method": cell.method or cell.note}


def _delta(cell: dict[str, Any]) -> dict[str, str]:
    return {
        "change": percent(cell["delta"], cell["ci95"], sign="+"),
        "p": p_value(cell["p"]),
        "adj. p": p_value(cell["p_adjusted"]),
        "n": str(cell["n"]),
        "left\nout": str(cell["left_out"]),
        "failed": str(cell["failed"]),
        NEEDS_JUDGE: str(cell["needs_judge"]),
        "method": "; ".join(text for text in (cell["method"], cell["note"]) if text),
    }


def percent(share: float | None, ends: Sequence[float | None] | None, sign: str = "") -> str:
    """A share with its interval, in percent; a dash where there is none. Without an upper end it is a lower bound."""
    if share is None or ends is None or ends[0] is None:
        return "-"
    if ends[1] is None:
        return f"at least {100 * share:.1f} [{100 * ends[0]:.1f}, \N{EN DASH}]"
    return f"{100 * share:{sign}.1f} [{100 * ends[0]:{sign}.1f}, {100 * ends[1]:{sign}.1f}]"


def p_value(p: float | None) -> str:
    """A p-value for people; a dash where there is none."""
    if p is None:
        return "-"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def print_grid(console: Console, title: str, rows: Sequence[dict[str, str]], field: str = "") -> None:
    """Print rows of the same columns, grouped by run, model and set (by condition too, if by field); methods, if any,
    become notes."""
    varying = [name for name in COMMON if len({row.get(name, "") for row in rows}) > 1]
    shared = [rows[0][name] for name in COMMON if name not in varying and rows[0].get(name)]
    console.print(clean(title + (f" ({', '.join(shared)})" if shared else "")))
    empty = [name for name in SELDOM if not any(row.get(name, "0") != "0" for row in rows)]
    names = [name for name in rows[0] if name not in (*COMMON, *empty, "method")]
    if field:
        varying.append(names.pop(0))
    used = dict.fromkeys(row["method"] for row in rows if "method" in row)
    methods = {method: str(place) for place, method in enumerate(used, 1)}
    groups = dict[str, list[list[str]]]()
    for row in rows:
        heading = ", ".join(filter(None, (row[name] for name in varying)))
        note = [methods[row["method"]]] if methods else []
        groups.setdefault(heading, []).append([*(row[name] for name in names), *note])
    grid = _grid([field or names[0], *names[1:], *(["method"] if methods else [])])
    for heading, group in groups.items():
        if heading:
            grid.add_heading(clean(heading))
        for first, *others in group:
            grid.add_row(clean(f"  {first}" if heading else first), *map(clean, others))
    grid.print(console)
    for method, place in methods.items():
        console.print(clean(f"method {place}: {method}"))
    console.print()


def _grid(names: Sequence[str]) -> Grid:
    return Grid([[clean(line) for line in name.split("\n")] for name in names])


def _reply(reply: Reply) -> str:
    pictures = f"  {' '.join(reply.pictures)}" if reply.pictures else ""
    answered = "no answer found" if reply.extracted is None else _short(reply.extracted)
    status = "" if reply.status == "ok" else f" ({reply.status})"
    status += " (needs a judge)" * reply.needs_judge
    return f"{reply.sample}: {answered}{status}, expected {_expected(reply.expected)}{pictures}"


def _expected(answer: Answer) -> str:
    if not isinstance(answer, tuple):
        return _short(answer)
    return _short(", ".join(part if isinstance(part, str) else " or ".join(part) for part in answer))


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else canonical(value).decode()
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "\N{HORIZONTAL ELLIPSIS}"
