"""A dynamic set beside the set that it was made of: each variant with its parent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.sample import Sample, Variant
from mmdyn.sheets import find_source, origin_of
from perturb.audit.replay import operator_of, places, redo, trail_of
from perturb.codec import pictures_in
from perturb.item import EMBEDDED
from perturb.judge._judge import Case, Look
from perturb.services import Services, ToolNames


class VariantPair(Struct, frozen=True):
    """A parent and a variant of it. `outcome` is the variant's: of one that was dropped, too."""

    before: Sample
    after: Sample
    outcome: str

    @property
    def trail(self) -> Variant:
        """How the variant was made. With `after.id` its `attempt` names it: rejected attempts at a draw share its
        id."""
        return trail_of(self.after)


def find_parent(dynamic: SampleSet, given: str | Path | None = None) -> SampleSet:
    """The set that a dynamic set was made of: the `given` one, or one with a set.json that lies in it or beside it.

    Raises UserError where there is none, or where the given one is another.
    """
    origin = origin_of(dynamic)
    if origin is None:
        raise UserError(f"{dynamic.folder} is no dynamic set: give one that `mmdyn perturb` made")
    if (found := find_source(dynamic, given)) is not None:
        return found
    raise UserError(f"the set {origin.name} that {dynamic.folder} was made of is not beside it: name it with --parent")


def pairs(dynamic: SampleSet, parent: SampleSet) -> Iterator[VariantPair]:
    """Every variant with its parent, parent by parent; whole dropped ones come after those in the set."""
    yield from _joined(dynamic, parent)
    dropped = (drop for drop in dynamic.dropped() if drop.sample is not None)
    yield from _joined((drop.sample for drop in dropped if drop.sample), parent)


def workbench_for(dynamic: SampleSet, style: str = "") -> Services:
    """What a replay of a set needs: the styler that is named, else the one that its manifest names. It wants
    closing."""
    styler = dynamic.manifest.made.get("styler")
    label = styler.get("styler") if isinstance(styler, dict) else None
    return Services(ToolNames(style=style or (label if isinstance(label, str) else EMBEDDED)))


def shown_to_judge(pair: VariantPair, parent: SampleSet, dynamic: SampleSet, services: Services) -> Case:
    """What a judge was shown of a variant: words, and pictures without noise.

    The set's own files where no noise is on them; else they are made again without it, as the trail says.
    Raises UserError where a picture cannot be read or made again.
    """
    steps = pair.trail.steps
    originals = pictures_in(parent.images, pair.before.all_images)
    there = pictures_in(dynamic.images, pair.after.all_images)
    calm = [step for step in steps if not operator_of(step).noisy]
    noisy = len(calm) < len(steps)
    # Words alone say which picture became which; an operator under `image.` leaves them as they are.
    done = calm if noisy else [step for step in steps if not step.operator.startswith("image.")]
    clean = redo(pair.before, done, originals, services)
    refs = dict(zip(places(clean.sample), places(pair.after), strict=False))
    looks = list[Look]()
    try:
        for old, new in refs.items():
            if old != new and parent.images.read(old) != dynamic.images.read(new):  # else carried over, renamed
                after = clean.pictures[old] if noisy else there[new]
                looks.append(Look(originals[old], after, parent.images.path(old), dynamic.images.path(new)))
    except ValueError as error:
        raise UserError(f"{pair.after.id} cannot be shown to a judge: {error}") from None
    return Case(pair.before, pair.after, tuple(looks))


def _joined(variants: Iterator[Sample] | SampleSet, parent: SampleSet) -> Iterator[VariantPair]:
    """Variants lie in their parents' order, so that one pass over both is enough."""
    parents = iter(parent)
    before: Sample | None = None
    for after in variants:
        while before is None or before.id != after.parent:
            before = next(parents, None)
            if before is None:
                raise UserError(f"{after.parent}, the parent of {after.id}, is not in {parent.folder} in its place")
        yield VariantPair(before, after, trail_of(after).verdict.status)
