"""A question beside its variants for people, and what differs between them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from mmdyn.data import ImageFolder, SampleSet, describe_answer, describe_sample, describe_trail, sample_html
from mmdyn.errors import UserError, printable
from mmdyn.html import html_table
from mmdyn.keys import digest
from mmdyn.sample import ImageRef, Sample
from mmdyn.sheets import find_parent
from mmdyn.tables import open_console, print_grid, say
from perturb.codec import decode

_AROUND = 6
"""Words that are shown on each side of a change."""
_TOKEN = re.compile(r"[^\W\d_\u3040-\u9fff]+|\d+|\s+|.", re.DOTALL)


def differences(before: Sample, after: Sample, source: ImageFolder, images: ImageFolder) -> list[str]:
    """A line for each part that differs, as `question: … the [-side-]{+edge+} marked …`; none where nothing does."""
    old, new = _parts(before), _parts(after)
    lines = [
        f"{name}: {changed_words(old.get(name, ''), new.get(name, ''))}"
        for name in {**old, **new}
        if old.get(name, "") != new.get(name, "")
    ]
    return [printable(line) for line in (*lines, *_changed_pictures(before, after, source, images))]


def changed_words(before: str, after: str) -> str:
    """The words around each change on one line: [-old-] went, {+new+} came, and an ellipsis is what is equal."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    shown = []
    for place, (kind, a, b, c, d) in enumerate(steps):
        if kind == "equal":
            shown.append(_shortened(old[a:b], first=place == 0, last=place == len(steps) - 1))
        else:
            shown += [f"[-{''.join(old[a:b])}-]"] * (b > a) + [f"{{+{''.join(new[c:d])}+}}"] * (d > c)
    return " ".join("".join(shown).split())


def _shortened(words: Sequence[str], *, first: bool, last: bool) -> str:
    """Equal words, but for those that are far from any change."""
    head, tail = 0 if first else 2 * _AROUND, 0 if last else 2 * _AROUND
    if len(words) <= head + tail:
        return "".join(words)
    return f"{''.join(words[:head])} … {''.join(words[len(words) - tail :])}"


def _parts(sample: Sample) -> dict[str, str]:
    """Every part of a sample that is text, by what it is called."""
    turns = {f"turn {number}": turn.text for number, turn in enumerate(sample.turns, 1)}
    options = {f"option {option.label}": option.text for option in sample.options}
    kind = {"task type": sample.task_type, "answer": describe_answer(sample.answer)}
    return {**turns, "question": sample.question, **options, **kind}


def _changed_pictures(before: Sample, after: Sample, source: ImageFolder, images: ImageFolder) -> Iterator[str]:
    old, new = before.all_images, after.all_images
    for number, (was, now) in enumerate(zip(old, new, strict=False), 1):
        if was != now:
            yield f"image {number}: {_changed_picture(was, now, source, images)}"
    if len(old) != len(new):
        yield f"images: {len(old)} before, {len(new)} after"


def _changed_picture(was: ImageRef, now: ImageRef, source: ImageFolder, images: ImageFolder) -> str:
    try:
        old, new = (np.atleast_3d(decode(folder.read(ref)).pixels) for folder, ref in ((source, was), (images, now)))
    except ValueError as error:
        return str(error)
    sizes = f"{old.shape[1]}x{old.shape[0]}", f"{new.shape[1]}x{new.shape[0]}"
    if sizes[0] != sizes[1]:
        return f"{sizes[0]} before, {sizes[1]} after"
    return f"{sizes[0]}, {np.any(old != new, axis=2).mean():.0%} of its pixels differ"


_LONGEST = 60
"""Characters of an id in a folder's name: in Chinese that is three times as many bytes, and a name may have 255."""


