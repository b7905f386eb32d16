"""The knowledge points that are looked up for a set's samples, before they are shown beside the questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from kprag.index import BATCH, Index, Retriever
from kprag.retrieval.measure_retrieval import FOLDS
from kprag.retrieval.passages import Passage, PassageNames, sources
from kprag.retrieval.rerank import Reranker
from kprag.taxonomy import key
from mmdyn.sample import Sample


def look_up_points(
    index: Index,
    retriever: Retriever,
    samples: Iterable[Sample],
    query: Callable[[Sample], str],
    k: int,
    reranker: Reranker | None = None,
) -> Iterator[tuple[Sample, list[str]]]:
    """Look up the points that fit samples best.

    A sample is never looked up in an index that holds its own example, or one of its cluster: such samples come last,
    and only they are kept waiting. Clusters are dealt into folds by the index alone, so that what is found for a sample
    does not depend on which others are asked.

    Args:
        index: The points that are searched.
        retriever: What searches them.
        samples: The samples, which are streamed.
        query: What of a sample is looked up.
        k: How many points of different names each sample gets.
        reranker: Who puts the first points in order.

    Returns:
        Each sample with the ids of its points, the best first.

    Raises:
        UserError: The index has no vectors, and the retriever needs them.
    """
    keys = {node.id: key(node.text) for node in index.points}
    names, folds = PassageNames(index.points, keys), _folds(index.passages)
    waiting = dict[int, list[Sample]]()
    rest = iter(samples)
    while batch := list(islice(rest, BATCH)):
        free = list[Sample]()
        for sample in batch:
            fold = next((folds[source] for source in sources(sample) if source in folds), None)
            (free if fold is None else waiting.setdefault(fold, [])).append(sample)
        yield from _found(index, names, free, query, retriever, k, reranker)
    for fold, held in sorted(waiting.items()):
        left_out = {source for source, number in folds.items() if number == fold}
        inside = index.without(left_out.union(*map(sources, held)))
        yield from _found(inside, PassageNames(inside.points, keys), held, query, retriever, k, reranker)


def _folds(passages: Sequence[Passage]) -> dict[str, int]:
    """The fold of each of the examples' sources: that of the first cluster, in the order of their digests, that has
    it."""
    examples = [passage.sources for passage in passages if passage.example]
    clusters = sorted({own[0] for own in examples})
    fold = {cluster: number % FOLDS for number, cluster in enumerate(clusters)}
    folds = dict[str, int]()
    for cluster, *others in sorted(examples):
        folds[cluster] = fold[cluster]
        for source in others:
            folds.setdefault(source, fold[cluster])
    return folds


def _found(
    index: Index,
    names: PassageNames,
    samples: Sequence[Sample],
    query: Callable[[Sample], str],
    retriever: Retriever,
    k: int,
    reranker: Reranker | None,
) -> Iterator[tuple[Sample, list[str]]]:
    scored = index.scores([query(sample) for sample in samples], retriever, reranker)
    for sample, scores in zip(samples, scored, strict=True):
        yield sample, [index.points[place].id for place in names.best(scores, k)]
