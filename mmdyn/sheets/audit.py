"""A sheet of a set: its samples, each beside its parent or the one that a step made it of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mmdyn.data import Origin, SampleSet, is_set, read_set_manifest
from mmdyn.errors import InputError, UserError
from mmdyn.sheets.sheet import beside_sources, draw_cards, form_of, form_of_set, review_cards, sample_cards, write_sheet
from mmdyn.work import IMPORTED_SOURCE


def find_parent(dynamic: SampleSet, given: str | Path | None = None) -> SampleSet:
    """The set that a dynamic set was made of: the `given` one, or one with a set.json that lies in it or beside it.

    Raises UserError where there is none, or where the given one is another.
    """
    if (found := find_source(dynamic, given)) is not None:
        return found
    origin = origin_of(dynamic)
    if origin is None:
        raise UserError(f"{dynamic.folder} is no dynamic set: give one that `mmdyn perturb` made")
    raise UserError(f"the set {origin.name} that {dynamic.folder} was made of is not beside it: name it with --parent")


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


def audit(
    made: SampleSet,
    out: Path,
    parent: str | Path | None = None,
    count: int = 60,
    seed: int = 0,
    *,
    review: bool = False,
    step: str | None = None,
) -> int:
    """Write a sheet of at most `count` samples; how many it holds.

    Args:
        made: The set.
        out: The HTML file.
        parent: The set that it was made of; without it one that lies beside it.
        count: Drawn by `seed`, as many of each chain or step and outcome as there are.
        seed: Another seed draws others.
        review: Not drawn: the first, those before the others about which a model was unsure, and none that was refused.
        step: Whose question and criteria; without it those of the last step that made the set.

    Raises:
        UserError: The parent is another set, or variants have none, the step asks people nothing, the file cannot be
            written, or a picture is missing.
    """
    sources = [find_parent(made, parent)] if made.manifest.parent else list(find_sources(made, parent))
    form = form_of(step) if step else form_of_set(made)
    if form is None:
        raise UserError(f"the step {step} asks people nothing: leave --step out, or name another (`mmdyn list steps`)")
    cards = review_cards(made, count) if review else draw_cards(sample_cards(made, sources), count, seed)
    write_sheet(made, next(iter(sources), None), beside_sources(made, cards, sources), form, out)
    return len(cards)
