"""Designs over changes: which subsets of factors are tried, their Shapley values, and means that never rise along a
dose.

Which subsets of factors are tried, and the weights that turn what they scored into each factor's Shapley value.

A form is a subset of factors that were applied, a row of booleans; the one without any is the question as it was. All
subsets of m factors are 2^m forms. Two designs need fewer: a two-level fraction, and chains of sampled orders.

A mean that never rises along a dose: its fit, its band, and the dose at which half of it is lost.
docs/appendix/why.md says how they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdyn.keys import stream
from mmdyn.stats.intervals import Floats

Forms = NDArray[np.bool_]

GENERATORS: dict[int, tuple[tuple[int, ...], ...]] = {
    5: ((0, 1, 2, 3, 4),),
    6: ((0, 1, 2, 3, 4, 5),),
    7: ((0, 1, 2, 3, 4, 5, 6),),
    8: ((0, 1, 2, 3, 6), (0, 1, 4, 5, 7)),
}
"""The words that define the fraction of so many factors: a form has an even number of each word's factors. So the form
without any belongs to it, and the resolution is V, VI, VII and V.

Source: Montgomery, "Design and Analysis of Experiments", table 8.14: E = ABCD, F = ABCDE, G = ABCDEF, and G = ABCD with
    H = ABEF, in the signs that keep the empty form.
