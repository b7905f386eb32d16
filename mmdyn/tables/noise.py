"""The noise floor: what chains flip beyond what asking the same question again flips, and k draws of a question beside
k repetitions of it. docs/appendix/why.md has the formulas, and how they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias, Unpack

import numpy as np

from mmdyn.stats import Ints, Tries, group_means, mean_score, paired_difference, pass_at_k, tries_agree, worst_at_k
from mmdyn.table import Noise
from mmdyn.tables.blocks import AS_RULES, TOTAL, UNTESTED, Block, Key, Numbered, Row, RowDetails
from mmdyn.tables.columns import Cell, split
from mmdyn.tables.pairing import difference_row

SPANNED = ("variant", "chain", "draw", "epoch")
NO_VARIANT = "no variant was asked"
NO_STANDARD = "no standard question is among these records: leave variant and chain out of --where"
REPETITIONS, NULL_CHAIN, FIGURES = "repetitions", "null chain", ("right to wrong", "wrong to right")
ONCE = (
    "nothing tells what a chain flips from what flips where nothing changed: run the same `mmdyn eval` with --epochs 3,"
    " or add a null chain (`mmdyn perturb --ops image.null,text.null`)"
)
SAMPLE = "so that there is no noise floor and no test: sample (`-m MODEL,temperature=1`)"
NEVER = f"repeated replies never differ, {SAMPLE}, or add a null chain (`mmdyn perturb --ops image.null,text.null`)"
NULL_NEVER = f"no answer to a null chain turned, {SAMPLE} in the same `mmdyn eval` with --epochs 3"
STILL = (
    "neither asking again nor a null chain turned any answer, so that there is no noise floor and no test: if replies"
    " were sampled (`-m MODEL,temperature=1`), what flips by itself is too rare to be seen here"
)
NONE = "no question has this under both"

ByParent: TypeAlias = dict[int, float]
"""A number for each parent, by its index."""


def noise_rows(block: Block, part: Noise) -> Iterator[Numbered]:
    """The rows of a block of a Noise: for each chain, and over all, flips in both directions; for each chain of several
    draws, what k of them are worth. `variants` stand beside the floor: `repetitions` of the standard question, or where
    there are none, or they never differ, the `null chain`. Where that never flips either there is no floor, no test.

    An answer is right where its value is 1."""
    block = block._replace(measured="pass_rate")
    by = tuple(name for name in part.by if name not in SPANNED)
    for key, records in block.spans(by).items():
        standard, varied = (block.at(records, "variant", name) for name in ("standard", "dynamic"))
        chains = {chain: own for (chain,), own in split(block.columns, varied, ["chain"]).items()}
        again = _Tried.of(block, standard)
        floor = _floor(block, again, standard, varied)
        if (
            note := NO_VARIANT
            if not chains
            else NO_STANDARD
            if not again.most
            else ""
            if floor.to_wrong
            else floor.note
        ):
            yield block.row((*by, "chain", "figure"), (*key, TOTAL, "flips"), "difference", None, note=note), None
        every = block.columns.over_chains(varied)
        for chain, own in (chains | ({TOTAL: every} if len(chains) > 1 and len(every) else {})).items():
            side = _Side(block, by, (*key, chain), block.cell(own), block.cell(np.concatenate((standard, own))))
            if again.most:
                yield from side.flips(again, floor)
            if chain != TOTAL and (draws := _Tried.of(block, own, "epoch")).most > 1:
                yield from side.k_draws(draws, again if floor.name == REPETITIONS else again.none())


class _Floor(NamedTuple):
    """What flips where nothing changed, by parent; empty where nothing tells of it, and `note` says why."""

    name: str
    to_wrong: ByParent
    to_right: ByParent
    note: str = ""


def _floor(block: Block, again: _Tried, standard: Ints, varied: Ints) -> _Floor:
    repeated = again.worth(_flipped) if again.most > 1 else {}
    if any(repeated.values()):
        return _Floor(REPETITIONS, repeated, repeated)
    null = block.cell(varied[block.columns.null[block.columns.asked[varied]]])
    to_wrong, to_right = _turned(again, null)
    if any(to_wrong.values()) or any(to_right.values()):
        return _Floor(NULL_CHAIN, to_wrong, to_right)
    if again.most > 1:
        return _Floor("", {}, {}, STILL if len(null.values) else NEVER)
    return _Floor("", {}, {}, NULL_NEVER if len(null.values) else ONCE)


def _turned(again: _Tried, cell: Cell) -> tuple[ByParent, ByParent]:
    """How often a parent's standard answer is right and that of a chain wrong, and the reverse."""
    changed = dict(zip(cell.parents.tolist(), cell.values.tolist(), strict=True))
    right = again.worth(lambda tries: tries.right / tries.n)
    shared = changed.keys() & right.keys()
    to_wrong = {parent: right[parent] * (1 - changed[parent]) for parent in shared}
    return to_wrong, {parent: (1 - right[parent]) * changed[parent] for parent in shared}


