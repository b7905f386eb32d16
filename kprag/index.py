"""A base of knowledge points made searchable: built, kept in a folder, opened, searched."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from msgspec import Struct

from kprag.read_taxonomy import read_taxonomy
from kprag.retrieval.lexical import Lexical, dense_scores, fused, words
from kprag.retrieval.passages import Passage, PassagePool, best, examples as examples_of, staying
from kprag.retrieval.vectors import KeptVectors
from kprag.taxonomy import Node, Taxonomy
from mmdyn.data import load, new_file, read_records
from mmdyn.errors import InputError, UserError, did_you_mean
from mmdyn.keys import canonical, digest
from mmdyn.models import Embedder
from mmdyn.sample import from_json
from mmdyn.work import cache_to_write

if TYPE_CHECKING:
    from kprag.retrieval.lexical import Scores
    from kprag.retrieval.rerank import Reranker
    from mmdyn.models import Vectors

Retriever = Literal["lexical", "dense", "hybrid"]
RETRIEVERS: tuple[Retriever, ...] = get_args(Retriever)

SCHEMA = 1
MANIFEST, TAXONOMY, PASSAGES = "index.json", "taxonomy.jsonl", "passages.jsonl"
VECTORS, LEXICAL = "vectors.npy", "lexical"
DEFAULT_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""Some fifty languages, English and Chinese among them, 384 dimensions; fetched from the hub when first used."""

BATCH = 256
"""Queries that are embedded together."""


class SearchHit(Struct, frozen=True):
    """A point that was found; scores of different retrievers are on different scales."""

    node: Node
    score: float


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """index.json, written last. `embedder`: the model as it was named, empty without vectors; `model`: its identity."""

    points: int
    passages: int
    embedder: str = ""
    model: str = ""
    schema: int = SCHEMA


