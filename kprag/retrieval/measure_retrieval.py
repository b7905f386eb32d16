"""How well an index finds the knowledge points that questions name: recall@k, nDCG@k and the reciprocal rank, with
intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from kprag.index import Index, Retriever
from kprag.retrieval.passages import PassageNames, Query, QuestionTexts
from kprag.retrieval.rerank import Reranker
from kprag.taxonomy import key
from mmdyn.errors import UserError, counted, did_you_mean
from mmdyn.keys import Json, digest
from mmdyn.stats import Estimate, mean_score
from mmdyn.tables import open_console, percent, print_grid, say

if TYPE_CHECKING:
    from kprag.retrieval.lexical import Scores

SHOWN = 5
"""Unknown names that are printed."""

FOLDS = 100
"""Into how many parts questions are dealt, each of which is looked up in an index without its own examples; one a
cluster where there are no more clusters than that."""


class RetrievalQuality(Struct, frozen=True):
    """What a retriever is worth over `n` questions: a measure's name -> its mean and 95 % interval."""

    n: int
    measures: dict[str, Estimate]

    def summary(self) -> dict[str, Json]:
        """The means by their names, `n`, and the intervals under `ci95`."""
        means: dict[str, Json] = {name: round(each.value, 6) for name, each in self.measures.items()}
        ends: dict[str, Json] = {
            name: [round(each.low, 6), round(each.high, 6)] for name, each in self.measures.items()
        }
        return {**means, "n": self.n, "ci95": ends}


class Report(Struct, frozen=True):
    """What was measured: by retriever the whole, and by retriever, field and value the parts. `questions` is what was
    asked."""

    questions: QuestionTexts
    points: int
    whole: dict[Retriever, RetrievalQuality]
    parts: dict[Retriever, dict[str, dict[str, RetrievalQuality]]]

    def summary(self) -> dict[str, Json]:
        """What `mmdyn knowledge eval --json` prints: {"lexical": {"recall@1": …, "mrr": …, "n": …, "ci95": {…}, "by":
        {…}}}."""
        return {name: {**whole.summary(), "by": self._parts(name)} for name, whole in self.whole.items()}

    def _parts(self, name: Retriever) -> dict[str, Json]:
        return {
            field: {value: part.summary() for value, part in values.items()}
            for field, values in self.parts[name].items()
        }


def measure_retrieval(
    index: Index,
    questions: QuestionTexts,
    retrievers: Sequence[Retriever],
    ks: Sequence[int],
    by: Sequence[str] = (),
    reranker: Reranker | None = None,
) -> Report:
    """Look every question up by each retriever, and compare what is found with the points that it names.

    Args:
        index: The points that are searched.
        questions: What is looked up.
        retrievers: What searches them.
        ks: The k of recall@k and nDCG@k.
        by: Fields of the samples; the measures are also given apart for each of their values.
        reranker: Who puts the first points in order.

    Raises:
        UserError: No question names a point, or none has a field of `by`.
    """
    asked = questions.asked
    if not asked:
        raise UserError("no sample names a knowledge point: give a set whose samples do")
    for field in by:
        if not any(field in one.fields for one in asked):
            known = sorted({name for one in asked for name in one.fields})
            raise UserError(f"no sample has the field {field!r}{did_you_mean(field, known)}: use {', '.join(known)}")
    if any(name != "lexical" for name in retrievers):
        index.keep([one.query for one in asked])
    found = {name: ranks(index, asked, name, reranker) for name in retrievers}
    return Report(
        questions=questions,
        points=len(index.points),
        whole={name: quality(asked, places, ks) for name, places in found.items()},
        parts={name: {field: _parts(asked, places, ks, field) for field in by} for name, places in found.items()},
    )


def read_ks(texts: Sequence[str]) -> list[int]:
    """The k of recall@k, in order. Raises UserError."""
    for text in texts:
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise UserError(f"--k {text!r} is no whole number from 1 on: write 1,3,5,10")
    if not texts:
        raise UserError("--k names no number: write 1,3,5,10")
    return sorted({int(text) for text in texts})


def ranks(
    index: Index, asked: Sequence[Query], retriever: Retriever, reranker: Reranker | None = None
) -> list[list[int]]:
    """For each question the ranks, from 1, of those of its points that the index holds, in order.

    A question's own examples, and those of its cluster, are in no index that it is looked up in. Points of one name are
    one.
    """
    found: list[list[int]] = [[] for _ in asked]
    keys = {node.id: key(node.text) for node in index.points}
    for fold in folds(asked):
        inside = index.without({source for place in fold for source in asked[place].sources})
        names = PassageNames(inside.points, keys)
        queries = [asked[place].query for place in fold]
        for place, scores in zip(fold, inside.scores(queries, retriever, reranker), strict=True):
            best = names.scores(scores)
            gold = sorted(names.places[name] for name in asked[place].gold if name in names.places)
            found[place] = sorted(_rank(best, one) for one in gold)
    return found


