"""What records show of a model's memory: published answers to changed questions, and breaks at a knowledge cut-off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from mmdyn.equal import compare
from mmdyn.keys import Json
from mmdyn.record import Record
from mmdyn.sample import Match, Sample
from mmdyn.stats import Difference, Floats, Hits, Ints, coefficient, matched_shares, mean_score
from mmdyn.table import CutOffs, PublishedAnswers
from mmdyn.tables.blocks import TOTAL, Block, Numbered, Row, RowDetails, RowWatcher
from mmdyn.tables.columns import Columns
from mmdyn.tables.factors import Key, plain_model, sample_of
from mmdyn.tables.guessing import matched_rows
from mmdyn.tables.pairing import Pair, difference_row
from mmdyn.tables.run_state import has_failed
from mmdyn.tables.scores import conditions_of
from mmdyn.work import Reader, RunFolder

PUBLISHED, OTHER, BEYOND, LOST = "published answer", "another version's answer", "difference", "lost"
NO_BASE = (
    "no base rate: that takes two versions of a question or more with different answers (`mmdyn perturb --draws 3`)"
)
NONE_ASKED = (
    "no question was asked with another answer: make such versions with `mmdyn perturb --ops counterfactual`, or"
    " read them from a table (`mmdyn data convert --map version_of=SEED`)"
)
TWO_ANSWERS = "changed questions with two possible answers are left out: every wrong one is the published one"
SAME_ANSWER = "changed questions are left out: their answer is the published one, or within 0.1 % of it"
NO_ANSWER = "changed questions are left out: they, or their published versions, have no single answer in words"

NEAR = 0.001
"""Numbers that differ by less, as a share, are taken for one answer: a solver's rounding could turn one into the
other."""

FEW = 10
"""The least number of questions on a side of a cut-off."""

MOST_OPTIONS = 100
"""More than any question has options."""


class Asked(NamedTuple):
    """An answer to a counterfactual version of a question: the version, what it says, what was right, and what is; the
    texts of the options; and what counts as the same answer."""

    version: str
    read: str
    published: tuple[str, ...]
    right: tuple[str, ...]
    options: tuple[str, ...] = ()
    match: Match = Match()

    def stratum(self, answer: Sequence[str]) -> int:
        """A number for the position of an answer among so many options; 0 where there are none."""
        places = (place for place, text in enumerate(self.options) if text in answer)
        return len(self.options) * MOST_OPTIONS + next(places, MOST_OPTIONS - 1) if self.options else 0


class PublishedAnswersWatcher(RowWatcher):
    """The answers to counterfactual variants, by condition and question."""

    def __init__(self, part: PublishedAnswers, runs: Mapping[str, RunFolder]) -> None:
        self._runs, self._left_out = runs, dict[str, set[tuple[str, str]]]()
        self._answers = dict[Key, dict[int, list[Asked]]]()

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Take the answer to a counterfactual variant."""
        if key.variant != "counterfactual" or has_failed(record) or record.score is None:
            return
        sample = sample_of(record, self._runs[run], reader)
        hidden = sample.variant.hidden if sample.variant else None
        sides = [told.right for told in (hidden, sample.told) if told]
        if isinstance(sample.answer, bool) or len(sample.options) == 2:
            why = TWO_ANSWERS
        elif any(len(right) != 1 or not all(right[0]) for right in sides) or len(sides) < 2:
            why = NO_ANSWER
        elif not _differ(sides[0][0], sides[1][0], sample.match):
            why = SAME_ANSWER
        else:
            read, options = _read(record.score.extracted, sample), tuple([option.text for option in sample.options])
            asked = Asked(sample.id, read, sides[0][0], sides[1][0], options, sample.match)
            self._answers.setdefault(key, {}).setdefault(parent, []).append(asked)
            return
        self._left_out.setdefault(why, set()).add((key.set, sample.id))

    def rows(self, block: Block) -> Iterator[Numbered]:
        """Of each condition the shares of answers that are the published one, and another version's, over questions;
        their difference; and how much lower the score is than that of the published questions."""
        conditions = conditions_of(block)
        for key, records in conditions.items():
            found = self._answers.get(key, {})
            parents = [one for one in np.unique(block.columns.parents[records]).tolist() if one in found]
            if key.variant != "counterfactual" or not parents:
                continue
            answers, clusters = [found[parent] for parent in parents], block.columns.clusters[parents]
            rates, here = rates_of(answers), block._replace(front=key.place)
            if np.isnan(rates).all():
                stuck = np.array([np.mean([_says(one, one.published) for one in each]) for each in answers])
                alone = mean_score(stuck, np.ones(len(stuck)), clusters, 0.0)
                yield here.share_row((), (), PUBLISHED, alone, n=len(stuck), method=alone.method), None
                yield here.row((), (), BEYOND, None, unit="points", note=NO_BASE), None
            yield from matched_rows(here, rates, clusters, (PUBLISHED, OTHER))
            standard = [other for other in conditions if _is_standard_of(other, key)]
            pair = Pair.of(here, conditions[standard[0]], records) if standard else None
            if pair and (lost := pair.difference()):
                n: RowDetails = {"n": len(pair.a.ids), "scale": pair.scale}
                yield difference_row(pair.block._replace(front=key.place), (), (), lost, (), LOST, **n), None

    def notes(self, rows: Sequence[Row]) -> Iterable[str]:
        """Why there are no rows, and what was left out."""
        left_out = [f"{len(self._left_out[why])} {why}" for why in sorted(self._left_out)]
        return [*[NONE_ASKED] * (not (rows or left_out)), *left_out]


