"""Two sides compared over the questions that both have: on one scale, with interval and test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Literal, NamedTuple, Unpack

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from mmdyn.record import Scale
from mmdyn.stats import (
    TOO_FEW_NOTE,
    Difference,
    Floats,
    Ints,
    group_means,
    holm,
    mean_of,
    paired_difference,
    paired_difference_between,
)
from mmdyn.table import Paired
from mmdyn.tables.blocks import UNTESTED, Block, Interval, Key, Numbered, Row, RowDetails, p_digits
from mmdyn.tables.columns import SAME, Cell, Columns, add_counts, counts_of
from mmdyn.tables.factors import NOT_GIVEN, PICKED

ALPHA = 0.05
EVEN = 0.5
"""A question is right where its mean score is above this, wrong where it is below, and neither where it is equal."""

CORRECTED = (
    "the two sides differ in chance, so that the difference is of scores corrected for chance; a wrong answer then"
    " scores below 0, and a difference can exceed 100 points; a model that rules out options guesses better than"
    " chance, and can fall here without losing knowledge"
)
TOO_FEW_GROUP = "too few to tell: a group has fewer than three independent parents or groups"
TOO_FEW_OFF = "too few to tell: too few independent questions lie off the mean of the factor"
NO_PAIR, ALL_GUESSED = "no question was answered under both", "guessing earns all on one side"
READ = "difference where read"
RAW, STANDARD = "raw difference", "standard"


class Pair(NamedTuple):
    """Two sides over the questions, or groups of questions, that both have.

    block: of what is measured on the scale. a, b: cells of the same ids. raw: b - a of raw scores. records: of both
    sides, asked and not answered ones among them. lacking: each parent as many times as it lacks a variant that others
    have. note: what to know of the scale. empty: why there is no number where there is none.
    """

    block: Block
    a: Cell
    b: Cell
    raw: Floats
    records: tuple[Ints, Ints]
    lacking: Ints
    scale: Scale | Literal[""]
    note: str
    empty: str
    grouped: bool

    @classmethod
    def of(cls, block: Block, a: Ints, b: Ints, *, grouped: bool = False) -> Pair:
        """The records of two sides, raw where guessing earns the same on both, else corrected for chance.

        grouped: pairs are groups of questions that stand for each other.
        """
        cells = _shared(block, (a, b), grouped=grouped)
        scale, note = _scale_of(block, cells[0], cells[1])
        scaled = block._replace(measured="corrected") if scale == "corrected" else block
        on_scale = _shared(scaled, (a, b), grouped=grouped) if scale == "corrected" else cells
        kept = np.isin(cells[0].ids, on_scale[0].ids)
        compared = [_are_paired(block.columns, records, cells[0].ids, grouped=grouped) for records in (a, b)]
        lacking = [_lacking(block.columns, records, paired) for records, paired in zip((a, b), compared, strict=True)]
        return cls(
            block=scaled,
            a=on_scale[0],
            b=on_scale[1],
            raw=(cells[1].values - cells[0].values)[kept],
            records=(a, b),
            lacking=np.concatenate(lacking),
            scale=scale,
            note=note,
            empty=ALL_GUESSED if len(cells[0].ids) else NO_PAIR,
            grouped=grouped,
        )

    def only(self, parents: NDArray[np.bool_]) -> Pair:
        """The pairs of some parents, of which a mask says which."""
        kept, of = parents[self.a.parents], self.block.columns.parents
        a, b = (records[parents[of[records]]] for records in self.records)
        cells = self.a.only(kept), self.b.only(kept)
        lacking = self.lacking[parents[self.lacking]]
        return self._replace(a=cells[0], b=cells[1], raw=self.raw[kept], records=(a, b), lacking=lacking)

    def difference(self) -> Difference | None:
        """b - a; None without a pair."""
        return _tested(self.block, self.a, self.b) if len(self.a.ids) else None

    def unread(self, records: Ints) -> float:
        """The share of one side's compared answers that were refused or not read."""
        columns = self.block.columns
        counts = counts_of(columns, records[_are_paired(columns, records, self.a.ids, grouped=self.grouped)])
        return (counts.unparsed + counts.refused) / counts.answers if counts.answers else 0.0

    def rows(
        self, axes: Sequence[str], key: Key, names: Sequence[str], notes: Sequence[str] = (),
        differs: tuple[str, ...] = (), *, comparable: bool = True,
    ) -> Iterator[Numbered]:  # fmt: skip
        """A row for each side, for the difference, and for that of raw scores where the scale is another one.

        comparable: whether the two can be compared at all; if not `notes` say why, and there is no number.
        """
        sides = [self._told(cell, records) for cell, records in zip((self.a, self.b), self.records, strict=True)]
        for name, cell in zip(names, sides, strict=True):
            yield self.block.mean_row(axes, key, name, cell, scale=self.scale), cell
        asked = np.unique(np.concatenate([self._ids(records) for records in self.records]))
        details: RowDetails = {
            "counts": add_counts(sides),
            "n": len(self.a.ids),
            "left_out": len(asked) - len(self.a.ids),
            "variants_left_out": len(self.lacking),
            "not_applicable": self._dropped("not_applicable"),
            "rejected": self._dropped("rejected"),
            "doubtful": self._dropped("doubtful"),
            "chains": max(self.a.chains, self.b.chains) if self._counts else 0,
            "scale": self.scale,
            "differs": differs,
        }
        found = self.difference() if comparable else None
        if found is None:
            details |= {"note": self.empty if comparable else "; ".join(notes), "unit": self.block.difference_unit}
            yield self.block.row(axes, key, "difference", None, **details), None
            return
        told = dict.fromkeys(notes, True) | {self.note: bool(self.note)}
        if judged := judged_of(self.a, self.b, self.weights):
            details["judged"] = judged
        known = [note for note, holds in told.items() if holds]
        yield difference_row(self.block, axes, key, found, known, **details), None
        if self.scale == "corrected":
            raw = round(float(np.average(self.raw, weights=self.weights)), 6) + 0.0
            unit = self.block.difference_unit
            yield self.block.row(axes, key, RAW, raw, n=len(self.a.ids), scale="raw", unit=unit), None

    @property
    def _counts(self) -> bool:
        """Whether the chain of side b counts over all chains."""
        columns = self.block.columns
        return bool(columns.pooled[np.unique(columns.asked[self.records[1]])].any())

    def _dropped(self, reason: str) -> int:
        """How many variants of the compared parents were not made for a reason."""
        columns = self.block.columns
        keys = {*np.unique(columns.asked[np.concatenate(self.records)]).tolist()}
        dropped = [counts for (why, key), counts in columns.dropped.items() if why == reason and key in keys]
        return sum(int(counts[self.a.parents].sum()) for counts in dropped)

    @property
    def weights(self) -> Floats:
        """Of each pair."""
        return (self.a.weights + self.b.weights) / 2

    def _ids(self, records: Ints) -> Ints:
        parents = self.block.columns.parents[records]
        groups = self.block.columns.groups[parents]
        return np.unique(groups[groups >= 0] if self.grouped else parents)

    def _told(self, cell: Cell, records: Ints) -> Cell:
        """A side with the counts of its compared records, and of all that failed or have no score."""
        columns = self.block.columns
        compared = records[_are_paired(columns, records, self.a.ids, grouped=self.grouped)]
        every = counts_of(columns, records)
        counts = counts_of(columns, compared)._replace(failed=every.failed, unscored=every.unscored)
        return cell._replace(counts=counts)


