"""Scores along the doses of an operator: fit, band, trend, half dose and area. docs/appendix/why.md says how they
hold."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from mmdyn.stats import (
    TOO_FEW,
    Curve,
    Estimate,
    Floats,
    HalfDose,
    Ints,
    RatioTest,
    half_dose,
    mean_score,
    monotone_curve,
)
from mmdyn.table import Curves
from mmdyn.tables.blocks import Block, Key, Numbered
from mmdyn.tables.columns import split
from mmdyn.tables.forms import Forms, forms_of
from mmdyn.tables.keys import NOT_GIVEN
from mmdyn.tables.pairing import difference_row
from mmdyn.tables.rows import TOTAL, WAITING

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
            yield from _curve(block, (*part.by, OPERATOR, LEVEL, DOSE), (*key, operator), standard, levels)


def _curve(
    block: Block, axes: Sequence[str], key: Key, standard: Ints, levels: Mapping[str, Ints]
) -> Iterator[Numbered]:
    of_all = (*key, TOTAL, TOTAL)
    doses, measure = _doses(block, levels)
    order = sorted(doses, key=doses.__getitem__)
    forms = forms_of(block, {STANDARD: standard, **{chain: levels[chain] for chain in order}}, corrected=True)
    more: dict[str, Any] = {"n": forms.n, "left_out": forms.left_out, **forms.counts}
    if not measure or not forms.n:
        note = NO_PARENT if measure else NO_DOSE
        yield block.row(axes, of_all, "area", None, note=note, **more), None
        return
    note = "; ".join([MEASURES[measure], *[forms.note] * bool(forms.note), *[WAITING] * forms.waits])
    scaled = block._replace(measured="corrected") if forms.scale == "corrected" else block
    x = np.array([0.0, *(doses[chain] for chain in order)])
    told = dict(zip((STANDARD, *order), x.tolist(), strict=True))
    fit = yield from _levels(scaled, axes, key, forms, told, more)
    trend = forms.combined(slope_weights(x))
    yield difference_row(scaled, axes, of_all, trend, [note], quantity=f"slope per {STEP} of dose", **more), None
    yield scaled.row(axes, of_all, "half dose", **_half_row(half_of(forms, x, fit), x[-1]), unit=DOSE, **more), None
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
    return means, monotone_curve(*(np.array(column) for column in list(zip(*means, strict=True))[:3]))


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
    block: Block, axes: Sequence[str], key: Key, forms: Forms, doses: Mapping[str, float], more: Mapping[str, Any]
) -> Generator[Numbered, None, Floats]:
    """Of each level the score with an interval such that all hold at once, and the fit with its band, which is
    returned."""
    means, curve = band_of(forms)
    for place, (level, dose) in enumerate(doses.items()):
        own = axes, (*key, level.partition("@")[2] or level, f"{dose:g}")
        mean = means[place].rounded
        told = {"ci95": mean.ci95, "method": f"{mean.method}, simultaneous (Bonferroni)", **more}
        yield block.row(*own, block.measured, mean.value, **told), None
        fit, *ends = (round(float(column[place]), 6) + 0.0 for column in curve)
        yield block.row(*own, "fit", fit, ci95=tuple(ends), method="monotone fit with its band", **more), None
    return curve.fit


def _half_row(found: HalfDose | None, last: float) -> dict[str, Any]:
    """What the row of a half dose has."""
    if found is None:
        return {"value": None, "note": NO_STANDARD}
    reached = f"not reached by dose {last:g}" + f", surely not by {found.low:g}" * (found.low > 0)
    told = {"method": "stepwise tests (Hsu-Berger)", "note": reached if found.dose is None else ""}
    return {"value": found.dose and round(found.dose, 4), "ci95": (found.low, found.high), **told}
