"""Scores along the doses of an operator: fit, band, trend, half dose and area. docs/appendix/why.md says how they
hold."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from mmdyn.stats import Floats, Ints, half_dose, mean_score, monotone_curve
from mmdyn.table import Curves
from mmdyn.tables.blocks import Block, Key, Numbered
from mmdyn.tables.columns import split
from mmdyn.tables.forms import Forms, forms_of
from mmdyn.tables.pairing import difference_row, only
from mmdyn.tables.results import BY_RULES, NOT_GIVEN
from mmdyn.tables.rows import TOTAL

STANDARD, OPERATOR, LEVEL, DOSE = "standard", "operator", "level", "dose"
ALPHA = 0.05
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
NO_PARENT = "no question was answered under the standard form and all levels"
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
            yield from _curve(block, (*part.by, OPERATOR), (*key, operator), standard, levels)


def _curve(
    block: Block, axes: Sequence[str], key: Key, standard: Ints, levels: Mapping[str, Ints]
) -> Iterator[Numbered]:
    doses, measure = _doses(block, levels)
    order = sorted(doses, key=doses.__getitem__)
    forms = forms_of(block, {STANDARD: standard, **{chain: levels[chain] for chain in order}}, corrected=True)
    more: dict[str, Any] = {"n": forms.n, "left_out": forms.left_out, **forms.counts}
    if not measure or not forms.n:
        note = NO_PARENT if measure else NO_DOSE
        yield block.row((*axes, LEVEL, DOSE), (*key, TOTAL, TOTAL), "area", None, note=note, **more), None
        return
    note = "; ".join([MEASURES[measure], *[forms.note] * bool(forms.note), *[BY_RULES] * forms.lower])
    scaled = block._replace(measured="corrected") if forms.scale == "corrected" else block
    x = np.array([0.0, *(doses[chain] for chain in order)])
    fit = yield from _levels(scaled, axes, key, forms, dict(zip((STANDARD, *order), x.tolist(), strict=True)), more)
    axes, key = (*axes, LEVEL, DOSE), (*key, TOTAL, TOTAL)
    off = x - x.mean()
    trend = forms.combined(STEP * off / float(off @ off))
    yield difference_row(scaled, axes, key, trend, [note], quantity=f"slope per {STEP} of dose", **more), None
    yield scaled.row(axes, key, "half dose", **_half(forms, x, fit), unit=DOSE, **more), None
    steps = np.diff(x) / x[-1] / 2
    whole = scaled.cell(standard)
    whole = only(whole, np.searchsorted(whole.parents, forms.parents))
    area = whole._replace(values=forms.values @ (np.append(steps, 0) + np.append(0, steps)))
    yield scaled.mean_row(axes, key, "area", area, **more), area


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
    block: Block, axes: Sequence[str], key: Key, forms: Forms, doses: Mapping[str, float], more: Mapping[str, Any]
) -> Generator[Numbered, None, Floats]:
    """Of each level the score with an interval such that all hold at once, and the fit with its band, which is
    returned."""
    z = NormalDist().inv_cdf(1 - ALPHA / 2 / len(doses))
    means = [mean_score(column, forms.weights, forms.labels, forms.least, z) for column in forms.values.T]
    value, low, high = (np.array([getattr(mean, name) for mean in means]) for name in ("value", "low", "high"))
    curve = monotone_curve(value, low, high)
    for place, (level, dose) in enumerate(doses.items()):
        own = (*axes, LEVEL, DOSE), (*key, level.partition("@")[2] or level, f"{dose:g}")
        mean = means[place].rounded
        told = {"ci95": mean.ci95, "method": f"{mean.method}, simultaneous (Bonferroni)", **more}
        yield block.row(*own, block.measured, mean.value, **told), None
        fit, *ends = (round(float(column[place]), 6) + 0.0 for column in curve)
        yield block.row(*own, "fit", fit, ci95=tuple(ends), method="monotone fit with its band", **more), None
    return curve.fit


def _half(forms: Forms, doses: Floats, fit: Floats) -> dict[str, Any]:
    """The dose at which half of the standard score is lost, what it lies between, and what to know of it."""
    each = [forms.combined(np.eye(len(doses))[place] - 0.5 * np.eye(len(doses))[0]) for place in range(len(doses))]
    sides = [int(np.sign(one.value)) * (one.p is not None and one.p <= ALPHA) for one in each]
    if sides[0] != 1:
        return {"value": None, "note": NO_STANDARD}
    found = half_dose(doses, fit, float(np.average(forms.values[:, 0], weights=forms.weights)) / 2, sides)
    told: dict[str, Any] = {"value": found.dose and round(found.dose, 4), "ci95": (found.low, found.high)}
    reached = f"not reached by dose {doses[-1]:g}" + f", surely not by {found.low:g}" * (found.low > 0)
    return {"method": "stepwise tests (Hsu-Berger)", "note": reached if found.dose is None else "", **told}