class Index:
    """Points with their passages, and what searches them.

    The points are the nodes of the taxonomy that hold knowledge: those without children, those with a description, and
    those that an example names; or all nodes, where it is built `wide`. `vectors` is of shape (passages, dimensions),
    None for words alone.
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        passages: Sequence[Passage],
        *,
        kept: KeptVectors | None = None,
        vectors: Vectors | None = None,
        lexical: Lexical | None = None,
    ) -> None:
        self.taxonomy, self.passages = taxonomy, passages
        named = {point for passage in passages for point in passage.points}
        self.points = tuple(node for node in taxonomy if node.id in named)
        self._kept, self._given = kept, lexical
        self._vectors = vectors

    @staticmethod
    def build(
        taxonomy: Taxonomy,
        examples: Iterable[Passage] = (),
        kept: KeptVectors | None = None,
        *,
        wide: bool = False,
        on_chunk: Callable[[int], None] = lambda count: None,
    ) -> Index:
        """An index of a taxonomy and of examples; with `kept` vectors also by meaning. Raises MissingExtra,
        UserError."""
        given = list(examples)
        passages = [*_own(taxonomy, given, wide), *given]
        vectors = kept.encode([passage.text for passage in passages], on_chunk) if kept else None
        return Index(taxonomy, passages, kept=kept, vectors=vectors)

    @staticmethod
    def of_texts(texts: Sequence[str], *, meaning: bool, embedder: str = "") -> Index:
        """An index whose points are texts, one or more, each by its place: of any samples, say. Arguments and errors
        are those of `open_base`."""
        kept = keep_vectors(embedder or DEFAULT_MODEL) if meaning else None
        names = [str(place) for place in range(len(texts))]
        passages = [Passage(text, (name,)) for text, name in zip(texts, names, strict=True)]
        taxonomy = Taxonomy((Node(name, name), "", None) for name in names)
        return Index(taxonomy, passages, kept=kept, vectors=kept.encode(texts) if kept else None)

    @cached_property
    def identity(self) -> str:
        """A digest of what is searched, and of the model that made the vectors."""
        return digest([[*self.taxonomy], [*self.passages], self._kept.identity if self._kept else None])

    @property
    def retrievers(self) -> tuple[Retriever, ...]:
        """What this index can be searched by, the best one last."""
        return RETRIEVERS if self._vectors is not None else RETRIEVERS[:1]

    def search(
        self, text: str, k: int, retriever: Retriever | None = None, reranker: Reranker | None = None
    ) -> list[SearchHit]:
        """The k points that fit a text best, the best first; of equal ones the base's first. Raises UserError."""
        (scores,) = self.scores([text], retriever or self.retrievers[-1], reranker)
        return [SearchHit(self.points[place], float(scores[place])) for place in best(scores, k)]

    def scores(self, texts: Sequence[str], retriever: Retriever, reranker: Reranker | None = None) -> Iterator[Scores]:
        """For each text float32 of shape (points,), higher for what fits better, put in order by a reranker if given.

        Raises UserError.
        """
        self._check(retriever)
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            for text, scores in zip(batch, self._batch_scores(batch, retriever), strict=True):
                yield scores if reranker is None else reranker(text, self.points, scores)

    def _batch_scores(self, texts: Sequence[str], retriever: Retriever) -> Iterator[Scores]:
        if retriever == "lexical":
            yield from (self._pool.scores(self._lexical.scores(text)) for text in texts)
            return
        assert self._vectors is not None and self._kept is not None
        for text, query in zip(texts, self._kept.embed(texts), strict=True):
            dense = self._pool.scores(dense_scores(self._vectors, query))
            yield fused(self._pool.scores(self._lexical.scores(text)), dense) if retriever == "hybrid" else dense

    def keep(self, texts: Sequence[str]) -> None:
        """Keep texts' vectors on disk, because they will be looked up more than once. Raises UserError."""
        self._check("dense")
        assert self._kept is not None
        self._kept.encode(texts)

    def without(self, sources: Collection[str]) -> Index:
        """The index as it is when the examples of some sources were never put in; itself where it has none of them."""
        places = staying(self.passages, sources)
        if len(places) == len(self.passages):
            return self
        vectors = self._vectors[places] if self._vectors is not None else None
        passages = [self.passages[place] for place in places]
        lexical = Lexical.build([self._words[place] for place in places])
        return Index(self.taxonomy, passages, kept=self._kept, vectors=vectors, lexical=lexical)

    def write(self, folder: Path) -> None:
        """Write the index into a folder, in place of an index that it holds. Raises UserError."""
        (folder / MANIFEST).unlink(missing_ok=True)
        self.taxonomy.write(folder / TAXONOMY)
        with new_file(folder / PASSAGES) as file:
            for passage in self.passages:
                file.write(canonical(passage) + b"\n")
        self._lexical.save(folder / LEXICAL)
        (folder / VECTORS).unlink(missing_ok=True)
        if self._vectors is not None:
            with new_file(folder / VECTORS) as file:
                np.lib.format.write_array(file, self._vectors, allow_pickle=False)
        embedder, model = (self._kept.name, self._kept.identity) if self._kept else ("", "")
        with new_file(folder / MANIFEST) as file:
            file.write(canonical(Manifest(len(self.points), len(self.passages), embedder, model)) + b"\n")

    def _check(self, retriever: Retriever) -> None:
        if retriever not in self.retrievers:
            raise UserError(
                f"the index has no vectors, so it is not searched by {retriever}: make it with --retriever hybrid"
            )

    @cached_property
    def _words(self) -> list[list[str]]:
        return [words(passage.text) for passage in self.passages]

    @cached_property
    def _lexical(self) -> Lexical:
        return self._given or Lexical.build(self._words)

    @cached_property
    def _pool(self) -> PassagePool:
        return PassagePool(self.passages, [node.id for node in self.points])


def open_index(folder: Path) -> Index:
    """Open what `Index.write` wrote; vectors stay on the disk and are read as they are needed.

    Raises InputError for a folder that holds no whole index, and for a model that is no longer the one that made the
    vectors.
    """
    manifest = _manifest(folder)
    taxonomy = read_taxonomy(folder / TAXONOMY)
    passages = list(read_records(folder / PASSAGES, Passage))
    kept = vectors = None
    try:
        lexical = Lexical.load(folder / LEXICAL, manifest.passages)
        if manifest.embedder:
            kept = keep_vectors(manifest.embedder)
            vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(folder, None, f"the index is damaged ({error}): build it again") from None
    if kept and kept.identity != manifest.model:
        raise InputError(folder, None, f"the model {manifest.embedder} is not the one it was made by: build it again")
    return Index(taxonomy, passages, kept=kept, vectors=vectors, lexical=lexical)


