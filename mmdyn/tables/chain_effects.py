"""What each change does to the same parents: attributed in factorial sets, and along the doses of an operator."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, compress, product
from statistics import NormalDist
from typing import NamedTuple, TypeAlias, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from mmdyn.record import Scale
from mmdyn.stats import (
    TOO_FEW,
    Curve,
    Difference,
    Estimate,
    Floats,
    HalfDose,
    Ints,
    RatioTest,
    design_forms,
    half_dose,
    interaction_weights,
    log_odds,
    mean_score,
    monotone_curve,
    paired_difference,
    paired_difference_between,
    shapley_weights,
)
from mmdyn.table import Attribution, Curves
from mmdyn.tables.blocks import SHARE_OF_DROP, TOTAL, WAITING, Block, Interval, Key, Numbered, Row, RowDetails, p_digits
from mmdyn.tables.columns import SAME, Cell, Counts, add_counts, split
from mmdyn.tables.factors import NOT_GIVEN
from mmdyn.tables.pairing import ALPHA, CORRECTED, difference_row


class Forms(NamedTuple):
    """The parents that were answered under every one of several conditions, or under any of them.

    values: shape (parents, forms), means over draws and epochs, on `scale`; NaN where a parent has no answer.
    least: the lowest that any can be. weights, labels: of each parent, and its cluster. left_out: parents asked under
    any of them that are not here. counts: of failed, unscored and needs_judge records. low, high: what each value can
    be once a judge has seen the answers that wait for one. note: what to know of the scale.
    """

    parents: Ints
    values: Floats
    low: Floats
    high: Floats
    weights: Floats
    labels: Ints
    scale: Scale
    least: float
    left_out: int
    counts: Counts
    note: str

    @property
    def n(self) -> int:
        """How many parents there are."""
        return len(self.parents)

    def combined(self, weights: Sequence[float] | Floats, constant: float = 0.0) -> Difference:
        """The mean of a linear combination of each parent's scores, with its interval and test against 0.

        weights: one a form, or a row of them for each parent. constant: what is added to it. Raises ValueError where
        there is no parent.
        """
        values, bound = self.mixed(weights, constant)
        if not self.waits:
            return paired_difference(values, self.weights, self.labels, bound)
        taken = np.asarray(weights, np.float64)
        ends = [np.nansum(np.where(taken > 0, *sides) * taken, axis=1) + constant for sides in self._sides()]
        return paired_difference_between(ends[0], ends[1], values, self.weights, self.labels, bound)

    def _sides(self) -> list[tuple[Floats, Floats]]:
        """What forms of a positive and of a negative weight are where a combination is least, and where it is most."""
        return [(self.low, self.high), (self.high, self.low)]

    @property
    def waits(self) -> bool:
        """Whether any answer waits for a judge."""
        return bool((self.low < self.high).any())

    def mixed(self, weights: Sequence[float] | Floats, constant: float = 0.0) -> tuple[Floats, float]:
        """A linear combination of each parent's scores, and the largest absolute value that it can have."""
        taken = np.asarray(weights, np.float64)
        above, below = np.maximum(taken, 0).sum(-1), np.maximum(-taken, 0).sum(-1)
        ends = above - below * self.least + constant, below - above * self.least - constant
        return np.nansum(self.values * taken, axis=1) + constant, float(np.maximum(*ends).max())

    @property
    def details(self) -> RowDetails:
        """What every row of these parents has."""
        return {"n": self.n, "left_out": self.left_out, "counts": self.counts}

    def only(self, kept: NDArray[np.bool_]) -> Forms:
        """Some of the parents; the others are left out."""
        return self._replace(
            parents=self.parents[kept],
            values=self.values[kept],
            low=self.low[kept],
            high=self.high[kept],
            weights=self.weights[kept],
            labels=self.labels[kept],
            left_out=self.left_out + int((~kept).sum()),
        )


