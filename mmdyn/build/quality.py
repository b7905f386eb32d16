"""Can a picture or a question be used as it is: readable, whole, not blank, not a double?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mmdyn.data import ImageFolder, open_image, page_of
from mmdyn.errors import InputError
from mmdyn.sample import IMAGE_MARK, ImageRef, Sample
from mmdyn.stats import Floats
from mmdyn.text import BLANK, count_blanks, fold, read_letters

SMALLEST = 32
"""Pixels of the longer side: nothing can be read in fewer."""
STEEPEST = 0.15
"""Of the contrast, the largest step between neighbouring pixels: lower in a picture without any edge. The least sharp
of 32 pictures of examination papers has .33."""
BROKEN = 0.25
"""Share of the height that one colour fills at the bottom, other than the paper's, where the rest never came."""
ALIKE = 4
"""Bits of 64 in which the fingerprints of one picture in two sizes may differ."""


def picture_problem(images: ImageFolder, ref: ImageRef) -> str:
    """What makes a picture useless; empty where nothing does."""
    try:
        grey = _grey(images, ref).astype(np.float64)
    except ValueError as error:
        return f"a picture cannot be read: {error}"
    if max(grey.shape) < SMALLEST:
        return f"a picture of {grey.shape[1]} x {grey.shape[0]} pixels is too small"
    low, high = np.percentile(grey, (0.5, 99.5))
    contrast = max(float(high - low), float(np.ptp(grey)) / 2)
    if contrast < 4:
        return "a picture is blank"
    if _is_broken(grey):
        return "a picture ends in an empty area, as a broken download does"
    steps = (np.abs(np.diff(grey, axis=axis)).max(initial=0.0) for axis in (0, 1))
    if max(map(float, steps)) < STEEPEST * contrast:
        return "a picture is blurred"
    return ""


def fingerprint_of(images: ImageFolder, ref: ImageRef) -> int:
    """64 bits that a picture keeps in another size or format: which of neighbouring areas is darker (difference
    hash). Raises InputError where it cannot be read."""
    try:
        small = Image.fromarray(_grey(images, ref)).resize((9, 8), Image.Resampling.LANCZOS)
    except ValueError as error:
        raise InputError(images.path(ref), None, f"cannot be read: {error}") from None
    pixels = np.asarray(small, dtype=np.int16)
    return int.from_bytes(np.packbits(pixels[:, 1:] > pixels[:, :-1]).tobytes(), "big")


def alike(one: int, other: int) -> bool:
    """Whether two fingerprints are of one picture."""
    return (one ^ other).bit_count() <= ALIKE


def _grey(images: ImageFolder, ref: ImageRef) -> NDArray[np.uint8]:
    """The picture in grey as a reader sees it on a page. Raises ValueError where it cannot be read."""
    return np.asarray(page_of(open_image(images.read(ref))).convert("L"))


def _is_broken(grey: Floats) -> bool:
    same = np.ptp(grey, axis=1) == 0
    rows = int(np.argmin(same[::-1])) if not same.all() else len(same)
    colour = grey[-1, 0]
    same_colour = grey[len(grey) - rows :, 0] == colour
    counts = np.bincount(grey[: len(grey) - rows].astype(np.uint8).ravel(), minlength=256)
    return rows >= BROKEN * len(grey) and bool(same_colour.all()) and counts[int(colour)] < counts.max()


_FIGURES = "figure|diagram|graph|picture|image|map|photograph|chart|drawing|sketch"
_SHOWN = re.compile(
    rf"\b(?:{_FIGURES})s? (?:above|below|shown)\b|\b(?:shown|pictured|illustrated|depicted) (?:in|above|below|here)\b"
    rf"|\b(?:in|from|of|using) (?:the|this|these) (?:{_FIGURES})s?\b"
    r"|[如下上右左见据看]图|图[中示]|图\s?[0-9一二三四甲乙①②]",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"上一?题|[接见据]第\s?\d+\s?题|阅读上文|根据上文|\bprevious (?:question|problem|part|passage)s?\b"
    r"|\bin question \d+|\b(?:passage|text|question)s? above\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"</(?:p|span|div|table|tr|td|font|sub|sup|br|b|i|u|em|strong)>|<(?:br|img|span|div|table|tr|td|font|p|sub|sup)\b[^<>]*>"
    r"|&(?:nbsp|lt|gt|amp|quot|ldquo|rdquo|times|deg);"
)
_CONCLUDES = re.compile(
    r"(?:故本?题?(?:正确)?(?:答案)?选|(?:正确)?答案[是为选]|故选)\s?[:：]?\s?(?P<zh>[A-H]{1,8})(?![A-Za-z])"
    r"|\b(?:correct )?(?:answer|option|choice) is:? \(?(?P<en>[A-H])\)?(?![\w'])"
)
_UNFINISHED = re.compile(
    r"(?:\b(?:the|a|an|of|to|and|or|in|is|are|with|for|from|that|by|on|at|as)|[,，、:：(（—-])$", re.IGNORECASE
)
_SIGN = re.compile(r"[^\W_]|[+<>=≤≥≠×÷±∞∅√−-]")
_LEAST = 4
"""Letters and digits of a question, its number and words of asking aside: fewer ask nothing."""


