"""Shelves: for each set of a run what can be laid beside its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import msgspec
from msgspec.structs import replace

from kprag import BuiltContext, Knowledge
from mmdyn.context import DISTRACTOR, NONE, Context
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.keys import Json, digest
from mmdyn.record import Condition, ContextInfo
from mmdyn.run.conditions import ExamplesConfig
from mmdyn.run.examples import Examples, ExampleSource
from mmdyn.run.knowledge_config import KnowledgeConfig, Section, found_key
from mmdyn.run.replaced_pictures import leaks_beside, replace_pictures
from mmdyn.run.samples import samples
from mmdyn.sample import Sample
from mmdyn.work import FOUND, Store


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

    by_set (attribute): a shelf for each set; none where no condition has a context or examples. settings (attribute):
        what run.json keeps of how they are filled. examples (attribute): what stands before the questions. Given the
        settings of another process, which has looked everything up, nothing is looked up here. Raises UserError,
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
        quiet: bool = False,
    ) -> None:
        self.examples = Examples(sets, conditions, examples, store, seed)
        self._sets, self._store, self._seed = sets, store, seed
        self._base, self._retriever, self._layout = knowledge.read()
        asked = [(condition.variant, Context.parse(condition.context)) for condition in conditions]
        self._contexts = [context for _, context in asked if context.family != NONE]
        self._searched = {variant for variant, context in asked if context.looks_up}
        self._sections = _sections(sets, knowledge, quiet) if self._needs_base else {}
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
            (place, sample)
            for place, sample in samples(self._sets, limits)
            if ("dynamic" if sample.variant else "standard") in self._searched
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


def _sections(sets: Sequence[SampleSet], knowledge: KnowledgeConfig, quiet: bool) -> dict[str, Section]:
    """The base of each standard set's samples and variants, by its name; none where there are no points at all."""
    by_root = dict[str, SampleSet]()
    for opened in sorted(sets, key=lambda opened: opened.manifest.parent is not None):
        by_root.setdefault(opened.root, opened)
    if knowledge.read()[0].path:
        return dict.fromkeys(by_root, Section(knowledge, sets[0], quiet))
    return {root: Section(knowledge, opened, quiet) for root, opened in by_root.items() if _has_points(opened)}


def _has_points(opened: SampleSet) -> bool:
    return any(True for _ in opened.knowledge()) or any(sample.knowledge_points for sample in opened)
