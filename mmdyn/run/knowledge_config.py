"""Where a run's knowledge comes from, and looking points up in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from kprag import (
    Index,
    Layout,
    QueryWriter,
    Reranker,
    Retriever,
    Taxonomy,
    is_index,
    look_up_points,
    open_base,
    open_reranker,
    read_base,
    read_joined,
    read_retrievers,
    reranker_identity,
)
from mmdyn.context import NONE, Context
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.keys import canonical, digest
from mmdyn.record import Condition
from mmdyn.sample import Sample
from mmdyn.work import FOUND, ProgressBar, Store


class KnowledgeConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Where knowledge comes from and how it is laid beside questions.

    base: a BASE or an index; empty for each set's own points. join: make one level of those beyond six. retriever:
        empty for the best that an index has, and hybrid where one is made. embedder, examples: as for `open_base`.
        rerank: who puts the first points in order; the text of a MODEL, which may hold secrets, is never written down.
        joined: what joins the queries.
    """

    base: str = ""
    retriever: str = ""
    embedder: str = ""
    examples: str = ""
    rerank: str = ""
    joined: tuple[str, ...] = ()
    join: bool = False
    layout: Layout = Layout()

    @property
    def words(self) -> dict[str, str]:
        """Where points come from, for people; of a MODEL its name alone."""
        said = {"base": self.base, "retriever": self.retriever, "embedder": self.embedder, "examples": self.examples}
        said |= {"rerank": self.rerank.partition(",")[0], "query": ",".join(self.joined)}
        return {name: value for name, value in said.items() if value}

    @property
    def asks(self) -> bool:
        """Whether a MODEL is asked to put points in order."""
        return bool(self.rerank) and not self.rerank.startswith("cross:")

    def seeded(self, seed: int) -> KnowledgeConfig:
        """The same with a run's seed, where it has none of its own."""
        return self if self.layout.seed else replace(self, layout=replace(self.layout, seed=seed))

    def check(self, conditions: Sequence[Condition], *, limited: bool = False) -> None:
        """Raise UserError for what can be told before anything is opened, and for settings that mean nothing.

        limited: whether requests or costs are, of which a reranker's are none.
        """
        if limited and self.asks:
            raise UserError(
                "--max-cost and --max-requests do not count what --rerank MODEL is asked: leave one of them out"
            )
        contexts = [Context.parse(condition.context) for condition in conditions]
        if all(context.name == NONE for context in contexts) and replace(self, layout=Layout()) != KnowledgeConfig():
            raise UserError(
                "a base of knowledge is given and nothing is laid beside a question: add --context kprag, or leave"
                " it out"
            )
        if not any(context.looks_up for context in contexts):
            for option in ("retriever", "embedder", "examples", "rerank", "joined"):
                if getattr(self, option):
                    name = "join-query" if option == "joined" else option
                    raise UserError(
                        f"--{name} says how points are looked up, and none are: add --knowledge retrieved, or leave"
                        " it out"
                    )
        self.layout.check()
        read_joined(self.joined)
        if self.retriever:
            read_retrievers([self.retriever])
        for option, path in (("--base", self.base), ("--examples", self.examples)):
            if path and not Path(path).exists():
                raise UserError(f"{path}: no such file or folder in {Path.cwd()}: check {option}")


class Section:
    """The base of one set's samples: the library's, or the set's own points."""

    def __init__(self, library: KnowledgeConfig, source: SampleSet, quiet: bool = False) -> None:
        self._library, self._quiet = library, quiet
        self._path = Path(library.base) if library.base else source.folder

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The points. Raises UserError."""
        return read_base(self._path, join=self._library.join)

    @cached_property
    def finder(self) -> str:
        """A digest of all that decides what is found."""
        index, retriever = self._opened
        order = reranker_identity(self._library.rerank) if self._library.rerank else None
        return digest([index.identity, retriever, self._library.layout.k, order, self._library.joined])

    def look_up(self, opened: SampleSet, samples: Iterator[Sample], store: Store) -> None:
        """Look up each of a set's samples that was not looked up before. Raises UserError."""
        (index, retriever), library = self._opened, self._library
        missing = (one for one in samples if store.get(FOUND, found_key(self.finder, one)) is None)
        query = QueryWriter(opened.images, read_joined(library.joined))
        with _reranker(library.rerank) as reranker, ProgressBar("looking up", quiet=self._quiet) as progress:
            for sample, ids in look_up_points(index, retriever, missing, query, library.layout.k, reranker):
                store.put(FOUND, found_key(self.finder, sample), canonical(ids))
                progress.advance()
            if reranker is not None and reranker.unordered:
                progress.say(
                    f"{reranker.unordered} questions' points lie as they were found: --rerank gave no order that can be"
                    " used"
                )

    @cached_property
    def _opened(self) -> tuple[Index, Retriever]:
        library = self._library
        given = read_retrievers([library.retriever])[0] if library.retriever else None
        wanted = given or ("lexical" if is_index(self._path) else "hybrid")
        with ProgressBar("embedding", quiet=self._quiet) as bar, _told_of_words(given):
            index = open_base(
                self._path,
                meaning=wanted != "lexical",
                embedder=library.embedder or None,
                examples=Path(library.examples) if library.examples else None,
                join=library.join,
                on_chunk=bar.advance,
            )
        return index, given or index.retrievers[-1]


def found_key(finder: str, sample: Sample) -> str:
    """The store's key for what a finder found for a sample."""
    return digest([finder, sample.digest])


@contextmanager
def _told_of_words(given: Retriever | None) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        if given is not None or isinstance(error, InputError):
            raise
        raise UserError(f"{error}; or search by words alone: --retriever lexical") from None


@contextmanager
def _reranker(text: str) -> Iterator[Reranker | None]:
    if not text:
        yield None
        return
    reranker = open_reranker(text)
    try:
        yield reranker
    finally:
        reranker.close()
