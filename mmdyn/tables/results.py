"""A report: its tables and the state of its runs, as text, data and plots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.errors import counted
from mmdyn.frame import Frame, Framed
from mmdyn.html import markup
from mmdyn.stats import holm
from mmdyn.tables.blocks import MOSTLY_UNREAD, SIGNIFICANT, Row, TablePart, rows_of
from mmdyn.tables.columns import FORM, Columns
from mmdyn.tables.contrasts import contrast_families, family_note
from mmdyn.tables.factors import (
    FRONT,
    condition_name,
    front_of,
    is_change,
    is_main,
    is_pooled,
    is_usual,
    of_pictures,
    unusual,
    who_of,
)
from mmdyn.tables.formats import FORMATS, Tables, table_frame
from mmdyn.tables.grid import SHOWN, digits_of, p_value, percent, points
from mmdyn.tables.guessing import key_lines, position_lines
from mmdyn.tables.noise import FIGURES
from mmdyn.tables.pairing import RAW, READ
from mmdyn.tables.plot import Plot, draw_chart, pick_chart, table_charts
from mmdyn.tables.run_state import FOLLOWED, FailedReply, RunState, caveats, state_lines
from mmdyn.tables.terminal import clean, wrapped
from mmdyn.work import PICTURES_UNREAD


class Scored(NamedTuple):
    """The numbers of a condition; None for one that the report does not have.

    Args:
        score, chance, corrected: The score, the score of guessing, and the score corrected for chance.
        unread: The share of answers that were not read.
        followed: The shares of instructions and prompts that were followed, by the names of FOLLOWED.
    """

    factors: Mapping[str, str]
    score: Row
    chance: Row | None
    corrected: Row | None
    unread: Row | None
    followed: Mapping[str, Row]


class Change(NamedTuple):
    """The numbers of a contrast.

    Args:
        a, b: Both sides; None where no question was answered on both.
        difference, raw: b - a; the same of raw scores, where `difference` is of corrected ones.
        unread: The shares of the answers of a and b that were refused or not read.
        read: b - a over the questions that were read on both sides, where any was not.
    """

    factors: Mapping[str, str]
    a: Row | None
    b: Row | None
    difference: Row
    raw: Row | None
    unread: tuple[float, float] = (0.0, 0.0)
    read: Row | None = None

    @property
    def is_main(self) -> bool:
        """Whether it answers a main question: everything else is as usual."""
        return is_main(self.factors)

    @property
    def value(self) -> float | None:
        """b - a; None where there is no number."""
        return self.difference.value


def scores_of(parts: Sequence[TablePart], by: str = "") -> list[Scored]:
    """The scores of a report, in its order; those by a field where one is named."""
    found = (rows for rows in _together(parts, "scores", by) if "score" in rows)
    return [
        Scored(
            factors=rows["score"].factors,
            score=rows["score"],
            chance=rows.get("chance"),
            corrected=rows.get("corrected"),
            unread=rows.get("unread"),
            followed={name: rows[name] for name in FOLLOWED if name in rows},
        )
        for rows in found
    ]


def changes_of(parts: Sequence[TablePart], by: str = "") -> list[Change]:
    """The contrasts of a report, in its order; those by a field where one is named."""
    return [_change(rows) for rows in _together(parts, "contrasts", by) if "difference" in rows]


def _change(rows: Mapping[str, Row]) -> Change:
    difference, unread = rows["difference"], [rows.get("unread a"), rows.get("unread b")]
    shares = tuple((row.value or 0.0) if row else 0.0 for row in unread)
    return Change(
        factors=difference.factors,
        a=rows.get("a"),
        b=rows.get("b"),
        difference=difference,
        raw=rows.get(RAW),
        unread=(shares[0], shares[1]),
        read=rows.get(READ),
    )


def main_changes(parts: Sequence[TablePart]) -> list[Change]:
    """The change from standard to dynamic of each model on each set where everything else is as usual: over all chains,
    or of the only chain; where none counts over all, the surest."""
    found = dict[tuple[str, ...], list[Change]]()
    for change in changes_of(parts):
        if is_change(change.factors):
            found.setdefault(who_of(change.factors), []).append(change)
    return [_main(own) for own in found.values()]


def _main(changes: Sequence[Change]) -> Change:
    over_all = [one for one in changes if is_pooled(one.factors)]
    counting = [one for one in changes if one.difference.chains]
    return (over_all or counting or sorted(changes, key=_surest))[0]


def _surest(change: Change) -> tuple[float, float]:
    p = change.difference.p_adjusted
    return 2.0 if p is None else p, change.value or 0.0


def _together(parts: Sequence[TablePart], kind: str, by: str) -> list[dict[str, Row]]:
    """The rows of a kind of table that have the same factors, by quantity; of the table by a field, or of the whole."""
    found = dict[tuple[str, ...], dict[str, Row]]()
    for part in parts:
        for row in part.rows if part.kind == kind and part.by == by else ():
            found.setdefault(tuple(row.factors.items()), {})[row.quantity] = row  # type: ignore[arg-type]
    return list(found.values())


LINES = 10
FEW, WIDE = 30, 0.2
"""A change of fewer than FEW questions, or with an interval that reaches farther than WIDE to one side, tells
little."""


def brief_lines(report: Tables) -> list[str]:
    """At most ten lines: the state of the runs; scores, change and most harmful chain of the best models, as many as
    fit; and doubts."""
    asked, planned = (sum(getattr(run, name) for run in report.runs) for name in ("asked", "planned"))
    rows = dict[tuple[str, ...], list[Scored]]()
    for scored in scores_of(report.parts):
        rows.setdefault(who_of(scored.factors), []).append(scored)
    best = sorted(rows, key=lambda who: -(_few(rows[who], None)[0].score.value or 0))
    main = {who_of(change.factors): change for change in main_changes(report.parts)}
    found, told = list(dict.fromkeys(doubts(report))), list[list[str]]()
    for who in best:
        scores = [f"{condition_name(one.factors)} {score_text(one.score)}" for one in _few(rows[who], main.get(who))]
        told.append([f"{front_of(rows[who][0].factors)}: {'; '.join(scores)}", *_drops(report, who)])
    room = LINES - 1 - bool(found)
    told = told if sum(map(len, told)) <= room else [block[:2] for block in told]
    shown = sum(end <= room for end in accumulate(map(len, told)))
    more = f"; the best {shown} of {len(best)} models and sets follow" if len(best) > shown else ""
    names = ", ".join(run.name for run in report.runs)
    lines = [f"{names}: {asked} of {counted(planned, 'answer')}, {report.failed} failed{more}", *chain(*told[:shown])]
    room = LINES - len(lines)
    lines += [f"distrust: {doubt}" for doubt in found[:room]]
    if len(found) > room:
        lines[-1] += f" (and {len(found) - room} more with --full)"
    return [clean(line).plain for line in lines]


def score_text(row: Row) -> str:
    """Write a score with its interval; its range over all verdicts where answers wait for a judge; and how far a judge
    could raise it that looked at unread replies, too."""
    judged = [points(end, digits_of(row.ci95)) for end in row.judged or ()]
    told = [f"{' to '.join(judged)} once judged"] * bool(judged)
    told += [f"up to {points(row.at_most or 0, digits_of(row.ci95))} with unread replies judged"] * bool(row.gain)
    return percent(row.value, row.ci95) + (f" ({', '.join(told)})" if told else "")


def _few(rows: Sequence[Scored], main: Change | None) -> Sequence[Scored]:
    """Two conditions: the first that is as usual (or the first), and the dynamic side of the main change; without one,
    the last with the same context, style and shots, or the last of all."""
    first = next((one for one in rows if is_usual(one.factors)), rows[0])
    others = [one for one in rows if one is not first]
    alike = [one for one in others if unusual(one.factors) == unusual(first.factors)]
    whole = [one for one in alike if main and one.factors["chain"] == main.factors["chain"]]
    return [first, *(whole or alike or others)[-1:]]


def _drops(report: Tables, who: tuple[str, ...]) -> Iterator[str]:
    """The main change of a model, and the chain with the largest fall that is not mostly unread, if it is clear."""
    every = [change for change in changes_of(report.parts) if who_of(change.factors) == who]
    found = [one for one in every if is_change(one.factors) and one.value is not None]
    if not found:
        return
    whole = _main(found)
    chains = [one for one in found if not is_pooled(one.factors) and one.difference.over_read != "mostly unread"]
    worst = min(chains, key=lambda one: one.value or 0.0, default=whole)
    yield f"  dynamic - standard {_told(whole, chains_of(whole.difference))}"
    if worst is not whole and (worst.value or 0) < 0 and worst.difference.is_clear:
        yield f"  {worst.factors['chain']} takes most: {_told(worst, '')}"


def _told(change: Change, of: str) -> str:
    row, scale = change.difference, ""
    if change.raw is not None:
        scale = f" corrected for chance ({points(change.raw.value or 0, digits_of(row.ci95), '+')} raw)"
    found = f"{percent(row.value, row.ci95, '+')} points{scale}"
    return f"{found}{of}, {counted(row.n, 'pair')}, adjusted p {p_value(row.p_adjusted)}{unread_of(change)}"


def chains_of(row: Row) -> str:
    """The part of a sentence on a main change that says what it is of: so many chains, or one where others do not count
    over all; empty for that of a run's only chain."""
    if row.chains > 1:
        return f", mean over {row.chains} chains"
    if not row.chains:
        return f", of {row.factors['chain']} alone"
    return ", of the one chain that counts over all" if is_pooled(row.factors) else ""


