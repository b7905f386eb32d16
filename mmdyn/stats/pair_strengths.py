"""The strengths of models by their wins in pairs, with intervals by resampling questions."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdyn.stats.intervals import Floats, effective
from mmdyn.stats.paired_difference import TOO_FEW, holm

STEPS, LONGEST, NEAR = 200, 2.0, 1e-9
"""Fisher scoring takes at most so many steps, none longer, and ends where all are shorter than NEAR (log odds)."""


class BradleyTerry(NamedTuple):
    """The strengths of k models, in log odds.

    Args:
        values: Shape (k,). Model i is preferred to j with odds of exp(values[i] - values[j]).
        covariance: Shape (k, k); None where there are too few clusters.
        freedom: Shape (k,), Student's degrees of freedom: the effective number of clusters of each model, less 1.
        finite: Whether the maximum-likelihood strengths are finite, too.
    """

    values: Floats
    covariance: Floats | None
    freedom: Floats
    finite: bool

    def ci95(self, model: int) -> tuple[float, float] | None:
        """The 95 % interval of a strength; None for the reference, and for a model of too few clusters."""
        from scipy.special import stdtrit

        if self.covariance is None or self.freedom[model] < TOO_FEW - 1 or not self.covariance[model, model]:
            return None
        half = float(stdtrit(self.freedom[model], 0.975)) * float(self.covariance[model, model]) ** 0.5
        return float(self.values[model]) - half, float(self.values[model]) + half

    def p(self, one: int, other: int) -> float | None:
        """The two-sided p-value of a test that two models are equally strong; None for too few clusters."""
        from scipy.special import stdtr

        freedom = min(self.freedom[one], self.freedom[other])
        if self.covariance is None or freedom < TOO_FEW - 1:
            return None
        pair = self.covariance[np.ix_((one, other), (one, other))]
        error = float(pair[0, 0] + pair[1, 1] - 2 * pair[0, 1]) ** 0.5
        return float(2 * stdtr(freedom, -abs(self.values[one] - self.values[other]) / error))

    def ranks(self) -> list[tuple[int, int]]:
        """The best and the worst place of each model over all orders that the tests of all pairs leave at 5 %, adjusted
        by Holm's method."""
        k = len(self.values)
        pairs = list(combinations(range(k), 2))
        sure, found = np.zeros((k, k), dtype=bool), holm([self.p(one, other) for one, other in pairs])
        for (one, other), p in zip(pairs, found, strict=True):
            if p is not None and p <= 0.05:
                sure[(one, other) if self.values[one] > self.values[other] else (other, one)] = True
        better, worse = sure.sum(0).tolist(), sure.sum(1).tolist()
        return [(1 + above, k - below) for above, below in zip(better, worse, strict=True)]


def bradley_terry(wins: Floats, reference: int | None = None) -> BradleyTerry | None:
    """Estimate the strengths of k >= 2 models out of pairs; a tie counts half a win for each.

    Bradley and Terry's model (Biometrika 39 (1952) 324), by the penalised likelihood of Firth (Biometrika 80 (1993)
    27), which is finite where a model wins all (Kosmidis and Firth, Biometrika 108 (2021) 71) and adds about half a win
    and half a loss to a model's record. The variance is the jackknife's, which leaves out one cluster of questions at
    a time. Where a model hardly ever loses, questions show no variance, so the penalty's share counts, too: for each
    model as one question that it wholly wins, and one that it wholly loses. Quantiles are Student's.

    Args:
        wins: Shape (clusters, k, k), how often the row's model won against the column's.
        reference: The model whose strength is 0; None for a mean of 0.

    Returns:
        None where some models are compared with the others in no pair, even by way of third ones.

    >>> wins = np.zeros((40, 2, 2))
    >>> wins[:30, 0, 1] = wins[30:, 1, 0] = 1
    >>> found = bradley_terry(wins, reference=1)
    >>> low, high = found.ci95(0)
    >>> round(float(found.values[0]), 3), round(low, 3), round(high, 3)
    (1.066, 0.329, 1.804)
    """
    total, games = wins.sum(0), (wins + wins.swapaxes(1, 2)).sum(2)
    if not reaches(total + total.T).all():
        return None
    k, clusters = len(total), len(wins)
    values = _strengths(total[None], np.zeros(k))[0]
    anchor = np.eye(k) - (1 / k if reference is None else np.eye(k)[reference])
    freedom = np.array([effective(one) for one in games.T]) - 1
    covariance, rest = None, (total - wins).round(9)  # of shares such as thirds nothing may be left over
    if clusters > 1 and reaches(rest + rest.swapaxes(1, 2)).all():
        pulls = _strengths(rest, values) - values
        covariance = (clusters - 1) / clusters * (pulls - pulls.mean(0)).T @ (pulls - pulls.mean(0))
        covariance = anchor @ (covariance + _unseen(total, values)) @ anchor.T
    return BradleyTerry(anchor @ values, covariance, freedom, bool(reaches(total).all()))


def reaches(table: Floats) -> NDArray[np.bool_]:
    """Say of which models a chain of numbers above 0 leads to which others.

    Strengths are finite where chains of wins lead from each to each (Ford, American Mathematical Monthly 64 (8) (1957)
    28).

    Args:
        table: Shape (..., k, k).

    >>> reaches(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])).astype(int).tolist()
    [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    """
    k = table.shape[-1]
    leads: NDArray[np.bool_] = np.linalg.matrix_power((table > 0) | np.eye(k, dtype=bool), k)
    return leads


def _strengths(wins: Floats, start: Floats) -> Floats:
    """The strengths, of mean 0, of each of several tables of shape (k, k): shape (tables, k)."""
    values, going = np.tile(start, (len(wins), 1)), np.arange(len(wins))
    for _ in range(STEPS):
        games, chances, _, added = _expected(wins[going], values[going])
        score = (wins[going] - games * chances + added * (0.5 - chances)).sum(2, keepdims=True)
        steps = np.linalg.solve(_information(games + added, chances), score)[:, :, 0]
        longest = np.abs(steps).max(1)
        values[going] += steps * (LONGEST / np.maximum(longest, LONGEST))[:, None]
        going = going[longest > NEAR]
        if not len(going):
            break
    return np.asarray(values - values.mean(1, keepdims=True))


def _expected(wins: Floats, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Of tables of shape (tables, k, k): the games of each pair, the chances of a win, the inverse of the information,
    and the games that the penalty adds to each pair."""
    games, chances = wins + wins.swapaxes(1, 2), 1 / (1 + np.exp(values[:, None, :] - values[:, :, None]))
    inverse = np.asarray(np.linalg.inv(_information(games, chances)), np.float64)
    own = np.diagonal(inverse, axis1=1, axis2=2)
    apart = own[:, :, None] + own[:, None, :] - 2 * inverse
    return games, chances, inverse, games * chances * (1 - chances) * apart


def _information(games: Floats, chances: Floats) -> Floats:
    """The information on strengths of mean 0, made invertible."""
    telling, k = games * chances * (1 - chances), games.shape[-1]
    return np.asarray(np.eye(k) * telling.sum(2)[:, :, None] - telling + 1 / k)


def _unseen(total: Floats, values: Floats) -> Floats:
    """The penalty's share of the covariance. Each win is another model's loss, so that half of the sum counts."""
    _, (chances,), (inverse,), (added,) = _expected(total[None], values[None])
    sides = (added / 2 * (1 - chances), added / 2 * chances)
    pulls = np.concatenate([np.diag(side.sum(1)) - side for side in sides]) @ inverse
    return np.asarray(pulls.T @ pulls / 2)
