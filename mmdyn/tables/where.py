"""Where a score changed: whether a change differs between the values of the questions' fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.stats import equality, holm
from mmdyn.tables.breakdown import ALWAYS, field_of, reading_order
from mmdyn.tables.brief import main_changes
from mmdyn.tables.contrasts import Pair, find_pairs, pair_up, sides
from mmdyn.tables.results import NOT_GIVEN, Table, p_digits
from mmdyn.work import RunFolder

FEW, MOST = 10, 20
"""Questions of a value at least, and values of a field at most, that are looked at."""


class FieldRow(Struct, frozen=True):
    """Whether a model's change from standard to dynamic, over all chains, differs between a field's values.

    p: of Rao and Scott's test that all values have one mean change; None where fewer than three independent questions
    tell. p_adjusted: by Holm over all rows. values: for each value of FEW questions or more, its mean change in [-1, 1]
    and how many questions it has. left_out: questions of other values.
    """

    run: str
    model: str
    set: str
    field: str
    p: float | None
    p_adjusted: float | None
    values: dict[str, tuple[float, int]]
    left_out: int


def fields_to_ask(runs: Sequence[RunFolder]) -> list[str]:
    """The fields that have 2 to MOST values in the runs. Reads every record."""
    found = defaultdict[str, set[str]](set)
    for run in runs:
        for record in run.records():
            for name in (*ALWAYS, *record.fields):
                if len(found[name]) <= MOST:
                    found[name].add(field_of(record, name))
    return [name for name, values in found.items() if 2 <= len(values - {NOT_GIVEN}) <= MOST]


def find_where(table: Table) -> list[FieldRow]:
    """Look at every field by which a table was collected, for each model on each set."""
    told = [(sides(table, pair), pair) for pair in find_pairs(list(table.scores))]
    main = main_changes([one for one, _ in told])
    rows = [row for one, pair in told if one in main for row in _rows(table, pair)]
    adjusted = [p and p_digits(p) for p in holm([row.p for row in rows])]
    return [replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True)]


def _rows(table: Table, pair: Pair) -> Iterator[FieldRow]:
    paired = pair_up(table, pair)
    told = ~np.isnan(paired.scaled.a + paired.scaled.b) & paired.comparable
    parents, change = paired.parents[told], (paired.scaled.b - paired.scaled.a)[told]
    weights = paired.weights[told]
    for name, field in table.fields.items():
        codes = field.codes[parents]
        counts = {value: int((codes == code).sum()) for code, value in enumerate(field.values) if value != NOT_GIVEN}
        large = [value for value in reading_order(name, counts) if counts[value] >= FEW]
        inside = np.isin(codes, [field.values.index(value) for value in large])
        if len(large) < 2:
            continue
        columns: Any = (change[inside], codes[inside], weights[inside], table.clusters[parents[inside]])
        p, means = equality(*columns), dict[str, tuple[float, int]]()
        for value in large:
            own = codes == field.values.index(value)
            means[value] = round(float(np.average(change[own], weights=weights[own])), 6), counts[value]
        key = pair.b
        yield FieldRow(key.run, key.model, key.set, name, p and p_digits(p), None, means, int((~inside).sum()))