def unread_of(change: Change) -> str:
    """The part of a sentence on a change that tells of unread replies; empty where all were read."""
    if not any(change.unread):
        return ""
    before, after = (f"{percent(share, None)} %" for share in change.unread)
    told = f"; unread: {before} of the answers before, {after} after"
    if (read := change.read) is None:
        return told
    return f"{told}; where both were read {percent(read.value, read.ci95, '+')} ({counted(read.n, 'pair')})"


def _few_questions(changes: Sequence[Change]) -> Iterator[str]:
    """The range of the main changes that tell little, a line for each number of questions."""
    ends = dict[int, list[float]]()
    for row in (change.difference for change in changes):
        low, high = row.ci95 or (None, None)
        if row.value is None or low is None or high is None:
            continue
        if row.n < FEW or max(row.value - low, high - row.value) > WIDE:
            ends.setdefault(row.n, []).extend((low, high))
    for n, found in ends.items():
        least, most = (round(100 * end) for end in (min(found), max(found)))
        tell = counted(n, "question", "tells/tell")
        yield f"standard to dynamic: {tell} little: the change may be anything from {least:+d} to {most:+d} points"


def doubts(report: Tables) -> Iterator[str]:
    """Yield what a reader must know before believing a number, the most serious first."""
    for state in report.runs:
        if not state.complete:
            yield f"{state.name} is not finished or not scored: {state.asked} of {state.planned} asked"
        yield from caveats(state)
    if failed := report.failed:
        refused = f", {count} of them refused by the server" if (count := sum(s.rejected for s in report.runs)) else ""
        yield f"{counted(failed, 'answer')} failed{refused}: left out of every number"
    main = main_changes(report.parts)
    yield from _few_questions(main)
    said = "; ".join(change.difference.note for change in main)
    yield from (line for _, line in position_lines(report.parts) if line not in said)
    yield from _unjudged(report)
    unread = [one for one in changes_of(report.parts) if is_change(one.factors) and one.difference.is_significant]
    if names := [f"{one.factors['chain']} ({front_of(one.factors)})" for one in unread if not one.difference.is_clear]:
        yield f"{', '.join(names[:SHOWN])}{' and others' * (len(names) > SHOWN)}: {MOSTLY_UNREAD}"
    for change in main:
        a, b = (change.factors[side] for side in ("a", "b"))
        yield from (f"{a} to {b}: {remark}" for remark in remarks(change.difference) if remark != MOSTLY_UNREAD)
    weak = sorted({row.factors["chain"] for row in report.rows("strengths") if row.note})
    if weak:
        yield f"the variants of {', '.join(weak)} are weak: they hardly differ from their parents"
    yield from (f"{row.factors['set']}: {row.note}" for row in report.rows("meaningjudges", "kept") if row.note)
    yield from key_lines(report.parts)


