"""Several sets -> one, in which their ids and groups stay apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from msgspec.structs import replace

from mmdyn.data.images import ImageFolder
from mmdyn.data.load_set import Given, load
from mmdyn.data.make_set import Incoming, place, write_set
from mmdyn.data.rows import KnowledgePoint, Row, bring_images
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.sample import Sample


def join(sets: Sequence[Given], out: Path, name: str | None = None) -> SampleSet:
    """Write the samples of several sets, one set after the other, into a new one; one joined so before is opened.

    An id or a group that several sets have gets its set's name before it (`exam/q1`); the others stay. Pictures and
    texts of knowledge points come along. What a set dropped is listed in that set alone. Raises UserError for fewer
    than two sets, sets of one name, sets of variants, and two texts of one knowledge point.
    """
    opened = [load(given) for given in sets]
    if len(opened) < 2:
        raise UserError("one set is nothing to join: give two or more")
    for one in opened:
        if one.manifest.parent:
            raise UserError(
                f"{one.folder} is a set of variants: join the sets that they were made of, and perturb that"
            )
        if twice := next((other for other in opened if other is not one and other.name == one.name), None):
            raise UserError(
                f"{one.folder} and {twice.folder} are both called {one.name}: `mmdyn data convert --name` gives one of"
                " them another name"
            )
    sources: list[Json] = [{"name": one.name, "digest": one.manifest.digest} for one in opened]
    how: dict[str, Json] = {"command": "mmdyn data join", "name": name, "sources": sources, "version": version("mmdyn")}
    known = _knowledge(opened)
    with place(out, how) as done:
        if done is not None:
            return done
        images = ImageFolder(out)
        return write_set(Incoming(_rows(opened, images), images, known), name or out.resolve().name, how)


def _rows(opened: Sequence[SampleSet], images: ImageFolder) -> Iterator[Row]:
    """Their rows. An id of one set may be a group of another, so that both are looked at together."""
    sets = Counter(name for one in opened for name in {name for sample in one for name in (sample.id, sample.group)})
    for one in opened:
        for row in one.rows():
            yield Row.build(row.file, row.line, _apart, row.sample, one, images, sets) if row.sample else row


def _apart(sample: Sample, source: SampleSet, images: ImageFolder, sets: Counter[str | None]) -> Sample:
    """The sample with its pictures, and with the set's name before an id or a group that other sets have too. Raises
    ValueError where a picture cannot be read, or what comes of it is taken."""

    def named(name: str) -> str:
        apart = f"{source.name}/{name}" if sets[name] > 1 else name
        if apart != name and sets[apart]:
            raise ValueError(f"{apart!r} is another's id or group: `mmdyn data convert --name` names the set otherwise")
        return apart

    moved = bring_images(sample, source.images, images)
    return replace(moved, id=named(sample.id), group=sample.group and named(sample.group))


def _knowledge(opened: Sequence[SampleSet]) -> list[KnowledgePoint]:
    """All points, each with the one text that a set has for it. Raises UserError where two have different ones."""
    texts, routes = dict[str, tuple[str, SampleSet]](), dict[tuple[str, tuple[str, ...]], None]()
    for one in opened:
        for point in one.knowledge():
            text, first = texts.setdefault(point.point, (point.text, one)) if point.text else ("", one)
            if text != point.text:
                raise UserError(
                    f"{first.folder} and {one.folder} have different texts for the knowledge point {point.point!r}:"
                    " make them equal in one's knowledge.jsonl"
                )
            routes[point.point, point.route] = None
    return [KnowledgePoint(point, texts[point][0] if point in texts else "", route) for point, route in routes]