def open_base(
    path: str | Path,
    *,
    meaning: bool,
    embedder: str | None = None,
    examples: Path | None = None,
    wide: bool = False,
    join: bool = False,
    on_chunk: Callable[[int], None] = lambda count: None,
) -> Index:
    """Open an index, or build one of a base.

    Args:
        path: An index, or what `read_taxonomy` reads.
        meaning: Whether it is searched by meaning, with the vectors of an embedder.
        embedder: A model of sentence-transformers; DEFAULT_MODEL without one.
        examples: A set whose questions with their explanations join the texts of the points that they name.
        wide: Whether the levels above points are found too.
        join: Whether the levels of a route beyond six become one.
        on_chunk: Is told how many texts were embedded, chunk by chunk.

    Raises:
        UserError: The base cannot be read, or settings are given for an index that is made already.
        MissingExtra: A package that is needed is not installed.
    """
    path = Path(path)
    if not is_index(path):
        taxonomy = read_base(path, join=join)
        kept = keep_vectors(embedder or DEFAULT_MODEL) if meaning else None
        given = examples_of(load(examples), taxonomy) if examples else ()
        return Index.build(taxonomy, given, kept, wide=wide, on_chunk=on_chunk)
    if embedder or examples or wide or join:
        raise UserError(f"{path} is an index: embedder, examples, wide and join are given when it is made")
    return open_index(path)


def read_base(path: Path, *, join: bool = False) -> Taxonomy:
    """The taxonomy of a base, or the one that an index was made of. Raises InputError."""
    return read_taxonomy(path / TAXONOMY if is_index(path) else path, join=join)


def check_index_place(base: Path, out: Path) -> None:
    """Raise UserError where a base is an index itself, or where something else than an index stands where one is to
    be."""
    if is_index(base):
        raise UserError(f"{base} is an index: give the base that it was made of")
    there = any(out.iterdir()) if out.is_dir() else out.exists()
    if there and not is_index(out):
        raise UserError(f"{out} is there and is no index: choose another folder, or remove it")


def read_retrievers(texts: Sequence[str]) -> list[Retriever]:
    """Retrievers as they were typed. Raises UserError."""
    for text in texts:
        if text not in RETRIEVERS:
            raise UserError(
                f"there is no retriever {text!r}{did_you_mean(text, RETRIEVERS)}: use {', '.join(RETRIEVERS)}"
            )
    if not texts:
        raise UserError(f"no retriever is named: use {', '.join(RETRIEVERS)}")
    return [name for name in RETRIEVERS if name in texts]


def is_index(path: Path) -> bool:
    """Whether a path is a finished index."""
    return (path / MANIFEST).is_file()


def keep_vectors(embedder: str) -> KeptVectors:
    """The user's kept vectors of a model of sentence-transformers, on a GPU where there is one. Raises MissingExtra,
    UserError."""
    model = Embedder(embedder, threads=os.cpu_count() or 1, device="")
    model.check()
    return KeptVectors(model, cache_to_write("vectors"))


def _manifest(folder: Path) -> Manifest:
    if not is_index(folder):
        raise InputError(folder, None, f"no {MANIFEST} in it, so it is no finished index: build it again")
    try:
        manifest = from_json((folder / MANIFEST).read_bytes(), Manifest)
    except ValueError as error:
        raise InputError(folder / MANIFEST, None, str(error)) from None
    if manifest.schema != SCHEMA:
        raise InputError(folder / MANIFEST, None, f"the schema is {manifest.schema}, {SCHEMA} is read: build it again")
    return manifest


def _own(taxonomy: Taxonomy, examples: Sequence[Passage], wide: bool) -> Iterator[Passage]:
    """The base's passages: each point's name, aliases and description."""
    namers: dict[str, dict[str, None]] = {}
    for passage in examples:
        for point in passage.points:
            namers.setdefault(point, {}).update(dict.fromkeys(passage.sources))
    for node in taxonomy:
        held = wide or not taxonomy.children(node.id) or bool(node.description)
        if held or node.id in namers:
            text = "\n".join(part for part in (node.text, *node.aliases, node.description) if part.strip())
            yield Passage(text, (node.id,), () if held else tuple(namers[node.id]))
