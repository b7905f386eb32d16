"""OCR: finds and reads the words in pictures, with the models of the `ocr` extra, on the CPU and offline."""

from __future__ import annotations

import threading
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PIL import Image

from mmdyn.errors import MissingExtra
from mmdyn.keys import Json
from mmdyn.work import interrupts_deferred

Pixels = NDArray[np.uint8]

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom are exclusive."""

OCR_PACKAGES = ("rapidocr", "onnxruntime")
_SMALL_SIDE, _MOST_ZOOM = 736, 1.5
_MOST_PIXELS = 6_000_000
_TILE, _OVERLAP, _GRID = 1536, 128, 32
_LINE = 48
"""The height that the recogniser brings a line to."""

_REMEMBERED = 1024
"""More pictures than variants are under way at a time, so that an original is read once however many others come
between its variants."""


class Word(Struct, frozen=True):
    """A line of text: its box, and a confidence from 0 to 1."""

    text: str
    box: Box
    confidence: float


class Ocr:
    """Finds lines of text in pictures and reads them. Several threads may use it; each call uses one thread.

    Pixels are uint8 of shape (height, width) for grey or (height, width, 3) for RGB.

    Raises:
        MissingExtra: A package of the `ocr` extra is not installed.
    """

    def __init__(self) -> None:
        for package in OCR_PACKAGES:
            if not find_spec(package):
                raise MissingExtra(package, "ocr")
        self.identity: Json = {package: version(package) for package in OCR_PACKAGES}
        self._read = dict[bytes, tuple[Word, ...]]()
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @property
    def _engines(self) -> tuple[Any, Any]:
        """What finds lines and what spells them, loaded when the first picture comes: a second, and 200 MB."""
        with self._lock:
            if self._loaded is None:
                with interrupts_deferred():
                    self._loaded = _engine(use_rec=False), _engine(use_det=False)
            return self._loaded

    def read(self, pixels: Pixels) -> tuple[Word, ...]:
        """Return the lines of text in a picture, from top to bottom, without those that cannot be read.

        The results for the last 1,024 pictures are cached, so that an original is read once for all its variants.
        """
        key = blake2b(pixels.tobytes(), digest_size=16, key=str(pixels.shape).encode()).digest()
        if (words := self._read.get(key)) is None:
            spelled = ((box, *self.spell(pixels, box)) for box in self.find(pixels))
            words = tuple(Word(text, box, confidence) for box, text, confidence in spelled if text)
            with self._lock:
                self._read[key] = words
                if len(self._read) > _REMEMBERED:
                    del self._read[next(iter(self._read))]
        return words

    def find(self, pixels: Pixels) -> tuple[Box, ...]:
        """Return the boxes of lines of text, from top to bottom. Small pictures are enlarged first, large ones cut into
        tiles."""
        height, width = pixels.shape[:2]
        zoom = min(max(1.0, _SMALL_SIDE / min(height, width)), _MOST_ZOOM, sqrt(_MOST_PIXELS / (height * width)))
        image = _scaled(pixels, zoom)
        found = list[Box]()
        for left, top in product(_starts(image.width), _starts(image.height)):
            tile = image.crop((left, top, min(left + _TILE, image.width), min(top + _TILE, image.height)))
            quads = self._engines[0](_on_grid(tile)).boxes
            for quad in () if quads is None else quads:
                corners = (quad + np.array((left, top))) / zoom
                found.append(_inside((*corners.min(axis=0), *corners.max(axis=0)), width, height))
        return tuple(sorted(_merged(found), key=lambda box: (box[1], box[0])))

    def spell(self, pixels: Pixels, box: Box) -> tuple[str, float]:
        """Read a box as one line; return its text and confidence, ("", 0.0) where there is no text.

        A box at least twice as high as wide is read from bottom to top, as the labels of vertical axes are.
        """
        left, top, right, bottom = box
        crop = pixels[top:bottom, left:right]
        if not crop.size:
            return "", 0.0
        if bottom - top >= 2 * (right - left):
            crop = np.rot90(crop, -1)
        line = self._engines[1](np.asarray(_scaled(crop, max(1.0, _LINE / len(crop))))[..., ::-1])
        return (line.txts[0].strip(), float(line.scores[0])) if line.txts else ("", 0.0)


def open_ocr() -> Ocr | None:
    """Return an Ocr; None where the `ocr` extra is not installed."""
    return Ocr() if all(find_spec(package) for package in OCR_PACKAGES) else None


def _engine(**use: bool) -> Any:
    """Without the classifier of upside-down lines, which turns 80 into 08, and without any scaling of its own."""
    from rapidocr import RapidOCR

    whole = {"log_level": "critical", "text_score": 0.0, "use_preprocess_img": False, "use_cls": False, **use}
    params: dict[str, Any] = {f"Global.{name}": value for name, value in whole.items()}
    params |= {"Global.min_height": 0, "Global.width_height_ratio": -1}
    params |= {"Det.limit_type": "max", "Det.limit_side_len": 2 * _TILE}
    params |= {f"EngineConfig.onnxruntime.{name}_op_num_threads": 1 for name in ("intra", "inter")}
    return RapidOCR(params=params)


def _scaled(pixels: Pixels, zoom: float) -> Image.Image:
    image = Image.fromarray(np.ascontiguousarray(pixels)).convert("RGB")
    size = max(1, round(image.width * zoom)), max(1, round(image.height * zoom))
    return image if size == image.size else image.resize(size, Image.Resampling.BICUBIC)


def _on_grid(tile: Image.Image) -> Pixels:
    """The tile in the channel order and on the grid of the models, carried on at its right and lower edge."""
    missing = (-tile.height % _GRID, -tile.width % _GRID)
    pixels = np.asarray(tile)[..., ::-1]
    return np.pad(pixels, ((0, missing[0]), (0, missing[1]), (0, 0)), mode="edge")


def _starts(length: int) -> range:
    """Where tiles begin that overlap and cover a length."""
    return range(0, max(1, length - _OVERLAP), _TILE - _OVERLAP)


def _inside(corners: tuple[float, ...], width: int, height: int) -> Box:
    left, top, right, bottom = corners
    return max(0, int(left)), max(0, int(top)), min(width, int(right) + 1), min(height, int(bottom) + 1)


def _merged(boxes: list[Box]) -> list[Box]:
    """Boxes of which none lies by half in another one: a line that two tiles show is found once."""
    kept = list[Box]()
    for box in sorted(boxes, key=area, reverse=True):
        if not any(2 * area(common(box, other)) > area(box) for other in kept):
            kept.append(box)
    return kept


def common(a: Box, b: Box) -> Box:
    """The intersection of two boxes; its `area` is 0 where they do not overlap.

    >>> common((0, 0, 4, 4), (2, 1, 6, 3))
    (2, 1, 4, 3)
    """
    return max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])


def area(box: Box) -> int:
    """The number of pixels in a box; 0 where right is left of left, or bottom above top.

    >>> area((2, 1, 4, 3)), area((5, 0, 4, 4))
    (4, 0)
    """
    return max(0, box[2] - box[0]) * max(0, box[3] - box[1])
