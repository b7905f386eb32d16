"""The score of every condition, by the scores in force and by other metrics, and the AUC of option probabilities.

AUC: how well the probabilities that a model gave to options tell right ones from wrong ones.

Where options were weighed, a statement is one case: its score is the probability of "true", and it is positive where it
is true. A choice is a case for each option: the option's probability, positive for the right one.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from mmdyn.context import ALL, HINT, NONE, Context
from mmdyn.record import Record
from mmdyn.sample import Sample
from mmdyn.stats import Ints, roc_auc
from mmdyn.table import Auc, Metrics, Scores
from mmdyn.tables.blocks import Block, Numbered, Row, RowWatcher
from mmdyn.tables.columns import Columns, key_order, record_weights
from mmdyn.tables.factors import (
    IN_PART,
    LEAK,
    MEANINGS,
    NAMES,
    NO,
    NOT_GIVEN,
    VARIES,
    YES,
    Field,
    Key,
    known_context,
    place_of,
    reading_order,
    sample_of,
)
from mmdyn.tables.run_state import FOLLOWED
from mmdyn.work import Reader, RunFolder

LAID = {
    NONE: "nothing",
    "distractor": "as many other knowledge points as it has of its own",
    "retrieved": "looked-up points",
    "mixed": "its own and looked-up points",
    "gold": "its own knowledge points",
    HINT: "its own hint of that kind",
    ALL: "all its hints",
    "withheld": "nothing in place of its pictures",
    "captioned": "their captions in place of its pictures",
}
"""What lies beside a question, by a context's source, or its family, and what becomes of its pictures."""

WAYS = {
    "inline": "…:inline = the model elaborates on the points before it answers",
    "two-turn": "…:two-turn = the model writes on the points before it sees the question",
}
"""What the model is to do with points."""

CHANCE_MEANS = (
    "The score is of all its questions, as it was given; chance is what guessing earns. A score corrected for chance is"
    " (score - chance) / (1 - chance) of each answer, 0 where it was refused or not read; that assumes that a model"
    " knows an answer or guesses."
)

STRONGER = (NOT_GIVEN, NO, IN_PART, YES)
"""How much the answer leaks, from least to most."""


def score_rows(block: Block, part: Scores) -> Iterator[Numbered]:
    """The rows of each condition; of each value of a field where it is broken down by one."""
    columns = block.columns
    for key, records in conditions_of(block).items():
        here = block._replace(front=key.place)
        if not part.by:
            yield from _rows(here, (), (), records)
            continue
        field, parents = laid_field(columns, part.by, records), columns.parents[records]
        for value, code in values_of(part.by, field, parents):
            yield from _rows(here, (part.by,), (value,), records[field.codes[parents] == code])


def conditions_of(block: Block) -> dict[Key, Ints]:
    """The records of each condition, and of all chains together where there are several (only treatment chains count
    there), in reporting order."""
    columns, chains, pools = block.columns, Counter[Key](), dict[Key, list[Ints]]()
    asked = columns.asked[block.records]
    found = {columns.keys[place]: block.records[asked == place] for place in np.unique(asked).tolist()}
    for key, records in found.items():
        if key.pool:
            chains[key.pool] += 1
            if columns.pooled[columns.keys.index(key)]:
                pools.setdefault(key.pool, []).append(records)
    found |= {pool: np.concatenate(own) for pool, own in pools.items() if chains[pool] > 1}
    return {key: found[key] for key in sorted(found, key=key_order(columns.runs))}


def laid_field(columns: Columns, name: str, *sides: Ints) -> Field:
    """A field of each parent; of what lay beside the question as some records have it, those of a condition or of two.

    Of two sides retrieval and the number of points are those of the second where it has them; an answer leaks as it
    does on the side on which it leaks more. Draws and epochs that differ have VARIES, or IN_PART.
    """
    if name not in NAMES:
        return columns.parent_field(name)
    told, codes = columns.field(name)
    first = STRONGER if name == LEAK else (NOT_GIVEN, VARIES)
    values = [*dict.fromkeys((*first, *told))]
    recoded = np.array([values.index(value) for value in told], np.int64)
    found, different = np.zeros(len(columns.names), np.int64), values.index(IN_PART if name == LEAK else VARIES)
    for records in sides:
        own, parents = recoded[codes[records]], columns.parents[records]
        own, parents = own[own > 0], parents[own > 0]
        low, high = np.full(len(found), len(values)), np.zeros(len(found), np.int64)
        np.minimum.at(low, parents, own)
        np.maximum.at(high, parents, own)
        side = np.where(low == high, low, different)
        later = (high > 0) & ((side >= found) | (name != LEAK))
        found = np.where(later, side, found)
    return Field(values, found)