def _is_standard_of(key: Key, other: Key) -> bool:
    return key.variant == "standard" and key.place | other.factors == other.place


def rates_of(questions: Sequence[Sequence[Asked]]) -> Floats:
    """Of each question the share of answers that are the published one; and over pairs of its versions, the share of
    answers to one that are the answer of the other, which differs from both the published one and its own
    (`matched_shares`, by position and number of options). An answer that is right too, by its rounding for instance, is
    neither.

    Returns:
        Shape (questions, 2); NaN for questions without such a pair.
    """
    cases, controls = list[tuple[int, int, bool]](), list[tuple[int, int, bool]]()
    for place, answers in enumerate(questions):
        versions = {one.version: one for one in answers}
        apart = {
            (a, b)
            for a, b in permutations(versions, 2)
            if _differ(versions[a].right, versions[b].right, versions[a].match)
        }
        others = [(one, versions[b].right) for one in answers for b in versions if (one.version, b) in apart]
        cases += [(place, one.stratum(one.published), _says(one, one.published)) for one in answers]
        controls += [(place, one.stratum(answer), _says(one, answer)) for one, answer in others]
    sides = [np.array(side, np.int64).reshape(-1, 3).T for side in (cases, controls)]
    both = [Hits(ids, strata, hits.astype(np.float64)) for ids, strata, hits in sides]
    return matched_shares(both[0], both[1], len(questions))


def _read(extracted: Json, sample: Sample) -> str:
    """What an answer says in words: of an option its text."""
    parts = extracted if isinstance(extracted, list | tuple) else [] if extracted is None else [extracted]
    text = "; ".join(str(part) for part in parts)
    return next((option.text for option in sample.options if option.label == text), text)


def _says(one: Asked, accepted: Sequence[str]) -> bool:
    """Whether an answer is one of these, and not the right one."""
    says, right = (any(_is_same(one.read, text, one.match) for text in texts) for texts in (accepted, one.right))
    return bool(one.read) and says and not right


def _differ(one: Sequence[str], other: Sequence[str], match: Match) -> bool:
    near = replace(match, tolerance=max(NEAR, match.tolerance or 0.0))
    return not any(_is_same(a, b, near) or _is_same(b, a, near) for a in one for b in other)


@lru_cache(1 << 16)
def _is_same(one: str, other: str, match: Match) -> bool:
    """Whether two texts are the same answer; models of a run have the same questions compared."""
    return compare(one, other, match) is True


BREAK, PLACEBO, BETWEEN = "break", "placebo breaks", "break between models"
NO_CUT_OFFS = "no cut-offs are known: give --models FILE with the columns model and cutoff (2024 or 2024-06)"
NO_YEARS = "the questions have no field year"
FEW_YEARS = f"fewer than {FEW} questions, or fewer than two years, on a side of the cut-off"
SAME_CUT_OFF = "the models have one cut-off, or no question lies between their cut-offs"
ALONE = "alone it cannot be told from other questions at that time"
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-\d{1,2})?")


def cut_off_rows(block: Block, part: CutOffs) -> Iterator[Numbered]:
    """For each model with a cut-off, on standard questions, how much higher its scores are up to it, beside a trend
    over years and within discipline and difficulty, and how many placebo cut-offs show as much; over models with
    different cut-offs, the same within each question."""
    cut_offs, years = block.columns.facts.get("cutoff", {}), year_spans(block.columns)
    sets = dict[tuple[str, str], dict[str, _Timed]]()
    for key, records in conditions_of(block).items():
        ends = span_of(cut_offs.get(plain_model(key.model), ""))
        if key.variant == "standard" and key.context == "none" and ends:
            cell = block.cell(records)
            timed = _Timed(key, cell.parents, cell.values, cell.weights, ends[1])
            sets.setdefault((key.run, key.set), {}).setdefault(key.model, timed)
    for models in sets.values():
        for timed in models.values():
            yield from _alone(block._replace(front=timed.key.place), timed, years)
        if len(models) > 1:
            first = next(iter(models.values())).key.place
            yield _between(block._replace(front={**first, "model": TOTAL}), [*models.values()], years), None


def cut_off_notes(columns: Columns, rows: Sequence[Row]) -> list[str]:
    """Why nothing is told of cut-offs."""
    if rows:
        return []
    return [NO_YEARS if "cutoff" in columns.facts else NO_CUT_OFFS]


