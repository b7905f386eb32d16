"""Means, gaps and slopes over parents that may be clustered. docs/appendix/statistics.md measures their coverage."""

from __future__ import annotations

from math import erfc, exp, lgamma, log, sqrt

import numpy as np

from mmdyn.stats.intervals import Estimate, Floats, Ints, effective_n, uneven
from mmdyn.stats.paired_difference import TOO_FEW, Difference

FEW_OFF = 28.0
"""With fewer effective clusters off the mean of x a slope has no interval. Chosen by simulation: docs/coverage.md."""

LEAST_EXPECTED = 5.0
"""The smallest expected number of clusters in a category; with fewer the chi-squared distribution does not hold."""


def mean_of(values: Floats, weights: Floats, labels: Ints) -> Difference:
    """Estimate the weighted mean of unbounded numbers by the method of `slope`; it needs three effective clusters.

    Args:
        values: n >= 1 numbers.
        weights: Above 0, one for each number.
        labels: The cluster of each number.

    >>> found = mean_of(np.array([2.0, 4.0, 3.0, 5.0]), np.ones(4), np.arange(4))
    >>> found.value, found.rounded.ci95
    (3.5, (1.44574, 5.55426))
    """
    return _last_coefficient(values, np.ones((len(values), 1)), weights, labels, _kish(weights, labels))


def mean_of_means(
    values: Floats, levels: Ints, weights: Floats, labels: Ints, least: float = 0.0, shares: Floats | None = None
) -> Estimate:
    """Estimate the mean of several groups' mean scores, plain or weighted, with its interval.

    Each of k groups gets 2 / k right and as many wrong observations more (Price and Bonett, Computational Statistics
    and Data Analysis 45 (2004) 449), or 2 where all groups share their clusters. The variance is robust to clusters;
    the quantile is Student's at Satterthwaite's degrees of freedom.

    Args:
        values: n >= 1 scores in [least, 1].
        levels: The group of each score.
        weights: Above 0, one for each score.
        labels: The cluster of each score.
        least: The lowest possible score, below 1. The interval is computed on the scores mapped to [0, 1].
        shares: Above 0, what each group weighs, in the order of the levels; all the same where None.
    """
    from scipy.special import stdtrit

    y, (_, groups) = (values - least) / (1 - least), np.unique(levels, return_inverse=True)
    k, total = int(groups.max()) + 1, np.bincount(groups, weights)
    pull = np.ones(k) if shares is None else k * shares / shares.sum()  # of each group; 1 on average
    value = float((pull * np.bincount(groups, weights * y) / total).mean())
    alone = [effective_n(y[groups == group], weights[groups == group], labels[groups == group]) for group in range(k)]
    _, places = np.unique(labels, return_inverse=True)
    apart_groups = k * (int(places.max()) + 1) / len(np.unique(places * k + groups))
    y, groups = np.append(y, np.repeat((0.0, 1.0), k)), np.append(groups, np.tile(np.arange(k), 2))
    weights = np.append(weights, np.tile(2 / apart_groups * total / alone, 2))
    places = np.append(places, places.max() + 1 + np.arange(2 * k))
    parts = weights / np.bincount(groups, weights)[groups]
    means = np.bincount(groups, parts * y)
    _, both = np.unique(places * k + groups, return_inverse=True)
    share = np.bincount(both, parts)
    apart = parts * (y - means[groups])
    robust = float((np.bincount(places, pull[groups] * apart / np.sqrt(1 - share[both])) ** 2).sum())
    # As for a slope, the variance is at least its value under equal spread.
    spread = float((apart * (y - means[groups])).sum() / k)
    variance = max(robust, spread * float(((pull[groups] * parts) ** 2).sum())) / k**2
    first = np.unique(both, return_index=True)[1]
    clusters, own = 1 / np.bincount(groups[first], share**2), np.bincount(groups, (pull[groups] * parts) ** 2)
    freedom = min(float(own.sum() ** 2 / (own**2 / np.maximum(clusters - 1, 0.5)).sum()), _kish(weights, places) - 1)
    half, mean = float(stdtrit(max(freedom, 1.0), 0.975)) * variance**0.5, float((pull * means).mean())
    low, high = max(min(mean - half, value), 0.0), min(max(mean + half, value), 1.0)
    value, low, high = (least + (1 - least) * end for end in (value, low, high))
    kind = "mean" if shares is None else "weighted mean"
    return Estimate(value, low, high, f"{kind} of {k} means: Price-Bonett, CR2, Satterthwaite t")


