"""The styler without a model: the picture as if printed in coloured ink on tinted, mottled paper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import cast

import numpy as np
import yaml
from numpy.random import Generator
from numpy.typing import NDArray
from PIL import Image

from mmdyn.keys import Json, digest
from perturb.item import Pixels, keys, mixed

VERSION = 1
"""Goes up whenever equal parameters paint other pixels."""

STRENGTHS = {"mild": 50, "": 80, "strong": 100}
"""By severity, the percentage of the palette's colours and of the paper's texture."""

CLOUD = 24
"""The distance in pixels between two clouds of the paper's mottling."""

_MOTTLE, _GRAIN, _SHADE = 10, 5, 36
"""At full strength: how far clouds, grain and the shade in the corners change the light, in levels of 255."""

_EDGE = 16
"""Neighbours that differ by at least this much belong to a drawing, where no grain is added."""


class EmbeddedStyler:
    """Maps white to a paper's colour and black to an ink's, and the values between them in proportion.

    Every channel goes through one rising line, so strokes keep their sharpness and contrast, colours keep their names,
    and white on black works, too. The paper has clouds and grain, hashed from the seed, the picture's number and the
    pixel's position, and is darker towards the corners. Integer arithmetic gives the same bits on every machine.
    """

    label = "embedded"
    device: str | None = None
    waits = 0

    def __init__(self) -> None:
        self.identity: Json = {"styler": self.label, "version": VERSION, "palettes": digest(palettes())}

    def params(self, stream: Generator, severity: str) -> dict[str, Json]:
        """Draw a palette, the strength in percent, and a 63-bit seed for the texture."""
        palette = list(palettes())[stream.integers(len(palettes()))]
        return {"palette": palette, "percent": STRENGTHS[severity], "seed": int(stream.integers(1 << 63))}

    def paint(self, pixels: Pixels, params: Mapping[str, Json], number: int) -> Pixels:
        """Paint an RGB picture of the same size; a grey one gets colours, too.

        Raises:
            ValueError: There is no such palette.

        >>> styler, white = EmbeddedStyler(), np.full((2, 3), 255, np.uint8)
        >>> styler.paint(white, {"palette": list(palettes())[0], "percent": 80, "seed": 1}, 0).shape
        (2, 3, 3)
        """
        percent = cast("int", params["percent"])
        table = _tones(cast("str", params["palette"]), percent)
        light = _light(pixels, percent, keys(cast("int", params["seed"]), number))
        painted = np.empty((*pixels.shape[:2], 3), np.uint8)
        for channel in range(3):
            toned = table[channel][pixels if pixels.ndim == 2 else pixels[..., channel]]
            toned += light
            painted[..., channel] = np.clip(toned, 0, 255, out=toned)
        return painted

    def close(self) -> None:
        """Nothing to close."""


@cache
def palettes() -> dict[str, dict[str, list[int]]]:
    """The RGB colours `paper` and `ink` of each palette, by name."""
    text = files("perturb.style").joinpath("palettes.yaml").read_text(encoding="utf-8")
    return cast("dict[str, dict[str, list[int]]]", yaml.safe_load(text))


@cache
def _tones(palette: str, percent: int) -> NDArray[np.int16]:
    """What each of the 256 values becomes in each channel: shape (3, 256)."""
    if palette not in palettes():
        raise ValueError(f"there is no palette {palette!r}: the palettes are {', '.join(palettes())}")
    colours = palettes()[palette]
    paper = 255 - (255 - np.array(colours["paper"])[:, None]) * percent // 100
    ink = np.array(colours["ink"])[:, None] * percent // 100
    tones: NDArray[np.int16] = ((ink * 255 + (paper - ink) * np.arange(256) + 127) // 255).astype(np.int16)
    return tones


def _light(pixels: Pixels, percent: int, texture: tuple[int, int]) -> NDArray[np.int16]:
    """What the paper adds to every channel, (height, width): clouds, grain where nothing is drawn, shade in the
    corners."""
    height, width = pixels.shape[:2]
    grain = _noise(height * width, texture[1]).reshape(height, width) * _blank(pixels)
    light = _clouds(height, width, texture[0]) * np.int16(_MOTTLE * percent // 100)
    light += grain * np.int16(_GRAIN * percent // 100)
    light >>= 7
    light -= _shade(height, percent)[:, None] + _shade(width, percent)
    return light


def _shade(size: int, percent: int) -> NDArray[np.int16]:
    """How much darker it is along a side: nothing in the middle, half of a corner's shade at the ends."""
    away = (2 * np.arange(size) + 1 - size) ** 2
    return (away * (_SHADE * percent // 100) // (2 * size * size)).astype(np.int16)


def _clouds(height: int, width: int, key: int) -> NDArray[np.int16]:
    """Values from -128 to 127 that change gently from place to place."""
    rows, columns = height // CLOUD + 2, width // CLOUD + 2
    lattice = Image.fromarray((_noise(rows * columns, key) + 128).astype(np.uint8).reshape(rows, columns))
    clouds = np.asarray(lattice.resize((width, height), Image.Resampling.BICUBIC))
    return clouds.astype(np.int16) - np.int16(128)


def _noise(size: int, key: int) -> NDArray[np.int16]:
    """Values from -128 to 127, hashed from the key and their place."""
    return (mixed(np.arange(size, dtype=np.uint32), key) >> np.uint32(24)).astype(np.int16) - np.int16(128)


def _blank(pixels: Pixels) -> NDArray[np.bool_]:
    """Where a pixel hardly differs from its four neighbours."""
    grey = pixels if pixels.ndim == 2 else np.asarray(Image.fromarray(pixels).convert("L"))
    level = grey.astype(np.int16)
    blank = np.ones(grey.shape, np.bool_)
    for levels, mask in ((level, blank), (level.T, blank.T)):
        same = np.abs(levels[1:] - levels[:-1]) < _EDGE
        mask[1:] &= same
        mask[:-1] &= same
    return blank
