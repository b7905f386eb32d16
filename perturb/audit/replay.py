"""A variant made again from its trail: nothing is drawn, and no model is asked for words."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn import plugins
from mmdyn.data import ImageFolder, replace_images
from mmdyn.errors import UserError
from mmdyn.keys import sha256
from mmdyn.sample import ImageRef, Sample, Step, Variant
from perturb.codec import LazyPictures, decode, encode, pictures_in
from perturb.item import EMBEDDED, Item, NotApplicable
from perturb.operator import Operator
from perturb.services import Services

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
