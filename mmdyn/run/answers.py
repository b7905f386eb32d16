"""The golden answers that a run is scored by: those that its sets have now, wherever the question is still the one that
was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import SampleSet, is_set
from mmdyn.errors import UserError, command_line
from mmdyn.keys import Json, canonical, digest
from mmdyn.run.predictions import as_exported
from mmdyn.run.recorded import stored_sample
from mmdyn.run.samples import check_digest, digest_of
from mmdyn.run.sets import entry_of
from mmdyn.sample import Sample
from mmdyn.work import RECORD, SAMPLE, Reader, RunFolder, SetEntry, Store, answers_kind

SHOWN = ("question", "task_type", "language", "options", "options_in_image", "images", "knowledge_points", "hints")
"""What of a sample a model may be shown: where it differs, something else was asked."""

SCORED_BY = ("answer", "match", "points", "checklist")
"""What of a sample decides a score, and no model is shown."""


class Answers(Struct):
    """The run's sets with the answers that it is scored by, and what there is to say about them."""

    entries: list[SetEntry]
    notes: list[str]


_AskedOf: TypeAlias = dict[str, dict[str, list[str]]]


class _Asked(Struct):
    set: str
    sample: str
    digest: str


def find_answers(run: RunFolder, store: Store, given: Sequence[SampleSet] = ()) -> Answers:
    """Look into the run's sets, or into those `given` in their place, and keep in the store which samples are scored
    anew.

    A sample that asks something else now, or is gone, is scored by the answer that it was asked with. Raises UserError
    for a set that the run did not ask, and for variants of a set whose answers changed since.
    """
    asked, found = cache(lambda: _asked(run)), Answers([], [])
    names = {opened.name: opened for opened in given}
    if unknown := names.keys() - {entry.name for entry in run.config.sets}:
        known = ", ".join(entry.name for entry in run.config.sets)
        name = unknown.pop()
        raise UserError(
            f"{run.folder} did not ask {name}: give {known}, by that name"
            f" (`{command_line('mmdyn', 'data', 'convert', name, '-o', 'FOLDER', '--name', 'NAME')}`)"
        )
    for root, entries in groupby(sorted(run.config.sets, key=lambda entry: entry.root), lambda entry: entry.root):
        _Root(run, store, asked, names).look(root, [*entries], found)
    order = [entry.name for entry in run.config.sets]
    found.entries.sort(key=lambda entry: order.index(entry.name))
    return found


class _Now(NamedTuple):
    """A set of a run as it is now, with its digest, and by the digests of then the samples that have another answer."""

    entry: SetEntry
    opened: SampleSet
    digest: str
    corrected: dict[str, Sample]


