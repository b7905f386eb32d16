"""Can a picture or a question be used as it is: readable, whole, not blank, not a double?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mmdyn.data import ImageFolder, open_image, page_of
from mmdyn.errors import InputError
from mmdyn.sample import IMAGE_MARK, ImageRef, Sample
from mmdyn.stats import Floats
from mmdyn.text import BLANK, count_blanks, read_letters

SMALLEST = 32
"""Pixels of the longer side: nothing can be read in fewer."""
STEEPEST = 0.15
"""Of the contrast, the largest step between neighbouring pixels: lower in a picture without any edge. The least sharp
of 32 pictures of examination papers has .33."""
BROKEN = 0.25
"""Share of the height that one colour fills at the bottom, other than the paper's, where the rest never came."""
BLOCK, EVEN, FAINT, SPECKS, SPECK = 8, 64, 16, 30, 4
"""Pixels of a block; grey levels by which an even page may differ from place to place, and its pixels from their place;
how many specks a nearly blank page has at most, and their pixels, which are no more than a hundredth of the page."""
ROUGH, APART, MANY = (0.4, 2), 12, 300
"""How much rougher than independent pixels the means of blocks are in noise, and how far one lies off at most; how many
pixels stand out, at least, or none. The first is 3 and more in 590 pictures of examinations, 1 in noise."""
CODE = 0.4
"""Share of the inked part of a picture that a QR code takes: a poster that holds one may be asked about."""
ALIKE = 4
"""Bits of 64 in which the fingerprints of one picture in two sizes may differ."""


def picture_problem(images: ImageFolder, ref: ImageRef, question: str) -> str:
    """What makes a picture useless; empty where nothing does. A question may be about a QR code."""
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
    if min(grey.shape) >= BLOCK and (problem := _is_empty(grey)):
        return problem
    if not _OF_CODES.search(question) and _is_code(grey < (low + high) / 2):
        return "a picture is a QR code"
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


