"""A built set made again, from what it was made of and what the model replied then: nobody is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct, ValidationError, convert

from mmdyn import plugins
from mmdyn.build.build import COMMAND, Making, StepMaker, read_files, refused_by
from mmdyn.build.replies import RepeatingClient
from mmdyn.build.settings_files import fingerprints
from mmdyn.build.step import Asked
from mmdyn.data import Dropped, ImageFolder, Replies, SampleSet, fingerprint, stage_counts
from mmdyn.errors import UserError
from mmdyn.sample import Sample


class Again(Struct, frozen=True):
    """A sample before a step and after it, as the set has it; `differing` says what is not so when it is made again."""

    before: Sample | None
    after: list[Sample]
    differing: list[str]


def replay(made: SampleSet, source: SampleSet | Path, ids: Sequence[str] = ()) -> Iterator[Again]:
    """Do a step again on the samples of these ids (without them on all), and compare what comes of it.

    A sample counts by its own id before the step, or that of one made of it. `source` is the set, file or folder that
    the set was made of. Raises UserError where that, the step or a file that it read is another one now.
    """
    how = made.manifest.made
    command, _, step = str(how.get("command")).rpartition(" ")
    if command != COMMAND:
        raise UserError(f"{made.folder} was not made by `{COMMAND}`: there is nothing to replay")
    kind = plugins.load("steps", step)
    try:
        settings = convert(how["settings"], kind.Settings)
    except ValidationError as error:
        raise UserError(f"{step} has other settings now ({error}): build the set anew") from None
    if kind.version != how["version_of_step"] or fingerprints(settings) != how.get("read", {}):
        raise UserError(f"{step}, or a file that it read, is another one now: build the set anew")
    if isinstance(source, Path):
        if fingerprint(source) != how["source"]:
            raise UserError(f"{made.folder} was not made of {source} as it is now: build the set anew")
        yield from _read_again(kind(settings), source, made, ids)
    elif hasattr(kind, "refuse"):
        yield from _refused_again(refused_by(kind(settings), source, step), source, made, ids)
    else:
        yield from _made_again(Making(step, kind, settings, "", int(str(how["seed"])), 1), source, made, ids)


def _read_again(reader: Any, source: Path, made: SampleSet, ids: Sequence[str]) -> Iterator[Again]:
    with TemporaryDirectory(prefix="mmdyn-") as scratch:
        images = ImageFolder(Path(scratch))
        found = {row.sample.id: row.sample for row in read_files(reader, source, images) if row.sample}
        for sample in made:
            if not ids or sample.id in ids:
                now = [found[sample.id]] if sample.id in found else []
                yield Again(None, [sample], _differing([sample], now, made.images, images))


def _refused_again(now: dict[str, Dropped], source: SampleSet, made: SampleSet, ids: Sequence[str]) -> Iterator[Again]:
    then = _left(made)
    for sample in source:
        if not ids or sample.id in ids:
            before, after = then.get(sample.id), now.get(sample.id)
            told = f"it leaves ({after.reason})" if after else "it does not leave"
            yield Again(sample, [] if before else [sample], [told] if before != after else [])


def _made_again(making: Making, source: SampleSet, made: SampleSet, ids: Sequence[str]) -> Iterator[Again]:
    then, by = dict[str, list[Sample]](), {kept.of: kept for kept in made.replies()}
    for sample in made:
        trail: Any = sample.meta["built"]
        then.setdefault(trail[-1]["of"], []).append(sample)
    left = _left(made)
    limit: Any = made.manifest.made["limit"]
    for sample in islice(source, limit):
        there = then.get(sample.digest, [])
        if ids and not {sample.id, *(one.id for one in there)} & set(ids):
            continue
        heard = by.get(sample.digest, Replies("", "", ()))
        with TemporaryDirectory(prefix="mmdyn-") as scratch:
            client = RepeatingClient(heard.by, heard.replies)
            asked = Asked(client, source.images, making.kind) if making.kind.asks else None
            outcomes = list(StepMaker(source.folder, Path(scratch), making, asked)(sample))
            now = [outcome.sample for outcome in outcomes if outcome.sample]
            differing = _differing(there, now, made.images, ImageFolder(Path(scratch)))
        dropped = next((outcome.dropped for outcome in outcomes if outcome.dropped), None)
        if dropped != left.get(sample.id):
            differing.append(f"it leaves ({dropped.reason})" if dropped else "it does not leave")
        yield Again(sample, there, differing)


def _left(made: SampleSet) -> dict[str, Dropped]:
    """What left in a set's own step."""
    before = sum(stage.dropped for stage in stage_counts(made)[:-1])
    return {item.id: item for item in islice(made.dropped(), before, None)}


def _differing(then: list[Sample], now: list[Sample], images: ImageFolder, scratch: ImageFolder) -> list[str]:
    """The fields and pictures that differ."""
    if len(then) != len(now):
        return [f"{len(now)} samples, not {len(then)}"]
    found = list[str]()
    for old, new in zip(then, now, strict=True):
        found += [name for name in Sample.__struct_fields__ if getattr(old, name) != getattr(new, name)]
        try:
            found += [ref for ref in old.all_images if images.read(ref) != scratch.read(ref)]
        except ValueError as error:
            found.append(str(error))
    return found