class _Root:
    """The sets of one root: the standard one and its variants. asked: what `_asked` gives, read where a set is another
    one now."""

    def __init__(
        self, run: RunFolder, store: Store, asked: Callable[[], _AskedOf], given: Mapping[str, SampleSet]
    ) -> None:
        self._run, self._store, self._asked, self._given = run, store, asked, given
        self._left, self._other = dict[str, list[str]](), 0

    def look(self, root: str, entries: Sequence[SetEntry], found: Answers) -> None:
        """Add the entries with their answers to what was `found`."""
        sets = [(entry, self._open(entry)) for entry in entries]
        if gone := [entry for entry, opened in sets if opened is None]:
            places = ", ".join(str(self._run.set_folder(entry)) for entry in gone)
            found.notes.append(f"{places} is no set any more: {root} is scored by the answers of before")
            found.entries += entries
            return
        if root not in self._given and (imported := [one for one in entries if _is_imported(one)]):
            found.notes.append(f"{imported[0].name} was read from a file: give that with --set if its answers changed")
        there = [(entry, opened, digest_of(opened)) for entry, opened in sets if opened is not None]
        if all(entry.digest == now for entry, _, now in there):
            found.entries += [self._keep(_Now(*one, {})) for one in there]
            return
        self._left = dict(self._asked().get(root, {}))
        each = [_Now(*one, self._compare(one[1])) for one in there]
        self._other += sum(map(len, self._left.values()))
        self._check_variants(each)
        found.entries += [self._keep(now) for now in each]
        found.notes += self._notes(root, sum(len(now.corrected) for now in each))

    def _open(self, entry: SetEntry) -> SampleSet | None:
        if entry.name in self._given:
            return self._given[entry.name]
        folder = self._run.set_folder(entry)
        return SampleSet(folder) if is_set(folder) else None

    def _compare(self, opened: SampleSet) -> dict[str, Sample]:
        """The samples that have another answer than was asked with, by the digest of then."""
        corrected = dict[str, Sample]()
        with Reader(self._run.records_folder) as reader:
            for sample in opened:
                for before in self._left.pop(sample.id, ()):
                    if before == sample.digest:
                        continue
                    was = stored_sample(reader, self._run.folder, before, sample.id)
                    alike = (one for one in (sample, as_exported(sample)) if _of(one, SHOWN) == _of(was, SHOWN))
                    if (now := next(alike, None)) is None:
                        self._other += 1
                    elif _of(now, SCORED_BY) != _of(was, SCORED_BY):
                        corrected[before] = now
        return corrected

    def _check_variants(self, each: Sequence[_Now]) -> None:
        """Raise UserError for variants that still have the answers of before: a contrast would be with other
        answers."""
        standard = {now.entry.name: now for now in each if now.corrected}
        for opened in [now.opened for now in each]:
            origin = opened.manifest.parent
            if origin is None or origin.name not in standard or origin.digest == standard[origin.name].digest:
                continue
            check_digest(standard[origin.name].opened, standard[origin.name].digest)
            again = "" if self._run.config.ops else "perturb that set again, or "
            raise UserError(
                f"{opened.folder} was made of {origin.name} with the answers of before: {again}evaluate into another"
                " folder, where what was asked before comes out of the cache"
            )

    def _keep(self, now: _Now) -> SetEntry:
        """Keep in the store what the set is scored by; the entry that says so."""
        folder = entry_of(now.opened, self._run.folder).folder
        if not now.corrected:
            return replace(now.entry, folder=folder, answers="")
        answers = digest([now.entry.digest, now.digest]) if self._other else now.digest
        for before, sample in now.corrected.items():
            self._store.put(SAMPLE, sample.digest, canonical(sample))
            self._store.put(answers_kind(answers), before, sample.digest.encode())
        return replace(now.entry, folder=folder, answers=answers)

    def _notes(self, root: str, corrected: int) -> list[str]:
        notes = list[str]()
        if corrected:
            notes.append(
                f"samples of {root} with another answer, or other points, than when they were asked: {corrected}; they"
                " are scored by what they have now"
            )
        if self._other:
            notes.append(
                f"samples of {root} that ask something else now, or are gone: {self._other}; they are scored by the"
                " answer that they were asked with, and `mmdyn eval` into another folder asks them"
            )
        return notes


def _is_imported(entry: SetEntry) -> bool:
    """Whether it was made of a file for the run, in whose folder it lies; what became of the file is not known."""
    return entry.name == entry.root and not Path(entry.folder).is_absolute()


def _asked(run: RunFolder) -> _AskedOf:
    """By root and id, the digests of the samples that were asked."""
    found = dict[str, dict[str, list[str]]]()
    with Reader(run.records_folder) as reader:
        for _, value in reader.items(RECORD):
            record = msgspec.json.decode(value, type=_Asked)
            digests = found.setdefault(record.set, {}).setdefault(record.sample, [])
            if record.digest not in digests:
                digests.append(record.digest)
    return found


def _of(sample: Sample, names: Sequence[str]) -> list[Json]:
    return [msgspec.to_builtins(getattr(sample, name)) for name in names]
