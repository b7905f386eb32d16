"""Questions of another set stand in for those that were retired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build.build import File
from mmdyn.data import ImageFolder, Row, SampleSet, bring_images
from mmdyn.errors import UserError
from mmdyn.keys import Json, stream
from mmdyn.sample import Sample


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Out of which set, and how questions are matched.

    by: The set that replacements are taken of: a composed one, or variants of questions that are left.
    like: A replacement has the value that the retired question has of this field; without it any will do.
    draw: Another number takes others.
    """

    by: File = File("")
    like: str = ""
    draw: int = 0


class Replace:
    """Fill the place of each retired question with one of another set (`--by`) that asks something else.

    \b
    mmdyn build retire mmdyn-demo/set -o left --runs mmdyn-demo/run
    mmdyn build replace left -o renewed --by mmdyn-demo/dynamic

    Taken is none that has its parent, group or a statement in common with a retired question, or a statement with one
    that stays, and one variant of a parent at most. A variant becomes a question of its own, in one group with its
    parent. meta["built"] says what it replaces; where the other set has too few, the gap stays and is told.
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        if not settings.by:
            raise UserError("--by is missing: name the set that replacements are taken of")
        self._settings, self._new = settings, SampleSet(Path(settings.by))
        self._picked, self._ids = list[tuple[Sample, Sample]](), set[str]()
        self.summary = dict[str, Json]()

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """None leaves. Raises UserError where no question was retired, or none can be replaced."""
        dropped = [item for item in source.dropped() if item.operator == "retire"]
        retired = [item.sample for item in dropped if item.sample]
        filled = {entry["replaces"] for one in (*source, *retired) for entry in _trail(one) if "replaces" in entry}
        gaps = [one for one in retired if one.id not in filled]
        like = self._settings.like
        if not gaps:
            raise UserError(f"{source.folder} lacks no retired question: make it by `mmdyn build retire`")
        if like and not any(like in one.fields for one in gaps):
            raise UserError(f"no retired question has the field {like!r}: name another by --like")
        left, taken, short = self._candidates(source, retired), _parents(source), Counter[str]()
        for gap in gaps:
            fits = left.get(_value(gap, like), [])
            while fits and fits[-1].parent in taken:
                fits.pop()
            if fits:
                taken.add(fits[-1].parent)
                self._picked.append((gap, fits.pop()))
            else:
                short[_value(gap, like)] += 1
        if not self._picked:
            raise UserError(f"{self._new.folder} has no question that can stand in for one of {len(gaps)} retired ones")
        self._ids = {one.id for one in source} | {item.id for item in source.dropped()}
        self.summary = {"retired": len(gaps), "replaced": len(self._picked), "too few of": {**short}}
        yield from ()

    def become(self, rows: Iterable[Row], images: ImageFolder) -> Iterator[Row]:
        """The rows that stay, then those that replace; parents of variants among these are put into a group."""
        parents = {new.parent for _, new in self._picked if new.variant}
        for row in rows:
            if row.sample and row.sample.id in parents and row.sample.group is None:
                yield Row(row.file, row.line, replace(row.sample, group=row.sample.id))
            else:
                yield row
        for gap, new in self._picked:
            made = self._standing_in(gap, new)
            yield Row.build(self._new.folder, None, bring_images, made, self._new.images, images)

    def _candidates(self, source: SampleSet, retired: list[Sample]) -> dict[str, list[Sample]]:
        """What may be taken, by its value of the field, in random order."""
        barred = {root for one in retired for root in _roots(one)}
        barred |= {root for one in source for root in _roots(one) if root[0] == "statement"}
        there, settings = {one.digest for one in source}, self._settings
        ranked = sorted(
            (float(stream("replace", settings.draw, one.id, one.digest).random()), number, one)
            for number, one in enumerate(self._new)
            if one.digest not in there and not barred & _roots(one)
        )
        left = dict[str, list[Sample]]()
        for _, _, one in ranked:
            left.setdefault(_value(one, settings.like), []).append(one)
        return left

    def _standing_in(self, gap: Sample, new: Sample) -> Sample:
        entry: dict[str, Json] = {"step": "replace", "version": self.version, "of": new.digest, "replaces": gap.id}
        if new.variant:
            entry |= {"parent": new.parent, "variant": msgspec.to_builtins(new.variant)}
        id = new.id if new.id not in self._ids else f"{new.id}-{new.digest[:8]}"
        group = new.group or (new.parent if new.variant else None)
        return replace(new, id=id, group=group, variant=None, meta=new.meta | {"built": [*_trail(new), entry]})


def _value(sample: Sample, field: str) -> str:
    return str(sample.fields.get(field, "")) if field else ""


def _trail(sample: Sample) -> list[dict[str, Json]]:
    built = sample.meta.get("built")
    return [entry for entry in built if isinstance(entry, dict)] if isinstance(built, list) else []


def _parents(source: SampleSet) -> set[str]:
    """The parents of variants that stand in already."""
    return {str(entry["parent"]) for one in source for entry in _trail(one) if "parent" in entry}


def _roots(sample: Sample) -> set[tuple[str, str]]:
    """What a question came of: its parent, its group, and its statements, of which true and falsified are the same."""
    origins = sample.meta.get("origins")
    of = {sample.parent, sample.group or sample.parent, *(str(e["parent"]) for e in _trail(sample) if "parent" in e)}
    return {("of", one) for one in of} | {("statement", str(one)) for one in (origins or ())}  # type: ignore[union-attr]
