"""What differs between a question and its variant: words, options, answer and pictures, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import numpy as np

from mmdyn.data import ImageFolder, describe_answer
from mmdyn.errors import printable
from mmdyn.sample import ImageRef, Sample
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
