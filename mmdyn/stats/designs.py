"""Designs over changes: which subsets of factors are applied, the factors' Shapley values, and means along a dose.

A form is a subset of factors that were applied, a row of booleans; the empty form is the original question. All
subsets of m factors are 2^m forms. Two designs need fewer: a two-level fraction, and chains of sampled orders. Weights
turn the scores of forms into each factor's Shapley value.

A mean that never rises along a dose: its fit, its band, and the dose at which half of it is lost.
docs/appendix/why.md measures their coverage.
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
    """List the forms of a question in a design, smaller subsets first, with the empty and the full form.

    Args:
        design: `full`: all forms. `fraction`: a two-level fraction of resolution V or higher plus the full form, for 5
            to 8 factors. `permutations:K`: the prefixes of K random orders and of their reverses (antithetic sampling:
            Mitchell, Cooper, Frank and Holmes 2022, JMLR 23(43)).
        factors: The number of factors.
        seed, parent: Key the random orders: the seed and the parent question's id.

    Returns:
        Booleans of shape (forms, factors).

    >>> design_forms("full", 2).astype(int).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
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
    """Compute the weights, of shape (factors, forms), that turn scores of forms into Shapley values.

    A factor's Shapley value is its share of the change from the empty form to the full one; the values add up to it.
    Where forms build chains that add one factor at a time, it is a factor's mean change over all such chains: exact
    over all subsets, unbiased over prefixes of random orders (Shapley 1953; Castro, Gómez and Tejada 2009, Computers &
    Operations Research 36, 1726). Elsewhere, as in a fraction, it is the main effect and half of the interactions of a
    least squares fit through the empty and the full form, exact where no three factors interact.

    Args:
        forms: Booleans, shape (forms, factors), each form once, with the empty and the full one.

    Raises:
        ValueError: The empty or the full form is missing, a form comes twice, or the forms do not identify the effects.

    >>> shapley_weights(design_forms("full", 2)).tolist()
    [[-0.5, 0.5, -0.5, 0.5], [-0.5, -0.5, 0.5, 0.5]]
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
    """Compute the weights that turn scores of forms into the interaction of each pair of factors.

    An interaction is the joint effect of two factors beyond the sum of their own effects. Over all subsets it is the
    Shapley interaction index (Grabisch and Roubens 1999, "An axiomatic approach to the concept of interaction among
    players in cooperative games"), over a fraction the coefficient of the fit of `shapley_weights`.

    Returns:
        Shape (pairs, forms), pairs in the order of itertools.combinations. No rows for sampled orders, which seldom
        contain the forms that identify interactions.

    >>> interaction_weights(design_forms("full", 2)).tolist()
    [[1.0, -1.0, -1.0, 1.0]]
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
    """Compute the standard error of the mean of each factor's value over n questions, in score units.

    Args:
        weights: Shape (..., factors, forms), from `shapley_weights` or `interaction_weights`.
        n: The number of questions.
        variance: The variance of an answer's score; answers to different forms are assumed independent.

    Returns:
        Shape (..., factors).

    >>> design_error(shapley_weights(design_forms("full", 2)), n=100)
    array([0.05, 0.05])
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
    """The fitted mean at each dose, and the ends of its simultaneous band."""

    fit: Floats
    low: Floats
    high: Floats


class HalfDose(NamedTuple):
    """A dose with the ends of its interval.

    dose: None where it is not reached. high: None where the mean is not surely below at any dose.
    """

    dose: float | None
    low: float
    high: float | None


def monotone_curve(means: Floats, low: Floats, high: Floats) -> Curve:
    """Fit means that never rise along the dose by least squares, with a simultaneous band.

    The fit pools adjacent violators (Barlow, Bartholomew, Bremner and Brunk, Statistical Inference under Order
    Restrictions (1972), chapter 1). Where the true means never rise, an upper bound at one dose also holds at all later
    doses, and a lower bound at all earlier ones, so the intervals are cut accordingly. They are widened where they do
    not contain the fit.

    Args:
        means: One for each dose, in the order of the doses, all over the same questions.
        low: The lower ends of simultaneous intervals.
        high: The upper ends.

    >>> monotone_curve(np.array([0.9, 0.5, 0.6]), np.array([0.8, 0.4, 0.5]), np.array([1.0, 0.6, 0.7])).fit
    array([0.9 , 0.55, 0.55])
    """
    from scipy.optimize import isotonic_regression

    fit = np.asarray(isotonic_regression(means, increasing=False).x, np.float64)
    least = np.maximum.accumulate(low[::-1])[::-1]
    return Curve(fit, np.minimum(least, fit), np.maximum(np.minimum.accumulate(high), fit))


def half_dose(doses: Floats, fit: Floats, half: float, sides: Sequence[int]) -> HalfDose:
    """Find the dose at which a fit that never rises falls to `half`, linear between doses.

    Its interval is stepwise (Hsu and Berger, JASA 94 (1999) 468): upwards from the first dose while the mean is surely
    above half, and downwards from the last one while it is surely below. Tests at 2.5 % on either side give a 95 %
    interval.

    Args:
        doses: In ascending order, the first one 0.
        fit: The fitted mean at each dose, above `half` at the first.
        half: The mean to look for.
        sides: For each dose 1 where the mean is surely above half, -1 where surely below, else 0; the first is 1.

    >>> half_dose(np.array([0.0, 1.0, 2.0]), np.array([0.8, 0.6, 0.2]), 0.4, [1, 1, -1])
    HalfDose(dose=1.5, low=1.0, high=2.0)
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
