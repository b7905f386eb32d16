"""Scores along an order: the ladder of contexts, which tells what wrong answers lack, and groups of different
questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from math import isfinite
from typing import NamedTuple

import numpy as np

from mmdyn.context import HINT, KPRAG, NONE
from mmdyn.errors import UserError
from mmdyn.stats import (
    Difference,
    Floats,
    Ints,
    equality,
    for_every_verdict,
    gap,
    paired_difference,
    ratio_of_means,
    slope,
)
from mmdyn.table import Gap, Ladder, Spread, Trend
from mmdyn.tables.blocks import AS_RULES, UNTESTED, WAITING, Block, Key, Numbered, Row, RowDetails, p_digits
from mmdyn.tables.chain_effects import forms_of
from mmdyn.tables.columns import Cell, add_counts, split
from mmdyn.tables.factors import NOT_GIVEN, PICKED, RUNG
from mmdyn.tables.pairing import TOO_FEW_GROUP, by_group, difference_row

NO_PICTURE, CAPTION = "no-picture", "caption"
KNOWLEDGE = (KPRAG, f"{HINT}:background", f"{HINT}:definition")
"""What stands for knowing, the first of these that was asked; else other points, then other hints."""

TRIPLET = ("origin", "perception", "knowledge")
"""The questions of a triplet: Huang et al., arXiv:2407.00468, section 3."""

LUCK = 0.05
"""A question that guessing alone makes right in every reply at least this often tells nothing by being right."""

SHOWN = 20

SEEING, KNOWING, REASONING = "want of seeing", "want of knowing", "want of reasoning"
UNMENDED = "mended by no context"
NEEDLESS, OF_ALL, OF_WRONG = "needed no picture", "of all questions", "of wrong answers"
NET = "shares are net of the answers that a context spoils, so that one can be below 0 or above 100 %"
ASSUMED = (
    "assumes that a caption gives what seeing gives and no more, that knowledge points give what knowing gives, and"
    f" that an answer is known or guessed; {NET}"
)
ALONE = "what wrong answers lack is told by --context none, with caption, kprag and caption+kprag, or hints"
UNBOUNDED = "not told: the wrong answers are too few to take a share of"
UNTOLD = (
    "which questions these are is not told: so few replies may be right by luck, and an identical reply adds nothing;"
    " ask several times, with sampling (`mmdyn eval --epochs`, 3 where one guess in four is right)"
)


Wants = dict[str, tuple[int, dict[str, int]]]
"""A constant and the weights of contexts, by what is wanting: together they are 1 less the score as it is."""


def ladder_rows(block: Block, part: Ladder) -> Iterator[Numbered]:
    """The rows of a block: of triplets where it has such; else the score and the gain of each context, and what is
    wanting."""
    axes = (*part.by, RUNG)
    for key, records in block.spans(part.by).items():
        contexts = {name: those for (name,), those in split(block.columns, records, ["context"]).items()}
        triplets = [*_triplets(block, axes, key, contexts)]
        yield from triplets or [*_rungs(block, axes, key, contexts), *_wanting(block, axes, key, contexts)]


def _rungs(block: Block, axes: Sequence[str], key: Key, contexts: Mapping[str, Ints]) -> Iterator[Numbered]:
    """Of each context the corrected score and what it gains over the question as it is."""
    corrected = block._replace(measured="corrected")
    for name, records in contexts.items():
        own, cell = (*key, name), corrected.cell(records)
        yield corrected.mean_row(axes, own, "corrected", cell), cell
        if name == NO_PICTURE:
            yield _needless(block, axes, own, records), None
        if name == NONE or NONE not in contexts:
            continue
        forms = forms_of(block, {NONE: contexts[NONE], name: records}, corrected=True)
        if forms.n:
            notes = [*[forms.note] * bool(forms.note), *[WAITING] * forms.waits]
            yield difference_row(block, axes, own, forms.combined((-1, 1)), notes, **forms.details), None


def _needless(block: Block, axes: Sequence[str], key: Key, records: Ints) -> Row:
    """How many questions were right in every reply without their picture, of those that luck alone hardly makes so."""
    columns = block.columns
    scores, chance = columns.worth["score"][0][records], columns.chance[records]
    answered = ~np.isnan(scores)
    parents, places, tries = np.unique(columns.parents[records[answered]], return_inverse=True, return_counts=True)
    right, chances = np.bincount(places, scores[answered] < 1, len(parents)) == 0, chance[answered]
    first = np.unique(places, return_index=True)[1]
    picked = columns.fields[PICKED].codes[records[answered]]
    again = ~right[places] & (np.arange(len(places)) != first[places])
    # A guess that is repeated, as without sampling, is lucky or not once for all. It shows in letters that are the same
    # or, where options move, in questions that are wrong at first and hardly ever right later.
    alike = float((picked == picked[first[places]])[again].mean()) if again.any() else 0.0
    later = again & (scores[answered] < 1)[first[places]]
    hoped = float(chances[later].mean()) if later.any() else 0.0
    stuck = max(0.0, 1 - float((scores[answered] >= 1)[later].mean()) / hoped) if hoped else 0.0
    again_right = np.maximum(alike, stuck + (1 - stuck) * chances[first])
    luck = chances[first] * again_right ** (tries - 1)
    telling = luck <= LUCK
    if not telling.any():
        return block.row(axes, key, NEEDLESS, None, unit="count", note=UNTOLD)
    found = sorted(columns.names[parent] for parent in parents[telling & right])
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    listed = f": {', '.join(found[:SHOWN])}{more}" if found else ""
    note = f"right in every reply; guessing alone makes {luck[telling].sum():.1f} of {telling.sum()} so{listed}"
    return block.row(axes, key, NEEDLESS, len(found), unit="count", n=int(telling.sum()), note=note)


def wants_of(see: str, know: str, both: str) -> Wants:
    """What may be wanting, by the contexts that give seeing, knowing and both, each empty where it was not asked."""
    found: Wants = {name: (0, {one: 1, NONE: -1}) for name, one in ((SEEING, see), (KNOWING, know)) if one}
    if see and know and both:
        both_or_either = {both: 1, see: -1, know: -1, NONE: 1}
        return found | {"not told apart": (0, both_or_either), UNMENDED: (1, {both: -1})}
    if see and know:
        return found | {f"{UNMENDED}, or not told apart": (1, {see: -1, know: -1, NONE: 1})}
    return found | {UNMENDED: (1, {know or see: -1})}


def _wanting(block: Block, axes: Sequence[str], key: Key, contexts: Mapping[str, Ints]) -> Iterator[Numbered]:
    """What the wrong answers lack, over the questions that were asked under all contexts that tell it."""
    known = [*KNOWLEDGE, *(name for kind in (KPRAG, HINT) for name in contexts if name.startswith(f"{kind}:"))]
    know = next((name for name in known if name in contexts), "")
    see, both = (name if name in contexts else "" for name in (CAPTION, f"{CAPTION}+{know}"))
    if NONE not in contexts or not (see or know):
        yield block.row(axes, (*key, "not told apart"), OF_ALL, None, note=ALONE), None
        return
    asked = [name for name in (NONE, see, know, both if see and know else "") if name]
    forms = forms_of(block, {name: contexts[name] for name in asked}, corrected=True)
    if not forms.n:
        note = f"no question was answered under all of {', '.join(asked)}"
        none: RowDetails = {"note": note, **forms.details}
        yield block.row(axes, (*key, UNMENDED), OF_ALL, None, **none), None
        return
    notes = [note for note, holds in ((forms.note, forms.note), (AS_RULES, forms.waits)) if holds]
    under = forms.mixed([-(name == NONE) for name in asked], 1)
    for want, (constant, weights) in wants_of(see, know, both).items():
        over = forms.mixed([weights.get(name, 0) for name in asked], constant)
        yield from _want(block, axes, (*key, want), over, under, (forms.weights, forms.labels), notes, forms.details)


def _want(
    block: Block, axes: Sequence[str], key: Key, over: tuple[Floats, float], under: tuple[Floats, float],
    each: tuple[Floats, Ints], notes: Sequence[str], more: RowDetails,
) -> Iterator[Numbered]:  # fmt: skip
    """The mean of what is wanting for a reason, of all questions and of the wrong answers; each with its bound."""
    weights, labels = each
    found = paired_difference(over[0], weights, labels, over[1])
    if AS_RULES in notes:
        found, notes = found._replace(ci95=None, p=None), [UNTESTED, *(note for note in notes if note != AS_RULES)]
    yield difference_row(block, axes, key, found, notes, OF_ALL, **more), None
    ratio = ratio_of_means(over[0], under[0], weights, labels, (over[1], under[1]))
    shown = [*notes, *[UNBOUNDED] * (ratio is None or ratio.ci95 is None)]
    if ratio is None or ratio.ci95 is None:
        unbounded: RowDetails = {**more, "note": "; ".join(shown)}
        yield block.row(axes, key, OF_WRONG, None, **unbounded), None
        return
    bounded: RowDetails = {**more, "ci95": ratio.rounded.ci95, "method": ratio.method, "note": "; ".join(shown)}
    yield block.row(axes, key, OF_WRONG, round(ratio.value, 6) + 0.0, **bounded), None


def _triplets(block: Block, axes: Sequence[str], key: Key, contexts: Mapping[str, Ints]) -> Iterator[Numbered]:
    """Of groups of an original question, one of perception and one of knowledge: all three right, and what wrong
    originals lack by which of the others are wrong."""
    corrected = block._replace(measured="corrected")
    sides = [block.at(contexts.get(NONE, block.records[:0]), RUNG, name) for name in TRIPLET]
    cells = [by_group(block, corrected.cell(side)) for side in sides]
    shared = reduce(np.intersect1d, (cell.ids for cell in cells))
    if not len(shared):
        return
    cells = [cell.only(np.searchsorted(cell.ids, shared)) for cell in cells]
    raw = [by_group(block, block.cell(side)) for side in sides]
    right = np.prod([cell.values[np.searchsorted(cell.ids, shared)] for cell in raw], axis=0)
    asked = reduce(np.union1d, (cell.asked for cell in cells))
    more: RowDetails = {"n": len(shared), "left_out": len(asked) - len(shared)}
    genuine = cells[0]._replace(values=right)
    yield block.mean_row(axes, (*key, "genuine accuracy"), "score", genuine, **more), genuine
    lost, seen, known = 1 - cells[0].values, cells[1].values, cells[2].values
    room = 1 - min(corrected.least(cell) for cell in cells)
    wants = {
        SEEING: lost * (1 - seen) * known,
        KNOWING: lost * seen * (1 - known),
        "not told apart": lost * (1 - seen) * (1 - known),
        REASONING: lost * seen * known,
    }
    for want, values in wants.items():
        each, bounds = (cells[0].weights, shared), (room**3, room)
        yield from _want(block, axes, (*key, want), (values, bounds[0]), (lost, bounds[1]), each, [], more)


FAR = 10
"""A trend is along the logarithm of a factor whose largest value is more than so many times its median."""

SLOPE, SLOPE_OF_SKEWED = "slope", "slope per doubling"
PER_DOUBLING = f"{{}} is skewed (its largest value is over {FAR} times its median), so that the slope is per doubling"


def gap_rows(block: Block, part: Gap) -> Iterator[Numbered]:
    """The rows of a block of a Gap: both groups and their difference."""
    there = [value for (value,) in split(block.columns, block.records, [part.factor]) if value != NOT_GIVEN]
    ends = {"first": there[0], "last": there[-1]} if there else {}
    names = [value if value in there else ends.get(value, value) for value in (part.a, part.b)]
    for key, records in block.spans(part.by).items():
        groups = [block.cell(block.at(records, part.factor, value)) for value in names]
        yield from ((block.mean_row(part.by, key, name, cell), cell) for name, cell in zip(names, groups, strict=True))
        if names[0] == names[1] or not all(len(cell.values) for cell in groups):
            note = (
                "a group has no answer that counts" if names[0] != names[1] else f"all have {part.factor} = {names[0]}"
            )
            yield block.row(part.by, key, "difference", None, note=note), None
        else:
            levels = _Levels.of(block, groups)
            found = levels.held(levels.levels.astype(np.float64), gap)
            yield difference_row(block, part.by, key, found, levels.notes, **levels.details), None


def trend_rows(block: Block, part: Trend) -> Iterator[Numbered]:
    """The rows of a block of a Trend: the slope a unit of the factor, or a doubling where that is skewed, and how many
    levels it is over.

    Raises UserError where values are given and none is a number."""
    every = {value: records for (value,), records in split(block.columns, block.records, [part.factor]).items()}
    known = {number: len(records) for value, records in every.items() if (number := _number(value)) is not None}
    if not known and {*every} != {NOT_GIVEN}:
        named = f"{part.factor} has none ({', '.join([*every][:5])})"
        raise UserError(f"a trend needs numbers, and {named}: name a factor that has some")
    skewed = bool(known) and is_skewed(np.repeat([*known], [*known.values()]))
    quantity = SLOPE_OF_SKEWED if skewed else SLOPE
    for key, records in block.spans(part.by).items():
        numbered = ((_number(value), cell) for value, cell in _cells(block, part.factor, records).items())
        cells = {number: cell for number, cell in numbered if number is not None}
        if len(cells) < 2:
            yield block.row(part.by, key, quantity, None, note="fewer than two levels have an answer"), None
            continue
        levels, scale = _Levels.of(block, list(cells.values())), np.array(list(cells))
        x = (np.log2(scale) if skewed else scale)[levels.levels]
        found = levels.held(x, slope)
        notes = [*levels.notes, *[PER_DOUBLING.format(part.factor)] * skewed]
        yield difference_row(block, part.by, key, found, notes, quantity, **levels.details), None
        yield block.row(part.by, key, "levels", len(cells), unit="count"), None


def is_skewed(x: Floats) -> bool:
    """Whether few numbers would decide a slope along x: all are above 0, and the largest is far above the median."""
    return bool(x.min() > 0 and x.max() > FAR * np.median(x))


def spread_rows(block: Block, part: Spread) -> Iterator[Numbered]:
    """The rows of a block of a Spread: lowest, highest, their range with the test that all are equal, and the standard
    deviation over the values."""
    for key, records in block.spans(part.by).items():
        cells = _cells(block, part.factor, records)
        if len(cells) < 2:
            yield block.row(part.by, key, "range", None, note="fewer than two values have an answer"), None
            continue
        rows = {value: block.mean_row(part.by, key, value, cell) for value, cell in cells.items()}
        means = {value: row.value or 0.0 for value, row in rows.items()}
        low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        levels = _Levels.of(block, list(cells.values()))
        p = None if levels.waits else equality(levels.values, levels.levels, levels.weights, levels.labels)
        untold = UNTESTED if levels.waits else TOO_FEW_GROUP
        notes = [f"lowest {low}, highest {high}", *[untold] * (p is None)]
        tested: RowDetails = {
            "p": p and p_digits(p),
            "unit": block.difference_unit,
            "method": "Rao-Scott test of equality",
            "note": "; ".join(notes),
            **levels.details,
        }
        of_all: dict[str, tuple[float, RowDetails]] = {
            "lowest": (means[low], {"ci95": rows[low].ci95, "method": rows[low].method}),
            "highest": (means[high], {"ci95": rows[high].ci95}),
            "range": (means[high] - means[low], tested),
            "sd": (float(np.std([*means.values()], ddof=1)), {"unit": block.difference_unit}),
            "levels": (len(cells), {"unit": "count"}),
        }
        yield from (
            (block.row(part.by, key, name, round(value, 6), **details), None)
            for name, (value, details) in of_all.items()
        )


class _Levels(NamedTuple):
    """The numbers of several cells in a row, the cluster of each and which cell it is of."""

    values: Floats
    low: Floats
    high: Floats
    weights: Floats
    labels: Ints
    levels: Ints
    details: RowDetails
    shares: bool

    @classmethod
    def of(cls, block: Block, cells: Sequence[Cell]) -> _Levels:
        values, low, high, weights = (
            np.concatenate([getattr(cell, name) for cell in cells]) for name in ("values", "low", "high", "weights")
        )
        labels = np.concatenate([block.labels(cell) for cell in cells])
        parents = np.concatenate([cell.parents for cell in cells])
        details: RowDetails = {"n": len(np.unique(parents)), "counts": add_counts(cells)}
        levels = np.repeat(np.arange(len(cells)), [len(cell.values) for cell in cells])
        return cls(values, low, high, weights, labels, levels, details, block.measure.unit == "share")

    @property
    def waits(self) -> bool:
        """Whether any answer waits for a judge."""
        return bool((self.low < self.high).any())

    @property
    def notes(self) -> list[str]:
        """What to know of a difference."""
        return [WAITING] * self.waits

    def held(self, x: Floats, method: Callable[..., Difference]) -> Difference:
        """The gap or slope along x; where answers wait for a judge, one that holds whatever it will say."""
        above = x > np.average(x, weights=self.weights)
        found, *ends = (
            method(values, x, self.weights, self.labels, shares=self.shares)
            for values in (self.values, np.where(above, self.low, self.high), np.where(above, self.high, self.low))
        )
        return for_every_verdict(found.value, ends[0], ends[1]) if self.waits else found


def _cells(block: Block, factor: str, records: Ints) -> dict[str, Cell]:
    """The cells of a factor's values that have any answer; NOT_GIVEN is no value."""
    found = {value: block.cell(part) for (value,), part in split(block.columns, records, [factor]).items()}
    return {value: cell for value, cell in found.items() if len(cell.values) and value != NOT_GIVEN}


def _number(value: str) -> float | None:
    try:
        return number if isfinite(number := float(value)) else None
    except ValueError:
        return None
