"""One page on why scores changed: what fell, through which change, above what noise, where, how sure, and what could
not be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.html import html_table
from mmdyn.record import Contrast
from mmdyn.stats import holm
from mmdyn.table import Attribution, Curves, Ladder, Noise
from mmdyn.tables.brief import doubts, main_changes
from mmdyn.tables.collect import collect
from mmdyn.tables.contexts import BASES
from mmdyn.tables.contrast_table import SIGNIFICANT, is_main, said_of
from mmdyn.tables.next_runs import NextRuns
from mmdyn.tables.report_summary import Summary, summarise_table
from mmdyn.tables.results import POOLED, p_digits
from mmdyn.tables.rows import TOTAL, Row, TablePart
from mmdyn.tables.tabulation import tabulate
from mmdyn.tables.terminal import p_value, percent
from mmdyn.tables.where import FieldRow, fields_to_ask, find_where
from mmdyn.work import ProgressBar, RunFolder

R = TypeVar("R", Row, Contrast)

ANALYSES = (Attribution(), Noise(), Ladder(), Curves())
SHOWN = 6
"""Names in a sentence; the others are counted."""

WIDE = 1.0
"""A share of wrong answers whose interval is as wide as this is not told."""

TOLD = {"attribution": "shapley", "noise": "repetitions", "ladder": "of wrong answers", "curves": "area"}
"""The quantity that an analysis has a value of where the records tell of it."""


class Line(Struct, frozen=True):
    """A sentence, and the commands that it advises, if any."""

    text: str
    commands: list[str] = []


class Section(Struct, frozen=True):
    """A question that the page answers, and its answer."""

    title: str
    lines: list[Line]


class Why(Struct, frozen=True):
    """The page. tables: the rows that it rests on, as `mmdyn report --attribute --noise --ladder --curves` has them;
    fields: whether the change differs by field."""

    title: str
    complete: bool
    failed: int
    sections: list[Section]
    fields: list[FieldRow]
    tables: list[TablePart]

    def to_json(self) -> bytes:
        """The page as JSON text; equal runs give equal bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    def __repr__(self) -> str:
        return "\n".join(why_lines(self))

    def _repr_html_(self) -> str:
        rows = (
            (section.title, line.text, "; ".join(line.commands)) for section in self.sections for line in section.lines
        )
        return html_table(("", "", "commands"), rows, self.title)


def why(*runs: str | Path | RunFolder) -> Why:
    """Say why the scores of runs changed (docs/howto/why.md). Raises InputError for a folder that is no run."""
    return explain([run if isinstance(run, RunFolder) else RunFolder(run) for run in runs])


def explain(runs: Sequence[RunFolder], progress: ProgressBar | None = None) -> Why:
    """The same for opened runs; `progress` counts the records as they are read for the summary."""
    table = collect(runs, fields_to_ask(runs), progress)
    summary = summarise_table(table)
    parts = [part for part in tabulate(runs, ANALYSES).parts if _tells(part)]
    fields = find_where(table)
    sections = _sections(summary, {part.rows[0].kind: part.rows for part in parts}, fields, NextRuns(runs))
    names = ", ".join(run.name for run in runs)
    return Why(f"Why the scores changed: {names}", summary.complete, summary.failed, sections, fields, parts)


def _tells(part: TablePart) -> bool:
    return any(row.quantity == TOLD[row.kind] and row.value is not None for row in part.rows)


def why_lines(page: Why) -> Iterator[str]:
    """The page as lines of text."""
    yield page.title
    for section in page.sections:
        yield from ("", section.title)
        for line in section.lines:
            yield f"  {line.text}"
            yield from (f"    $ {command}" for command in line.commands)


