"""Variants beside their parents: made again from their trails, shown to judges, counted by chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import inf
from pathlib import Path

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from mmdyn import plugins
from mmdyn.data import ImageFolder, SampleSet, replace_images
from mmdyn.errors import UserError
from mmdyn.keys import sha256
from mmdyn.sample import ImageRef, Sample, Step, Variant
from mmdyn.sheets import find_parent
from perturb.codec import LazyPictures, decode, encode, pictures_in
from perturb.item import EMBEDDED, Item, NotApplicable
from perturb.judge._judge import Case, Look
from perturb.rewrite._lexicon import swaps
from perturb.services import Operator, Services, ToolNames

TOLERANCE = 4
"""Levels of 255 by which a picture that a diffusion model painted may differ when it is painted again: other devices
and library versions round otherwise, and nobody sees it."""


class Replayed(Struct, frozen=True):
    """What a replay found: where both are empty the sample and its pictures are equal, byte for byte.

    `differing` names what is not as the trail says; `near` the pictures that a diffusion model painted and that differ
    by at most TOLERANCE levels.
    """

    differing: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


def replay(
    before: Sample, after: Sample, source: ImageFolder, images: ImageFolder, services: Services | None = None
) -> Replayed:
    """Compare a variant, and its pictures as they lie on the disk, with what its trail makes of its parent now.

    `source` holds the parent's pictures and `images` the variant's; the `services` is needed for a styler other than
    the embedded one. Raises UserError for a sample without a trail, and where a step cannot be done again.
    """
    trail = trail_of(after)
    if not trail.steps:
        raise UserError(f"{after.id} was read from a file, not made: there is nothing to replay")
    originals = pictures_in(source, before.all_images)
    item = redo(before, trail.steps, originals, services)
    olds, news = places(item.sample), places(after)
    if len(olds) != len(news):
        return Replayed(("number of pictures",))
    refs = dict(zip(olds, news, strict=True))
    words = replace(replace_images(item.sample, refs), id=after.id, variant=trail)
    differing = [name for name in Sample.__struct_fields__ if getattr(words, name) != getattr(after, name)]
    painted = [step for step in trail.steps if "styler" in operator_of(step).uses]
    near, exact = list[str](), all(step.params.get("by") == EMBEDDED for step in painted)
    for number, (old, new) in enumerate(refs.items(), 1):
        if (apart := levels_apart(_again(item, old, originals, source), images, new)) is None:
            continue
        if not exact and apart <= TOLERANCE:
            near.append(f"picture {number} differs by at most {apart:g} levels")
        else:
            differing.append(f"picture {number}" + f" (by up to {apart:g} levels)" * (not exact and apart < inf))
    return Replayed(tuple(differing), tuple(near))


def redo(before: Sample, steps: Iterable[Step], originals: LazyPictures, services: Services | None = None) -> Item:
    """The parent as the steps of a trail change it. Raises UserError where one cannot be done again."""
    item = Item(before, originals)
    for step in steps:
        try:
            changed = operator_of(step)(services).apply(item, step.params)
        except ValueError as error:
            raise UserError(f"{step.operator} cannot be replayed on {before.id}: {error}") from None
        if isinstance(changed, NotApplicable):
            raise UserError(f"{step.operator} no longer applies to {before.id}: {changed.reason}")
        item = changed
    return item


def trail_of(sample: Sample) -> Variant:
    """A variant's trail. Raises UserError for a sample that is none."""
    if sample.variant is None:
        raise UserError(f"{sample.id} is no variant: there is nothing to replay")
    return sample.variant


def operator_of(step: Step) -> type[Operator]:
    """The operator that a step names. Raises PluginError."""
    kind: type[Operator] = plugins.load("operators", step.operator)
    return kind


def places(sample: Sample) -> list[ImageRef]:
    """Every place of a picture: two of them may show the same one."""
    return [*sample.images, *(option.image for option in sample.options if option.image)]


