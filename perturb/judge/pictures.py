"""Whether a picture still shows what it showed: where it lies in its variant, and how much of its lines is left."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher
from statistics import fmean

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from PIL import Image

from mmdyn import plugins
from mmdyn.keys import Json
from mmdyn.models import Box, Ocr, area, common
from mmdyn.sample import Step, Verdict
from perturb.item import EMBEDDED, Pixels
from perturb.judge._judge import Case, Doubt, Look, gravest
from perturb.strength import aligned

Mask = NDArray[np.bool_]

_CLEAR, _FAINTEST = 0.35, 12
"""A clear edge steps by at least this share of the picture's strongest edges, and by at least so many levels."""

_FADED = 0.4
"""Ink may fade: an edge counts as found where this share of a clear step is left."""

_SIDE = 320
"""Pictures are searched for on a grid of at most this many cells a side."""

_PEAKS, _LOOKS = 5, 250_000
"""So many of the best places on the grid are looked at closely, comparing about so many steps around each."""

_SCALES = ((16, 10, 0.05, 1.0), (32, 20, 0.1, 0.99), (32, 20, 0.0, 0.0))
"""For edges that may lie 0, 1 and 2 pixels off: the side of the blocks that are looked at one by one, in pixels, how
many edge pixels make one worth looking at, and which quantile of the blocks must keep what share for going by this
scale."""


class Edges(Struct, frozen=True, eq=False):
    """The steps between neighbouring pixels of a picture, shape (height, width), and which step is a clear edge in
    it."""

    steps: Pixels
    clear: int

    @property
    def none(self) -> bool:
        """Whether there is no clear edge at all: the picture shows nothing."""
        return not (self.steps >= self.clear).any()


class KeptEdges(Struct, frozen=True):
    """How many clear edges survived: their share, and the same for the worst block, with its middle (x,
    y).

    `near`: how many pixels off an edge may lie to count as still there.
    """

    share: float
    worst: float
    place: tuple[int, int]
    near: int


def find_edges(pixels: Pixels) -> Edges:
    """The largest step of each pixel to its right and lower neighbours in any channel; pixels as in a Picture."""
    planes = [pixels] if pixels.ndim == 2 else [np.ascontiguousarray(pixels[..., channel]) for channel in range(3)]
    steps = np.zeros(pixels.shape[:2], np.uint8)
    for plane in planes:
        np.maximum(steps[:, :-1], _apart(plane[:, 1:], plane[:, :-1]), out=steps[:, :-1])
        np.maximum(steps[:-1], _apart(plane[1:], plane[:-1]), out=steps[:-1])
    counts = np.array(Image.fromarray(steps).histogram())
    counts[:_FAINTEST] = 0
    above = np.cumsum(counts[::-1])[::-1]
    strongest = int(np.flatnonzero(above >= 0.02 * above[0]).max(initial=0)) if above[0] else 0
    return Edges(steps, max(_FAINTEST, round(_CLEAR * strongest)))