class _Timed(NamedTuple):
    """A model's scores by question, and the end of its cut-off in years."""

    key: Key
    parents: Ints
    values: Floats
    weights: Floats
    cut_off: float


def span_of(text: str) -> tuple[float, float] | None:
    """The beginning and the end of a year or month, in years."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, month = int(found[1]), found[2]
    return (year + (int(month) - 1) / 12, year + int(month) / 12) if month else (float(year), year + 1.0)


def year_spans(columns: Columns) -> Floats:
    """The beginning and the end of each parent's year, shape (parents, 2); NaN where it has none."""
    values, codes = columns.parent_field("year")
    return np.array([span_of(value) or (np.nan, np.nan) for value in values])[codes].reshape(-1, 2)


def _seen(years: Floats, cut_off: float) -> Floats:
    """1 for questions up to a cut-off, 0 for later ones, NaN for those of which that is not known."""
    return np.where(years[:, 1] <= cut_off, 1.0, np.where(years[:, 0] >= cut_off, 0.0, np.nan))


def _alone(block: Block, timed: _Timed, years: Floats) -> Iterator[Numbered]:
    """The break of one model's scores, and its placebos."""
    own = years[timed.parents]
    found = _break(block.columns, timed, own, _seen(own, timed.cut_off))
    if found is None:
        note = NO_YEARS if np.isnan(own).all() else FEW_YEARS
        yield block.row((), (), BREAK, None, unit="points", note=note), None
        return
    n: RowDetails = {"n": int((~np.isnan(_seen(own, timed.cut_off))).sum())}
    yield difference_row(block, (), (), found, (ALONE,), BREAK, **n), None
    elsewhere = list[float]()
    for before in (1.0, 0.0):
        side = _seen(own, timed.cut_off) == before
        for other in np.unique(own[side, 1])[:-1]:
            seen = np.where(side, _seen(own, float(other)), np.nan)
            if placebo := _break(block.columns, timed, own, seen):
                elsewhere.append(abs(placebo.value))
    as_large = sum(value >= abs(found.value) for value in elsewhere)
    yield block.row((), (), PLACEBO, as_large, unit="count", n=len(elsewhere), note="as large as the break"), None


def _break(columns: Columns, timed: _Timed, years: Floats, seen: Floats) -> Difference | None:
    """How much higher scores are where `seen` is 1, beside a trend over years and the means of strata; None where that
    cannot be told apart, or too few are on a side."""
    kept = ~np.isnan(seen)
    sides = [kept & (seen == side) for side in (0.0, 1.0)]
    if any(side.sum() < FEW or len(np.unique(years[side, 0])) < 2 for side in sides):
        return None
    parents = timed.parents[kept]
    strata = np.zeros(len(parents), np.int64)
    for name in ("discipline", "difficulty"):
        strata = strata * 1000 + columns.parent_field(name).codes[parents]
    _, strata = np.unique(strata, return_inverse=True)
    design = np.column_stack((np.eye(int(strata.max()) + 1)[strata], years[kept, 0], seen[kept]))
    return coefficient(timed.values[kept], design, timed.weights[kept], columns.clusters[parents])


def _between(block: Block, models: Sequence[_Timed], years: Floats) -> Row:
    """The break over several models, of the questions that all of them were asked."""
    shared = models[0].parents
    for other in models[1:]:
        shared = np.intersect1d(shared, other.parents)
    seen = np.stack([_seen(years[shared], one.cut_off) for one in models], 1)
    told = ~np.isnan(seen).any(1)
    shared, seen = shared[told], seen[told]
    places = [np.searchsorted(one.parents, shared) for one in models]
    values = np.stack([one.values[place] for one, place in zip(models, places, strict=True)], 1)
    clusters = block.columns.clusters[shared]
    found = break_between(values, seen, years[shared, 0], models[0].weights[places[0]], clusters)
    if found is None:
        return block.row((), (), BETWEEN, None, unit="points", note=SAME_CUT_OFF)
    return difference_row(block, (), (), found, (), BETWEEN, n=len(shared))


def break_between(values: Floats, seen: Floats, years: Floats, weights: Floats, labels: Ints) -> Difference | None:
    """How much higher a model scores than others on questions that only it can have seen: within each question, beside
    a trend of each model over years (differences in differences).

    Args:
        values: Scores of shape (questions, models).
        seen: The same shape; 1 where the question is not newer than the model's cut-off, else 0.
        years, weights, labels: Of each question.

    Returns:
        The difference; None where no question tells models apart, or their trends cannot be told from it.
    """
    if not len(values) or not (seen.min(1) < seen.max(1)).any():
        return None
    count, models = values.shape
    who = np.broadcast_to(np.eye(models)[:, 1:], (count, models, models - 1))
    design = np.concatenate((who, who * years[:, None, None], seen[:, :, None]), 2)
    design, within = design - design.mean(1, keepdims=True), values - values.mean(1, keepdims=True)
    flat = design.reshape(-1, design.shape[2])
    return coefficient(within.ravel(), flat, np.repeat(weights, models), np.repeat(labels, models))