def gap(values: Floats, second: Floats, weights: Floats, labels: Ints, *, shares: bool) -> Difference:
    """Estimate the mean of a second group less that of a first, by the method of `slope` on two levels.

    Args:
        values: n >= 2 numbers, at most 1 where `shares`.
        second: 1 for the second group, 0 for the first; each has at least one number.
        weights: Above 0, one for each number.
        labels: The cluster of each number; the groups may share clusters.
        shares: Whether the numbers are shares. Then the interval is cut to the possible range.

    >>> values, second = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1])
    >>> gap(values, second, np.ones(4), np.arange(4), shares=True)  # two clusters a group are too few
    Difference(value=0.5, ci95=None, p=None, method='CR2, Bell-McCaffrey t')
    """
    sides = [second == side for side in (0, 1)]
    counts = [_kish(weights[side], labels[side]) for side in sides]
    alone = [effective_n(values[side], weights[side], labels[side]) if shares else 1.0 for side in sides]
    unseen = [(float(x), float(weights[side].sum()) / n) for x, (side, n) in enumerate(zip(sides, alone, strict=True))]
    found = _regress(values, second, weights, labels, unseen if shares else [], min(counts))
    most = 1 - min(float(values.min()), 0.0)
    return (
        found._replace(ci95=(max(found.ci95[0], -most), min(found.ci95[1], most))) if found.ci95 and shares else found
    )


def slope(values: Floats, x: Floats, weights: Floats, labels: Ints, *, shares: bool) -> Difference:
    """Estimate the slope of a weighted regression of values on x, robust to clusters.

    The variance is CR2, the quantile Student's at the degrees of freedom of Bell and McCaffrey (Survey Methodology 28
    (2002) 169; see Imbens and Kolesar, Review of Economics and Statistics 98 (2016) 701). For shares the interval and
    the test count four observations more, one right and one wrong at each of two levels, as Agresti and Caffo (American
    Statistician 54 (2000) 280) do for two groups: for a slope the levels are one standard deviation off the mean of x.
    There is no interval with fewer than FEW_OFF effective clusters off the mean of x.

    Args:
        values: n >= 2 numbers, in [0, 1] where `shares`.
        x: One for each number, not all equal.
        weights: Above 0, one for each number.
        labels: The cluster of each number.
        shares: Whether the numbers are shares.
    """
    n = _kish(weights, labels)
    mean = float(np.average(x, weights=weights))
    spread = float(np.average((x - mean) ** 2, weights=weights)) ** 0.5
    unseen = [(mean + side * spread, float(weights.sum()) / n) for side in (-1, 1)] if shares else []
    # Only values off the mean of x inform a slope.
    telling = _kish((weights * (x - mean)) ** 2, labels)
    return _regress(values, x, weights, labels, unseen, TOO_FEW if telling >= FEW_OFF else 0.0)


def coefficient(values: Floats, design: Floats, weights: Floats, labels: Ints) -> Difference | None:
    """Estimate the last coefficient of a weighted regression, by the method of `slope` for numbers that are no shares.

    Args:
        values: n >= 2 numbers.
        design: Shape (n, k), the covariates, the one that is estimated last.
        weights: Above 0, one for each number.
        labels: The cluster of each number.

    Returns:
        The coefficient; None where the other columns determine the last one.

    >>> x = np.arange(8.0)
    >>> found = coefficient(2 * x + 3 * (x > 3), np.stack((np.ones(8), x, x > 3), 1), np.ones(8), np.arange(8))
    >>> found and found.rounded.value
    3.0
    """
    left, sizes, _ = np.linalg.svd(design[:, :-1] * np.sqrt(weights)[:, None], full_matrices=False)
    others, last = left[:, sizes > 1e-9 * sizes.max(initial=0.0)], design[:, -1] * np.sqrt(weights)
    rest = last - others @ (others.T @ last)
    if float(rest @ rest) <= 1e-12 * float(last @ last):
        return None
    apart = np.column_stack((others / np.sqrt(weights)[:, None], design[:, -1]))
    return _last_coefficient(values, apart, weights, labels, _kish(rest**2, labels))