def _sections(summary: Summary, rows: dict[str, list[Row]], fields: list[FieldRow], further: NextRuns) -> list[Section]:
    """The answers, in the order of a reader's questions; a question without one is left out."""
    answers: dict[str, Iterator[Line]] = {
        "What fell, and by how much": _fell(summary),
        "Through which change": _through(summary, rows.get("attribution", [])),
        "Above what noise": _above_noise(rows.get("noise", [])),
        "What wrong answers lack": _lacking(rows.get("ladder", [])),
        "How much change it bears": _bearing(rows.get("curves", [])),
        "Where": _where(fields),
        "How sure": _sure(summary),
        "What could not be told, and which run would tell it": _untold(summary, rows, further),
    }
    found = [Section(title, list(lines)) for title, lines in answers.items()]
    return [section for section in found if section.lines]


def _fell(summary: Summary) -> Iterator[Line]:
    """The main change of each model on each set."""
    for row in _main(summary):
        verdict = _verdict(row)
        yield Line(f"{_who(row)}: {_change(row)}, {row.n} questions. {verdict}")


def _main(summary: Summary) -> list[Contrast]:
    """The main changes that have a number; p is adjusted over these alone, as they are what is asked first."""
    return _family([row for row in main_changes(summary.contrasts) if row.delta is not None])


def _family(rows: list[R]) -> list[R]:
    """The same with p adjusted by Holm over them."""
    adjusted = holm([row.p for row in rows])
    return [replace(row, p_adjusted=p and p_digits(p)) for row, p in zip(rows, adjusted, strict=True)]


def _verdict(row: Contrast) -> str:
    if row.p_adjusted is None or row.ci95 is None or row.delta is None:
        return "Too few questions to tell."
    if row.p_adjusted < SIGNIFICANT:
        return "The score fell." if row.delta < 0 else "The score rose."
    if row.ci95[0] <= -1:
        return "No change is told apart from chance; there are too few questions to rule any out."
    ruled_out = f"a fall of more than {max(-100 * row.ci95[0], 0):.1f} points is ruled out"
    return f"No change is told apart from chance; {ruled_out}."


def _through(summary: Summary, rows: list[Row]) -> Iterator[Line]:
    """Operators where a factorial set tells of them, else chains, the one that takes most first."""
    if rows:
        yield from _operators(rows)
        return
    silent = dict[str, list[str]]()
    main = _main(summary)
    every = _family([row for whole in main for row in summary.contrasts if _is_chain_of(row, whole)])
    for whole in main:
        chains = [row for row in every if _is_chain_of(row, whole)]
        for row in sorted(filter(_is_told, chains), key=lambda row: row.delta or 0):
            yield Line(f"{_who(row)}: {said_of(row.held)} {_change(row)}.")
        others = [row.held["chain"] for row in chains if not _is_told(row)]
        if others:
            silent.setdefault(_listed(others), []).append(_who(whole))
    yield from (Line(f"No change is told of {chains}, for {_listed(who)}.") for chains, who in silent.items())


def _listed(names: list[str]) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def _is_chain_of(row: Contrast, whole: Contrast) -> bool:
    alike = (row.model, row.set, row.held.get("run")) == (whole.model, whole.set, whole.held.get("run"))
    return alike and row.factor == "variant" and is_main(row) and row.held["chain"] != POOLED


def _is_told(row: Contrast) -> bool:
    return row.p_adjusted is not None and row.p_adjusted < SIGNIFICANT


def _where(fields: list[FieldRow]) -> Iterator[Line]:
    """The fields between whose values the change differs, and how many were looked at."""
    for row in fields:
        if row.p_adjusted is not None and row.p_adjusted < SIGNIFICANT:
            order = sorted(row.values, key=lambda value: row.values[value][0])
            ends = " and ".join(f"{value} {100 * row.values[value][0]:+.1f}" for value in (order[0], order[-1]))
            where = f"{row.model} on {row.set}: the change differs by {row.field}, between {ends} points"
            yield Line(f"{where} (adjusted p {p_value(row.p_adjusted)}).")
    told = [row for row in fields if row.p is not None]
    alike = sorted({row.field for row in told if (row.p_adjusted or 0) >= SIGNIFICANT})
    if alike:
        yield Line(
            f"No difference is told by {', '.join(alike)} (values of ten questions or more, p adjusted by Holm)."
        )


