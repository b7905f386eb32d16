"""A set -> the set that it was made of, where that lies near it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mmdyn.data import Origin, SampleSet, is_set, read_set_manifest
from mmdyn.errors import InputError, UserError
from mmdyn.work import IMPORTED_SOURCE


def find_source(made: SampleSet, given: str | Path | None = None) -> SampleSet | None:
    """The `given` set, or one with a set.json that lies in `made` or beside it; None where there is none.

    Raises UserError where the given one is another.
    """
    origin = origin_of(made)
    if given is not None:
        found = SampleSet(given)
        if origin is None or found.manifest.digest != origin.digest:
            problem = f"{made.folder} was not made of {given}, or of another version of it"
            raise UserError(f"{problem}: give {origin.name}" if origin else f"{problem}: leave --parent out")
        return found
    if origin is None:
        return None
    near = (made.folder / IMPORTED_SOURCE, *sorted(made.folder.resolve().parent.iterdir()))
    return next((SampleSet(folder) for folder in near if _holds(folder, origin)), None)


def find_sources(made: SampleSet, given: str | Path | None = None) -> Iterator[SampleSet]:
    """The set that a set was made of, the one that that was made of, and so on as far as they are found."""
    seen, source = {made.folder.resolve()}, find_source(made, given)
    while source is not None and source.folder.resolve() not in seen:
        yield source
        seen.add(source.folder.resolve())
        source = find_source(source)


def origin_of(made: SampleSet) -> Origin | None:
    """What a set was made of: the parent of a set of variants, or the source of a step."""
    source = made.manifest.made.get("source")
    if made.manifest.parent or not isinstance(source, dict):
        return made.manifest.parent
    name, digest = source.get("name"), source.get("digest")
    return Origin(name, digest) if isinstance(name, str) and isinstance(digest, str) else None


def _holds(folder: Path, origin: Origin) -> bool:
    """Whether a folder is the set; what else lies beside a set, broken or closed to us, is nobody's business."""
    try:
        manifest = read_set_manifest(folder)
        return manifest is not None and Origin(manifest.name, manifest.digest) == origin and is_set(folder)
    except (InputError, OSError):
        return False