def _unjudged(report: Tables) -> Iterator[str]:
    """What answers that need a judge and had none mean for the numbers: those that were read, and the others."""
    if waiting := sum(state.waits for state in report.runs):
        yield f"{counted(waiting, 'answer', 'waits/wait')} for a judge: intervals and p hold for every verdict"
    if unread := sum(state.needs_judge for state in report.runs) - waiting:
        told = f"{counted(unread, 'answer', 'was/were')} not read (or cut off): no interval or p allows for a judge"
        gains = sorted((one.score for one in scores_of(report.parts) if one.score.gain), key=lambda row: -row.gain)
        for row in gains[:1]:
            ends = " to at most ".join(points(end or 0, digits_of(row.ci95)) for end in (row.value, row.at_most))
            others = f", and {len(gains) - 1} more by a point or more" * (len(gains) > 1)
            told += f": one could raise {condition_name(row.factors)} ({front_of(row.factors)}) from {ends}{others}"
        yield told


def remarks(row: Row) -> list[str]:
    """The remarks on a contrast: its note, what else its sides differ in, and whether it is mostly unread."""
    differs = [what for what in row.differs if what != FORM or row.scale != "corrected"]
    unread = [MOSTLY_UNREAD] * (row.over_read == "mostly unread")
    return [*filter(None, [row.note]), *([f"also differs in: {', '.join(differs)}"] if differs else []), *unread]


