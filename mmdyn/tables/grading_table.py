"""How well a grader gives people's marks, for people: lines of plain text."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.tables.calibration import Share, judge_id
from mmdyn.tables.grading import Grading
from mmdyn.tables.measurement_cache import named

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

METHOD = (
    "95 % intervals: Wilson's of shares, Fisher's z of kappa by the standard error of Fleiss, Cohen and Everitt; "
    "- where that error is 0"
)
"""How the intervals of a grader, or of a judge of meaning, are made."""


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