def shows_nothing(sample: Sample) -> str:
    """It speaks of a picture, and has none."""
    if sample.all_images or sample.options_in_image:
        return ""
    found = _SHOWN.search(sample.question)
    return f"it speaks of a picture ({found[0]!r}) and has none" if found else ""


def asks_nothing(sample: Sample) -> str:
    """It has too few words, or ends in the middle of a sentence."""
    text = IMAGE_MARK.sub("", sample.question).strip()
    if len(re.sub(r"\b(?:question|which|what|problem)\b|^\d+[.、]|[\W_]", "", text, flags=re.IGNORECASE)) < _LEAST:
        return "the question asks nothing"
    blank = BLANK.search(text[-12:]) or sample.kind.form == "blank"
    unclosed = text.count("$") % 2 or any(
        text.count(a) > text.count(b) for a, b in (("(", ")"), ("（", "）"), ("“", "”"), ("{", "}"))
    )
    if (unclosed or (_UNFINISHED.search(text) and not sample.options)) and not blank:
        return f"the question ends in the middle ({text[-20:]!r})"
    return ""


def is_unreadable(sample: Sample) -> str:
    """It was read in a wrong encoding, or holds characters that nobody can read, or markup."""
    from ftfy.badness import is_bad

    for text in (sample.question, *(option.text for option in sample.options)):
        if "\N{REPLACEMENT CHARACTER}" in text or any(0xE000 <= ord(char) < 0xF900 for char in text):
            return "it holds characters that cannot be read"
        if is_bad(text):
            return "it was read in a wrong encoding"
        if found := _MARKUP.search(text):
            return f"it holds markup ({found[0][:20]!r})"
    return ""


def options_fail(sample: Sample) -> str:
    """An option is empty, two are equal, or the options stand in the question, too."""
    texts = [option.text for option in sample.options]
    if any(option.image for option in sample.options) or sample.options_in_image:
        return ""
    spoken = [bool(_SIGN.search(text)) for text in texts]
    if any(spoken) and not all(spoken) and sum(spoken) > len(texts) / 2:
        return f"option {sample.options[spoken.index(False)].label} is empty"
    folded = [fold(text) for text in texts]
    if len(set(folded)) < len(folded):
        return "two options are equal"
    listed = (
        rf"{re.escape(option.label)}\s?[.．、:：)）]\s*{re.escape(option.text.strip())}" for option in sample.options
    )
    if texts and all(re.search(one, sample.question) for one in listed):
        return "the options stand in the question, too"
    return ""


def blanks_differ(sample: Sample) -> str:
    """It shows another number of blanks than its answer has."""
    if sample.kind.form != "blank" or not isinstance(sample.answer, tuple):
        return ""
    shown = count_blanks(sample.question)
    return f"it shows {shown} blanks, and has {len(sample.answer)} answers" if shown > len(sample.answer) else ""


def explained_otherwise(sample: Sample) -> str:
    """Its explanation ends with another letter than its answer; that of a group may speak of all its questions."""
    found = list(_CONCLUDES.finditer(sample.explanation)) if sample.options and not sample.group else []
    if not found:
        return ""
    said = read_letters(found[-1]["zh"] or found[-1]["en"])
    return f"the explanation says {''.join(said)}" if {*said} != {*map(str, sample.answer)} else ""  # type: ignore[arg-type]


def stands_elsewhere(sample: Sample) -> str:
    """It needs another question or a text that is not there."""
    found = _ELSEWHERE.search(sample.question) if sample.group is None or sample.images else None
    return f"it needs what stands elsewhere ({found[0]!r})" if found else ""


RULES: tuple[Callable[[Sample], str], ...] = (
    is_unreadable,
    asks_nothing,
    shows_nothing,
    options_fail,
    blanks_differ,
    explained_otherwise,
    stands_elsewhere,
)


def word_problems(sample: Sample) -> Iterator[str]:
    """What makes a question useless as it is written."""
    return filter(None, (rule(sample) for rule in RULES))
