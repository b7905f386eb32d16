"""What stands beside a question: the knowledge, hints and examples of each set of a run."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

import kprag
from kprag import BuiltContext, Knowledge, knowledge_block
from mmdyn.context import DISTRACTOR, NONE, Context
from mmdyn.data import LocatedSet, SampleSet, SetDigest, load
from mmdyn.errors import UserError, did_you_mean, no_such_path
from mmdyn.keys import Json, canonical, digest, stream
from mmdyn.models import read_settings
from mmdyn.prompts import asking_digest
from mmdyn.record import Condition, ContextInfo
from mmdyn.run.conditions import ExamplesConfig
from mmdyn.run.execution import Execution
from mmdyn.run.render import Example, leaks_beside, replace_pictures
from mmdyn.run.sets import check_digest, samples
from mmdyn.run.settings import KnowledgeConfig, Section, found_key
from mmdyn.sample import Sample
from mmdyn.shots import Shots
from mmdyn.task_types import task_types
from mmdyn.work import FOUND, Store


def write_with_hints(source: str | Path, out: Path) -> int:
    """Write the samples that have knowledge points, each at its place in the set by `index`; returns how many.

    Raises UserError where there is none, or `out` is no .tsv file or is there already.
    """
    from mmdyn.data import Tsv

    opened, out = SampleSet(source), Path(out)
    if out.suffix != ".tsv" or out.exists():
        raise UserError(f"{out} {'is there already' if out.exists() else 'is no .tsv file'}: choose another name")
    texts = {point.point: point.text for point in opened.knowledge()}
    count = sum(bool(sample.knowledge_points) for sample in opened)
    if not count:
        raise UserError(f"no sample of {opened.folder} has knowledge points: kprag needs them")

    def hint(sample: Sample) -> str:
        return knowledge_block(sample, texts)

    Tsv().write(opened, out, hint)
    return count


_PLAIN = Execution()
BATCH = 256
"""Questions whose examples are looked up together."""


class ExamplePool:
    """The standard samples of a set: a process keeps where they lie in its file, and reads those that are shown.

    places (attribute): by a sample's id its number, from 0. Raises UserError where there is none.
    """

    def __init__(self, opened: SampleSet) -> None:
        self._set, self.images, found = LocatedSet(opened), opened.images, SetDigest()
        self.places, offsets, kinds = dict[str, int](), array("q"), array("b")
        for sample in self._set:
            found.add(canonical(sample))
            if sample.variant is None and not sample.instructions:
                self.places[sample.id] = len(offsets)
                offsets.append(self._set.at)
                kinds.append(_kind(sample))
        self.digest = found.hex()
        check_digest(opened, self.digest)
        if not offsets:
            raise UserError(f"{opened.folder} holds no examples, only variants or instructions: give --examples SET")
        self._offsets, of = offsets, np.array(kinds)
        unlike = (2 * (of % 2 != kind % 2) + (of // 2 != kind // 2) for kind in range(2 * len(task_types())))
        self._alike = [[np.flatnonzero(each == number) for number in range(4)] for each in unlike]

    def read(self, place: int) -> Sample:
        """The sample of a number."""
        return self._set.read(self._offsets[place])

    def alike(self, sample: Sample) -> list[NDArray[np.intp]]:
        """All numbers in four parts: of a question's language and task type, its language, its task type, neither."""
        return self._alike[_kind(sample)]