def _regress(
    values: Floats, x: Floats, weights: Floats, labels: Ints, unseen: list[tuple[float, float]], clusters: float
) -> Difference:
    """The slope; `unseen`: pairs (level, weight) at which one right and one wrong observation are added."""
    design = np.stack((np.ones(len(x)), x), 1)
    plain = _last_coefficient(values, design, weights, labels, clusters)
    if plain.ci95 is None or not unseen:
        return plain
    added, more = (np.repeat(column, 2) for column in zip(*unseen, strict=True))
    own = labels.max() + 1 + np.arange(len(added))
    full = np.concatenate((design, np.stack((np.ones(len(added)), added), 1)))
    found = _last_coefficient(
        np.concatenate((values, np.tile((0.0, 1.0), len(unseen)))), full,
        np.concatenate((weights, more)), np.concatenate((labels, own)), clusters,
    )  # fmt: skip
    assert found.ci95 is not None
    low, high = found.ci95
    method = plain.method.replace("CR2", "Agresti-Caffo, CR2")
    return Difference(plain.value, (min(low, plain.value), max(high, plain.value)), found.p, method)


def _last_coefficient(values: Floats, design: Floats, weights: Floats, labels: Ints, clusters: float) -> Difference:
    """The last coefficient of a weighted regression on a design of shape (n, k) and full rank, tested against 0."""
    from scipy.special import stdtr, stdtrit

    root = np.sqrt(weights)
    basis, scale = np.linalg.qr(design * root[:, None])
    parts = basis.T @ (root * values)
    value = float(parts[-1] / scale[-1, -1])
    named = ", ".join(name for name, holds in uneven(weights, labels).items() if holds)
    method = f"CR2, Bell-McCaffrey t{f' ({named})' if named else ''}"
    if clusters < TOO_FEW:
        return Difference(value, None, None, method)
    _, places = np.unique(labels, return_inverse=True)
    residuals = root * values - basis @ parts
    sums = _sums(basis * residuals[:, None], places)
    k = basis.shape[1]
    squares = (basis[:, :, None] * basis[:, None, :]).reshape(len(values), -1)
    leverage, weighted = (_sums(each, places).reshape(-1, k, k) for each in (squares, weights[:, None] * squares))
    roots, vectors = np.linalg.eigh(leverage)
    # A cluster that alone determines a coefficient has a leverage of 1, and no information on its variance.
    adjust = np.where(roots < 1 - 1e-9, 1 / np.sqrt(np.maximum(1 - roots, 1e-9)), 0.0)
    last = np.einsum("gij,gj,gj->gi", vectors, adjust, vectors[:, -1, :])
    # A few similar outliers show no variance: it is at least its value under equal spread, with the answers of
    # a cluster fully dependent or independent, whichever gives less.
    pulls = _sums(np.stack((root * basis[:, -1], weights * basis[:, -1] ** 2), 1), places)
    alike = float(np.minimum(pulls[:, 0] ** 2, pulls[:, 1]).sum() * (residuals**2).sum() / weights.sum())
    variance = max(float((np.einsum("gi,gi->g", last, sums) ** 2).sum()), alike) / scale[-1, -1] ** 2
    # The clusters' parts of the variance have the covariance diag(own) + left right', if observations are independent.
    own = np.einsum("gi,gij,gj->g", last, weighted, last)
    pull, pulled = (np.einsum("gij,gj->gi", each, last) for each in (leverage, weighted))
    left, right = np.hstack((pull, pulled)), np.hstack((pull @ weighted.sum(0) - pulled, -pull))
    off = (left * right).sum(1)
    square = float((own**2 + 2 * own * off).sum() + ((right.T @ left) * (right.T @ left).T).sum())
    freedom = max(float((own + off).sum()) ** 2 / square, 1.0) if square > 0 else 1.0
    error = float(variance**0.5)
    half = float(stdtrit(freedom, 0.975)) * error
    none = 1e-12 * float(np.abs(values).max())
    p = float(2 * stdtr(freedom, -abs(value) / error)) if error > none else float(abs(value) <= none)
    return Difference(value, (value - half, value + half), p, method)


def _sums(rows: Floats, places: Ints) -> Floats:
    """The sum of rows of shape (n, k) over each cluster."""
    return np.stack([np.bincount(places, column) for column in rows.T], 1)


def _kish(weights: Floats, labels: Ints) -> float:
    """The effective number of clusters (Kish, Survey Sampling (1965), section 11.7)."""
    _, places = np.unique(labels, return_inverse=True)
    shares = np.bincount(places, weights) / weights.sum()
    return 1 / float((shares**2).sum())


