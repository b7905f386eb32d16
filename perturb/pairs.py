"""A dynamic set beside the set that it was made of: each variant with its parent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from mmdyn.data.load import is_set
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.sample import Sample
from perturb.codec import Pictures
from perturb.judge._judge import Case, Look
from perturb.replay import redo
from perturb.workbench import Workbench

SOURCE = ".source"
"""Where `perturb` imports a file to, under the dynamic set."""


class Pair(Struct, frozen=True):
    """A parent and a variant of it. `outcome` is the variant's: of one that was dropped, too."""

    before: Sample
    after: Sample
    outcome: str


def find_parent(dynamic: SampleSet, given: str | Path | None = None) -> SampleSet:
    """The set that a dynamic set was made of: the `given` one, or one that lies in it or beside it.

    Raises UserError where there is none, or where the given one is another.
    """
    origin = dynamic.manifest.parent
    if origin is None:
        raise UserError(f"{dynamic.folder} is no dynamic set: give one that `mmdyn perturb` made")
    if given is not None:
        found = SampleSet(given)
        if found.manifest.digest != origin.digest:
            raise UserError(
                f"{dynamic.folder} was not made of {given}, or of another version of it: give {origin.name}"
            )
        return found
    for folder in (dynamic.folder / SOURCE, *sorted(dynamic.folder.resolve().parent.iterdir())):
        if is_set(folder):
            try:
                found = SampleSet(folder)
            except InputError:
                continue
            if found.name == origin.name and found.manifest.digest == origin.digest:
                return found
    raise UserError(f"the set {origin.name} that {dynamic.folder} was made of is not beside it: name it with --parent")


def pairs(dynamic: SampleSet, parent: SampleSet) -> Iterator[Pair]:
    """Every variant with its parent, parent by parent; whole dropped ones come after those in the set."""
    yield from _joined(dynamic, parent)
    dropped = (drop for drop in dynamic.dropped() if drop.sample is not None)
    yield from _joined((drop.sample for drop in dropped if drop.sample), parent)


def case_of(pair: Pair, parent: SampleSet, dynamic: SampleSet, workbench: Workbench | None = None) -> Case:
    """What a judge was shown of a variant: words, and pictures without noise. Raises UserError where it cannot be remade."""
    originals = Pictures(parent.images, pair.before.all_images)
    clean = redo(pair.before, pair.after, originals, workbench, noise=False)
    both = zip(clean.sample.all_images, pair.after.all_images, strict=True)
    return Case(
        pair.before,
        pair.after,
        tuple(
            Look(originals[old], clean.pictures[old], parent.images.path(old), dynamic.images.path(new))
            for old, new in both
            if old != new
        ),
    )


def _joined(variants: Iterator[Sample] | SampleSet, parent: SampleSet) -> Iterator[Pair]:
    """Variants lie in their parents' order, so that one pass over both is enough."""
    parents = iter(parent)
    before: Sample | None = None
    for after in variants:
        while before is None or before.id != after.parent:
            before = next(parents, None)
            if before is None:
                raise UserError(f"{after.parent}, the parent of {after.id}, is not in {parent.folder} in its place")
        assert after.variant is not None
        yield Pair(before, after, after.variant.verdict.status)