def folds(asked: Sequence[Query]) -> list[list[int]]:
    """The questions' places in parts, clusters whole; the same whatever the order in which the questions come."""
    clusters = sorted({one.cluster for one in asked}, key=lambda name: digest(name))
    part = {name: number % FOLDS for number, name in enumerate(clusters)}
    parts: list[list[int]] = [[] for _ in range(min(FOLDS, len(clusters)))]
    for place, one in enumerate(asked):
        parts[part[one.cluster]].append(place)
    return parts


def quality(asked: Sequence[Query], found: Sequence[Sequence[int]], ks: Sequence[int]) -> RetrievalQuality:
    """The measures of at least one question's ranks.

    `recall@k`: the share of a question's points among the first k. `ndcg@k`: Järvelin and Kekäläinen, ACM TOIS 20
    (2002) 422, with gains of 0 and 1. `mrr`: one over the first point's rank, 0 where none is found. Questions of one
    cluster count as one for the intervals (docs/statistics.md).
    """
    labels = np.unique([one.cluster for one in asked], return_inverse=True)[1].astype(np.int64)
    values = dict[str, list[float]]()
    for one, places in zip(asked, found, strict=True):
        for name, value in _measures(len(one.gold), places, ks):
            values.setdefault(name, []).append(value)
    ones = np.ones(len(asked))
    return RetrievalQuality(
        len(asked), {name: mean_score(np.array(each), ones, labels) for name, each in values.items()}
    )


def _parts(
    asked: Sequence[Query], found: Sequence[Sequence[int]], ks: Sequence[int], field: str
) -> dict[str, RetrievalQuality]:
    """The measures apart for each value of a field; the questions without it under the empty text."""
    values = dict[str, list[int]]()
    for place, one in enumerate(asked):
        values.setdefault(str(one.fields.get(field, "")), []).append(place)
    return {
        value: quality([asked[place] for place in places], [found[place] for place in places], ks)
        for value, places in sorted(values.items())
    }


def _rank(scores: Scores, place: int) -> int:
    """From 1; of equal scores those that come first are ahead."""
    ahead = (scores > scores[place]).sum() + (scores[:place] == scores[place]).sum()
    return int(ahead) + 1


def _measures(points: int, places: Sequence[int], ks: Sequence[int]) -> Iterator[tuple[str, float]]:
    for k in ks:
        yield f"recall@{k}", sum(place <= k for place in places) / points
    for k in ks:
        gain = sum(1 / math.log2(place + 1) for place in places if place <= k)
        yield f"ndcg@{k}", gain / sum(1 / math.log2(place + 1) for place in range(1, min(points, k) + 1))
    yield "mrr", 1 / places[0] if places else 0.0


def print_retrieval(report: Report) -> None:
    """Print what was measured."""
    title = f"Points found among {report.points}, in percent with 95 % intervals, over {{}} questions"
    _print(title, report.whole)
    for field in next(iter(report.parts.values())):
        values = {value for parts in report.parts.values() for value in parts[field]}
        for value in sorted(values):
            part = {name: parts[field][value] for name, parts in report.parts.items()}
            _print(f"{field} {value or '-'}, over {{}} questions", part)
    asked = report.questions
    if asked.without:
        say(open_console(), f"{counted(asked.without, 'sample', 'names/name')} no point: left out.")
    if asked.unknown:
        names = ", ".join(asked.unknown[:SHOWN]) + (", …" if len(asked.unknown) > SHOWN else "")
        say(open_console(), f"{len(asked.unknown)} names are not in the base and count as never found: {names}")


def _print(title: str, measured: Mapping[Retriever, RetrievalQuality]) -> None:
    """A row a measure, a column a retriever."""
    first = next(iter(measured.values()))
    rows = [
        {"measure": measure, **{name: _cell(quality.measures[measure]) for name, quality in measured.items()}}
        for measure in first.measures
    ]
    methods = dict.fromkeys(estimate.method for estimate in first.measures.values())
    print_grid(title.format(first.n), rows, [f"methods: {'; '.join(methods)}"])


def _cell(estimate: Estimate) -> str:
    return percent(estimate.value, (estimate.low, estimate.high))