class ExampleSource:
    """What stands before the samples of a standard set, the `own` one (None where it is not given), and its variants.

    pool: where examples come from. store: holds what was found similar.
    """

    def __init__(
        self, own: ExamplePool | None, pool: ExamplePool, config: ExamplesConfig, seed: int, store: Store
    ) -> None:
        self._own, self._pool, self._config, self._seed, self._store = own, pool, config, seed, store
        for id in config.ids:
            if id not in pool.places:
                raise UserError(f"no example is called {id!r}{did_you_mean(id, pool.places)}: mend ids= of --examples")

    def choose(self, sample: Sample, name: str) -> tuple[Example, ...] | None:
        """The examples of a sample for shots of a name, in the order in which they are shown, the most similar last;
        None where too few are left. Raises UserError where similar ones were not looked up."""
        shots, origin = Shots.parse(name), self._origin(sample)
        places = {"fixed": self._fixed, "random": self._random, "similar": self._similar}[shots.way](origin)
        found = self._first(places, (origin, sample), shots.k)
        if len(found) < shots.k:
            return None
        return tuple(Example(one, self._pool.images) for one in (found[::-1] if shots.way == "similar" else found))

    def look_up(self, samples: Iterable[Sample], k: int) -> None:
        """Look up k similar samples for each one, or for that which it is a variant of, where the store lacks them.

        Raises UserError, MissingExtra.
        """
        (retriever,), query = kprag.read_retrievers([self._config.retriever]), kprag.QueryWriter(self._pool.images)
        origins = (self._origin(sample) for sample in samples)
        missing = (one for one in origins if self._store.get(FOUND, self._key(one)) is None)
        while batch := list(islice(missing, BATCH)):
            for one, scores in zip(batch, self._index.scores([query(one) for one in batch], retriever), strict=True):
                parts = (part[np.argsort(-scores[part], kind="stable")] for part in self._pool.alike(one))
                ids = [found.id for found in self._first(chain.from_iterable(parts), (one,), k)]
                self._store.put(FOUND, self._key(one), canonical(ids))

    def _fixed(self, origin: Sample) -> Iterable[int]:
        if self._config.ids:
            return [self._pool.places[id] for id in self._config.ids]
        return chain.from_iterable(self._pool.alike(origin))

    def _random(self, origin: Sample) -> Iterable[int]:
        drawn = stream("examples", self._seed, origin.parent)
        return chain.from_iterable(drawn.permutation(part) for part in self._pool.alike(origin))

    def _similar(self, origin: Sample) -> Iterable[int]:
        known = self._store.get(FOUND, self._key(origin))
        if known is None:
            raise UserError(f"nothing similar was looked up for {origin.id}: the set has changed, so run it again")
        return [self._pool.places[id] for id in msgspec.json.decode(known, type=list[str])]

    def _first(self, places: Iterable[int], asked: Sequence[Sample], k: int) -> list[Sample]:
        """The first k that have nothing in common with what is asked."""
        taken = set[object]().union(*map(_marks, asked))
        read = (self._pool.read(int(place)) for place in places)
        return list(islice((one for one in read if taken.isdisjoint(_marks(one))), k))

    def _origin(self, sample: Sample) -> Sample:
        """The sample itself; of a variant the standard one where it is there, so that both are shown the same."""
        place = self._own.places.get(sample.parent) if self._own and sample.variant else None
        return self._own.read(place) if self._own and place is not None else sample

    def _key(self, origin: Sample) -> str:
        """The store's key for what is similar to a sample."""
        return digest(["examples", self._pool.digest, self._config.retriever, self._config.embedder, origin.digest])

    @cached_property
    def _index(self) -> kprag.Index:
        query, pool, looking = kprag.QueryWriter(self._pool.images), self._pool, self._config
        texts = [query(pool.read(place)) for place in pool.places.values()]
        return kprag.Index.of_texts(texts, meaning=looking.retriever != "lexical", embedder=looking.embedder)


class Examples:
    """The examples of a run. Raises UserError.

    by_root (attribute): what stands before the samples, by their standard set's name; empty where nothing does.
    settings (attribute): what run.json keeps of them.
    """

    def __init__(
        self,
        sets: Sequence[SampleSet],
        conditions: Iterable[Condition],
        given: str | ExamplesConfig,
        store: Store,
        seed: int,
    ) -> None:
        config, asked = check_examples(given, conditions)
        self._similar = max((one.k for one in asked if one.way == "similar"), default=0)
        self.by_root, self.settings = dict[str, ExampleSource](), dict[str, Json]()
        if any(one.base for one in asked):
            self.settings["templates"] = asking_digest("shots")
        if not any(one.k for one in asked):
            return
        own = {opened.root: ExamplePool(opened) for opened in sets if not opened.manifest.parent}
        roots = dict.fromkeys(opened.root for opened in sets)
        pools = dict.fromkeys(roots, ExamplePool(load(config.path))) if config.path else own
        for root in roots:
            if root not in pools:
                raise UserError(f"examples come from {root}, which is not given: name it too, or give --examples SET")
            self.by_root[root] = ExampleSource(own.get(root), pools[root], config, seed, store)
        self.settings |= {"seed": seed, "sets": {root: pools[root].digest for root in sorted(roots)}}
        self.settings |= {"ids": [*config.ids], "retriever": config.retriever, "embedder": config.embedder}

    def look_up(self, sets: Sequence[SampleSet], limits: Mapping[str, int | None]) -> None:
        """Look up what is similar to the samples of the sets, where that is asked. Raises UserError, MissingExtra."""
        for place, group in groupby(samples(sets, limits), key=itemgetter(0)) if self._similar else ():
            self.by_root[sets[place].root].look_up((sample for _, sample in group), self._similar)