def _sure(summary: Summary) -> Iterator[Line]:
    """How the numbers were made, and what to distrust."""
    yield Line(
        "Intervals are at 95 %, over questions and their groups; p is adjusted by Holm within each part of this page,"
        " in the report over all of its contrasts."
    )
    yield from (Line(f"Distrust: {doubt}.") for doubt in dict.fromkeys(doubts(summary)))


def _untold(summary: Summary, rows: dict[str, list[Row]], further: NextRuns) -> Iterator[Line]:
    """What these records cannot say, each with the run that would."""
    unsure = [row for row in _main(summary) if not _is_told(row) and row.ci95 is not None]
    if unsure:
        seen = min(max(max(-100 * (row.ci95 or (0.0, 0.0))[0], 1.0) for row in unsure), 100.0)
        yield Line(
            f"Whether there is a smaller fall than {seen:.1f} points: that takes more questions.",
            [further.larger(seen / 2)],
        )
    if "noise" not in rows and _main(summary):
        yield Line("Whether it is more than the model's own noise: nothing was asked twice.", [further.repeated()])
    if "attribution" not in rows and (commands := further.factorial()):
        yield Line("Which operator takes what where several act together: the set is not factorial.", commands)
    if "ladder" not in rows:
        yield Line("Whether wrong answers lack seeing, knowing or reasoning.", further.ladder())
    if "curves" not in rows and (commands := further.doses()):
        yield Line("How much change it bears: no operator has several doses.", commands)
    yield Line("Commands name models by their labels: add what was typed beside them, such as base_url.")


def _who(row: Contrast) -> str:
    """The model, its set, and of several runs which one."""
    return ", ".join(filter(None, (f"{row.model} on {row.set}", row.held.get("run", ""))))


def _change(row: Contrast) -> str:
    return f"{percent(row.delta, row.ci95, sign='+')} points, adjusted p {p_value(row.p_adjusted)}"


def _operators(rows: list[Row]) -> Iterator[Line]:
    """What each operator takes, beside what all take together, and the pairs that act otherwise than each alone."""
    silent = dict[str, list[str]]()
    rows = [row for kind in ("whole", "shapley", "interaction") for row in _family(_of(rows, kind))]
    for who, own in _by_who(rows, "operator").items():
        whole = next((row for row in own if row.quantity == "whole"), None)
        taking = sorted((row for row in own if row.quantity == "shapley"), key=lambda row: row.value or 0)
        if whole is None or not taking:
            continue
        told = [f"{row.factors['operator']} {_told(row)}" for row in taking if _is_sure(row)]
        others = [row.factors["operator"] for row in taking if not _is_sure(row)]
        said = [f"all operators together {_told(whole)}, over {whole.n} questions that have every form", *told]
        yield Line(f"{who}: {'; '.join(said)}.")
        if others:
            silent.setdefault(_listed(sorted(others)), []).append(who)
        for row in own:
            if row.quantity == "interaction" and _is_sure(row):
                yield Line(f"{who}: {row.factors['operator']} together take {_told(row)} beyond what each takes.")
    yield from (Line(f"No change is told of {names}, for {_listed(who)}.") for names, who in silent.items())


