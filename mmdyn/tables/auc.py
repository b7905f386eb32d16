"""AUC: how well the probabilities that a model gave to options tell right ones from wrong ones.

Where options were weighed, a statement is one case: its score is the probability of "true", and it is positive where it
is true. A choice is a case for each option: the option's probability, positive for the right one.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TextIO

import numpy as np
from msgspec.structs import replace

from mmdyn.record import Record
from mmdyn.sample import Sample, TaskType
from mmdyn.stats import roc_auc
from mmdyn.tables.results import Key, OfCondition, Table, pick, sample_of
from mmdyn.tables.terminal import names_of, open_console, percent, print_grid, say

TITLE = (
    "AUC of the weighed options in percent with 95 % intervals; n counts parent samples, cases statements or options"
)
NONE = "AUC: no options were weighed: ask with `mmdyn eval --style likelihood`."


class AucRow(OfCondition, frozen=True):
    """The AUC in [0, 1] of one condition and task type, over `cases` of n parents; None where all are positive, or none
    is."""

    task_type: TaskType
    n: int
    cases: int
    positive: int
    auc: float | None
    ci95: tuple[float, float] | None
    method: str


def find_auc(table: Table) -> list[AucRow]:
    """A row for each condition and task type in which options were weighed. Reads the records once more.

    Raises:
        InputError: where the sample of such a record is not in the run's store.
    """
    found = dict[tuple[Key, TaskType], _Cases]()
    for key, record, run, reader in table.records():
        if record.reply.logprobs and record.reply.finish_reason == "likelihood":
            cases = found.setdefault((key, record.task_type), _Cases([], array("d"), array("q")))
            for score, positive in _cases(sample_of(record, run, reader), _probabilities(record)):
                cases.parents.append(record.parent)
                cases.scores.append(score)
                cases.positive.append(positive)
    order = {key: place for place, key in enumerate(table.scores)}
    return [_row(table, *key, found[key]) for key in sorted(found, key=lambda each: (order[each[0]], each[1]))]


def print_auc(rows: Sequence[AucRow], file: TextIO | None = None) -> None:
    """Print how well options' probabilities tell right from wrong to `file` or standard output."""
    console = open_console(file)
    if rows:
        print_grid(console, TITLE, [_shown(row) for row in rows])
    else:
        say(console, NONE)


class _Cases(NamedTuple):
    """The cases of one condition and task type, as they come."""

    parents: list[str]
    scores: array[float]
    positive: array[int]


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


def _row(table: Table, key: Key, task_type: TaskType, cases: _Cases) -> AucRow:
    parents, scores, positive = table.indices(key, cases.parents), np.array(cases.scores), np.array(cases.positive)
    counts = len(np.unique(parents)), len(scores), int(positive.sum())
    row = AucRow(*key.place, task_type, *counts, auc=None, ci95=None, method="")
    if not 0 < row.positive < row.cases:
        return row
    found = roc_auc(scores, positive, table.clusters[parents]).rounded
    return replace(row, auc=found.value, ci95=found.ci95, method=found.method)


def _shown(row: AucRow) -> dict[str, object]:
    names = names_of(row) | {"condition": f"{names_of(row)['condition']}, {row.task_type}"}
    method = row.method or "all cases are positive, or none is"
    return {**names, "AUC": percent(row.auc, row.ci95), **pick(row, "n", "cases", "positive"), "method": method}
