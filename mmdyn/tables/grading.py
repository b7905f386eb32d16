"""How well a grader (rules, a judge, or both) gives the marks that people gave, kept in the user's cache for reports.

Sources: Cohen, Educational and Psychological Measurement 20 (1960) 37: kappa. Cohen, Psychological Bulletin 70 (1968)
    213: weighted kappa. Fleiss, Cohen and Everitt, Psychological Bulletin 72 (1969) 323: the standard error of both.
    Lin, Biometrics 45 (1989) 255: limits by Fisher's z for the concordance correlation, which is the quadratic weighted
    kappa of the values. Kendall, Biometrika 33 (1945) 239: tau-b. Spearman, American Journal of Psychology 15 (1904)
    72.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.tables.calibration import Share, share
from mmdyn.tables.measurement_cache import Kept
from mmdyn.tables.statistics import Floats, Z

BINS = 5
"""Parts of equal width that values are put into for the calibration table."""

ROUNDING = 1e-9
"""A standard error below this is 0 but for rounding."""


class Bin(Struct, frozen=True):
    """Answers whose value is from `low` up to `high` (the last bin holds 1 too): how many, and both means in [0, 1]."""

    low: float
    high: float
    n: int
    value: float
    human: float


class Grading(Struct, frozen=True, forbid_unknown_fields=True):
    """A grader measured on one labelled file, against people's marks in [0, 1].

    An answer is right where its mark, or the grader's value, is `threshold` or more. agreement: both call it right, or
    both do not; kappa: the same beyond chance, in [-1, 1]. sensitivity: of the answers that people call right, the
    share that the grader does; specificity: of the others, the share that it does not; precision: of those that it
    calls right, the share that people do. weighted_kappa: quadratic weights, on the marks as they are; kendall (tau-b)
    and spearman: in [-1, 1].
    kappa_ci95, weighted_kappa_ci95: their 95 % intervals by `kappa_interval`. mean_error: the mean of value - mark;
    mean_absolute_error: of its size. None where a number is not defined, such as the correlation of values that are all
        one. `failed` counts answers without a value; they are in no number but this, `n` counts the others. `labels` is
        the SHA-256 of the labelled file, `file` its name.
    """

    grader: str
    identity: Json
    threshold: float
    n: int
    failed: int
    agreement: Share | None
    kappa: float | None
    weighted_kappa: float | None
    sensitivity: Share | None
    specificity: Share | None
    precision: Share | None
    kendall: float | None
    spearman: float | None
    mean_error: float | None
    mean_absolute_error: float | None
    bins: tuple[Bin, ...]
    labels: str = ""
    file: str = ""
    kappa_ci95: tuple[float, float] | None = None
    weighted_kappa_ci95: tuple[float, float] | None = None


_KEPT = Kept("graders", "the grader", tuple[Grading, ...])


def save_grading(grading: Grading) -> tuple[Path, bool]:
    """Keep a grading; the file, and whether it took the place of one on the same labels. Raises UserError."""
    return _KEPT.save(grading)


def load_gradings(identity: Json) -> tuple[Grading, ...]:
    """What was measured of the grader of an identity: a judge's, or the name of a run's scorer. Raises UserError."""
    return _KEPT.load(identity)


def measure(
    grader: str, identity: Json, marked: Iterable[tuple[float, float | None]], threshold: float = 0.5
) -> Grading:
    """Compare a grader's values with people's marks: (mark, value) for each answer, the value None where there is none.

    Raises UserError where there is no answer.
    """
    pairs = list(marked)
    if not pairs:
        raise UserError('there is no marked answer: give lines with "human", a number from 0 to 1')
    graded = np.array([pair for pair in pairs if pair[1] is not None], dtype=np.float64).reshape(-1, 2)
    human, value = graded[:, 0], graded[:, 1]
    right, called = human >= threshold, value >= threshold
    verdicts = right.astype(np.float64), called.astype(np.float64)
    n, errors = len(graded), value - human
    kendall, spearman = _correlations(human, value)
    return Grading(
        grader=grader,
        identity=identity,
        threshold=threshold,
        n=n,
        failed=len(pairs) - n,
        agreement=share(int((right == called).sum()), n),
        kappa=weighted_kappa(*verdicts),
        kappa_ci95=kappa_interval(*verdicts),
        weighted_kappa=weighted_kappa(human, value),
        weighted_kappa_ci95=kappa_interval(human, value),
        sensitivity=share(int((right & called).sum()), int(right.sum())),
        specificity=share(int((~right & ~called).sum()), int((~right).sum())),
        precision=share(int((right & called).sum()), int(called.sum())),
        kendall=kendall,
        spearman=spearman,
        mean_error=float(errors.mean()) if n else None,
        mean_absolute_error=float(np.abs(errors).mean()) if n else None,
        bins=_bins(human, value),
    )


def weighted_kappa(one: Floats, other: Floats) -> float | None:
    """Cohen's kappa with quadratic weights over two graders' values; for values of 0 and 1 it is the unweighted kappa.

    1 less the mean squared difference over what it would be if the values were paired at random. None where both
    graders give one and the same value to all.
    """
    if not len(one) or not np.ptp(np.concatenate((one, other))):
        return None
    by_chance = float(one.var() + other.var() + (one.mean() - other.mean()) ** 2)
    return 1 - float(((one - other) ** 2).mean()) / by_chance


def kappa_interval(one: Floats, other: Floats) -> tuple[float, float] | None:
    """The 95 % interval of `weighted_kappa` over independent answers, inside (-1, 1).

    The standard error is that of Fleiss, Cohen and Everitt; the limits are Fisher's z's. None where kappa is not
    defined, and where that error is 0: the graders agree on all, or one of them gives the same value to all.
    """
    kappa = weighted_kappa(one, other)
    if kappa is None or 1 - abs(kappa) < ROUNDING:
        return None
    by_chance = (one - other.mean()) ** 2 + other.var() + (other - one.mean()) ** 2 + one.var()
    expected = float(by_chance.mean()) / 2
    pulls = ((1 - kappa) * (by_chance - expected) - (one - other) ** 2) / expected
    error = math.sqrt(float((pulls**2).mean()) / len(one))
    if error < ROUNDING:
        return None
    middle, half = math.atanh(kappa), Z * error / (1 - kappa**2)
    return math.tanh(middle - half), math.tanh(middle + half)


def _correlations(human: Floats, value: Floats) -> tuple[float | None, float | None]:
    """Kendall's tau-b and Spearman's rho; None where one side is constant."""
    if len(human) < 2 or not np.ptp(human) or not np.ptp(value):
        return None, None
    from scipy.stats import kendalltau, spearmanr

    return float(kendalltau(human, value).statistic), float(spearmanr(human, value).statistic)


def _bins(human: Floats, value: Floats) -> tuple[Bin, ...]:
    """The calibration table; bins without an answer are left out."""
    places = np.minimum((value * BINS).astype(int), BINS - 1)
    return tuple(
        Bin(
            place / BINS,
            (place + 1) / BINS,
            int(inside.sum()),
            float(value[inside].mean()),
            float(human[inside].mean()),
        )
        for place in range(BINS)
        if (inside := places == place).any()
    )