def forms_of(block: Block, conditions: Mapping[str, Ints], *, corrected: bool = False, every: bool = True) -> Forms:
    """The parents of a block that have every one of these conditions.

    Args:
        block: whose records the conditions are of; its measure is `score`.
        conditions: the records of each, by its name; the forms are in this order.
        corrected: whether scores are corrected for chance even where guessing earns the same under all of them.
        every: whether parents that lack some are left out.

    Returns:
        Raw scores where guessing earns the same under all conditions, else scores corrected for chance
        (docs/statistics.md, "Chance").
    """
    raw = [block.cell(records) for records in conditions.values()]
    shared = _shared(raw, every)
    chance, there = _aligned(raw, shared, "chance"), ~np.isnan(_aligned(raw, shared, "values"))
    spread = np.where(there, chance, -np.inf).max(1) - np.where(there, chance, np.inf).min(1)
    differing = float(spread.max(initial=0.0)) > SAME
    scaled = corrected or bool(block.columns.corrected[shared].any())
    cells = [block._replace(measured="corrected").cell(records) for records in conditions.values()] if scaled else raw
    shared = _shared(cells, every)
    least = [block._replace(measured="corrected").least(cell) for cell in cells] if scaled else [0.0]
    asked = np.unique(np.concatenate([cell.asked for cell in cells])) if cells else shared
    return Forms(
        parents=shared,
        values=_aligned(cells, shared, "values"),
        low=_aligned(cells, shared, "low"),
        high=_aligned(cells, shared, "high"),
        weights=np.nanmean(_aligned(cells, shared, "weights"), axis=1),
        labels=block.columns.clusters[shared],
        scale="corrected" if scaled else "raw",
        least=min(least),
        left_out=len(asked) - len(shared),
        counts=add_counts(cells),
        note=CORRECTED if differing and not corrected else "",
    )


def _shared(cells: Sequence[Cell], every: bool) -> Ints:
    """The parents that all cells have, or any, sorted."""
    return reduce(np.intersect1d if every else np.union1d, (cell.parents for cell in cells))


def _aligned(cells: Sequence[Cell], parents: Ints, name: str) -> Floats:
    """A column of the cells, shape (parents, cells); NaN where a cell lacks a parent."""
    found = np.full((len(parents), len(cells)), np.nan)
    for place, cell in enumerate(cells):
        _, rows, own = np.intersect1d(parents, cell.parents, assume_unique=True, return_indices=True)
        found[rows, place] = getattr(cell, name)[own]
    return found


SPANNED, SAMPLED = ("variant", "chain"), "permutations"
NO_FACTORS = "no set here holds subsets of operators: make one with `mmdyn perturb --factorial` and evaluate it"
NO_PARENT = "no question was answered under every form"
NO_END = "the regression has no finite solution: too few clusters, or an operator leaves all answers alike"
RAW = "of right answers as they are, in which guessing is left"
AGAINST = "its sign is not that of the Shapley value"

Design: TypeAlias = tuple[tuple[str, ...], str, int]
"""The operators of a factorial set, which of their subsets there are, and the seed of those that each parent has."""

Estimates: TypeAlias = dict[tuple[str, str], Difference]
"""By quantity and operator."""


def attribution_rows(block: Block, part: Attribution) -> Iterator[Numbered]:
    """The rows of a block of an Attribution: the Shapley value of each operator, which add up to the whole drop; the
    interaction of each pair; the second opinion where it is asked for."""
    axes = (*(name for name in part.by if name not in SPANNED), "operator")
    designs, sets = _designs(block), split(block.columns, block.records, ["set"])
    if not designs:
        yield block.row(axes, (TOTAL,) * len(axes), "whole", None, note=NO_FACTORS), None
    for design, roots in designs.items():
        factors, kind, seed = design
        told = {"design": f"{kind} of {', '.join(factors)}{f', seed {seed}' * bool(seed)}"} if len(designs) > 1 else {}
        records = np.concatenate([sets[root,] for root in sorted(roots)])
        here = block._replace(records=records, front=block.front | told)
        for key, inside in here.spans(axes[:-1]).items():
            found = _Factorial.of(here, axes, key, design, inside)
            if not found.forms.n:
                yield found.row(TOTAL, "whole", None, note=NO_PARENT), None
                continue
            estimates = found.estimates()
            yield from ((row, None) for row in found.rows(estimates))
            if part.gee:
                yield from ((row, None) for row in found.second_opinion(estimates))


def _designs(block: Block) -> dict[Design, set[str]]:
    """The factorial designs of a block's runs, each with its standard sets."""
    there = {root for (root,) in split(block.columns, block.records, ["set"])}
    found = dict[Design, set[str]]()
    for name, run in block.columns.runs.items():
        if block.front.get("run", name or run.name) == (name or run.name):
            for entry in run.config.sets:
                if entry.factors and entry.root in there:
                    seed = entry.seed if entry.design.startswith(SAMPLED) else 0
                    found.setdefault((entry.factors, entry.design, seed), set()).add(entry.root)
    return found


