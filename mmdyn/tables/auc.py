"""AUC: how well the probabilities that a model gave to options tell right ones from wrong ones.

Where options were weighed, a statement is one case: its score is the probability of "true", and it is positive where it
is true. A choice is a case for each option: the option's probability, positive for the right one. The AUC is the chance
that a positive case scores higher than a negative one, a tie counting one half: Hanley and McNeil, Radiology 143 (1982)
29. Its variance with clusters of cases: Obuchowski, Biometrics 53 (1997) 567; never more than the AUC can have of so
many cases: Birnbaum and Klose, Annals of Mathematical Statistics 28 (1957) 933.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.errors import InputError
from mmdyn.record import Record
from mmdyn.sample import Sample, TaskType, from_json
from mmdyn.tables.results import Key, Table, key_of
from mmdyn.tables.statistics import Estimate, Floats, Labels, wilson
from mmdyn.work import SAMPLE, Reader, RunFolder

PRIOR = 1.5
"""How many clusters the prior variance, the largest that is possible, counts for. Chosen by simulation:
docs/metrics.md."""


class AucRow(Struct, frozen=True):
    """The AUC in [0, 1] of one condition and task type, over `cases` of n parents; None where all are positive, or none
    is."""

    run: str
    model: str
    set: str
    factors: dict[str, str]
    task_type: TaskType
    n: int
    cases: int
    positive: int
    auc: float | None
    ci95: tuple[float, float] | None
    method: str


def auc(scores: Floats, positive: Labels, labels: Labels) -> Estimate:
    """The area under the ROC curve with a 95 % interval: Wilson's at the effective number of cases.

    `scores` are any numbers that grow with the chance of being positive, `positive` is 1 or 0 for each, `labels` name
    the clusters. There is at least one case of both kinds.
    """
    high, low = scores[positive == 1], scores[positive == 0]
    above = _share_below(high, low)
    below = 1 - _share_below(low, high)
    value = float(above.mean())
    influence = np.empty(len(scores))
    influence[positive == 1] = (above - value) / len(high)
    influence[positive == 0] = (below - value) / len(low)
    _, clusters = np.unique(labels, return_inverse=True)
    sums, count = np.bincount(clusters, influence), int(clusters.max()) + 1
    fewest = min(len(np.unique(clusters[positive == kind])) for kind in (0, 1))
    largest = value * (1 - value) / fewest
    robust = min(float((sums**2).sum()) * count / max(count - 1, 1), largest)
    trust = (fewest - 1) / (fewest - 1 + PRIOR)
    variance = trust * robust + (1 - trust) * largest
    n = value * (1 - value) / variance if variance > 0 else fewest
    return Estimate(value, *wilson(value, n), "Wilson at effective n (Obuchowski)")


def find_auc(table: Table) -> list[AucRow]:
    """A row for each condition and task type in which options were weighed. Reads the records once more.

    Raises InputError where the sample of such a record is not in the run's store.
    """
    found = dict[tuple[Key, TaskType], _Cases]()
    for name, run in table.runs.items():
        with Reader(run.records_folder) as reader:
            for record in run.records():
                if record.reply.logprobs and record.reply.finish_reason == "likelihood":
                    key = key_of(name, record), record.task_type
                    (found.get(key) or found.setdefault(key, _Cases())).add(record, _sample(run, record, reader))
    order = {key: place for place, key in enumerate(table.scores)}
    return [_row(table, *key, found[key]) for key in sorted(found, key=lambda each: (order[each[0]], each[1]))]


class _Cases:
    """The cases of one condition and task type, as they come."""

    def __init__(self) -> None:
        self.scores, self.positive, self.parents = array("d"), array("q"), list[str]()

    def add(self, record: Record, sample: Sample) -> None:
        for score, positive in _cases(sample, _probabilities(record)):
            self.scores.append(score)
            self.positive.append(positive)
            self.parents.append(record.parent)


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


def _sample(run: RunFolder, record: Record, reader: Reader) -> Sample:
    stored = reader.get(SAMPLE, record.digest)
    if stored is None:
        problem = f"the sample {record.sample} is not in the store: run the same `mmdyn eval` once more"
        raise InputError(run.folder, None, problem)
    return from_json(stored, Sample)


def _row(table: Table, key: Key, task_type: TaskType, cases: _Cases) -> AucRow:
    places = {table.names[place]: place for place in table.scores[key].asked.tolist()}
    parents = np.array([places[parent] for parent in cases.parents])
    scores, positive = np.array(cases.scores), np.array(cases.positive)
    row = AucRow(
        run=key.run,
        model=key.model,
        set=key.set,
        factors=key.factors,
        task_type=task_type,
        n=len(np.unique(parents)),
        cases=len(scores),
        positive=int(positive.sum()),
        auc=None,
        ci95=None,
        method="",
    )
    if not 0 < row.positive < row.cases:
        return row
    found = auc(scores, positive, table.clusters[parents])
    return replace(
        row, auc=round(found.value, 6), ci95=(round(found.low, 6), round(found.high, 6)), method=found.method
    )


def _share_below(of: Floats, among: Floats) -> Floats:
    """For each number the share of others below it, an equal one counting one half."""
    others = np.sort(among)
    sides = np.searchsorted(others, of, "left") + np.searchsorted(others, of, "right")
    return sides / (2 * len(others))
