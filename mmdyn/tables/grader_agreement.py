"""How well a grader (rules, a judge, or both) gives the marks that people gave, measured, kept and in lines for
people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.stats import Floats, Share, kappa_interval, rank_correlations, weighted_kappa
from mmdyn.tables.measurements import Kept, judge_id, named

BINS = 5
"""Parts of equal width that values are put into for the calibration table."""

METHOD = (
    "95 % intervals: Wilson's of shares, Fisher's z of kappa by the standard error of Fleiss, Cohen and Everitt; "
    "- where that error is 0"
)
"""How the intervals of a grader, or of a judge of meaning, are made."""

_SHARES = {
    "agreement": "of all answers, those that both call right or both do not",
    "precision": "of the answers that it calls right, those that people do",
    "sensitivity": "of the answers that people call right, those that it does",
    "specificity": "of the answers that people do not call right, those that it does not",
}
_KAPPAS = {
    "kappa": "agreement on right and wrong beyond chance",
    "weighted_kappa": "agreement of the marks beyond chance, quadratic weights",
}
_NUMBERS = {
    "kendall": "Kendall's tau-b with people's marks",
    "spearman": "Spearman's rho with people's marks",
    "mean_error": "mean of its value less people's mark",
    "mean_absolute_error": "mean size of that",
}


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


_GRADINGS = Kept("graders", "the grader", tuple[Grading, ...])


def save_grading(grading: Grading) -> tuple[Path, bool]:
    """Keep a grading; the file, and whether it took the place of one on the same labels. Raises UserError."""
    return _GRADINGS.save(grading)


def load_gradings(identity: Json) -> tuple[Grading, ...]:
    """What was measured of the grader of an identity: a judge's, or the name of a run's scorer. Raises UserError."""
    return _GRADINGS.load(identity)


def measure(
    grader: str, identity: Json, marked: Iterable[tuple[float, float | None]], threshold: float = 0.5
) -> Grading:
    """Compare a grader's values with people's marks.

    Args:
        grader: its name for people.
        identity: what decides its values.
        marked: (mark, value) for each answer, in [0, 1]; the value is None where there is none.
        threshold: an answer is right from this mark, or value, on.

    Raises:
        UserError: where there is no answer.
    """
    pairs = list(marked)
    if not pairs:
        raise UserError('there is no marked answer: give lines with "human", a number from 0 to 1')
    graded = np.array([pair for pair in pairs if pair[1] is not None], dtype=np.float64).reshape(-1, 2)
    human, value = graded[:, 0], graded[:, 1]
    right, called = human >= threshold, value >= threshold
    verdicts = right.astype(np.float64), called.astype(np.float64)
    kendall, spearman = rank_correlations(human, value)
    n, both, errors = len(graded), int((right & called).sum()), value - human
    means = [float(column.mean()) if n else None for column in (errors, np.abs(errors))]
    return Grading(
        *(grader, identity, threshold, n, len(pairs) - n),
        *(Share.of(int((right == called).sum()), n), weighted_kappa(*verdicts), weighted_kappa(human, value)),
        sensitivity=Share.of(both, int(right.sum())),
        specificity=Share.of(int((~right & ~called).sum()), int((~right).sum())),
        precision=Share.of(both, int(called.sum())),
        kendall=kendall,
        spearman=spearman,
        mean_error=means[0],
        mean_absolute_error=means[1],
        bins=tuple(_bins(human, value)),
        kappa_ci95=kappa_interval(*verdicts),
        weighted_kappa_ci95=kappa_interval(human, value),
    )


def spell(grading: Grading) -> Iterator[str]:
    """The lines of one grader."""
    who = grading.grader if grading.grader == grading.identity else f"{grading.grader} ({judge_id(grading.identity)})"
    failed = f", {grading.failed} without a verdict" if grading.failed else ""
    yield f"{who} on {grading.n} marked answers of {named(grading)}{failed}; right from {grading.threshold:g} on"
    for name, meaning in _SHARES.items():
        yield f"    {name:<20} {_share(getattr(grading, name)):<36} {meaning}"
    for name, meaning in _KAPPAS.items():
        shown = spell_kappa(getattr(grading, name), getattr(grading, f"{name}_ci95"))
        yield f"    {name.replace('_', ' '):<20} {shown:<36} {meaning}"
    for name, meaning in _NUMBERS.items():
        yield f"    {name.replace('_', ' '):<20} {_number(getattr(grading, name)):<36} {meaning}"
    for found in grading.bins:
        last = "]" if found.high == 1 else ")"
        bounds = f"value in [{found.low:.1f}, {found.high:.1f}{last}"
        counted = f"{found.n:>6} answer{'s' * (found.n != 1)}"
        yield f"    {bounds:<20} {counted}: mean value {found.value:.3f}, people's mean mark {found.human:.3f}"
    yield f"    {METHOD}"


def spell_kappa(kappa: float | None, ci95: tuple[float, float] | None) -> str:
    """Such as ` 0.550  [-0.013, 0.855]`; a dash where there is no interval."""
    interval = f"[{ci95[0]:.3f}, {ci95[1]:.3f}]" if ci95 else "-"
    return _number(kappa) if kappa is None else f"{_number(kappa)}  {interval}"


def _share(share: Share | None) -> str:
    return f"{share.value:6.1%}  [{share.low:.1%}, {share.high:.1%}]  n = {share.n}" if share else "no such answer"


def _number(number: float | None) -> str:
    return "not defined" if number is None else f"{number:6.3f}"


def _bins(human: Floats, value: Floats) -> Iterator[Bin]:
    """The calibration table; bins without an answer are left out."""
    places = np.minimum((value * BINS).astype(int), BINS - 1)
    for place in np.unique(places).tolist():
        inside = places == place
        means = float(value[inside].mean()), float(human[inside].mean())
        yield Bin(place / BINS, (place + 1) / BINS, int(inside.sum()), *means)