def check_examples(given: str | ExamplesConfig, conditions: Iterable[Condition]) -> tuple[ExamplesConfig, list[Shots]]:
    """Where examples come from, and the conditions' shots. Raises UserError for settings that mean nothing."""
    config, asked = read_settings(given, ExamplesConfig), [Shots.parse(one.shot_name) for one in conditions]
    ways = {one.way for one in asked if one.k}
    if config != ExamplesConfig() and not ways:
        raise UserError("--examples says where examples come from, and none are shown: add --shots 5, or leave it out")
    if config.ids and "fixed" not in ways:
        raise UserError("ids= of --examples names those that are fixed, and none are: add --shots 5, or leave it out")
    if (config.retriever, config.embedder) != ("lexical", "") and "similar" not in ways:
        raise UserError("--examples says how similar ones are looked up: add --shots 5:similar, or leave that out")
    if "similar" in ways:
        kprag.read_retrievers([config.retriever])
    if config.path and not Path(config.path).exists():
        raise no_such_path(config.path)
    return config, asked


def _kind(sample: Sample) -> int:
    return 2 * task_types().index(sample.task_type) + (sample.language == "en")


def _marks(sample: Sample) -> set[object]:
    """What tells that two samples hang together: their standard sample, their group, or all that they show."""
    shown = [sample.question.split(), sorted(option.text for option in sample.options), sorted(sample.all_images)]
    return {("parent", sample.parent), ("group", sample.group or sample.parent), canonical(shown)}


class ContextProvider:
    """What can be laid beside the samples of one set; `store` holds what the finder of this digest found for them.
    examples (attribute): what can stand before them, None where nothing is to."""

    def __init__(
        self, knowledge: Knowledge, store: Store, finder: str = "", examples: ExampleSource | None = None
    ) -> None:
        self._knowledge, self._store, self._finder, self.examples = knowledge, store, finder, examples

    def build(self, sample: Sample, name: str) -> BuiltContext | None:
        """What lies beside a sample in the context of this name; None where it cannot be asked so."""
        context = Context.parse(name)
        built: BuiltContext | None = BuiltContext("", ContextInfo())
        replaced = context.pictures != "shown"
        if replaced and (not sample.all_images or replace_pictures(sample, context.pictures) is None):
            return None
        if context.family != NONE:
            found = self._found(sample) if context.looks_up else ()
            built = self._knowledge.build_context(sample, context, found)
        if built and replaced:
            built = built._replace(beside=replace(built.beside, leaks=leaks_beside(built.text, sample, context)))
        return built

    def _found(self, sample: Sample) -> list[str]:
        if not self._finder:
            return []  # there is no base to look anything up in
        known = self._store.get(FOUND, found_key(self._finder, sample))
        if known is None:
            raise UserError(f"nothing was looked up for {sample.id}: the set has changed, so run the command again")
        return msgspec.json.decode(known, type=list[str])


