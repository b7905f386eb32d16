"""A second opinion on which operators cost right answers: a logistic regression over all answers of clusters."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdyn.errors import MissingExtra
from mmdyn.stats.intervals import Floats, Ints

LARGEST = 15.0
"""Log odds beyond this are those of a regression without end: answers with or without an operator are all alike."""


class LogOdds(NamedTuple):
    """By how much an operator moves the log odds of a right answer, its 95 % interval and two-sided p-value."""

    value: float
    ci95: tuple[float, float]
    p: float


def log_odds(right: Floats, operators: NDArray[np.bool_], labels: Ints) -> list[LogOdds] | None:
    """The main effects of operators on the log odds of a right answer.

    Generalised estimating equations with exchangeable answers within clusters (Liang and Zeger, Biometrika 73 (1986)
    13), and the variance that Mancl and DeRouen (Biometrics 57 (2001) 126) give for few clusters, with Student's
    quantiles at as many degrees of freedom as there are clusters beyond the coefficients.

    Args:
        right: n shares of right answers, in [0, 1].
        operators: shape (n, operators), which of them the question was asked with.
        labels: the cluster of each answer.

    Returns:
        One for each operator; None where the regression has no finite solution.

    Raises:
        MissingExtra: without statsmodels.
    """
    try:
        from statsmodels.genmod.cov_struct import Exchangeable
        from statsmodels.genmod.families import Binomial
        from statsmodels.genmod.generalized_estimating_equations import GEE
    except ImportError:
        raise MissingExtra("statsmodels", "why") from None
    from scipy.special import stdtr, stdtrit

    order, (many, count), clusters = np.argsort(labels, kind="stable"), operators.shape, len(np.unique(labels))
    design = np.column_stack([np.ones(many), operators])[order]
    if clusters <= count + 1 or np.linalg.matrix_rank(design) <= count:
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = GEE(right[order], design, labels[order], family=Binomial(), cov_struct=Exchangeable())
            found = model.fit(cov_type="bias_reduced")
            spread = stdtrit(clusters - count - 1, 0.975) * found.bse
            p = 2 * stdtr(clusters - count - 1, -np.abs(found.params / found.bse))
            numbers = np.column_stack([found.params, found.params - spread, found.params + spread, p])[1:]
    except (ValueError, FloatingPointError, np.linalg.LinAlgError):
        return None
    if not found.converged or not np.isfinite(numbers).all() or np.abs(found.params).max() > LARGEST:
        return None
    return [LogOdds(value, (low, high), p) for value, low, high, p in numbers.tolist()]