def values_of(name: str, field: Field, parents: Ints) -> list[tuple[str, int]]:
    """The values that some parents have, in reading order, each with its code."""
    there = {field.values[code]: code for code in np.unique(field.codes[parents]).tolist()}
    return [(value, there[value]) for value in reading_order(name, there)]


def _rows(block: Block, axes: Sequence[str], key: tuple[str, ...], records: Ints) -> Iterator[Numbered]:
    cell = block.cell(records)
    if not len(cell.values):
        yield block.mean_row(axes, key, "score", cell), cell
        return
    chance = round(float(np.average(cell.chance, weights=cell.weights)), 6)
    yield replace(block.mean_row(axes, key, "score", cell), at_most=_at_most(block, records)), cell
    if chance > 0:
        corrected = block._replace(measured="corrected")
        beyond = corrected.cell(records)
        yield block.row(axes, key, "chance", chance, n=len(cell.values)), None
        left = len(cell.values) - len(beyond.values)
        yield corrected.mean_row(axes, key, "corrected", beyond, left_out=left), beyond
    unread = block._replace(measured="unread").cell(records)
    if unread.values.any():
        share = round(float(np.average(unread.values, weights=unread.weights)), 6)
        yield block.row(axes, key, "unread", share, n=len(unread.values)), None
    for name in FOLLOWED:
        part = block._replace(measured=name)
        if len((found := part.cell(records)).values):
            yield part.mean_row(axes, key, name, found), found


def _at_most(block: Block, records: Ints) -> float | None:
    """The score if a judge gave 1 to each answer that needs one; None where all of these were read."""
    columns, values = block.columns, block.columns.worth["score"][0]
    kept = records[~np.isnan(values[records])]
    needing = columns.flags["needs_judge"][kept]
    if not (needing & ~columns.flags["waits"][kept]).any():
        return None
    weights = record_weights(columns, "score", kept)
    return round(float(np.average(np.where(needing, 1.0, values[kept]), weights=weights)), 6)


def score_notes(block: Block, part: Scores) -> Iterator[str]:
    """What the contexts are, and what the numbers mean, where there are any."""
    keys = [block.columns.keys[place] for place in np.unique(block.columns.asked[block.records]).tolist()]
    names = {key.context for key in keys}
    if names - {NONE} and (said := _legend(names)):
        yield f"Contexts (what the prompt adds to the question): {said}."
    if part.by in MEANINGS:
        yield f"{part.by}: {MEANINGS[part.by]}."
    if (block.columns.chance[block.records] > 0).any():
        yield CHANCE_MEANS


def _legend(names: Iterable[str]) -> str:
    """What the contexts of these names lay beside a question, and what the model is to do with it; each is said
    once."""
    contexts = [context for context in map(known_context, sorted(names, key=place_of)) if context]
    said = dict(pair for context in contexts for pair in _meanings(context))
    ways = {context.elaborate for context in contexts if context.source}
    return "; ".join(
        [*(f"{name} = {meaning}" for name, meaning in said.items()), *(WAYS[way] for way in WAYS if way in ways)]
    )


def _meanings(context: Context) -> Iterator[tuple[str, str]]:
    """Names that stand for all contexts which lay the same there, and what that is."""
    if context.pictures != "shown":
        yield Context(pictures=context.pictures).name, LAID[context.pictures]
    if context.family == HINT:
        yield (f"{HINT}:{ALL}", LAID[ALL]) if context.hint == ALL else (f"{HINT}:KIND", LAID[HINT])
    elif context.source or context.pictures == "shown":
        yield Context(context.source).name, LAID[context.source or NONE]