class ContextProviders:
    """What lies beside the samples of several sets under some conditions.

    by_set (attribute): a provider for each set; none where no condition has a context or examples.
    settings (attribute): what run.json keeps of how they are filled.
    examples (attribute): what stands before the questions.

    Given the settings of another process, which has looked everything up, nothing is looked up here. Raises UserError,
    MissingExtra, ModelError.
    """

    def __init__(
        self,
        sets: Sequence[SampleSet],
        conditions: Sequence[Condition],
        knowledge: KnowledgeConfig,
        store: Store,
        settings: Mapping[str, Json] | None = None,
        *,
        seed: int = 0,
        examples: str | ExamplesConfig = "",
        execution: Execution = _PLAIN,
    ) -> None:
        self.examples = Examples(sets, conditions, examples, store, seed)
        self._sets, self._store, self._seed = sets, store, seed
        self._base, self._retriever, self._layout = knowledge.read()
        asked = [(condition.variant, Context.parse(condition.context)) for condition in conditions]
        self._contexts = [context for _, context in asked if context.family != NONE]
        self._searched = {variant for variant, context in asked if context.looks_up}
        self._sections = _sections(sets, knowledge, execution) if self._needs_base else {}
        self.settings = dict(settings) if settings is not None else self._describe()
        finders = self.settings.get("finders")
        found = finders if isinstance(finders, dict) else {}
        self.by_set = tuple(
            self._provider(opened, str(found.get(opened.root, "")))
            for opened in sets
            if any(context != Context() for _, context in asked) or self.examples.by_root
        )

    def look_up(self, limits: Mapping[str, int | None]) -> None:
        """Look up examples, and points for whatever sample is asked with looked-up ones, where the store has none.
        Raises UserError, ModelError."""
        self.examples.look_up(self._sets, limits)
        if not self._searched:
            return
        asked = (
            (place, sample) for place, sample in samples(self._sets, limits) if sample.variant_kind in self._searched
        )
        try:
            for place, group in groupby(asked, key=itemgetter(0)):
                opened = self._sets[place]
                if opened.root in self._sections:
                    self._sections[opened.root].look_up(opened, (sample for _, sample in group), self._store)
        finally:
            self._store.flush()

    def _provider(self, opened: SampleSet, finder: str) -> ContextProvider:
        section = self._sections.get(opened.root)
        texts = {point.point: point.text for point in opened.knowledge()}
        return ContextProvider(
            Knowledge(texts, section.taxonomy if section else None, self._layout, k=self._retriever.k, seed=self._seed),
            self._store,
            finder,
            self.examples.by_root.get(opened.root),
        )

    def _describe(self) -> dict[str, Json]:
        """What decides what lies there."""
        if not self._contexts:
            return {}
        layout: dict[str, Json] = {"k": self._retriever.k} if self._searched else {}
        layout |= msgspec.to_builtins(self._layout) | ({"seed": self._seed} if self._draws else {})
        settings: dict[str, Json] = {"layout": layout}
        if any(context.source for context in self._contexts):
            texts = {opened.root: digest([*opened.knowledge()]) for opened in self._sets}
            settings["texts"] = {root: texts[root] for root in sorted(texts)}
        if self._sections:
            settings["bases"] = {root: digest([*section.taxonomy]) for root, section in sorted(self._sections.items())}
        if self._searched:
            settings["finders"] = {root: section.finder for root, section in sorted(self._sections.items())}
        return settings

    @property
    def _draws(self) -> bool:
        drawn = any(context.source == DISTRACTOR for context in self._contexts)
        return drawn or self._layout.order == "shuffled"

    @property
    def _needs_base(self) -> bool:
        wanted = self._searched or any(context.source == DISTRACTOR for context in self._contexts)
        return bool(wanted or (self._contexts and (self._base.path or self._layout.format == "routes")))


def _sections(sets: Sequence[SampleSet], knowledge: KnowledgeConfig, execution: Execution) -> dict[str, Section]:
    """The base of each standard set's samples and variants, by its name; none where there are no points at all."""
    by_root = dict[str, SampleSet]()
    for opened in sorted(sets, key=lambda opened: opened.manifest.parent is not None):
        by_root.setdefault(opened.root, opened)
    if knowledge.read()[0].path:
        return dict.fromkeys(by_root, Section(knowledge, sets[0], execution))
    return {root: Section(knowledge, opened, execution) for root, opened in by_root.items() if _has_points(opened)}


def _has_points(opened: SampleSet) -> bool:
    return any(True for _ in opened.knowledge()) or any(sample.knowledge_points for sample in opened)
