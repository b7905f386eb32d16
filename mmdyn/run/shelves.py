"""Shelves: for each set of a run what can be laid beside its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec import Struct

from kprag.context import Knowledge, Laid
from mmdyn.context import NONE, Context
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError
from mmdyn.keys import Json, digest
from mmdyn.record import Condition
from mmdyn.run.library import FOUND, Library, Section, found_key
from mmdyn.run.plan import samples
from mmdyn.sample import Sample
from mmdyn.work.store import Store


class Shelf:
    """What can be laid beside the samples of one set; `store` holds what the finder of this digest found for them."""

    def __init__(self, knowledge: Knowledge, store: Store, finder: str = "") -> None:
        self._knowledge, self._store, self._finder = knowledge, store, finder

    def lay(self, sample: Sample, name: str) -> Laid | None:
        """What lies beside a sample in the context of this name; None where it cannot be asked so."""
        context = _context(name)
        return self._knowledge.lay(sample, context, self._found(sample) if context.looks_up else ())

    def _found(self, sample: Sample) -> list[str]:
        if not self._finder:
            return []  # there is no base to look anything up in
        known = self._store.get(FOUND, found_key(self._finder, sample))
        if known is None:
            raise UserError(f"nothing was looked up for {sample.id}: the set has changed, so run the command again")
        return msgspec.json.decode(known, type=list[str])


class Shelves(Struct, frozen=True):
    """A shelf for each set, none where no condition has a context; `settings` are what run.json keeps of how they were made."""

    by_set: tuple[Shelf, ...] = ()
    settings: dict[str, Json] = {}


def open_shelves(
    sets: Sequence[SampleSet],
    conditions: Sequence[Condition],
    library: Library,
    store: Store,
    *,
    limit: int | None = None,
    settings: Mapping[str, Json] | None = None,
    quiet: bool = False,
) -> Shelves:
    """Open what the conditions' contexts need, and look up whatever `store` does not hold yet.

    settings: those of another process that has looked everything up already. Raises UserError, MissingExtra.
    """
    contexts = [_context(condition.context) for condition in conditions if condition.context != NONE]
    if not contexts:
        return Shelves()
    sections = _sections(sets, library, quiet) if _needs_base(contexts, library) else {}
    if settings is None:
        settings = _looked_up(sets, contexts, sections, library, store, limit)
    finders = settings.get("finders")
    known = finders if isinstance(finders, dict) else {}
    shelves = []
    for opened in sets:
        section = sections.get(opened.root)
        texts = {point.point: point.text for point in opened.knowledge()}
        knowledge = Knowledge(texts, section.taxonomy if section else None, library.layout)
        shelves.append(Shelf(knowledge, store, str(known.get(opened.root, ""))))
    return Shelves(tuple(shelves), dict(settings))


def _looked_up(
    sets: Sequence[SampleSet],
    contexts: Sequence[Context],
    sections: Mapping[str, Section],
    library: Library,
    store: Store,
    limit: int | None,
) -> dict[str, Json]:
    """Look points up where a context wants that; what run.json keeps."""
    settings: dict[str, Json] = {"layout": msgspec.to_builtins(library.layout)}
    if sections:
        settings["bases"] = {root: digest([*section.taxonomy]) for root, section in sections.items()}
    if any(context.looks_up for context in contexts):
        for number, opened in enumerate(sets):
            if opened.root in sections:
                asked = (sample for place, sample in samples(sets, limit) if place == number)
                sections[opened.root].look_up(opened, asked, store)
        store.flush()
        settings["finders"] = {root: section.finder for root, section in sections.items()}
    return settings


def _sections(sets: Sequence[SampleSet], library: Library, quiet: bool) -> dict[str, Section]:
    """The base of each standard set's samples and variants, by its name; none where there are no points at all."""
    by_root = dict[str, SampleSet]()
    for opened in sorted(sets, key=lambda opened: opened.manifest.parent is not None):
        by_root.setdefault(opened.root, opened)
    if library.base:
        shared = Section(library, sets[0], quiet)
        return dict.fromkeys(by_root, shared)
    return {root: Section(library, opened, quiet) for root, opened in by_root.items() if _has_points(opened)}


def _needs_base(contexts: Sequence[Context], library: Library) -> bool:
    wants = any(context.looks_up or context.source == "distractor" for context in contexts)
    return wants or bool(library.base) or library.layout.format == "routes"


def _has_points(opened: SampleSet) -> bool:
    return any(True for _ in opened.knowledge()) or any(sample.knowledge_points for sample in opened)


@lru_cache(maxsize=256)
def _context(name: str) -> Context:
    return Context.parse(name)
