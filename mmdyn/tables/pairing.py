"""Cells compared over the questions that both have: two values of a factor, and models with each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from msgspec.structs import replace

from mmdyn.stats import TOO_FEW_NOTE, Difference, Ints, group_means, holm, mean_of, paired_difference
from mmdyn.table import Paired
from mmdyn.tables.blocks import Block, Numbered
from mmdyn.tables.columns import Cell
from mmdyn.tables.factors import PICKED
from mmdyn.tables.results import BY_RULES, NOT_GIVEN, p_digits
from mmdyn.tables.rows import Row
from mmdyn.tables.scale import SAME

ALPHA = 0.05
GUESSING = "guessing pays differently on the two sides: the measure `corrected` takes that out"
TOO_FEW_OFF = "too few to tell: too few independent questions lie off the mean of the factor"
NO_PAIR = "no question was answered under both"


def compared(block: Block, a: Cell, b: Cell) -> Difference | None:
    """b - a over what both cells have; None where that is nothing."""
    _, in_a, in_b = np.intersect1d(a.ids, b.ids, assume_unique=True, return_indices=True)
    if not len(in_a):
        return None
    weights = (a.weights[in_a] + b.weights[in_b]) / 2
    differences, labels = b.values[in_b] - a.values[in_a], block.labels(a)[in_a]
    if block.measure.unit != "share":
        return mean_of(differences, weights, labels)
    return paired_difference(differences, weights, labels, 1 - min(block.least(a), block.least(b)))


def paired_rows(block: Block, part: Paired) -> Iterator[Numbered]:
    """The rows of a block of a Paired: both sides, their difference, and of groups what became of each."""
    for key, records in block.spans(part.by).items():
        of_sides = [block.at(records, part.factor, value) for value in (part.a, part.b)]
        a, b = (block.cell(side) for side in of_sides)
        left = len(np.union1d(a.asked, b.asked))
        if part.pair == "group":
            a, b = by_group(block, a), by_group(block, b)
            left = len(np.union1d(a.asked, b.asked))
        shared, in_a, in_b = np.intersect1d(a.ids, b.ids, assume_unique=True, return_indices=True)
        both = [only(cell, places) for cell, places in ((a, in_a), (b, in_b))]
        for value, cell in zip((part.a, part.b), both, strict=True):
            yield block.mean_row(part.by, key, value, cell), cell
        yield _difference(block, part, key, both, left - len(shared)), None
        if part.pair == "group" and len(shared):
            yield from _agreement(block, part, key, both, [_picks(block, side) for side in of_sides])


def _difference(block: Block, part: Paired, key: tuple[str, ...], sides: Sequence[Cell], left: int) -> Row:
    a, b = sides
    counts = {name: a.counts[name] + b.counts[name] for name in a.counts}
    more: dict[str, Any] = {"n": len(a.ids), "left_out": left, **counts}
    found = compared(block, a, b)
    if found is None:
        return block.row(part.by, key, "difference", None, note=NO_PAIR, **more)
    guessing = block.measured == "score" and bool(np.nanmax(np.abs(a.chance - b.chance), initial=0.0) > SAME)
    notes = {GUESSING: guessing, BY_RULES: block.lower(a, b)}
    return difference_row(block, part.by, key, found, [note for note, holds in notes.items() if holds], **more)


def difference_row(
    block: Block, by: Sequence[str], key: tuple[str, ...], found: Difference, notes: list[str], **more: Any
) -> Row:
    """The row of a difference, or of another number that is tested against 0."""
    found = found.rounded
    few = TOO_FEW_OFF if more.get("quantity") == "slope" else TOO_FEW_NOTE
    notes = notes if found.p is not None else [*notes, few]
    more = {"ci95": found.ci95, "method": found.method, "note": "; ".join(notes)} | more
    p = None if found.p is None else p_digits(found.p)
    return block.row(by, key, more.pop("quantity", "difference"), found.value, p=p, unit=block.difference_unit, **more)


def _agreement(
    block: Block, part: Paired, key: tuple[str, ...], sides: Sequence[Cell], picks: Sequence[Mapping[int, int]]
) -> Iterator[Numbered]:
    """How many pairs are right on both sides, on neither (and of these, on how many both sides say the same), and on
    one alone; what is neither right nor wrong is in none."""
    a, b = (cell.values for cell in sides)
    kinds = {"both right": (1, 1), f"{part.a} only": (1, 0), f"{part.b} only": (0, 1), "both wrong": (0, 0)}
    shares = {name: (a == one) & (b == other) for name, (one, other) in kinds.items()}
    alike = [picks[0].get(group, -1) == picks[1].get(group, -2) for group in sides[0].ids.tolist()]
    shares["both wrong, alike"] = shares["both wrong"] & np.array(alike)
    for name, hits in shares.items():
        yield block.mean_row(part.by, key, name, sides[0]._replace(values=hits.astype(np.float64), bounded=False)), None


def _picks(block: Block, records: Ints) -> dict[int, int]:
    """What was read in the replies of each group, by its code, where all of them say the same."""
    picked = block.columns.fields[PICKED]
    found = dict[int, set[int]]()
    groups = block.columns.groups[block.columns.parents[records]]
    for group, code in zip(groups.tolist(), picked.codes[records].tolist(), strict=True):
        found.setdefault(group, set()).add(code)
    silent = picked.values.index(NOT_GIVEN) if NOT_GIVEN in picked.values else -1
    return {group: codes.pop() for group, codes in found.items() if len(codes) == 1 and silent not in codes}


def by_group(block: Block, cell: Cell) -> Cell:
    """A cell of groups: the questions of a group are averaged, those without one are left out."""
    groups = block.columns.groups
    place = groups[cell.parents]
    there = place >= 0
    ids, values, weights = group_means(place[there], cell.values[there], cell.weights[there])
    _, chance, _ = group_means(place[there], cell.chance[there], cell.weights[there])
    first = cell.parents[there][np.unique(place[there], return_index=True)[1]]
    asked = np.unique(groups[cell.asked][groups[cell.asked] >= 0])
    return cell._replace(parents=first, ids=ids, values=values, weights=weights, chance=chance, asked=asked)


def only(cell: Cell, places: Ints) -> Cell:
    columns: dict[str, Any] = {
        name: getattr(cell, name)[places] for name in ("parents", "ids", "values", "weights", "chance")
    }
    return cell._replace(**columns)


def mark_best(numbered: Sequence[tuple[Block, Row, Cell | None]]) -> list[Row]:
    """The rows, of which in each column of models the best, and the second, are marked where a paired test tells them
    apart from the next; Holm's adjustment is over the neighbours of a column."""
    columns = defaultdict[tuple[tuple[str, str], ...], list[int]](list)
    for place, (block, row, cell) in enumerate(numbered):
        if "model" in row.factors and row.value is not None and cell is not None and block.measure.better:
            others = tuple((name, value) for name, value in row.factors.items() if name != "model")
            columns[others, row.quantity].append(place)  # type: ignore[index]
    rows = [row for _, row, _ in numbered]
    for places in columns.values():
        places.sort(key=lambda place: -(rows[place].value or 0.0))
        tests = [_test(numbered[one], numbered[other]) for one, other in pairwise(places)]
        adjusted = holm([test and test.p for test in tests])
        for place, test, p, mark in zip(places, tests, adjusted, ("best", "second"), strict=False):
            if test is None or p is None or p > ALPHA or test.value >= 0:
                break
            rows[place] = replace(rows[place], mark=mark)
    return rows


def _test(one: tuple[Block, Row, Cell | None], other: tuple[Block, Row, Cell | None]) -> Difference | None:
    """What the other has more than one over the questions that both have."""
    assert one[2] is not None and other[2] is not None
    return compared(one[0], one[2], other[2])


def told_apart(block: Block, boards: Sequence[Sequence[Cell]]) -> list[Ints]:
    """For each board, of each two cells which is better: 1 at (i, j) where i is, -1 where j is, 0 where a paired test
    does not tell them apart at 5 % after Holm's adjustment over all boards."""
    pairs = [(board, *pair) for board, cells in enumerate(boards) for pair in combinations(range(len(cells)), 2)]
    tests = [compared(block, boards[board][one], boards[board][other]) for board, one, other in pairs]
    found = [np.zeros((len(cells), len(cells)), np.int64) for cells in boards]
    for (board, *pair), test, p in zip(pairs, tests, holm([test and test.p for test in tests]), strict=True):
        if test and p is not None and p <= ALPHA:
            one, other = pair if test.value < 0 else pair[::-1]
            found[board][one, other], found[board][other, one] = 1, -1
    return found
