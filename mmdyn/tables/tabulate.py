"""Declarations of tables (mmdyn/table.py) and runs -> rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec.structs import replace

from mmdyn.errors import UserError
from mmdyn.stats import Ints, holm
from mmdyn.table import Counted, ErrorKinds, Gap, Leaderboard, NamedTable, Paired, Part, Pivot, Ranking, Spread, Trend
from mmdyn.tables.blocks import APART, Block, Numbered
from mmdyn.tables.collect import MAX_VALUES
from mmdyn.tables.columns import Columns, read_columns, records_where, split
from mmdyn.tables.error_kinds import error_part
from mmdyn.tables.factors import PICKED, ModelFacts
from mmdyn.tables.pairing import mark_best, paired_rows
from mmdyn.tables.pivots import pivot_rows
from mmdyn.tables.published import Published
from mmdyn.tables.ranks import leaderboard_rows, ranking_rows
from mmdyn.tables.results import p_digits
from mmdyn.tables.rows import Row, TablePart, Tabulation
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
}


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
    measures = [part.measure for part in counted]
    picked = {PICKED for part in counted if isinstance(part, Paired) and part.pair == "group"}
    columns = read_columns(folders, (*factors, *APART, "set", *picked), measures, progress, facts)
    for name in factors:
        if len(columns.fields[name].values) > MAX_VALUES:
            many = len(columns.fields[name].values)
            raise UserError(f"the factor {name!r} has {many} values: go by one of {MAX_VALUES} at most")
    parts = [_part(columns, place, part) for place, part in enumerate(named.parts)]
    if published:
        parts = [published.beside(part) for part in parts]
    planned = sum(run.config.planned for run in folders)
    waiting = any(run.config.under_way for run in folders)
    complete = len(columns.parents) >= planned and not columns.flags["unscored"].any() and not waiting
    return Tabulation(named.title, complete, int(columns.flags["failed"].sum()), parts)


def _part(columns: Columns, place: int, part: Part) -> TablePart:
    if isinstance(part, ErrorKinds):
        return error_part(columns.runs, place, part)
    records, missing = records_where(columns, part.where)
    axes, kind = _named(part), type(part).__name__.lower()
    if isinstance(part, Paired) and len(records):
        field = columns.fields[part.factor]
        for value in (part.a, part.b):
            if value not in field.values and not missing:
                missing = f"no record has {part.factor} = {value} (there is {', '.join(field.values[:20])})"
        sides = [code for code, value in enumerate(field.values) if value in (part.a, part.b)]
        records = records[np.isin(field.codes[records], sides)]
    # A declaration that has rows by models unless it says otherwise averages over them where it does.
    apart = _apart(columns, records, axes, APART if isinstance(part, Pivot) else APART[1:])
    numbered = list[tuple[Block, Row, Any]]()
    for values, inside in split(columns, records, apart).items() if len(records) else ():
        block = Block(columns, place, kind, part.measure, inside, dict(zip(apart, values, strict=True)))
        numbered += [(block, row, cell) for row, cell in KINDS[type(part)](block, part)]
    rows = _adjusted(mark_best(numbered))
    across = part.axes[-1] if isinstance(part, Pivot) and len(part.axes) > 1 else "quantity"
    across = part.columns if isinstance(part, Leaderboard) else across
    return TablePart(
        part.title or _title(part), across, rows, [*_notes(columns, records, apart, axes), *filter(None, [missing])]
    )


def _named(part: Counted) -> list[str]:
    """The factors that a declaration names beside those of `where`."""
    if isinstance(part, Pivot):
        return list(part.axes)
    if isinstance(part, Ranking):
        return ["model", part.over]
    if isinstance(part, Leaderboard):
        return ["model", part.columns]
    return [*part.by, part.factor]


def _title(part: Counted) -> str:
    """What a declaration without a title is called."""
    what = f"{type(part).__name__} of {part.measure}"
    return f"{what} by {', '.join(_named(part))}"


def _apart(columns: Columns, records: Ints, axes: Sequence[str], candidates: Sequence[str]) -> list[str]:
    """What else must be kept apart, as a cell would average over it: models and conditions, and runs where a question
    is in several."""
    found = list[str]()
    for name in candidates:
        if name in axes or not len(records):
            continue
        codes = [columns.fields[axis].codes[records] for axis in (*axes, *found)]
        codes += [columns.parents[records]] if name == "run" else []
        if _distinct([*codes, columns.fields[name].codes[records]]) > _distinct(codes):
            found.append(name)
    return found


def _distinct(codes: Sequence[Ints]) -> int:
    """How many combinations there are."""
    return len(np.unique(np.stack(codes), axis=1).T) if codes else 1


def _notes(columns: Columns, records: Ints, apart: Sequence[str], axes: Sequence[str]) -> list[str]:
    notes = []
    if others := [name for name in apart if name != "model"]:
        notes.append(f"kept apart by {', '.join(others)}: name values of it, such as with --where, for one of them")
    sets = [columns.fields["set"].values[code] for code in np.unique(columns.fields["set"].codes[records]).tolist()]
    if len(sets) > 1 and "set" not in axes:
        notes.append(f"over the sets {', '.join(sets)} together")
    scorers = {run.config.scorer for run in columns.runs.values()}
    if len(scorers) > 1:
        notes.append(
            f"scored by different policies ({', '.join(sorted(scorers))}): run `mmdyn score` so that they agree"
        )
    return notes


def _adjusted(rows: Sequence[Row]) -> list[Row]:
    adjusted = holm([row.p for row in rows])
    return [replace(row, p_adjusted=None if p is None else p_digits(p)) for row, p in zip(rows, adjusted, strict=True)]