class _Factorial(NamedTuple):
    """Answers under subsets of operators.

    on: shape (forms, operators), which operators a form has. conditions: its records, by its chain.
    """

    block: Block
    axes: tuple[str, ...]
    key: Key
    factors: tuple[str, ...]
    on: NDArray[np.bool_]
    conditions: Mapping[str, Ints]
    forms: Forms

    @classmethod
    def of(cls, block: Block, axes: tuple[str, ...], key: Key, of: Design, records: Ints) -> _Factorial:
        """Of the parents that have every form that their design has for them."""
        factors, design, seed = of
        chains = {chain: own for (chain,), own in split(block.columns, records, ["chain"]).items()}
        chains[""] = block.at(records, "variant", "standard")
        sampled, ids = design.startswith(SAMPLED), block.columns.fields["sample"]
        parents, first = np.unique(block.columns.parents[records], return_index=True)
        named = zip(parents.tolist(), ids.codes[records[first]].tolist(), strict=True) if sampled else [(0, 0)]
        designs = {parent: design_forms(design, len(factors), seed, ids.values[code]) for parent, code in named}
        on = np.unique(np.concatenate([*designs.values()]), axis=0)
        names = ["+".join(compress(factors, form)) for form in on.tolist()]
        conditions = {name: chains.get(name, records[:0]) for name in names}
        forms = forms_of(block, conditions, every=not sampled)
        return cls(block, axes, key, factors, on, conditions, _own_forms(forms, on, designs) if sampled else forms)

    def estimates(self) -> Estimates:
        """The Shapley values, the whole drop and the interactions; of too few parents without interval and test."""
        found = {name: self.forms.combined(weights) for name, weights in self._weights().items()}
        few = self.forms.n < TOO_FEW
        return {name: one._replace(ci95=None, p=None) if few else one for name, one in found.items()}

    def _weights(self) -> dict[tuple[str, str], Floats]:
        """What the forms of each parent weigh, shape (parents, forms)."""
        patterns, own = np.unique(~np.isnan(self.forms.values), axis=0, return_inverse=True)
        found = np.zeros((len(patterns), len(self.factors) * (len(self.factors) + 1) // 2 + 1, len(self.on)))
        for there, weights in zip(patterns, found, strict=True):
            on = self.on[there]
            whole = on.all(1).astype(np.float64) - ~on.any(1)
            rows = np.concatenate((shapley_weights(on), whole[None], interaction_weights(on)))
            weights[: len(rows), there] = rows
        pairs = [f"{one} x {other}" for one, other in combinations(self.factors, 2)]
        names = [*product(["shapley"], self.factors), ("whole", TOTAL), *product(["interaction"], pairs)]
        return {name: found[own.ravel(), place] for place, name in enumerate(names[: len(rows)])}

    def rows(self, estimates: Estimates) -> Iterator[Row]:
        """Those of the estimates, and what share of the whole drop each operator takes where there is one."""
        notes = [*filter(None, [self.forms.note]), *[WAITING] * self.forms.waits]
        whole = estimates["whole", TOTAL]
        for (quantity, operator), found in estimates.items():
            key = (*self.key, operator)
            yield difference_row(self.block, self.axes, key, found, notes, quantity, **self.forms.details)
            if quantity == "shapley" and whole.p is not None and whole.p <= ALPHA:
                yield self.row(operator, SHARE_OF_DROP, round(found.value / whole.value, 6))

    def second_opinion(self, estimates: Estimates) -> Iterator[Row]:
        """What each operator does to the log odds that an answer is right."""
        cells = [self.block._replace(measured="pass_rate").cell(own) for own in self.conditions.values()]
        kept = [np.isin(cell.parents, self.forms.parents) for cell in cells]
        right = np.concatenate([cell.values[keep] for cell, keep in zip(cells, kept, strict=True)])
        labels = np.concatenate([self.block.labels(cell)[keep] for cell, keep in zip(cells, kept, strict=True)])
        found = log_odds(right, np.repeat(self.on, [keep.sum() for keep in kept], axis=0), labels)
        for place, operator in enumerate(self.factors):
            if found is None:
                yield self.row(operator, "log odds", None, unit="log odds", note=NO_END)
                continue
            value, (low, high), p = found[place]
            shapley = estimates["shapley", operator]
            against = shapley.p is not None and shapley.p <= ALPHA and shapley.value * value < 0
            note = "; ".join([f"p {p_digits(p):.3g}"] + [AGAINST] * against + [RAW] * (self.forms.scale == "corrected"))
            ends = (round(low, 6), round(high, 6))
            method = "GEE, exchangeable, Mancl-DeRouen"
            yield self.row(operator, "log odds", round(value, 6), unit="log odds", ci95=ends, note=note, method=method)

    def row(self, operator: str, quantity: str, value: float | None, **details: Unpack[RowDetails]) -> Row:
        """A row of an operator."""
        every: RowDetails = {**self.forms.details, **details}
        return self.block.row(self.axes, (*self.key, operator), quantity, value, **every)


def _own_forms(forms: Forms, on: NDArray[np.bool_], designs: Mapping[int, NDArray[np.bool_]]) -> Forms:
    """The parents that have every form of their own design, and of these forms alone."""
    bits = 1 << np.arange(on.shape[1])
    found = [np.isin(on @ bits, designs[parent] @ bits) for parent in forms.parents.tolist()]
    own = np.array(found, np.bool_).reshape(-1, len(on))
    values = np.where(own, forms.values, np.nan)
    lacking = np.isnan(values) & own
    return forms._replace(values=values).only(lacking.sum(1) == 0)


STANDARD, OPERATOR, LEVEL, DOSE = "standard", "operator", "level", "dose"
STEP = 0.1
"""The dose over which a slope is told."""

MEASURES = {
    "legibility": "dose: the share of lines of print that are no longer read alike",
    "ssim": "dose: 1 - SSIM of the pictures",
    "tokens": "dose: the share of tokens changed",
}
"""What a dose is made of, the first of these that was measured at all levels, and how that is told."""

NO_LEVELS = "no operator stands alone at two severities or more: `mmdyn perturb SET --ops blur@1,blur@3,blur@5`"
NO_DOSE = "the run does not say how strong all the levels are: `mmdyn perturb` measures it"
NOT_UNDER_ALL_LEVELS = "no question was answered under the standard form and all levels"
NO_STANDARD = "not told: the standard score is not told apart from guessing"


def curve_rows(block: Block, part: Curves) -> Iterator[Numbered]:
    """The rows of a block: for each operator the scores and the fit at its doses, then what sums them up."""
    for key, records in block.spans(part.by).items():
        chains = {name: those for (name,), those in split(block.columns, records, ["chain"]).items()}
        standard, found = chains.pop(NOT_GIVEN, records[:0]), dict[str, dict[str, Ints]]()
        for chain, those in chains.items():
            if "+" not in chain:
                found.setdefault(chain.partition("@")[0], {})[chain] = those
        several = {operator: levels for operator, levels in found.items() if len(levels) > 1}
        if not several:
            yield block.row(part.by, key, "area", None, note=NO_LEVELS), None
        for operator, levels in several.items():
            yield from _curve(block, (*part.by, OPERATOR, LEVEL, DOSE), (*key, operator), standard, levels)


def _curve(
    block: Block, axes: Sequence[str], key: Key, standard: Ints, levels: Mapping[str, Ints]
) -> Iterator[Numbered]:
    of_all = (*key, TOTAL, TOTAL)
    doses, measure = _doses(block, levels)
    order = sorted(doses, key=doses.__getitem__)
    forms = forms_of(block, {STANDARD: standard, **{chain: levels[chain] for chain in order}}, corrected=True)
    more = forms.details
    if not measure or not forms.n:
        note = NOT_UNDER_ALL_LEVELS if measure else NO_DOSE
        none: RowDetails = {"note": note, **more}
        yield block.row(axes, of_all, "area", None, **none), None
        return
    note = "; ".join([MEASURES[measure], *[forms.note] * bool(forms.note), *[WAITING] * forms.waits])
    scaled = block._replace(measured="corrected") if forms.scale == "corrected" else block
    x = np.array([0.0, *(doses[chain] for chain in order)])
    told = dict(zip((STANDARD, *order), x.tolist(), strict=True))
    fit = yield from _levels(scaled, axes, key, forms, told, more)
    trend = forms.combined(slope_weights(x))
    yield difference_row(scaled, axes, of_all, trend, [note], f"slope per {STEP} of dose", **more), None
    yield _half_row(scaled, axes, of_all, half_of(forms, x, fit), x[-1], more), None
    whole = scaled.cell(standard)
    whole = whole.only(np.searchsorted(whole.parents, forms.parents))
    area = whole._replace(values=forms.values @ area_weights(x))
    yield scaled.mean_row(axes, of_all, "area", area, **more), area


def slope_weights(doses: Floats) -> Floats:
    """What makes scores at these doses the least squares slope over STEP."""
    off: Floats = doses - doses.mean()
    return off * STEP / float(off @ off)


def area_weights(doses: Floats) -> Floats:
    """What makes scores at these doses, of which the first is 0, their mean over all doses up to the last, by
    trapezoids."""
    steps = np.diff(doses) / doses[-1] / 2
    return np.convolve(steps, (1.0, 1.0))


def band_of(forms: Forms) -> tuple[list[Estimate], Curve]:
    """The score at each dose with intervals that hold all at once (Bonferroni), and the fit with the band that follows
    from them."""
    z = NormalDist().inv_cdf(1 - ALPHA / 2 / forms.values.shape[1])
    means = [mean_score(column, forms.weights, forms.labels, forms.least, z) for column in forms.values.T]
    values, low, high = (np.array(column) for column in list(zip(*means, strict=True))[:3])
    return means, monotone_curve(values, low, high)


def half_of(forms: Forms, doses: Floats, fit: Floats) -> HalfDose | None:
    """The dose at which half of the standard score is lost; None where that is not told apart from guessing."""
    standard, *_ = scores = forms.values.T
    half, sides = float(np.average(standard, weights=forms.weights)) / 2, list[int]()
    for place, column in enumerate(scores):
        kept = 0.5 * (place > 0)
        test = RatioTest(column, standard, forms.weights, forms.labels, (max(1.0, -forms.least),) * 2)
        side = int(np.sign(np.average(column - kept * standard, weights=forms.weights)))
        sides.append(side * (test.clusters >= TOO_FEW and test.p(kept) <= ALPHA))
    return half_dose(doses, fit, half, sides) if sides[0] == 1 else None


def _doses(block: Block, levels: Mapping[str, Ints]) -> tuple[dict[str, float], str]:
    """The dose of each chain, and what it is made of; nothing where that was not measured."""
    roots = {name for (name,) in split(block.columns, block.records, ["set"])}
    entries = [entry for run in block.columns.runs.values() for entry in run.config.sets if entry.root in roots]
    far = {chain: [entry.strength[chain] for entry in entries if chain in entry.strength] for chain in levels}
    for measure in MEASURES:
        found = {chain: [getattr(one, measure) for one in ones] for chain, ones in far.items()}
        if not all(found.values()) or any(None in values for values in found.values()):
            continue
        means = {chain: float(np.average(found[chain], weights=[one.n for one in far[chain]])) for chain in levels}
        doses = {chain: round(mean if measure == "tokens" else 1 - mean, 4) for chain, mean in means.items()}
        if max(doses.values()) > 0:
            return doses, measure
    return dict.fromkeys(levels, 0.0), ""


def _levels(
    block: Block, axes: Sequence[str], key: Key, forms: Forms, doses: Mapping[str, float], more: RowDetails
) -> Generator[Numbered, None, Floats]:
    """Of each level the score with an interval such that all hold at once, and the fit with its band, which is
    returned."""
    means, curve = band_of(forms)
    for place, (level, dose) in enumerate(doses.items()):
        own, mean = (*key, level.partition("@")[2] or level, f"{dose:g}"), means[place].rounded
        method = f"{mean.method}, simultaneous (Bonferroni)"
        scored: RowDetails = {"ci95": mean.ci95, "method": method, **more}
        yield block.row(axes, own, block.measured, mean.value, **scored), None
        fit, low, high = (round(float(column[place]), 6) + 0.0 for column in curve)
        fitted: RowDetails = {"ci95": (low, high), "method": "monotone fit with its band", **more}
        yield block.row(axes, own, "fit", fit, **fitted), None
    return curve.fit


def _half_row(
    block: Block, axes: Sequence[str], key: Key, found: HalfDose | None, last: float, more: RowDetails
) -> Row:
    """The row of the dose at which half of what the standard score is above chance is lost."""
    if found is None:
        none: RowDetails = {"note": NO_STANDARD, "unit": DOSE, **more}
        return block.row(axes, key, "half dose", None, **none)
    reached = f"not reached by dose {last:g}" + f", surely not by {found.low:g}" * (found.low > 0)
    tested: RowDetails = {
        "ci95": cast(Interval, (found.low, found.high)),  # the one interval whose upper end may be open, None
        "method": "stepwise tests (Hsu-Berger)",
        "note": reached if found.dose is None else "",
        "unit": DOSE,
        **more,
    }
    return block.row(axes, key, "half dose", found.dose and round(found.dose, 4), **tested)