def _is_empty(grey: Floats) -> str:
    """Whether there is noise alone, or an even page with at most some specks and a line from edge to edge, as a scanner
    leaves them.

    The page's shade is a surface of second degree, by least squares through the means of blocks.
    """
    from scipy.ndimage import find_objects, label

    rows, columns = (size // BLOCK for size in grey.shape)
    grey = grey[: rows * BLOCK, : columns * BLOCK]
    means = grey.reshape(rows, BLOCK, columns, BLOCK).mean((1, 3))
    y, x = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns), indexing="ij")
    terms = np.stack([np.ones_like(x), x, y, x * y, x * x, y * y], -1)
    shade = terms @ np.linalg.lstsq(terms.reshape(-1, 6), means.ravel(), rcond=None)[0]
    off, rest = means - shade, grey - np.kron(shade, np.ones((BLOCK, BLOCK)))
    steps = np.mean([np.square(np.diff(grey, axis=axis)).mean() / 2 for axis in (0, 1)]) ** 0.5 / BLOCK
    out = np.abs(rest) > FAINT
    if np.ptp(shade) > EVEN or means.size < 64:
        return ""
    is_noise = ROUGH[0] * steps < off.std() < ROUGH[1] * steps and np.abs(off).max() < APART * steps
    if is_noise and out.sum() not in range(1, MANY):
        return "a picture is noise"
    found = find_objects(label(out, np.ones((3, 3)))[0])
    sizes = np.array([[part.stop - part.start for part in one] for one in found]).reshape(-1, 2)
    line = ((sizes > 0.95 * np.array(rest.shape)) & (sizes[:, ::-1] < SPECK) & (min(rest.shape) > 99)).any(1)
    left = sizes[~line] if line.sum() < 2 else sizes
    even = len(left) <= SPECKS and left.max(initial=0) <= min(SPECK, max(rest.shape) // 100)
    return "a picture is nearly blank" if even else ""


def _is_code(dark: NDArray[np.bool_]) -> bool:
    """Whether most of what is dark is a QR code, which has in three corners a square of 3 modules in a frame of 7
    (ISO/IEC 18004)."""
    from scipy.ndimage import find_objects, label

    labels = label(dark)[0]
    ink, inked = np.bincount(labels.ravel())[1:], np.ptp(np.argwhere(dark), axis=0) + 1
    ends = np.array([[(side.start, side.stop) for side in part] for part in find_objects(labels)]).reshape(-1, 2, 2)
    sides, centres = np.ptp(ends, axis=2), ends.mean(2)
    sizes = sides.mean(1)

    def holds_core(frame: int) -> bool:
        inside = np.abs(centres - centres[frame]).max(1) < 0.08 * sizes[frame]
        core = (np.abs(7 / 3 * sizes / sizes[frame] - 1) < 0.25) & (np.abs(24 / 9 * ink / ink[frame] - 1) < 0.4)
        return bool((inside & core).any())

    frames = np.flatnonzero((np.ptp(sides, axis=1) <= 0.2 * sizes) & (sizes >= 7) & (ink < 0.6 * sizes**2))
    for three in map(list[int], combinations([*filter(holds_core, frames.tolist())][:12], 3)):
        size, pairs = sizes[three], combinations(centres[three], 2)
        one, other, across = sorted(float(np.hypot(*(a - b))) for a, b in pairs)
        if (
            max(other / one, abs(across / other - 1.41) + 1, np.ptp(size) / size.max() + 0.85)
            < 1.12
            < other / size.mean()
        ):
            return bool((other + size.mean()) ** 2 > CODE * inked.prod())
    return False


def _is_broken(grey: Floats) -> bool:
    same = np.ptp(grey, axis=1) == 0
    rows = int(np.argmin(same[::-1])) if not same.all() else len(same)
    colour = grey[-1, 0]
    same_colour = grey[len(grey) - rows :, 0] == colour
    counts = np.bincount(grey[: len(grey) - rows].astype(np.uint8).ravel(), minlength=256)
    return rows >= BROKEN * len(grey) and bool(same_colour.all()) and counts[int(colour)] < counts.max()


_OF_CODES = re.compile(r"\bQR\b|二维码|quick response", re.IGNORECASE)
_FIGURES = "figure|diagram|graph|picture|image|map|photograph|chart|drawing|sketch"
_SHOWN = re.compile(
    rf"\b(?:{_FIGURES})s? (?:above|below|shown)\b"
    rf"|\b(?:in|from|of|using|shown|pictured|illustrated|depicted)(?: in)? (?:the|this|these) (?:{_FIGURES})s?\b"
    r"|\b(?:shown|pictured|illustrated|depicted) (?:above(?!.*\n)|below(?!.*\n)|here\b)"
    r"|(?<![去以])[如下上右左见据看]图(?![书案腾])|(?<![试企意版力])图(?:[中示]|\s?[0-9一二三四甲乙①②])",
    re.IGNORECASE,
)
_SET = re.compile(r" & |\\black|[■▲●★]")
"""Columns of an array, or symbols, of which a figure is set in the text."""
_ELSEWHERE = re.compile(
    r"(?:[根据由接用在同]|依据)上一?题(?!目)|[接见据]第\s?\d+\s?题|阅读上文|根据上文"
    r"|\bprevious (?:question|problem|part|passage)s?\b|\bin question \d+|\b(?:passage|text|question)s? above\b",
    re.IGNORECASE,
)
_THINGS = r"\b(?:solution|answer|explanation|video|audio)s?\b|解析|答案|视频|讲解|音频|听力|录音|微课|详解|课件"
_SCAN = r"(?:\bscan (?:\S+ ){0,3}?(?:qr[ -]?)?code\b|扫(?:描|一扫|码)(?:.{0,8}二维码)?)"
_ASK = r"(?:please |to .{3,40}, |use .{2,20} to )?(?:请|可以?|使?用|打开|微信|手机|同学们?|读者|考生|[，,\s])*"
_SCANS = re.compile(
    rf"^\W*{_ASK}{_SCAN}(?:.{{0,40}}?(?:{_THINGS})|\W*$)|(?:{_THINGS})[：:]?{_ASK}{_SCAN}[^,，]{{0,12}}$", re.IGNORECASE
)
"""Sends the reader to a code, in the first or the last sentence; people in a question may scan one, too."""
_MARKUP = re.compile(
    r"</(?:p|span|div|table|tr|td|font|sub|sup|br|b|i|u|em|strong)>|<(?:br|img|span|div|table|tr|td|font|p|sub|sup)\b[^<>]*>"
    r"|&(?:nbsp|lt|gt|amp|quot|ldquo|rdquo|times|deg);"
)
_CONCLUDES = re.compile(
    r"(?:故本?题?(?:正确)?(?:答案)?选|(?:正确)?答案[是为选]|故选)\s?[:：]?\s?(?P<zh>[A-H]{1,8})(?![A-Za-z])"
    r"|\b(?:correct )?(?:answer|option|choice) is:? \(?(?P<en>[A-H])\)?(?![\w'])"
)
_ENDED = re.compile(r"[.?!;](?=\s)|[。？！；．\n]")
_PAIRS = (("(?<!^)[(（](?!$)", "[)）]"), ("“", "”"), (r"(?<!\\)\{", r"(?<!\\)\}"))
_UNFINISHED = re.compile(
    r"\b(?i:find|what|which|how|calculate|determine|explain)\b.*\b(?:the|an)$|\b(?:and|or)$|[^\W\d_]{2}[,，、]$",
    re.DOTALL,
)
_SIGN = re.compile(r"[^\W_]|[+<>=≤≥≠×÷±∞∅√−-]")
_LEAST = 4
"""Letters and digits of a question, its number and words of asking aside: fewer ask nothing, but 2 do before a blank or
an equals sign, or beside a picture."""


def shows_nothing(sample: Sample) -> str:
    """It speaks of a picture, and has none."""
    asked = sample.question.rpartition("\n")[2] if sample.group else sample.question
    found = None if sample.all_images or sample.options_in_image or _SET.search(asked) else _SHOWN.search(asked)
    return f"it speaks of a picture ({found[0]!r}) and has none" if found else ""


def asks_nothing(sample: Sample) -> str:
    """It has too few words, or its last sentence ends in the middle."""
    text = IMAGE_MARK.sub("", sample.question).strip()
    blank = BLANK.search(text[-12:]) or sample.kind.form == "blank"
    least = 2 if blank or "=" in text or sample.all_images else _LEAST
    if len(re.sub(r"\b(?:question|which|what|problem)\b|^\d+[.、]|[\W_]", "", text, flags=re.IGNORECASE)) < least:
        return "the question asks nothing"
    last = _ENDED.split(text)[-1].strip()
    opens = last[-1:] not in ".?!" and any(len(re.findall(a, last)) > len(re.findall(b, last)) for a, b in _PAIRS)
    opens |= len(re.findall(r"(?<!\\)\$", text)) % 2 == 1 and not re.search(r"\$\s?\d", text)
    if not blank and (opens or (_UNFINISHED.search(last) and not sample.options)):
        return f"the question ends in the middle ({text[-20:]!r})"
    return ""


def scans(sample: Sample) -> str:
    """It has its reader scan a code."""
    sentences = [one for one in re.split(r"(?<=[.!?。！？\n])", sample.question) if re.search(r"\w", one)]
    found = next(filter(None, map(_SCANS.search, (*sentences[:1], *sentences[-1:]))), None)
    return f"it has its reader scan a code ({found[0][:40]!r})" if found else ""


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
    folded = [" ".join(text.split()) for text in texts]
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
    found = _ELSEWHERE.search(sample.question[:200]) if sample.group is None or sample.images else None
    return f"it needs what stands elsewhere ({found[0]!r})" if found else ""


RULES: tuple[Callable[[Sample], str], ...] = (
    is_unreadable,
    asks_nothing,
    shows_nothing,
    options_fail,
    blanks_differ,
    explained_otherwise,
    stands_elsewhere,
    scans,
)


def word_problems(sample: Sample) -> Iterator[str]:
    """What makes a question useless as it is written."""
    return filter(None, (rule(sample) for rule in RULES))
