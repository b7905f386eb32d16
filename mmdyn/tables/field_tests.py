"""Where a score changed: whether a change differs between the values of the questions' fields."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mmdyn.stats import equality
from mmdyn.table import FieldTests
from mmdyn.tables.blocks import Block, Numbered
from mmdyn.tables.breakdown import reading_order
from mmdyn.tables.contrasts import Sides, find_sides
from mmdyn.tables.keys import NOT_GIVEN, POOLED
from mmdyn.tables.labels import is_change
from mmdyn.tables.pairing import TOO_FEW_GROUP, Pair
from mmdyn.tables.rows import UNTESTED, p_digits
from mmdyn.tables.scores import conditions_of

FEW = 10
"""Questions of a value that is looked at, at least."""

EQUAL = "equal changes"
TESTED = "Rao-Scott test of equality"


def field_rows(block: Block, part: FieldTests) -> Iterator[Numbered]:
    """For each model on each set and each field a row with the test that all its values of FEW questions or more have
    one mean change from standard to dynamic, and a row for each of these values."""
    conditions = conditions_of(block)
    for sides in _main(find_sides(list(conditions))):
        pair = Pair.of(block, *(conditions[key] for key in sides[1:]))
        front = {name: value for name, value in sides.factors().items() if name in ("run", "model", "set")}
        for name in block.columns.question_fields:
            yield from _rows(pair, front, name)


def _main(every: list[Sides]) -> list[Sides]:
    """The change of each model on each set, over all chains or over the one that there is."""
    found = dict[tuple[str, ...], Sides]()
    for sides in every:
        who = (sides.a.run, sides.b.run, sides.a.model, sides.a.set)
        if is_change(sides.factors()) and (who not in found or sides.b.chain == POOLED):
            found[who] = sides
    return list(found.values())


def _rows(pair: Pair, front: dict[str, str], name: str) -> Iterator[Numbered]:
    field = pair.block.columns.parent_field(name)
    codes, block = field.codes[pair.a.parents], pair.block._replace(front=front)
    counts = {value: int((codes == code).sum()) for code, value in enumerate(field.values) if value != NOT_GIVEN}
    large = [value for value in reading_order(name, counts) if counts[value] >= FEW]
    inside: NDArray[np.bool_] = np.isin(codes, [field.values.index(value) for value in large])
    if len(large) < 2:
        return
    change, weights = pair.b.values - pair.a.values, pair.weights
    waits = pair.a.waits or pair.b.waits
    labels = block.columns.clusters[pair.a.parents[inside]]
    p = None if waits else equality(change[inside], codes[inside], weights[inside], labels)
    more = {"n": int(inside.sum()), "left_out": int((~inside).sum()), "unit": "points", "scale": pair.scale}
    untold = UNTESTED if waits else TOO_FEW_GROUP if p is None else ""
    told = {"p": p and p_digits(p), "method": TESTED, "note": untold}
    yield block.row(("field",), (name,), EQUAL, None, **more, **told), None
    for value in large:
        own = codes == field.values.index(value)
        mean = round(float(np.average(change[own], weights=weights[own])), 6) + 0.0
        more = {"n": counts[value], "unit": "points", "scale": pair.scale}
        yield block.row(("field", "value"), (name, value), "difference", mean, **more), None
