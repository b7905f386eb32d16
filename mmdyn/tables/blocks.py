"""Rows of tables, and the records of one declaration, split into the cells of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, Unpack

import numpy as np
from msgspec import Struct

from mmdyn.record import Scale
from mmdyn.stats import Estimate, Floats, Ints, Share, mean_of, mean_of_means, mean_score
from mmdyn.tables.columns import Cell, Columns, Counts, Watcher, add_counts, cell_of, split
from mmdyn.tables.factors import FACTORS
from mmdyn.tables.run_state import Measure, measure

TOTAL, MACRO = "all", "mean"
"""TOTAL is the value of a factor in a row over all its values; MACRO in a row that is the mean of their means."""

SHARE_OF_DROP = "share of the drop"
"""What an operator takes of the whole drop."""

if TYPE_CHECKING:
    Interval: TypeAlias = tuple[float, float]
else:  # in stored reports, where the upper end of a half dose may be open
    Interval = tuple[float, float | None]
"""The ends of a 95 % interval."""

WAITING = "some answers were read, but are not judged yet: intervals and p hold for every verdict on them"
AS_RULES = "some answers are not judged yet, and count here as the rules score them"
UNTESTED = "some answers are not judged yet, so nothing is tested"
"""Notes on numbers of which some answers need a judge and had none."""


SIGNIFICANT = 0.05
"""An adjusted p below it is significant."""

POINT = 0.01
"""What a judge of unread replies could add to a score is told from here on."""

MOSTLY_UNREAD = "mostly unread: over half of the change is unread replies, and what was read shows no significant one"


class Row(Struct, frozen=True, kw_only=True):
    """One number of a table. Shares are in [0, 1], their differences in [-1, 1]; `unit` names the unit of other
    numbers.

    Args:
        factors, quantity: The records that it is of (TOTAL and MACRO as values); what it is: the measure, a side of a
            difference, `difference`, `slope`, ….
        n, left_out: Parents or pairs; parents asked but not counted or paired.
        variants_left_out: Variants that the pairs lack, among them those `not_applicable`, `rejected` by a judge, and
            `doubtful` by rules without a model as judge; the others failed or were not asked.
        p, p_adjusted: Of the test that a difference is 0, or that all are equal; adjusted by Holm over its family.
        judged: Where answers wait for a judge, the range of the value over all verdicts; `ci95` and `p` hold for each.
        at_most: Of a score, its value if a judge gave 1 to all that it could look at, unread replies among it, for
            which neither `judged` nor `ci95` allows; None where each of these was read.
        chains: How many chains it is a mean over; 0 for a difference of a chain that does not count over all chains.
        over_read: Of a difference whose own test says that it is not 0: `unclear` where the questions that were read on
            both sides do not show it, `mostly unread` where besides the share of unread replies moved by more than half
            of it.
        scale: The scores that a difference is of: `raw`, or `corrected` for chance.
        differs: What its sides differ in beside the factor.
        mark, note: `best` or `second` where it differs significantly from the next; how to read it, or why it is
            missing.
        paper: The paper's number, for `paper_model`.
    """

    factors: dict[str, str]
    quantity: str
    unit: str
    value: float | None
    ci95: Interval | None = None
    n: int = 0
    left_out: int = 0
    variants_left_out: int = 0
    not_applicable: int = 0
    rejected: int = 0
    doubtful: int = 0
    answers: int = 0
    unparsed: int = 0
    refused: int = 0
    truncated: int = 0
    failed: int = 0
    unscored: int = 0
    needs_judge: int = 0
    p: float | None = None
    p_adjusted: float | None = None
    judged: Interval | None = None
    at_most: float | None = None
    chains: int = 1
    over_read: Literal["", "unclear", "mostly unread"] = ""
    scale: Scale | Literal[""] = ""
    differs: tuple[str, ...] = ()
    mark: Literal["", "best", "second"] = ""
    method: str = ""
    note: str = ""
    paper: float | None = None
    paper_model: str = ""

    @property
    def is_significant(self) -> bool:
        """Whether its adjusted p is below SIGNIFICANT."""
        return self.p_adjusted is not None and self.p_adjusted < SIGNIFICANT

    @property
    def is_clear(self) -> bool:
        """Whether it is significant, and not mostly for replies that were not read."""
        return self.is_significant and self.over_read != "mostly unread"

    @property
    def gain(self) -> float:
        """By how much a judge of unread replies could raise a score beyond what it is, or may be once judged; 0 below
        POINT."""
        most = self.judged[1] if self.judged else self.value or 0.0
        return self.at_most - most if self.at_most is not None and self.at_most - most >= POINT else 0.0


class RowDetails(TypedDict, total=False):
    """What a row may have beside its factors, its quantity and its value; `Row` says what each is. counts: of records,
    by outcome."""

    unit: str
    ci95: Interval | None
    n: int
    left_out: int
    variants_left_out: int
    not_applicable: int
    rejected: int
    doubtful: int
    counts: Counts
    p: float | None
    judged: Interval | None
    chains: int
    scale: Scale | Literal[""]
    differs: tuple[str, ...]
    method: str
    note: str


class TablePart(Struct, frozen=True):
    """The rows of one declaration.

    Args:
        kind: The declaration's name in lower case, such as `scores`.
        across: The factor whose values are the columns, in the order of `columns`; `quantity` where the columns are
            quantities; empty where each row is a line.
        by: The field that scores or contrasts are broken down by; empty for none.
    """

    kind: str
    title: str
    across: str
    rows: list[Row]
    notes: list[str]
    columns: list[str] = []
    by: str = ""


def rows_of(parts: Iterable[TablePart], kind: str, quantity: str = "") -> list[Row]:
    """The rows of all parts of a kind, such as `scores`; only those of a quantity if one is named."""
    every = (row for part in parts if part.kind == kind for row in part.rows)
    return [row for row in every if quantity in ("", row.quantity)]


def p_digits(p: float) -> float:
    """Round a p-value to six significant digits, as reports hold it.

    >>> p_digits(0.0123456789)
    0.0123457
    """
    return float(f"{p:.6g}")


APART = ("model", *(factor for factor in FACTORS if factor != "chain"), "run")
"""The factors that no number averages over; only chains are pooled."""

SMALL = 10
"""A group with fewer questions is small: the interval of a mean over mostly small groups may be too short."""

NEVER_TOTAL = (*APART, "mode", "changed")

Key: TypeAlias = tuple[str, ...]
Numbered: TypeAlias = tuple[Row, Cell | None]
"""A row, and the cell that its number is the mean of."""


class Block(NamedTuple):
    """The records of a declaration and its measure that share the values `front` of the factors that are kept apart."""

    columns: Columns
    measured: str
    records: Ints
    front: dict[str, str]

    @property
    def measure(self) -> Measure:
        """The measure."""
        return measure(self.measured)

    @property
    def difference_unit(self) -> str:
        """The unit of differences."""
        return "points" if self.measure.unit == "share" else self.measure.unit

    def spans(self, axes: Sequence[str]) -> dict[Key, Ints]:
        """The records of each combination of values, and of totals over the factors that may have one, in reading
        order."""
        never = (*NEVER_TOTAL, *self.columns.facts)
        several = [axis for axis in axes if axis not in never and self.varies(axis)]
        found = dict[Key, Ints]()
        for dropped in (each for count in range(len(several) + 1) for each in combinations(several, count)):
            kept = [axis for axis in axes if axis not in dropped]
            own = self.columns.over_chains(self.records) if "chain" in dropped else self.records
            for values, records in split(self.columns, own, kept).items():
                named = dict(zip(kept, values, strict=True))
                found[tuple(named.get(axis, TOTAL) for axis in axes)] = records
        return {key: found[key] for key in sorted(found, key=lambda key: self.order(axes, key))}

    def varies(self, axis: str) -> bool:
        """Whether the block's records have more than one value of a factor."""
        return len(split(self.columns, self.records, [axis])) > 1

    def cells(self, axes: Sequence[str]) -> dict[Key, Cell]:
        """The cells of each of `spans`."""
        return {key: self.cell(records) for key, records in self.spans(axes).items()}

    def cell(self, records: Ints) -> Cell:
        """The parents of some records, each with its mean."""
        return cell_of(self.columns, self.measured, records)

    def order(self, axes: Sequence[str], key: Key) -> list[int]:
        """The sort key of a combination of values: totals come after the values, means after totals."""
        return [
            [*self.columns.field(axis).values, TOTAL, MACRO].index(value) for axis, value in zip(axes, key, strict=True)
        ]

    def at(self, records: Ints, factor: str, value: str) -> Ints:
        """Those of some records that have a value of a factor."""
        return split(self.columns, records, [factor]).get((value,), records[:0])

    def least(self, cell: Cell) -> float:
        """The lowest possible share: below 0 where it is corrected for chance."""
        return float(cell.least.min(initial=0.0))

    def labels(self, cell: Cell) -> Ints:
        """The cluster of each parent of a cell."""
        return self.columns.clusters[cell.parents]

    def row(
        self, axes: Sequence[str], key: Key, quantity: str, value: float | None, **details: Unpack[RowDetails]
    ) -> Row:
        """A row of this block, in the unit of its measure if none is given."""
        counts = details.get("counts", Counts())
        return Row(
            factors=self.front | dict(zip(axes, key, strict=True)),
            quantity=quantity,
            unit=details.get("unit", self.measure.unit),
            value=value,
            ci95=details.get("ci95"),
            n=details.get("n", 0),
            left_out=details.get("left_out", 0),
            variants_left_out=details.get("variants_left_out", 0),
            not_applicable=details.get("not_applicable", 0),
            rejected=details.get("rejected", 0),
            doubtful=details.get("doubtful", 0),
            answers=counts.answers,
            unparsed=counts.unparsed,
            refused=counts.refused,
            truncated=counts.truncated,
            failed=counts.failed,
            unscored=counts.unscored,
            needs_judge=counts.needs_judge,
            p=details.get("p"),
            judged=details.get("judged"),
            chains=details.get("chains", 1),
            scale=details.get("scale", ""),
            differs=details.get("differs", ()),
            method=details.get("method", ""),
            note=details.get("note", ""),
        )

    def share_row(
        self, axes: Sequence[str], key: Key, quantity: str, share: Share | Estimate, **details: Unpack[RowDetails]
    ) -> Row:
        """A row of a share with its interval."""
        value, low, high = (round(number, 6) + 0.0 for number in (share.value, share.low, share.high))
        given: RowDetails = {"ci95": (low, high), "unit": "share", **details}
        return self.row(axes, key, quantity, value, **given)

    def mean_row(
        self,
        axes: Sequence[str],
        key: Key,
        quantity: str,
        cell: Cell,
        strata: Ints | None = None,
        shares: Floats | None = None,
        **details: Unpack[RowDetails],
    ) -> Row:
        """A row of the mean of a cell. For a mean of means, `strata` holds the index of each parent's group, and
        `shares` what each group weighs where they do not weigh the same."""
        if not len(cell.values):
            note = f"no answer has {self.measured}" if len(cell.asked) else "no record"
            empty: RowDetails = {"note": note, "counts": cell.counts, **details}
            return self.row(axes, key, quantity, None, **empty)
        n = len(np.unique(cell.parents))
        found: RowDetails = {"n": n, "counts": cell.counts, "chains": cell.chains, **details}
        if strata is not None:
            found["note"] = "; ".join(filter(None, (details.get("note"), _small_groups(strata))))
        if self.measure.unit == "count":
            return self.row(axes, key, quantity, found["n"], **found)
        if self.measure.unit != "share":
            mean = mean_of(cell.values, cell.weights, self.labels(cell)).rounded
            found = {"method": mean.method, **found, "ci95": mean.ci95}
            return self.row(axes, key, quantity, mean.value, **found)
        estimate = self._mean(cell, cell.values, strata, shares).rounded
        if cell.waits:
            ends = [self._mean(cell, values, strata, shares).rounded for values in (cell.low, cell.high)]
            low, high = min(end.low for end in ends), max(end.high for end in ends)
            method = "; ".join(dict.fromkeys(end.method for end in ends))
            estimate = estimate._replace(low=low, high=high, method=method)
            found["judged"] = ends[0].value, ends[1].value
        found |= {"ci95": estimate.ci95, "method": estimate.method}
        return self.row(axes, key, quantity, estimate.value, **found)

    def _mean(self, cell: Cell, values: Floats, strata: Ints | None, shares: Floats | None) -> Estimate:
        labels, least = self.labels(cell), self.least(cell)
        if strata is None or not np.ptp(strata):
            return mean_score(values, cell.weights, labels, least)
        return mean_of_means(values, strata, cell.weights, labels, least, shares)