def print_beside(before: Sample, after: Sample, source: ImageFolder, images: ImageFolder) -> None:
    """Print a parent and its variant in two columns, and under them what differs, and the trail with the verdict."""
    attempt = after.variant.attempt if after.variant else 0
    heads = "before", f"after, attempt {attempt}" if attempt else "after"
    sides = describe_sample(before, source), describe_sample(replace(after, variant=None), images)
    lines = zip_longest(*(side.split("\n") for side in sides), fillvalue="")
    print_grid(after.id, [dict(zip(heads, line, strict=True)) for line in lines], labels=2)
    console = open_console()
    for line in differences(before, after, source, images):
        say(console, f"  {line}")
    for line in describe_trail(after).splitlines():
        say(console, line)


def folder_name(variant: Sample) -> str:
    """A name for a variant's folder of which no other variant has an equal one: its id where that can be one."""
    id, attempt = variant.id, variant.variant.attempt if variant.variant else 0
    name = re.sub(r"[^\w~+-]", "_", id)[:_LONGEST]
    return name + f".{digest(id, 4)}" * (name != id) + f".attempt{attempt}" * (attempt > 0)


def write_pictures(
    before: Sample, after: Sample, source: ImageFolder, images: ImageFolder, folder: Path
) -> list[tuple[Path, Path]]:
    """Copy each pair of pictures into a folder as 1-before.png, 1-after.png, …; the pairs in order.

    Raises UserError where a picture is missing or the folder cannot be written.
    """
    pairs = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, (old, new) in enumerate(zip(before.all_images, after.all_images, strict=False), 1):
            here = folder / f"{number}-before{Path(old).suffix}"
            there = folder / f"{number}-after{Path(new).suffix}"
            shutil.copyfile(source.path(old), here)
            shutil.copyfile(images.path(new), there)
            pairs.append((here, there))
    except OSError as error:
        reason = f"{error.filename or folder} cannot be copied ({error.strerror})"
        raise UserError(f"{reason}: choose another --pictures") from None
    return pairs


class Beside:
    """A parent and its variants; shown side by side, with the words that changed marked."""

    def __init__(self, parents: SampleSet, parent: Sample, dynamic: SampleSet, variants: list[Sample]) -> None:
        self.parent, self.variants = parent, variants
        self._before, self._after = parents.images, dynamic.images

    def __repr__(self) -> str:
        variants = (describe_sample(variant, self._after) for variant in self.variants)
        return "\n\n".join((describe_sample(self.parent, self._before), *variants))

    def _repr_html_(self) -> str:
        heads = [self.parent.id, *(one.variant.chain for one in self.variants if one.variant)]
        cells = [sample_html(self.parent, self._before)]
        cells += [sample_html(variant, self._after, self.parent) for variant in self.variants]
        return html_table(heads, [cells], notes=[describe_trail(variant) for variant in self.variants])


def beside(dynamic: SampleSet, id: str, parents: SampleSet | str | Path | None = None) -> Beside:
    """Show a question, by its id or a variant's, beside the variants that a dynamic set has of it.

    Args:
        dynamic: A set that `perturb` made.
        id: The id of a question, or of one of its variants.
        parents: The set that it was made of, where that is not beside it or in it.

    Returns:
        What a terminal prints as text, and a notebook shows as markup.

    Raises:
        UserError: There is no such question, or its set is not found.

    >>> from perturb import perturb
    >>> hexagon = {"id": "hexagon", "question": "How many sides does a hexagon have?", "task_type": "single_choice"}
    >>> hexagon |= {"answer": ["B"], "options": [{"label": "A", "text": "five"}, {"label": "B", "text": "six"}]}
    >>> beside(perturb([hexagon], "varied", ops="shuffle", quiet=True), "hexagon")
    hexagon  (single_choice, en)
      How many sides does a hexagon have?
        A. five
      * B. six
      answer: B
    ...
    """
    source = find_parent(dynamic, parents.folder if isinstance(parents, SampleSet) else parents)
    id = next((one.parent for one in dynamic if one.id == id), id)
    return Beside(source, source[id], dynamic, [one for one in dynamic if one.parent == id])