def brief_text(report: Tables) -> str:
    """The lines of `brief_lines` as text, wrapped to the terminal."""
    return _lines(brief_lines(report))


SHORT = ("scores", "metrics", "contrasts")
"""The kinds of tables of the short form."""


def short_text(report: Tables) -> str:
    """The ten lines, then tables of scores and other metrics, and of the changes from standard to dynamic."""
    left = [part for part in report.parts if part.kind not in SHORT and part.rows]
    others = sum(not is_change(row.factors) for row in report.rows("contrasts", "difference"))
    parts = [_short(part) for part in report.parts if part.kind in SHORT]
    names = [f"{others} other contrast{'s' * (others > 1)}"] * bool(others)
    names += [re.split("[:;,]", part.title)[0] for part in left]
    more = [f"--full has the rest: {', '.join(names)}."] * bool(names)
    return brief_text(report) + "\n" + FORMATS["text"](report.of_parts(parts)) + _lines(more)


def full_text(report: Tables) -> str:
    """The ten lines, the state and the cost of the runs, and every table."""
    sentences = [line for state in report.runs for line in state_lines(state)]
    return _lines([*brief_lines(report), "", *sentences]) + "\n" + FORMATS["text"](report)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in wrapped(lines))


def _short(part: TablePart) -> TablePart:
    """The part with main changes alone, by chain."""
    if part.kind != "contrasts":
        return part
    names, changes = (*FRONT, "chain", part.by), [row for row in part.rows if is_change(row.factors)]
    rows = [
        replace(row, factors={name: value for name, value in row.factors.items() if name in names}) for row in changes
    ]
    notes = part.notes if part.by else [family_note(changes, contrast_families(changes))]
    title = "Changes from standard to dynamic" + f" by {part.by}" * bool(part.by)
    return replace(part, title=title, rows=rows, notes=[note for note in notes if note and rows])


def _flips(part: TablePart) -> TablePart:
    """A noise floor without its other figures, way by way."""
    figures, shown = dict.fromkeys(row.factors["figure"] for row in part.rows), ("flips", *FIGURES)
    rows = [row for figure in shown for row in part.rows if row.factors["figure"] == figure]
    rows = [replace(row, factors={"figure": row.factors["figure"]} | row.factors) for row in rows]
    left = ", ".join(figure for figure in figures if figure not in shown)
    return replace(
        part, rows=rows, notes=[*part.notes, *[f"--full, and JSON and CSV, have the rest: {left}"] * bool(left)]
    )