def beside(runs: Mapping[str, RunFolder]) -> list[str]:
    """The metrics that stand beside the scores in force of some runs."""
    scorers = (scorer for run in runs.values() for scorer in run.config.beside or ())
    return [*dict.fromkeys(scorer.partition("@")[0] for scorer in scorers)]


def metric_rows(block: Block, part: Metrics) -> Iterator[Numbered]:
    """The score in force of each condition, under its policy's name, and that of each metric beside it, over what a
    metric scored."""
    columns, metrics = block.columns, beside(block.columns.runs)
    for key, records in conditions_of(block).items() if metrics else ():
        policy = columns.runs[key.run].config.evaluator(key.set).active_scores.policy
        others = [name for name in metrics if name != policy]
        scored = [~np.isnan(columns.worth[name][0][records]) for name in others]
        kept = records[np.any(scored, axis=0)] if scored else records[:0]
        if not len(kept):
            continue
        here, left = block._replace(front=key.place), len(records) - len(kept)
        for name, measured in {policy: "score", **{name: name for name in others}}.items():
            cell = here._replace(measured=measured).cell(kept)
            yield here._replace(measured=measured).mean_row((), (), name, cell, left_out=left), cell


NOT_WEIGHED = "no options were weighed: ask with `mmdyn eval --style likelihood`"
ONE_SIDED = "all cases are positive, or none is"


class AucWatcher(RowWatcher):
    """The cases of each condition and task type: the record, the parent, the probability, and 1 for a positive one."""

    def __init__(self, part: Auc, runs: Mapping[str, RunFolder]) -> None:
        self._runs, self._seen = runs, 0
        self._cases: dict[tuple[Key, str], array[float]] = {}

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Take the cases of an answer.

        Raises InputError where its sample is not in the run's store.
        """
        if record.reply.logprobs and record.reply.finish_reason == "likelihood":
            cases = self._cases.setdefault((key, record.task_type), array("d"))
            sample = sample_of(record, self._runs[run], reader)
            for score, positive in _cases(sample, _probabilities(record)):
                cases.extend((self._seen, parent, score, positive))
        self._seen += 1

    def rows(self, block: Block) -> Iterator[Numbered]:
        """The rows of each condition and task type in which options were weighed; of n parents."""
        order = key_order(self._runs)
        for key, task_type in sorted(self._cases, key=lambda each: (order(each[0]), each[1])):
            records, parents, scores, positive = np.array(self._cases[key, task_type]).reshape(-1, 4).T
            kept = np.isin(records, block.records)
            if not kept.any():
                continue
            parents, scores, positive = parents[kept].astype(np.int64), scores[kept], positive[kept].astype(np.int64)
            here = block._replace(front=key.place | {"task_type": task_type})
            n = len(np.unique(parents))
            if np.ptp(positive):
                found = roc_auc(scores, positive, block.columns.clusters[parents])
                yield here.share_row((), (), "auc", found, n=n, method=found.method), None
            else:
                yield here.row((), (), "auc", None, n=n, note=ONE_SIDED), None
            for name, count in (("cases", len(scores)), ("positive", int(positive.sum()))):
                yield here.row((), (), name, count, unit="count"), None

    def notes(self, rows: Sequence[Row]) -> Iterable[str]:
        """Why there is no row."""
        return () if rows else (NOT_WEIGHED,)


def _cases(sample: Sample, probabilities: Sequence[float]) -> Iterator[tuple[float, bool]]:
    if isinstance(sample.answer, bool):
        yield probabilities[0], sample.answer  # the first verdict that was weighed is "true"
    else:
        yield from ((p, label in sample.answer) for label, p in zip(sample.labels, probabilities, strict=True))


def _probabilities(record: Record) -> list[float]:
    """Softmax over each option's mean log-probability a token, by which the model's choice was made too."""
    reply = record.reply
    means = [total / count for total, count in zip(reply.logprobs, reply.option_tokens, strict=True)]
    shares = [math.exp(mean - max(means)) for mean in means]
    return [share / sum(shares) for share in shares]