def equality(values: Floats, levels: Ints, weights: Floats, labels: Ints) -> float | None:
    """Compute the p-value of a test that several groups have the same mean.

    The statistic is the weighted sum of squares between the groups, its distribution that of Box for quadratic forms
    (Annals of Mathematical Statistics 25 (1954) 290), with a covariance of the groups' means that is robust to shared
    clusters. For independent, equally weighted 0/1 shares it is Pearson's chi-squared test with the second-order
    correction of Rao and Scott (Annals of Statistics 12 (1984) 46).

    Args:
        values: n >= 2 numbers.
        levels: The group of each number.
        weights: Above 0, one for each number.
        labels: The cluster of each number.

    Returns:
        The p-value; None where there are fewer than two groups, or one has fewer than three effective clusters.
    """
    from scipy.special import fdtrc

    _, groups = np.unique(levels, return_inverse=True)
    _, places = np.unique(labels, return_inverse=True)
    k, clusters = int(groups.max()) + 1, int(places.max()) + 1
    sizes = [_kish(weights[groups == group], labels[groups == group]) for group in range(k)]
    if k < 2 or min(sizes) < TOO_FEW:
        return None
    total = np.bincount(groups, weights)
    parts, own = weights / total[groups], total / total.sum()
    means = np.bincount(groups, parts * values)
    mean = float(own @ means)
    pulls, ones = np.zeros((2, clusters, k))
    np.add.at(pulls, (places, groups), parts * (values - mean))
    np.add.at(ones, (places, groups), parts)
    form = (np.eye(k) - own).T @ np.diag(own) @ (np.eye(k) - own)
    robust = form @ pulls.T @ pulls
    # As for a slope, the variance is at least its value under equal spread.
    spread = float(np.average((values - mean) ** 2, weights=weights))
    independent = spread * form @ np.diag(np.bincount(groups, parts**2))
    each = np.bincount(places, parts**2 * np.diag(form)[groups])
    least = spread * float(np.minimum(each, (ones @ form * ones).sum(1)).sum())
    # If both are equal, as for independent shares, rounding must not decide between them.
    covariance = robust if np.trace(robust) > least * (1 + 1e-9) else independent
    between = float(own @ (means - mean) ** 2)
    if between <= 1e-18 * float((values**2).max()):
        return 1.0
    trace, square = max(float(np.trace(robust)), least), float((covariance * covariance.T).sum())
    freedom = float(np.trace(covariance)) ** 2 / square
    return float(fdtrc(freedom, freedom * (_kish(weights, labels) - 1), between / trace))


def uniformity(hits: Floats, expected: Floats, labels: Ints) -> float | None:
    """Compute the p-value of a test that answers fall on categories as often as expected.

    Pearson's chi-squared test for questions with different expectations; the covariance is summed over questions. Where
    answers of a cluster agree, the statistic is divided by the mean design effect, the first-order correction of Rao
    and Scott (Journal of the American Statistical Association 76 (1981) 221).

    Args:
        hits: Shape (n, k), 1 for the category of each question's answer, else 0.
        expected: Shape (n, k), the chance of each category, 0 for those that a question does not have.
        labels: Shape (n,), the cluster of each question.

    Returns:
        The p-value; None where fewer than two categories have an expectation of at least LEAST_EXPECTED clusters.
    """
    alone = _kish(np.ones(len(labels)), labels) / len(labels)
    enough = np.round(alone * expected.sum(0), 9) >= LEAST_EXPECTED
    if enough.sum() < 2:
        return None
    pulls, chances = (hits - expected)[:, enough], expected[:, enough]
    spreads, axes = np.linalg.eigh(np.diag(chances.sum(0)) - chances.T @ chances)
    kept = spreads > 1e-9 * spreads.max()
    _, places = np.unique(labels, return_inverse=True)
    scaled = _sums(pulls, places) @ (axes[:, kept] / np.sqrt(spreads[kept]))
    freedom = int(kept.sum())
    effect = max(float((scaled**2).sum()) / freedom, 1.0)
    return chi_squared_tail(float((scaled.sum(0) ** 2).sum()) / effect, freedom)


def chi_squared_tail(value: float, freedom: int) -> float:
    """Compute the probability that chi-squared of so many degrees of freedom exceeds a value.

    Of whole numbers of degrees it is a finite sum (Abramowitz and Stegun, 26.4.4 and 26.4.5). Every report wants it,
    and loading scipy.special takes longer than most reports.

    Args:
        value: 0 or more.
        freedom: 1 or more.

    >>> round(chi_squared_tail(3.841459, 1), 6), round(chi_squared_tail(16.918978, 9), 6)
    (0.05, 0.05)
    """
    half = value / 2
    if half == 0:
        return 1.0
    odd = freedom % 2
    terms = (exp(degrees / 2 * log(half) - half - lgamma(degrees / 2 + 1)) for degrees in range(odd, freedom - 1, 2))
    return min((erfc(sqrt(half)) if odd else 0.0) + sum(terms), 1.0)