class _Tried(NamedTuple):
    """Tries by group: the parent of each, how many there are and how many of them are right."""

    parents: Ints
    n: Ints
    right: Ints

    @classmethod
    def of(cls, block: Block, records: Ints, *apart: str) -> _Tried:
        """The scored records by parent, and by these factors."""
        values = block.columns.worth[block.measured][0][records]
        kept, values = records[~np.isnan(values)], values[~np.isnan(values)]
        codes = [block.columns.parents[kept], *(block.columns.fields[name].codes[kept] for name in apart)]
        groups, places = np.unique(np.stack(codes), axis=1, return_inverse=True)
        n, right = (np.bincount(places.ravel(), weights).astype(np.int64) for weights in (None, values))
        return cls(groups[0], n, right)

    def none(self) -> _Tried:
        """No tries at all."""
        return _Tried(self.parents[:0], self.n[:0], self.right[:0])

    @property
    def most(self) -> int:
        """The most tries that a group has."""
        return int(self.n.max(initial=0))

    def worth(self, measure: Callable[[Tries], float | None]) -> ByParent:
        """The mean over a parent's groups, of parents of which any has tries enough."""
        tries = (Tries(right, (n - right,), 0) for n, right in zip(self.n.tolist(), self.right.tolist(), strict=True))
        values = np.array([np.nan if (value := measure(one)) is None else value for one in tries])
        told = ~np.isnan(values)
        parents, means, _ = group_means(self.parents[told], values[told], np.ones(int(told.sum())))
        return dict(zip(parents.tolist(), means.tolist(), strict=True))


class _Side(NamedTuple):
    """A chain: its own answers, and these with those to the standard question."""

    block: Block
    by: Sequence[str]
    key: Key
    own: Cell
    both: Cell

    def flips(self, again: _Tried, floor: _Floor) -> Iterator[Numbered]:
        """What is right in one answer and wrong in another one, to the question varied, and where nothing changed."""
        for figure, varied, still in zip(FIGURES, _turned(again, self.own), floor[1:3], strict=True):
            yield from self.beside(figure, varied, still or None, floor.name)

    def k_draws(self, draws: _Tried, again: _Tried) -> Iterator[Numbered]:
        """DynaMath's measures (Zou et al. 2024, arXiv 2411.00836, section 3.2) of k draws beside k repetitions, k being
        the most that both have; of draws alone where nothing was asked twice."""
        k = min(draws.most, again.most) if again.most > 1 else draws.most
        average, worst, rows = "average-case accuracy", f"worst-case accuracy of {k}", dict[tuple[str, str], Row]()
        figures: dict[str, Callable[[Tries], float | None]] = {
            average: lambda tries: tries.right / tries.n if tries.n >= k else None,
            worst: partial(worst_at_k, k=k),
            f"best-case accuracy of {k}": partial(pass_at_k, k=k),
            "consistency": lambda tries: tries_agree(tries) if tries.n >= k else None,
        }
        for name, figure in figures.items():
            for row, _ in self.beside(name, draws.worth(figure), again.worth(figure) if again.most > 1 else None):
                rows[name, row.quantity] = row
                yield row, None
        for side in ("variants", "repetitions"):
            if (mean := rows.get((average, side))) and mean.value:
                ratio = round((rows[worst, side].value or 0.0) / mean.value, 4)  # of numbers that have six digits
                yield self.row("reasoning robustness", side, ratio, n=mean.n, left_out=mean.left_out), None

    def beside(
        self, figure: str, varied: ByParent, repeated: ByParent | None, name: str = REPETITIONS
    ) -> Iterator[Numbered]:
        """A figure of variants and of repetitions, or of what else is named, over the parents that have both, and their
        difference."""
        shared = np.array(sorted(varied.keys() & (varied if repeated is None else repeated).keys()), np.int64)
        n, left_out, counts = len(shared), len(self.both.asked) - len(shared), self.both.counts
        if not n:
            yield self.row(figure, "difference", None, note=NONE, n=n, left_out=left_out, counts=counts), None
            return
        weights = self.both.weights[np.searchsorted(self.both.parents, shared)]
        notes, labels = [AS_RULES] * self.both.waits, self.block.columns.clusters[shared]
        sides = {"variants": varied} | ({} if repeated is None else {name: repeated})
        columns = {name: np.array([side[parent] for parent in shared.tolist()]) for name, side in sides.items()}
        for name, values in columns.items():
            mean = mean_score(values, weights, labels).rounded
            row = self.row(
                figure,
                name,
                mean.value,
                ci95=mean.ci95,
                method=mean.method,
                note="; ".join(notes),
                n=n,
                left_out=left_out,
                counts=counts,
            )
            yield row, None
        if repeated is not None:
            found = paired_difference(columns["variants"] - columns[name], weights, labels)
            if self.both.waits:
                found, notes = found._replace(ci95=None, p=None), [UNTESTED]
            key = (*self.key, figure)
            row = difference_row(self.block, self.axes, key, found, notes, n=n, left_out=left_out, counts=counts)
            yield row, None

    @property
    def axes(self) -> tuple[str, ...]:
        """The factors of a row."""
        return (*self.by, "chain", "figure")

    def row(self, figure: str, quantity: str, value: float | None, **details: Unpack[RowDetails]) -> Row:
        """A row of this chain."""
        return self.block.row(self.axes, (*self.key, figure), quantity, value, **details)


def _flipped(tries: Tries) -> float | None:
    """How often the first of two different tries is right and the second is wrong, which is as often as the reverse."""
    return tries.right * (tries.n - tries.right) / (tries.n * (tries.n - 1)) if tries.n > 1 else None
