"""AUC: how well the probabilities that a model gave to options tell right ones from wrong ones.

Where options were weighed, a statement is one case: its score is the probability of "true", and it is positive where it
is true. A choice is a case for each option: the option's probability, positive for the right one.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from mmdyn.record import Record
from mmdyn.sample import Sample
from mmdyn.stats import roc_auc
from mmdyn.table import Auc
from mmdyn.tables.blocks import Block, Numbered, RowWatcher
from mmdyn.tables.columns import key_order
from mmdyn.tables.keys import Key, sample_of
from mmdyn.tables.rows import Row
from mmdyn.work import Reader, RunFolder

NONE = "no options were weighed: ask with `mmdyn eval --style likelihood`"
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
        return () if rows else (NONE,)


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