def levels_apart(data: bytes, images: ImageFolder, ref: ImageRef) -> float | None:
    """By how many levels at most a picture differs from the file that the set has for it; None where the bytes are
    equal.

    Infinite where the file is missing, overwritten (it is named by its bytes) or of another size.
    """
    try:
        there = images.read(ref)
        if sha256(there) != Path(ref).stem:
            return inf
        if there == data:
            return None
        old, new = decode(there).pixels, decode(data).pixels
    except ValueError:
        return inf
    return int(np.abs(old.astype(np.int16) - new).max()) if old.shape == new.shape else inf


def _again(item: Item, ref: ImageRef, originals: LazyPictures, source: ImageFolder) -> bytes:
    """A picture's file: encoded where it was changed, else the parent's own. Raises UserError where it cannot be
    had."""
    try:
        picture = item.pictures[ref]
        changed = not np.array_equal(picture.pixels, originals[ref].pixels)
        return encode(picture) if changed else source.read(ref)
    except ValueError as error:
        raise UserError(f"{ref} cannot be made again: {error}") from None


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


def pairs(dynamic: SampleSet, parent: SampleSet) -> Iterator[VariantPair]:
    """Every variant with its parent, parent by parent; whole dropped ones come after those in the set."""
    yield from _joined(dynamic, parent)
    dropped = (drop for drop in dynamic.dropped() if drop.sample is not None)
    yield from _joined((drop.sample for drop in dropped if drop.sample), parent)


def services_for(dynamic: SampleSet, style: str = "") -> Services:
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


MADE = ("kept", "unjudged")
_MOST_REASONS = 100
_SWAPPED = [("text.substitute", "embedded")]


class ChainOutcomes(Struct):
    """One chain: variants by outcome, by outcome the reasons of those not kept by their first words (details are in
    dropped.jsonl), and how many claims that questions became are true and false."""

    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    claims: Counter[bool] = field(default_factory=Counter)

    @property
    def made(self) -> int:
        """Variants that are in the set."""
        return sum(self.outcomes[status] for status in MADE)


def summarize(dynamic: SampleSet) -> dict[str, ChainOutcomes]:
    """Count a dynamic set's variants by chain, in the order of `--ops`."""
    chains = {name: ChainOutcomes() for name in str(dynamic.manifest.made.get("ops", "")).split(",") if name}
    for sample in dynamic:
        if sample.variant:
            chain = chains.setdefault(sample.variant.chain, ChainOutcomes())
            chain.outcomes[sample.variant.verdict.status] += 1
            if sample.variant.hidden and sample.variant.keeps_answer:
                chain.claims[sample.answer is True] += 1
    for dropped in dynamic.dropped():
        chain = chains.setdefault(dropped.chain, ChainOutcomes())
        chain.outcomes[dropped.status] += 1
        reason = dropped.reason
        if reason.endswith(")") and dropped.status != "failed":  # what fails says in brackets why
            reason = reason.partition(" (")[0]
        reasons = chain.reasons.setdefault(dropped.status, Counter())
        known = reason in reasons or len(reasons) < _MOST_REASONS
        reasons[reason if known else "other reasons"] += 1
    return chains


def scaffolding_share(dynamic: SampleSet, parent: str | Path | None = None) -> float | None:
    """Of the words that the embedded rewriter replaced, the share that asks, points or joins (find, shown, if) and says
    nothing of the subject.

    Args:
        dynamic: a set of variants; those count whose words nothing else changed.
        parent: the set that it was made of; looked for beside it where it is not given.

    Returns:
        The share; None where no word was replaced so, or the parents are not at hand.
    """
    found = Counter[bool]()
    with suppress(UserError):
        for pair in pairs(dynamic, find_parent(dynamic, parent)):
            worded = [step for step in pair.trail.steps if step.operator.startswith("text.")]
            if pair.outcome in MADE and [(step.operator, step.params.get("by")) for step in worded] == _SWAPPED:
                found.update(hit.scaffolding for _, _, hit in swaps(pair.before, pair.after))
    return found[True] / found.total() if found else None