def _above_noise(rows: list[Row]) -> Iterator[Line]:
    """What all chains flip to wrong beyond what asking again flips."""
    rows = [row for row in rows if row.factors["figure"] == "right to wrong" and _is_whole(row, rows)]
    rows = [*_of(rows, "variants"), *_of(rows, "repetitions"), *_family(_of(rows, "difference"))]
    for who, own in _by_who(rows, "chain", "figure").items():
        flips = {row.quantity: row for row in own}
        beyond = flips.get("difference")
        if beyond is None or beyond.value is None:
            continue
        shares = [percent(flips[side].value, flips[side].ci95) for side in ("variants", "repetitions")]
        verdict = "more than noise" if _is_sure(beyond) and beyond.value > 0 else "not told apart from noise"
        if not flips["repetitions"].value:
            verdict += ", which does not show where repeated replies never differ"
        sides = f"of answers, variants turn {shares[0]} % from right to wrong, asking the same again {shares[1]} %"
        yield Line(f"{who}: {sides}; beyond that {_told(beyond)}, {beyond.n} questions: {verdict}.")


def _of(rows: list[Row], quantity: str) -> list[Row]:
    return [row for row in rows if row.quantity == quantity]


def _is_whole(row: Row, rows: list[Row]) -> bool:
    """Whether a row is over all chains, or over the one that there is."""
    chains = {one.factors["chain"] for one in rows}
    return row.factors["chain"] == TOTAL if TOTAL in chains else len(chains) == 1


def _lacking(rows: list[Row]) -> Iterator[Line]:
    """The shares of wrong answers by what they lack, and how many questions need no picture."""
    for who, own in _by_who(rows, "rung").items():
        shares = [row for row in own if row.quantity == "of wrong answers" and row.value is not None]
        told = [f"{row.factors['rung']} {percent(row.value, row.ci95)} %" for row in shares if _is_narrow(row)]
        if told:
            yield Line(f"{who}, of wrong answers: {'; '.join(told)} ({shares[0].n} questions).")
        if others := [row.factors["rung"] for row in shares if not _is_narrow(row)]:
            yield Line(f"{who}: the intervals are too wide to tell the shares of {', '.join(others)}.")
        for row in own:
            if row.quantity == "needed no picture" and row.value:
                yield Line(f"{who}: {row.value:.0f} of {row.n} questions need no picture ({row.note}).")


def _is_narrow(row: Row) -> bool:
    return bool(row.ci95 and row.ci95[1] is not None and row.ci95[1] - row.ci95[0] < WIDE)


def _by_who(rows: list[Row], *inner: str) -> dict[str, list[Row]]:
    """Rows by the model and what else they are kept apart by, in their order."""
    found = dict[str, list[Row]]()
    for row in rows:
        who = ", ".join(
            value for name, value in row.factors.items() if name not in inner and value not in BASES.values()
        )
        found.setdefault(who, []).append(row)
    return found


def _is_sure(row: Row) -> bool:
    return row.p_adjusted is not None and row.p_adjusted < SIGNIFICANT


def _told(row: Row) -> str:
    p = "" if row.p_adjusted is None else f", adjusted p {p_value(row.p_adjusted)}"
    return f"{percent(row.value, row.ci95, sign='+')} points{p}"


def _bearing(rows: list[Row]) -> Iterator[Line]:
    """Of each operator whether the score falls along doses, and the dose at which half of it is lost."""
    silent, slopes = dict[str, list[str]](), [row for row in rows if row.quantity.startswith("slope")]
    halves = {tuple(row.factors.items()): row for row in _of(rows, "half dose")}
    for trend in _family(slopes):
        half, operator = halves[tuple(trend.factors.items())], trend.factors["operator"]
        who = next(iter(_by_who([trend], "operator", "level", "dose")))
        if not _is_sure(trend):
            silent.setdefault(operator, []).append(who)
            continue
        lost = f"half of it is lost at dose {half.value:g}" if half.value is not None else f"half of it: {half.note}"
        between = (
            f", between {half.ci95[0]:g} and {half.ci95[1]:g}" if half.value and half.ci95 and half.ci95[1] else ""
        )
        yield Line(f"{who}, {operator}: {trend.quantity} {_told(trend)}; {lost}{between} ({trend.note}).")
    yield from (
        Line(f"No change along the doses of {name} is told for {_listed(who)}.") for name, who in silent.items()
    )