class RowWatcher(Watcher, Protocol):
    """Sees each record for a declaration, and makes the declaration's rows from what it saw."""

    def rows(self, block: Block) -> Iterator[Numbered]:
        """The rows of a block of all records."""
        ...

    def notes(self, rows: Sequence[Row]) -> Iterable[str]:
        """Notes on these rows, or why there are none."""
        return ()


def macro_cell(cells: Mapping[int, Cell]) -> tuple[Cell, Ints]:
    """Cells, by the codes of their values, as one whose mean is that of their means; and which of them each parent is
    of."""
    each = list(cells.values())
    scaled = [cell.weights / cell.weights.sum() for cell in each]
    strata = np.repeat(list(cells), [len(cell.values) for cell in each])
    cell = Cell(
        parents=np.concatenate([cell.parents for cell in each]),
        ids=np.concatenate([code * (1 << 32) + cell.ids for code, cell in cells.items()]),
        values=np.concatenate([cell.values for cell in each]),
        weights=np.concatenate(scaled),
        chance=np.concatenate([cell.chance for cell in each]),
        least=np.concatenate([cell.least for cell in each]),
        low=np.concatenate([cell.low for cell in each]),
        high=np.concatenate([cell.high for cell in each]),
        counts=add_counts(each),
        asked=np.concatenate([cell.asked for cell in each]),
    )
    return cell, strata


def _small_groups(strata: Ints) -> str:
    """What a reader must know of the interval of a mean of means, most of which are of few questions
    (docs/coverage.md); empty else."""
    _, sizes = np.unique(strata, return_counts=True)
    small = int((sizes < SMALL).sum())
    told = f"the interval may be too short: {small} of {len(sizes)} means are of fewer than {SMALL} questions"
    return told if 2 * small > len(sizes) else ""