def locate(before: Edges, after: Edges) -> tuple[int, int]:
    """Where the top left corner of `before` lies in `after`, as (x, y): where all steps are equal, or else edges meet
    best.

    Nothing is scaled or turned. `after` must be at least as large; of equal sizes the place is (0, 0).
    """
    height, width = before.steps.shape
    room_y, room_x = after.steps.shape[0] - height, after.steps.shape[1] - width
    if room_x == room_y == 0:
        return 0, 0
    small, large = before.steps >= before.clear, after.steps >= _faded(before)
    cell = -(-max(large.shape) // _SIDE)
    points = np.flatnonzero(small)
    sample = points[:: 1 + len(points) * (4 * cell + 1) ** 2 // _LOOKS]
    found = list[tuple[float, int, int]]()
    for x, y in _peaks(_cells(small, cell) > 0, _cells(large, cell) > 0):
        reach = np.arange(-2 * cell, 2 * cell + 1)
        xs = np.unique(np.clip(cell * x + reach, 0, room_x))
        ys = np.unique(np.clip(cell * y + reach, 0, room_y))
        alike = _alike(before, after, sample, xs, ys)
        best = np.argsort(-alike, axis=None, kind="stable")[:_PEAKS]
        near = [(float(alike.flat[place]), int(xs[place % len(xs)]), int(ys[place // len(xs)])) for place in best]
        if exact := next(((left, top) for _, left, top in near if _equal(before, after, left, top)), None):
            return exact
        found += near
    _, left, top = max(found, key=lambda place: place[0])
    return left, top


def kept(before: Edges, after: Edges) -> KeptEdges:
    """How much of the clear edges of `before` is in `after`, pictures of one size.

    An edge may lie 0, 1 or 2 pixels off: as few as nearly all blocks need, so that a small change in a picture that is
    otherwise kept line by line is noticed. Where there is no edge, all are kept.
    """
    if before.none:
        return KeptEdges(1.0, 1.0, (0, 0), 0)
    clear = before.steps >= before.clear
    there = after.steps >= _faded(before)
    for near, (side, enough, quantile, share) in enumerate(_SCALES):
        found = clear & _thick(there, near)
        total = _blocks(clear, side)
        busy = total >= min(enough, int(total.max()))
        shares = np.where(busy, _blocks(found, side) / np.maximum(total, 1), 1.0)
        if np.quantile(shares[busy], quantile) >= share:
            break
    row, column = divmod(int(shares.argmin()), shares.shape[1])
    place = min((column + 1) * side // 2, clear.shape[1] - 1), min((row + 1) * side // 2, clear.shape[0] - 1)
    return KeptEdges(float(found.sum() / clear.sum()), float(shares.min()), place, near)


def _apart(a: Pixels, b: Pixels) -> Pixels:
    return np.maximum(a, b) - np.minimum(a, b)


def _faded(edges: Edges) -> int:
    return max(_FAINTEST * 2 // 3, round(_FADED * edges.clear))


def _peaks(small: Mask, large: Mask) -> Iterator[tuple[int, int]]:
    """The places (x, y) of the largest overlaps, apart from each other, the largest first, by the correlation
    theorem."""
    from scipy import fft

    size = [fft.next_fast_len(side, real=True) for side in large.shape]
    spectrum = fft.rfft2(large.astype(np.float32), size) * fft.rfft2(small.astype(np.float32), size).conj()
    overlap = fft.irfft2(spectrum, size)[: large.shape[0] - small.shape[0] + 1, : large.shape[1] - small.shape[1] + 1]
    for _ in range(_PEAKS):
        row, column = divmod(int(overlap.argmax()), overlap.shape[1])
        if np.isneginf(overlap[row, column]):
            return
        yield column, row
        overlap[max(0, row - 2) : row + 3, max(0, column - 2) : column + 3] = -np.inf


def _alike(
    before: Edges, after: Edges, points: NDArray[np.intp], xs: NDArray[np.int64], ys: NDArray[np.int64]
) -> NDArray[np.float32]:
    """How alike the steps at these points are, for each place (y, x): 1 where they are equal or all fade alike.

    It is the cosine of their angle, times the share of the points at which an edge is found.
    """
    rows, columns = np.divmod(points, before.steps.shape[1])
    places = ((rows[:, None] + ys) * after.steps.shape[1])[:, :, None] + (columns[:, None] + xs)[:, None, :]
    seen = after.steps.ravel()[places.reshape(len(points), -1)]
    own = before.steps.ravel()[points].astype(np.float32)
    found = (seen >= _faded(before)).mean(axis=0, dtype=np.float32)
    steps = seen.astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->j", steps, steps)) * np.float32(np.sqrt(own @ own))
    alike: NDArray[np.float32] = (found * (own @ steps) / np.maximum(length, 1)).reshape(len(ys), len(xs))
    return alike


def _equal(before: Edges, after: Edges, left: int, top: int) -> bool:
    """Whether the steps at this place are those of before; the last ones are not compared: they lead into a frame."""
    height, width = before.steps.shape
    there = after.steps[top : top + height - 1, left : left + width - 1]
    own = before.steps[:-1, :-1]
    middle = len(own) // 2
    return np.array_equal(there[middle : middle + 1], own[middle : middle + 1]) and np.array_equal(there, own)


def _thick(mask: Mask, by: int) -> Mask:
    """The mask grown by so many pixels to all sides."""
    for _ in range(2):
        grown = mask.copy()
        for shift in range(1, by + 1):
            grown[shift:] |= mask[:-shift]
            grown[:-shift] |= mask[shift:]
        mask = grown.T
    return mask


def _blocks(mask: Mask, side: int) -> NDArray[np.int64]:
    """How many pixels are set in each block of so many pixels a side; blocks overlap by half."""
    counts = _cells(mask, side // 2)
    for _ in range(2):
        counts = (counts[1:] + counts[:-1] if len(counts) > 1 else counts).T
    return counts


def _cells(mask: Mask, side: int) -> NDArray[np.int64]:
    """How many pixels are set in each square of so many pixels a side."""
    height, width = mask.shape
    padded = np.pad(mask, ((0, -height % side), (0, -width % side)))
    counts: NDArray[np.int64] = padded.reshape(padded.shape[0] // side, side, -1, side).sum(axis=(1, 3))
    return counts


VERSION = 3
"""Goes up whenever equal pictures may get another doubt."""

UNSEEN = 0.969
"""Confidence in changed pictures that only rules looked at: the lower end of Wilson's 95 % interval of 120 in 120.

So many questions of gaokao_mm (48), scemqa (36), we_math (18) and math_vision (18), drawn among those whose pictures
`image.invert` inverts, had the same answer when one reader read them with the inverted pictures alone; so had 54 in 54
of them, restyled by the embedded style at full strength. Nearly all are drawings; photographs may do worse.
"""

_DOSES, _TURNED = frozenset({"image.blur", "image.jpeg", "image.scale"}), "image.rotate"

_LOST = 0.6
"""A picture that keeps less of its edges than this is another one, or cut, or blurred beyond reading."""

_CHANGED = (0.8, 0.6, 0.5)
"""The share of its edges that every block must keep, where edges may lie 0, 1 and 2 pixels off."""

_NEW = 32
"""Texture that a style lays over a page is fainter than this; new lines are not."""


_SURE = 0.9
"""Readings of less confidence are no evidence: neither that something stood there nor that it stands there now."""

_LABEL = 3
"""Up to so many letters are a label, which must be read alike; longer ones may be misread by a letter in five."""

_LIKE = 0.8

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DASHES = dict.fromkeys(map(ord, "−–—－‐‑"), "-")
_TWINS = str.maketrans({"o": "0", "l": "1", "|": "1"})
"""What no reader can tell apart without the words around it; letters are compared in lower case for the same reason."""


def picture_checks(ocr: Ocr | None) -> Json:
    """Which checks take part, for the identity of a judge."""
    return {"version": VERSION, "edges": True, "ocr": ocr.identity if ocr else None}


def check_case(case: Case, ocr: Ocr | None) -> Doubt | None:
    """What speaks against the pictures of a variant. Words in them are read only where its trail does not say that what
    is drawn stayed, stroke by stroke."""
    return check_pictures(case.looks, None if _strokes_stay(case) else ocr)


def kept_verdict(verdict: Verdict, case: Case, ocr: Ocr | None) -> Verdict:
    """A verdict that keeps a variant, with what is still legible in its pictures; others as they are."""
    dosed = _is_dosed(case)
    if verdict.status != "kept" or ocr is None or (_strokes_stay(case) and not dosed):
        return verdict
    pairs = [_as_shown(look) if dosed else _found(look.before.pixels, look.after.pixels) for look in case.looks]
    lines = [alike for before, after in pairs for alike in _read_alike(before, after, ocr)]
    return replace(verdict, legibility=round(fmean(lines), 4)) if lines else verdict


def _strokes_stay(case: Case) -> bool:
    steps = case.after.variant.steps if case.after.variant else ()
    return bool(steps) and all(map(_keeps_strokes, steps))


def _is_dosed(case: Case) -> bool:
    """Whether pictures are worse to read by a dose, and each line lies where it lay."""
    steps = case.after.variant.steps if case.after.variant else ()
    dosed = any(step.operator in _DOSES or "dose" in step.params for step in steps)
    return dosed and all(step.operator != _TURNED for step in steps)


def _keeps_strokes(step: Step) -> bool:
    """The embedded style's tones rise in every channel, so that whatever differs in a picture still differs in it."""
    styled = step.operator == "image.style" and step.params.get("by") == EMBEDDED
    operator = plugins.load("operators", step.operator)
    return styled or operator.noisy or operator.keeps_lines or step.operator.startswith("text.")


def unseen(verdict: Verdict, case: Case, ocr: Ocr | None) -> Verdict:
    """A verdict of words, no surer than rules can be of pictures that changed, and with what is legible in them."""
    if not case.looks:
        return verdict
    sure = min(verdict.confidence or 0.0, UNSEEN)
    return kept_verdict(replace(verdict, confidence=sure), case, ocr)


def check_pictures(looks: tuple[Look, ...], ocr: Ocr | None) -> Doubt | None:
    """What speaks against the pictures of a variant; None where nothing does.

    A variant's picture may have a frame, inverted or other colours and another texture; its content is neither scaled
    nor turned. Certain is what nobody could answer from: a picture that was cut, is blank or kept hardly any of its
    edges. Doubtful are lines that are gone or new somewhere, and, where `ocr` is given, words and numbers that are not
    read alike. A picture without any edge, such as an empty page, has nothing to lose.
    """
    found = ((number, _check(look.before.pixels, look.after.pixels, ocr)) for number, look in enumerate(looks, 1))
    named = "picture {}: " if len(looks) > 1 else ""
    return gravest(replace(doubt, reason=named.format(number) + doubt.reason) for number, doubt in found if doubt)


def _check(before: Pixels, after: Pixels, ocr: Ocr | None) -> Doubt | None:
    height, width = before.shape[:2]
    if after.shape[0] < height or after.shape[1] < width:
        sizes = f"{width}x{height} to {after.shape[1]}x{after.shape[0]}"
        return Doubt(f"the picture was cut from {sizes} pixels", certain=True, confidence=0.99)
    edges = find_edges(before)
    if edges.none:
        return None
    before, content = _aligned(before, after, edges)
    if np.array_equal(before, content) or np.array_equal(~before, content):
        return None
    if doubt := _check_edges(edges, find_edges(content)):
        return doubt
    if ocr and (problem := misread(before, _polarised(before, content), ocr)):
        return Doubt(problem, certain=False, confidence=0.8)
    return None


def _aligned(before: Pixels, after: Pixels, edges: Edges) -> tuple[Pixels, Pixels]:
    """A picture, and the part of the other where its content lies."""
    left, top = locate(edges, find_edges(after))
    return _alike_in_channels(before, after[top : top + before.shape[0], left : left + before.shape[1]])


def _found(before: Pixels, after: Pixels) -> tuple[Pixels, Pixels]:
    return _aligned(before, after, find_edges(before))


def _as_shown(look: Look) -> tuple[Pixels, Pixels]:
    """The same by the place that operators name: edges may be lost."""
    return _alike_in_channels(look.before.pixels, aligned(look.before, look.shown or look.after))


def _alike_in_channels(before: Pixels, content: Pixels) -> tuple[Pixels, Pixels]:
    return (before, content) if before.ndim == content.ndim else (_rgb(before), _rgb(content))


def _read_alike(before: Pixels, content: Pixels, ocr: Ocr) -> list[bool]:
    """Of each line that is surely read in a picture, whether it is read alike in another of its size."""
    content = _polarised(before, content)
    lines = [(read_line(word.text, word.confidence), word.box) for word in ocr.read(before)]
    return [
        any(line.like(read_line(*ocr.spell(content, look))) for look in _looks(place))
        for line, place in lines
        if line.sure
    ]


def _check_edges(before: Edges, after: Edges) -> Doubt | None:
    if after.none:
        return Doubt("the picture is blank", certain=True, confidence=0.99)
    lines = kept(before, after)
    if lines.share < _LOST:
        return Doubt(f"only {lines.share:.0%} of the picture's lines are left", certain=True, confidence=0.95)
    if lines.worst < _CHANGED[lines.near]:
        return Doubt(f"lines near {lines.place} are gone or changed", certain=False, confidence=0.8)
    new = kept(Edges(after.steps, max(before.clear, after.clear, _NEW)), before)
    if new.worst < _CHANGED[new.near]:
        return Doubt(f"lines near {new.place} were added or changed", certain=False, confidence=0.8)
    return None


def _rgb(pixels: Pixels) -> Pixels:
    return np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels


def _polarised(before: Pixels, content: Pixels) -> Pixels:
    """The content inverted back where it was inverted: dark where the original is dark, as readers were trained to
    read."""
    dark = before < before.mean()
    return ~content if dark.any() and content[dark].mean() > content[~dark].mean() else content


class Reading(Struct, frozen=True):
    """A line as it was read, and what of it is compared: its digits in a row, and its letters."""

    text: str
    confidence: float
    digits: str
    letters: str

    @property
    def sure(self) -> bool:
        """Whether something was read that can be compared, beyond doubt."""
        return self.confidence >= _SURE and bool(self.digits or self.letters)

    def like(self, other: Reading) -> bool:
        """Whether two readings may be of the same words."""
        if self.digits != other.digits:
            return False
        if max(len(self.letters), len(other.letters)) <= _LABEL:
            return self.letters == other.letters
        return SequenceMatcher(None, self.letters, other.letters, autojunk=False).ratio() >= _LIKE

    def __str__(self) -> str:
        if _NUMBER.fullmatch(self.text.translate(_DASHES)):
            return f"the number {self.text}"
        return f"the label {self.text}" if len(self.letters + self.digits) <= _LABEL else f"{self.text[:40]!r}"


def read_line(text: str, confidence: float) -> Reading:
    """What of a line is compared: spaces and signs are not, but for a number's minus and decimal point."""
    plain = unicodedata.normalize("NFKC", text).translate(_DASHES).lower().translate(_TWINS)
    letters = "".join(char for char in plain if char.isalpha())
    return Reading(text, confidence, "".join(_NUMBER.findall(plain)), letters)


def misread(before: Pixels, after: Pixels, ocr: Ocr) -> str | None:
    """A sentence about the first line of text that is not read alike in two pictures of one size; None where all are.

    Lines are searched for in both pictures, and each place is read in both. What two looks at a picture do not agree on
    does not count.
    """
    words = ocr.read(before)
    for word in words:
        first = read_line(word.text, word.confidence)
        if problem := _compare(first, before, after, word.box, ocr, ("is read as", "cannot be read any more")):
            return problem
    for place in ocr.find(after):
        if not any(3 * area(common(place, word.box)) >= area(place) for word in words):
            first = read_line(*ocr.spell(after, place))
            if problem := _compare(first, after, before, place, ocr, ("stands in place of", "was added")):
                return problem
    return None


def _compare(first: Reading, of: Pixels, to: Pixels, place: Box, ocr: Ocr, kinds: tuple[str, str]) -> str | None:
    """What is wrong with `to` where a first reading of a place in `of` says something; None where it is read alike."""
    if not first.sure:
        return None
    readings = list[Reading]()
    for look in _looks(place):
        readings.append(read_line(*ocr.spell(to, look)))
        if first.like(readings[-1]):
            return None
    again = [read_line(*ocr.spell(of, look)) for look in _looks(place)]
    if not all(reading.sure and reading.like(first) for reading in again):
        return None
    found = max(readings, key=lambda reading: reading.confidence)
    return f"{first} {kinds[0]} {found.text}" if found.sure else f"{first} {kinds[1]}"


def _looks(place: Box) -> Iterator[Box]:
    """The place itself, and a little more around it."""
    left, top, right, bottom = place
    for more in (0, max(2, (bottom - top) // 8)):
        yield max(0, left - more), max(0, top - more), right + more, bottom + more
