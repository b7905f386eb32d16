"""Declarations of tables (mmdyn/table.py) and runs -> rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec.structs import replace

from mmdyn.errors import UserError
from mmdyn.frame import Frame, Framed
from mmdyn.stats import Ints, holm
from mmdyn.table import (
    Analysis,
    Attribution,
    Counted,
    Curves,
    ErrorKinds,
    Gap,
    Ladder,
    Leaderboard,
    NamedTable,
    Noise,
    Paired,
    Part,
    Pivot,
    Ranking,
    Spread,
    Trend,
)
from mmdyn.tables.attribution import attribution_rows
from mmdyn.tables.blocks import APART, Block, Numbered
from mmdyn.tables.charts import pick_chart, table_charts
from mmdyn.tables.collect import MAX_VALUES
from mmdyn.tables.columns import Columns, read_columns, records_where, split
from mmdyn.tables.dose_curves import curve_rows
from mmdyn.tables.error_kinds import error_part
from mmdyn.tables.factors import PICKED, RUNG, ModelFacts
from mmdyn.tables.formats import FORMATS, table_frame
from mmdyn.tables.ladder import ASSUMED, ladder_rows
from mmdyn.tables.noise import noise_rows
from mmdyn.tables.pairing import mark_best, paired_rows
from mmdyn.tables.pivots import pivot_rows
from mmdyn.tables.plot import Plot, draw_chart
from mmdyn.tables.published import Published
from mmdyn.tables.ranks import RANK, leaderboard_rows, ranking_rows
from mmdyn.tables.results import p_digits
from mmdyn.tables.rows import MACRO, TOTAL, TablePart, TableRows
from mmdyn.tables.trends import gap_rows, spread_rows, trend_rows
from mmdyn.work import ProgressBar, RunFolder

KINDS: dict[type, Callable[[Block, Any], Iterator[Numbered]]] = {
    Pivot: pivot_rows,
    Paired: paired_rows,
    Gap: gap_rows,
    Trend: trend_rows,
    Spread: spread_rows,
    Ranking: ranking_rows,
    Leaderboard: leaderboard_rows,
    Attribution: attribution_rows,
    Noise: noise_rows,
    Ladder: ladder_rows,
    Curves: curve_rows,
}

SPANS: dict[type[Analysis], tuple[str, ...]] = {
    Attribution: ("variant", "chain"),
    Noise: ("variant", "chain", "draw", "epoch"),
    Ladder: ("context", RUNG),
    Curves: ("variant", "chain"),
}
"""The factors over whose values an analysis goes, which its rows do not hold apart."""

TITLES: dict[type[Analysis], str] = {
    Attribution: "Attribution: what of the drop each operator takes, in points",
    Noise: "Noise floor: what chains flip beyond what asking again flips",
    Ladder: "Ability ladder: what wrong answers lack",
    Curves: "Severity curves: scores corrected for chance along doses",
}

ANALYSED = ("score", "corrected", "pass_rate")
"""What analyses measure, of which each takes what it needs (forms.py)."""


class Tabulation(TableRows, Framed, frozen=True):
    """What `tabulate` makes: tables, also as a data frame, as plots, and as what a notebook shows."""

    def frame(self) -> Frame:
        """A row for each number, as the CSV file has them."""
        return table_frame(self)

    def plot(self, name: str = "", *, columns: int = 1) -> Plot:
        """A plot of a table, as wide as one or two `columns` of a page, by its name, such as `pivot` or `leaderboard`.
        Raises UserError where there is none of it, MissingExtra without matplotlib."""
        return draw_chart(pick_chart(table_charts(self), name), columns)

    def __repr__(self) -> str:
        return FORMATS["text"](self)

    def _repr_html_(self) -> str:
        return FORMATS["html"](self)


def tabulate(
    runs: Sequence[str | Path | RunFolder],
    table: NamedTable | Sequence[Part],
    *,
    published: Published | None = None,
    facts: ModelFacts = MappingProxyType({}),
    progress: ProgressBar | None = None,
) -> Tabulation:
    """Carry out declarations over the records of runs, which are read once.

    Args:
        runs: the folders that `mmdyn eval` made.
        table: a named table, or declarations.
        published: the paper's own numbers.
        facts: factors of models, as `read_model_facts` reads them.
        progress: counts records.

    Raises:
        InputError: for a folder that is no run.
        UserError: for an unknown factor or measure, a factor of more than 1000 values, and a declaration that does not
            fit the records.
    """
    folders = [run if isinstance(run, RunFolder) else RunFolder(run) for run in runs]
    named = table if isinstance(table, NamedTable) else NamedTable(name="", title="", parts=tuple(table))
    counted = [part for part in named.parts if not isinstance(part, ErrorKinds)]
    factors = [name for part in counted for name in (*_named(part), *part.where)]
    more = {
        PICKED for part in counted if isinstance(part, Ladder) or (isinstance(part, Paired) and part.pair == "group")
    }
    more |= {"sample" for part in counted if isinstance(part, Attribution)}
    measures = [name for part in counted for name in (ANALYSED if isinstance(part, Analysis) else [part.measure])]
    columns = read_columns(folders, (*factors, *APART, "set", *more), measures, progress, facts)
    for name in factors:
        if (many := len(columns.fields[name].values)) > MAX_VALUES:
            raise UserError(f"the factor {name!r} has {many} values: go by one of {MAX_VALUES} at most")
    parts = [_part(columns, place, part) for place, part in enumerate(named.parts)]
    parts = [published.beside(part) for part in parts] if published else parts
    due = any(run.config.under_way for run in folders) or bool(columns.flags["unscored"].any())
    complete = len(columns.parents) >= sum(run.config.planned for run in folders) and not due
    return Tabulation(named.title, complete, int(columns.flags["failed"].sum()), parts)


def _part(columns: Columns, place: int, part: Part) -> TablePart:
    if isinstance(part, ErrorKinds):
        return error_part(columns.runs, place, part)
    axes, kind, measured = _named(part), type(part).__name__, "score" if isinstance(part, Analysis) else part.measure
    records, missing = records_where(columns, part.where)
    if isinstance(part, Paired):
        sides = split(columns, records, [part.factor])
        lacking = [side for side in (part.a, part.b) if (side,) not in sides]
        missing = missing or (records_where(columns, {part.factor: (lacking[0],)})[1] if lacking else "")
        records = np.concatenate([sides[side,] for side in (part.a, part.b)]) if not lacking else records[:0]
    # A declaration that has rows by models unless it says otherwise averages over them where it does.
    apart = _apart(columns, records, axes, APART if isinstance(part, Pivot) else APART[1:])
    blocks = split(columns, records, apart).items() if len(records) else ()
    numbered = [
        (block, row, cell)
        for values, inside in blocks
        for block in [Block(columns, place, kind.lower(), measured, inside, dict(zip(apart, values, strict=True)))]
        for row, cell in KINDS[type(part)](block, part)
    ]
    rows = mark_best(numbered)
    adjusted = [p and p_digits(p) for p in holm([row.p for row in rows])]
    rows = [replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True)]
    notes = [*_notes(columns, records, apart, axes), *[missing] * bool(missing), *[ASSUMED] * isinstance(part, Ladder)]
    title = part.title or _title(part, axes)
    if isinstance(part, Leaderboard):
        known = columns.fields[part.columns].values
        notes += [
            f"no record has {part.columns} = {' or '.join(chosen)}, of which the group {name} is"
            for name, chosen in part.groups.items()
            if not {*chosen} & {*known}
        ]
        return TablePart(title, part.columns, rows, notes, [RANK, MACRO, TOTAL, *part.groups, *known])
    if isinstance(part, Pivot) and len(axes) > 1:
        return TablePart(title, axes[-1], rows, notes, [*columns.fields[axes[-1]].values, TOTAL, MACRO])
    return TablePart(title, "quantity", rows, notes)


def _title(part: Counted, axes: Sequence[str]) -> str:
    """What a declaration is called that has no title."""
    if isinstance(part, Analysis):
        return TITLES[type(part)]
    over = "" if isinstance(part, Pivot) or "model" in axes else ", mean over the models"
    what = type(part).__name__.lower()
    if isinstance(part, Paired | Gap):
        what, axes = f"{part.b} - {part.a}", part.by
    by = f" by {', '.join(axes)}" if axes else ""
    return f"{what} of {part.measure}{by}{over}"


def _named(part: Counted) -> list[str]:
    """The factors that a declaration names beside those of `where`."""
    if isinstance(part, Pivot):
        return list(part.axes)
    if isinstance(part, Analysis):
        return [*part.by, *(name for name in SPANS[type(part)] if name not in part.by)]
    if isinstance(part, Ranking | Leaderboard):
        return ["model", part.over if isinstance(part, Ranking) else part.columns]
    return [*part.by, part.factor]


def _apart(columns: Columns, records: Ints, axes: Sequence[str], candidates: Sequence[str]) -> list[str]:
    """What else must be kept apart, as a cell would average over it: models and conditions, and runs where a question
    is in several."""
    found = list[str]()
    for name in (name for name in candidates if name not in axes and len(records)):
        codes = [columns.fields[axis].codes[records] for axis in (*axes, *found)]
        codes += [columns.parents[records]] if name == "run" else []
        if _distinct([*codes, columns.fields[name].codes[records]]) > _distinct(codes):
            found.append(name)
    return found


def _distinct(codes: Sequence[Ints]) -> int:
    """How many combinations of codes there are."""
    flat = np.zeros(1, np.int64)
    for code in codes:
        _, flat = np.unique(flat * (int(code.max()) + 1) + code, return_inverse=True)
    return int(flat.max()) + 1


def _notes(columns: Columns, records: Ints, apart: Sequence[str], axes: Sequence[str]) -> Iterator[str]:
    if others := [name for name in apart if name != "model"]:
        yield f"kept apart by {', '.join(others)}: name values of it, such as with --where, for one of them"
    sets = [name for (name,) in split(columns, records, ["set"])] if len(records) else []
    if len(sets) > 1 and "set" not in axes:
        yield f"over the sets {', '.join(sets)} together"
    scorers = sorted({run.config.scorer for run in columns.runs.values()})
    if len(scorers) > 1:
        yield f"scored by different policies ({', '.join(scorers)}): run `mmdyn score` so that they agree"