def _shared(block: Block, sides: tuple[Ints, Ints], *, grouped: bool) -> tuple[Cell, Cell]:
    """The cells of two sides, over what both have. Chains weigh the same over what is compared; the side without
    chains carries the weights of the other."""
    if not grouped:
        sides = _both(block, sides)
    a, b = (by_group(block, cell) if grouped else cell for cell in map(block.cell, sides))
    _, in_a, in_b = np.intersect1d(a.ids, b.ids, assume_unique=True, return_indices=True)
    a, b = a.only(in_a), b.only(in_b)
    if a.chains == b.chains:
        return a, b
    weights = a.weights if a.chains > b.chains else b.weights
    return a._replace(weights=weights), b._replace(weights=weights)


def _both(block: Block, sides: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """The records of the parents that have a value on both sides; where both are over chains, under the same chain."""
    columns = block.columns
    values = columns.worth[block.measured][0]
    codes = [columns.parents[side] for side in sides]
    chains = columns.field("chain").codes
    if all(len(np.unique(chains[side])) > 1 for side in sides):
        many = len(columns.field("chain").values)
        codes = [parents * many + chains[side] for parents, side in zip(codes, sides, strict=True)]
    told = [code[~np.isnan(values[side])] for code, side in zip(codes, sides, strict=True)]
    shared = np.intersect1d(*told)
    a, b = (side[np.isin(code, shared)] for code, side in zip(codes, sides, strict=True))
    return a, b


def _scale_of(block: Block, a: Cell, b: Cell) -> tuple[Scale | Literal[""], str]:
    """The scale of the set, on which guessing makes no difference between two cells of the same ids, and what to know
    of it."""
    if block.measured != "score":
        return "", ""
    if not block.columns.corrected[a.parents].any():
        return "raw", ""
    alike = np.allclose(a.chance, b.chance, rtol=0, atol=SAME)
    return "corrected", "" if alike else CORRECTED


def _are_paired(columns: Columns, records: Ints, ids: Ints, *, grouped: bool) -> NDArray[np.bool_]:
    """Whether the parents, or groups, of some records are among these."""
    parents = columns.parents[records]
    return np.isin(columns.groups[parents] if grouped else parents, ids)


def _lacking(columns: Columns, records: Ints, paired: NDArray[np.bool_]) -> Ints:
    """The parent of each variant that pairs lack: one whose chain and draw another parent of the set has."""
    keys, parents = columns.asked[records], columns.parents[records]
    answered, found = ~(columns.flags["failed"] | columns.flags["unscored"])[records], list[Ints]()
    pools = {place: columns.keys[place].pool or columns.keys[place] for place in np.unique(keys).tolist()}
    for place, pool in pools.items():
        alike = np.unique(parents[paired & np.isin(keys, [other for other, its in pools.items() if its == pool])])
        draws = np.arange(columns.draws[records[keys == place]].max() + 1)
        own = paired & answered & (keys == place)
        wanted = (alike[:, None] * len(draws) + draws).ravel()
        found.append(np.setdiff1d(wanted, parents[own] * len(draws) + columns.draws[records[own]]) // len(draws))
    return np.concatenate(found) if found else parents


def compared(block: Block, a: Cell, b: Cell) -> Difference | None:
    """b - a over what both cells have; None where that is nothing."""
    _, in_a, in_b = np.intersect1d(a.ids, b.ids, assume_unique=True, return_indices=True)
    return _tested(block, a.only(in_a), b.only(in_b)) if len(in_a) else None


def _tested(block: Block, a: Cell, b: Cell) -> Difference:
    """b - a of cells of the same ids."""
    weights, differences, labels = (a.weights + b.weights) / 2, b.values - a.values, block.labels(a)
    if block.measure.unit != "share":
        return mean_of(differences, weights, labels)
    bound = 1 - min(block.least(a), block.least(b))
    if a.waits or b.waits:
        return paired_difference_between(b.low - a.high, b.high - a.low, differences, weights, labels, bound)
    return paired_difference(differences, weights, labels, bound)


def judged_of(a: Cell, b: Cell, weights: Floats) -> Interval | None:
    """Between what b - a of cells of the same ids lies once all is judged; None where nothing waits for a judge."""
    if not (a.waits or b.waits):
        return None
    ends = (b.low - a.high, b.high - a.low)
    low, high = (round(float(np.average(end, weights=weights)), 6) + 0.0 for end in ends)
    return low, high


def paired_rows(block: Block, part: Paired) -> Iterator[Numbered]:
    """The rows of a block of a Paired: both sides, their difference, and of groups what became of each. Standard
    questions stand beside each chain, as they have none."""
    chainless = part.factor == "variant" and "chain" in part.by
    place = part.by.index("chain") if chainless else 0
    wide = block.spans(part.by[:place] + part.by[place + 1 :]) if chainless else {}
    for key, records in block.spans(part.by).items():
        if chainless and key[place] == NOT_GIVEN:
            continue
        every = wide[key[:place] + key[place + 1 :]] if chainless else records
        sides = [block.at(every if value == STANDARD else records, part.factor, value) for value in (part.a, part.b)]
        pair = Pair.of(block, sides[0], sides[1], grouped=part.pair == "group")
        read = [*read_rows(block, pair)] if part.factor == "variant" else []
        yield from over_read(pair.rows(part.by, key, (part.a, part.b)), read)
        if pair.grouped and len(pair.a.ids):
            yield from _agreement(block, part, key, pair)


def read_rows(block: Block, pair: Pair) -> Iterator[Numbered]:
    """If some replies were unparsed or refused: their share on each side, and the difference over the other answers."""
    columns = block.columns
    shares = [pair.unread(records) for records in pair.records]
    if not any(shares):
        return
    for side, share in zip(("unread a", "unread b"), shares, strict=True):
        yield block.row((), (), side, round(share, 6), unit="share"), None
    read = ~(columns.flags["unparsed"] | columns.flags["refused"])
    a, b = (records[read[records]] for records in pair.records)
    own = Pair.of(block, a, b)
    if found := own.difference():
        unit, found = block.difference_unit, found.rounded
        details: RowDetails = {"n": len(own.a.ids), "unit": unit, "scale": own.scale, "method": found.method}
        details["ci95"] = found.ci95
        yield block.row((), (), READ, found.value, **details), None


def over_read(rows: Iterable[Numbered], read: Sequence[Numbered]) -> Iterator[Numbered]:
    """The rows of a contrast; a significant difference says whether it holds over the replies that were `read`."""
    found = {row.quantity: row for row, _ in read}
    for row, cell in rows:
        tested = found and row.quantity == "difference" and row.p is not None and row.p <= ALPHA
        yield (replace(row, over_read=_read_says(row, found)) if tested else row), cell


def _read_says(row: Row, read: Mapping[str, Row]) -> Literal["", "unclear", "mostly unread"]:
    change, ends = row.value or 0.0, read[READ].ci95 if READ in read else None
    if ends and min(end * change for end in ends) > 0:
        return ""
    before, after = (read[f"unread {side}"].value or 0.0 for side in "ab")
    return "mostly unread" if 2 * (before - after) * change > change**2 else "unclear"


def difference_row(
    block: Block,
    by: Sequence[str],
    key: Key,
    found: Difference,
    notes: Sequence[str],
    quantity: str = "difference",
    **details: Unpack[RowDetails],
) -> Row:
    """The row of a difference, or of another number that is tested against 0."""
    found = found.rounded
    few = TOO_FEW_OFF if quantity.startswith("slope") else TOO_FEW_NOTE
    notes = notes if found.p is not None or UNTESTED in notes else [*notes, few]
    given: RowDetails = {
        "ci95": found.ci95,
        "method": found.method,
        "note": "; ".join(notes),
        **details,
        "p": None if found.p is None else p_digits(found.p),
        "unit": block.difference_unit,
    }
    return block.row(by, key, quantity, found.value, **given)


def _agreement(block: Block, part: Paired, key: Key, pair: Pair) -> Iterator[Numbered]:
    """The share of pairs that are right on both sides or on neither (`consistency`, R-Bench, section 3.3), and of those
    that are right on both, on neither (and of these, on how many both sides say the same), and on one alone; what is
    neither right nor wrong is in none."""
    a, b = (cell.values for cell in _shared(block, pair.records, grouped=True))
    kinds = {"both right": (1, 1), f"{part.a} only": (1, 0), f"{part.b} only": (0, 1), "both wrong": (0, 0)}
    shares = {name: (a == one) & (b == other) for name, (one, other) in kinds.items()}
    shares = {"consistency": shares["both right"] | shares["both wrong"], **shares}
    picks = [_picks(block, side) for side in pair.records]
    alike = [picks[0].get(group, -1) == picks[1].get(group, -2) for group in pair.a.ids.tolist()]
    shares["both wrong, alike"] = shares["both wrong"] & np.array(alike)
    for name, hits in shares.items():
        yield block.mean_row(part.by, key, name, pair.a.settled(hits.astype(np.float64))), None


def _picks(block: Block, records: Ints) -> Mapping[int, int]:
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
    cell = cell.only(groups[cell.parents] >= 0)
    place = groups[cell.parents]
    ids, values, weights = group_means(place, cell.values, cell.weights)
    _, chance, _ = group_means(place, cell.chance, cell.weights)
    _, least, _ = group_means(place, cell.least, cell.weights)
    first = cell.parents[np.unique(place, return_index=True)[1]]
    asked = np.unique(groups[cell.asked][groups[cell.asked] >= 0])
    _, low, _ = group_means(place, cell.low, cell.weights)
    _, high, _ = group_means(place, cell.high, cell.weights)
    return Cell(first, ids, values, weights, chance, least, low, high, cell.counts, asked)


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
    """The score of `other` less that of `one`, over the questions that both have."""
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
