"""A variant made again from its trail: nothing is drawn, and no model is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mmdyn import plugins
from mmdyn.data.images import ImageFolder
from mmdyn.errors import UserError
from mmdyn.keys import sha256
from mmdyn.sample import Sample
from perturb._operator import Item, NotApplicable
from perturb.codec import Pictures, encode
from perturb.workbench import Workbench


def replay(before: Sample, after: Sample, source: ImageFolder, workbench: Workbench | None = None) -> list[str]:
    """What differs between a variant and what its trail makes of its parent now; nothing where all bytes are equal.

    `source` holds the parent's pictures; the `workbench` is needed for a styler other than the embedded one. Raises
    UserError for a sample without a trail, and where a step cannot be done again.
    """
    originals = Pictures(source, before.all_images)
    return list(_differences(redo(before, after, originals, workbench), after, originals, source))


def redo(
    before: Sample, after: Sample, originals: Pictures, workbench: Workbench | None = None, *, noise: bool = True
) -> Item:
    """The parent as a variant's trail changes it, with or without the steps that lay noise over pictures.

    Raises UserError as `replay` does.
    """
    if after.variant is None:
        raise UserError(f"{after.id} is no variant: there is nothing to replay")
    item = Item(before, originals)
    for step in after.variant.steps:
        operator = plugins.load("operators", step.operator)(workbench)
        if operator.noisy and not noise:
            continue
        try:
            changed = operator.apply(item, step.params)
        except ValueError as error:
            raise UserError(f"{step.operator} cannot be replayed on {before.id}: {error}") from None
        if isinstance(changed, NotApplicable):
            raise UserError(f"{step.operator} no longer applies to {before.id}: {changed.reason}")
        item = changed
    return item


def _differences(item: Item, after: Sample, originals: Pictures, source: ImageFolder) -> Iterator[str]:
    made = item.sample
    for what in ("question", "task_type", "answer", "options_in_image"):
        if getattr(made, what) != getattr(after, what):
            yield what
    if [(option.label, option.text) for option in made.options] != [(o.label, o.text) for o in after.options]:
        yield "options"
    if len(made.all_images) != len(after.all_images):
        yield "number of pictures"
        return
    for number, (old, new) in enumerate(zip(made.all_images, after.all_images, strict=True), 1):
        changed = not np.array_equal(item.pictures[old].pixels, originals[old].pixels)
        data = encode(item.pictures[old]) if changed else source.read(old)
        if sha256(data) != Path(new).stem:
            yield f"picture {number}"