"""


def design_forms(design: str, factors: int, seed: int = 0, parent: str = "") -> Forms:
    """The forms of a question in a design, shape (forms, factors): smaller subsets first, the empty and the full one
    among them.

    `full`: all. `fraction`: a two-level fraction of resolution V or higher with the full form added. `permutations:K`:
    the prefixes of K random orders, which hang on the seed and the parent's id, and of their reverses (antithetic
    sampling: Mitchell, Cooper, Frank and Holmes 2022, "Sampling Permutations for Shapley Value Estimation", JMLR
    23(43)).
    """
    every, (kind, _, count) = _every(factors), design.partition(":")
    if kind == "fraction":
        even = [every[:, list(word)].sum(axis=1) % 2 == 0 for word in GENERATORS[factors]]
        every = every[np.all(even, axis=0) | every.all(axis=1)]
    elif kind == "permutations":
        drawn = stream(seed, parent, "orders")
        orders = [drawn.permutation(factors) for _ in range(int(count))]
        ranks = np.array([np.argsort(order) for way in orders for order in (way, way[::-1])])
        prefixes = ranks[:, None, :] < np.arange(factors + 1)[:, None]
        every = every[np.isin(_codes(every), _codes(prefixes))]
    return every


def shapley_weights(forms: Forms) -> Floats:
    """The weights that turn scores of forms into Shapley values, shape (factors, forms): a factor's share of the change
    from the empty form to the full one. Over the factors the values add up to that change exactly.

    forms: bool, shape (forms, factors), each once, the empty and the full one among them.

    Where forms build chains that add one factor at a time from the empty one to the full one, the mean over all such
    chains of what a factor changes when it is added. Over all subsets that is the Shapley value itself. Over the
    prefixes of random orders it is unbiased: it is linear in the scores, adds up, gives nothing to a factor that
    changes nothing, and treats factors alike, as every naming of the orders' factors is as likely; only the Shapley
    value does so (Shapley 1953). That holds for the chains too that nobody drew, of prefixes of several orders.

    Where they build none, as in a fraction, least squares with main effects and interactions of two in the 0/1 coding,
    held to the scores of the empty and the full form: a factor's main effect and half of its interactions. Exact where
    no three factors interact. Raises ValueError where the forms do not tell these apart.

    Source: Castro, Gómez and Tejada 2009, "Polynomial calculation of the Shapley value based on sampling", Computers &
        Operations Research 36, 1726.
    """
    place = _places(forms)
    down, up = _chains(forms, place), _chains(~forms, _places(~forms))
    total = down[forms.all(axis=1)][0]
    factors = forms.shape[1]
    if not total:
        effects = _effects(forms)
        pairs = np.array([[factor in pair for pair in combinations(range(factors), 2)] for factor in range(factors)])
        return effects[1 : factors + 1] + pairs / 2 @ effects[factors + 1 :]
    weights = np.zeros((factors, len(forms)))
    for row, code in enumerate(_codes(forms)):
        for factor in np.flatnonzero(forms[row]):
            before = place.get(int(code) - (1 << int(factor)))
            if before is not None:
                share = down[before] * up[row] / total
                weights[factor, row] += share
                weights[factor, before] -= share
    return weights


def interaction_weights(forms: Forms) -> Floats:
    """The weights that turn scores of forms into the interaction of each two factors, shape (pairs, forms), in the
    order of itertools.combinations: what both change together above what each changes alone.

    Over all subsets the Shapley interaction index (Grabisch and Roubens 1999, "An axiomatic approach to the concept of
    interaction among players in cooperative games"), over a fraction the coefficient of `shapley_weights`' fit. No rows
    for sampled orders, which seldom hold the forms that tell it.
    """
    count, factors = forms.shape
    pairs = list(combinations(range(factors), 2))
    if not _chains(forms, _places(forms))[forms.all(axis=1)][0]:
        return _effects(forms)[factors + 1 :]
    if count < 1 << factors:
        return np.zeros((0, count))
    weights = np.empty((len(pairs), count))
    for row, pair in enumerate(pairs):
        others = forms.sum(axis=1) - forms[:, pair].sum(axis=1)
        size = np.array([1 / ((factors - 1) * comb(factors - 2, other)) for other in others])
        weights[row] = size * np.where(forms[:, pair].sum(axis=1) == 1, -1, 1)
    return weights


def design_error(weights: Floats, n: int, variance: float = 0.25) -> Floats:
    """The standard error of the mean of each factor's value over n questions, in score units, if answers to different
    forms are independent and have this variance. weights: shape (..., factors, forms); the result lacks the last axis.
    """
    error: Floats = np.sqrt(variance * (weights**2).sum(axis=-1) / n)
    return error


@cache
def _every(factors: int) -> Forms:
    subsets = chain.from_iterable(combinations(range(factors), size) for size in range(factors + 1))
    return np.array([[factor in subset for factor in range(factors)] for subset in subsets], bool)


def _codes(forms: Forms) -> NDArray[np.int64]:
    return forms @ (1 << np.arange(forms.shape[-1]))


def _places(forms: Forms) -> dict[int, int]:
    """Each form's row by its code. Raises ValueError."""
    places = {int(code): row for row, code in enumerate(_codes(forms))}
    if len(places) < len(forms) or not {0, (1 << forms.shape[1]) - 1} <= places.keys():
        raise ValueError("a form comes twice, or the empty or the full one is not there")
    return places


def _chains(forms: Forms, place: dict[int, int]) -> Floats:
    """How many chains lead from the empty form to each, shape (forms,)."""
    chains = np.zeros(len(forms))
    for code in sorted(place, key=int.bit_count):
        smaller = [code - (1 << factor) for factor in range(forms.shape[1]) if code >> factor & 1]
        chains[place[code]] = sum(chains[place[one]] for one in smaller if one in place) if code else 1
    return chains


def _effects(forms: Forms) -> Floats:
    """The weights for the constant, main effects and interactions of two, shape (effects, forms)."""
    ends = ~forms.any(axis=1) | forms.all(axis=1)
    terms = [np.ones(len(forms)), *forms.T]
    terms += [one & other for one, other in combinations(forms.T, 2)]
    columns = np.column_stack(terms).astype(float)
    held, scored = columns[ends], np.eye(len(forms))
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        raise ValueError("the forms do not tell main effects and interactions of two apart")
    left = np.block([[columns.T @ columns, held.T], [held, np.zeros((2, 2))]])
    solved: Floats = np.linalg.solve(left, np.vstack([columns.T @ scored, scored[ends]]))
    return solved[: columns.shape[1]]


class Curve(NamedTuple):
    """What is fitted at each dose, and the simultaneous band about it."""

    fit: Floats
    low: Floats
    high: Floats


class HalfDose(NamedTuple):
    """A dose, None where it is not reached, between `low` and `high`, which is None where no dose is surely beyond."""

    dose: float | None
    low: float
    high: float | None


def monotone_curve(means: Floats, low: Floats, high: Floats) -> Curve:
    """The least squares fit that never rises, by pooling adjacent violators (Barlow, Bartholomew, Bremner and Brunk,
    Statistical Inference under Order Restrictions (1972), chapter 1), and a band.

    Where the true means never rise, what bounds one from above bounds those after it, and what bounds one from below
    those before it: so intervals that hold all at once still do after they are cut so. They are widened where they do
    not hold the fit, as they may where the means rise.

    Args:
        means: of each dose, in the order of the doses, all over the same questions.
        low: the lower ends of simultaneous intervals.
        high: their upper ends.
    """
    from scipy.optimize import isotonic_regression

    fit = np.asarray(isotonic_regression(means, increasing=False).x, np.float64)
    least = np.maximum.accumulate(low[::-1])[::-1]
    return Curve(fit, np.minimum(least, fit), np.maximum(np.minimum.accumulate(high), fit))


def half_dose(doses: Floats, fit: Floats, half: float, sides: Sequence[int]) -> HalfDose:
    """The dose at which a fit that never rises falls to `half`, linear between doses.

    Its interval is stepwise (Hsu and Berger, JASA 94 (1999) 468): from the first dose on as long as the mean is surely
    above half, and from the last one back as long as it is surely below. Where the true mean never rises each step is
    wrong only if the one test next to the true dose is, so that tests at 2.5 % on either side make an interval of 95 %.

    Args:
        doses: from the least to the largest, the first one 0.
        fit: at each dose, above `half` at the first.
        half: what is looked for.
        sides: of the mean at each dose, 1 where it is surely above half, -1 where it is surely below, else 0; the first
            one is 1.
    """
    above = next((place for place, side in enumerate(sides) if side != 1), len(sides))
    below = next((place for place, side in enumerate(reversed(sides)) if side != -1), len(sides))
    low, high = float(doses[above - 1]), float(doses[len(sides) - below]) if below else None
    at = int(np.argmax(fit <= half))
    if fit[at] > half:
        return HalfDose(None, low, high)
    share = (fit[at - 1] - half) / (fit[at - 1] - fit[at])
    dose = float(doses[at - 1] + share * (doses[at] - doses[at - 1]))
    return HalfDose(dose, min(low, dose), None if high is None else max(high, dose))