SCHEMA = 1
"""The version of the JSON form: it goes up where a field changes its meaning or goes."""


NOT_NEEDED = (
    "pictures seem not to have been read, or not to be needed: the server counted as many tokens with as without, and"
    " leaving them out changed the score of standard questions not significantly"
)


def _but_those_that_see(state: RunState, parts: Sequence[TablePart]) -> RunState:
    """The state without the doubt, which token counts alone give rise to, that a model's pictures were not read, where
    its scores show that they were: a change of nothing but pictures moved them, or leaving these out did. Where leaving
    them out was tried and moved nothing, the doubt says so."""
    of = [change for change in changes_of(parts) if of_pictures(change.factors)]
    tested = zip(of, holm([change.difference.p for change in of]), strict=True)
    moved = [change.factors for change, p in tested if p is not None and p < SIGNIFICANT]
    sees = {f"{one.get('model')}: {PICTURES_UNREAD}" for one in moved if one.get("run", state.name) == state.name}
    tried = [change.factors for change in of if change.factors["factor"] == "context"]
    blind = {f"{one.get('model')}: {PICTURES_UNREAD}" for one in tried if one.get("run", state.name) == state.name}
    kept = (said for said in state.servers if said not in sees)
    return replace(
        state, servers=tuple(said.replace(PICTURES_UNREAD, NOT_NEEDED) if said in blind else said for said in kept)
    )


class Report(Struct, Framed, frozen=True):
    """The result of `report` and `tabulate`: tables of numbers, rounded to six digits.

    Args:
        complete: False where records are missing or not scored yet.
        failed, failures: The number of failed records, and the first of them.
        runs: The state of each run.
        parts: The tables.
    """

    schema: int
    title: str
    complete: bool
    failed: int
    runs: list[RunState]
    failures: list[FailedReply]
    parts: list[TablePart]

    @classmethod
    def of(cls, columns: Columns, parts: Sequence[TablePart], title: str = "") -> Report:
        """Make a report of tables, with the state of the runs that `columns` were read from."""
        complete = all(state.complete for state in columns.states)
        failed = int(columns.flags["failed"].sum())
        states = [_but_those_that_see(state, parts) for state in columns.states]
        return cls(SCHEMA, title, complete, failed, states, [*columns.failures], [*parts])

    def rows(self, kind: str, quantity: str = "") -> list[Row]:
        """The rows of all tables of a kind, such as scores or contrasts; only those of a quantity if one is named."""
        return rows_of(self.parts, kind, quantity)

    def of_parts(self, parts: Sequence[TablePart]) -> Report:
        """A copy with other tables."""
        return replace(self, parts=[*parts])

    def in_main_rows(self) -> Report:
        """What a terminal shows of tables that were asked for: of a noise floor the flips, by their way."""
        return self.of_parts([_flips(part) if part.kind == "noise" else part for part in self.parts])

    def to_json(self) -> bytes:
        """The report as JSON; equal runs give equal bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    def frame(self) -> Frame:
        """A table with a row for each number, and the columns of the CSV format."""
        return table_frame(self.parts)

    def plot(self, name: str = "", *, columns: int = 1) -> Plot:
        """Draw a table.

        Args:
            name: `scores`, `changes` (from standard to dynamic, by chain), `scores by FIELD`, `flips`, or the kind of
                another table, such as `pivot`; the first table by default.
            columns: The width in columns of a page, 1 or 2.

        Raises:
            UserError: There is no plot of this name, or the width is neither 1 nor 2.
            MissingExtra: matplotlib is not installed.
        """
        return draw_chart(pick_chart(table_charts(self.parts), name), columns)

    @property
    def _brief(self) -> str:
        """The ten lines of a report that has scores."""
        return "\n".join(brief_lines(self)) if any(part.kind == "scores" for part in self.parts) else ""

    def __repr__(self) -> str:
        return self._brief or FORMATS["text"](self)

    def _repr_html_(self) -> str:
        return f"<pre>{markup(self._brief)}</pre>" * bool(self._brief) + FORMATS["html"](self)
