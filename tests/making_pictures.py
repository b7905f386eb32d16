"""Exam pictures that tests draw: line art with labels and numbers whose places are known, and damage done to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from PIL import Image, ImageDraw, ImageFilter, ImageFont

Box = tuple[int, int, int, int]
Point = tuple[float, float]
INK, PAPER = (20, 20, 20), (255, 255, 255)


class Drawing(Struct, frozen=True, eq=False):
    """A drawn picture: uint8 pixels (height, width) or (height, width, 3), read-only, and the box of each text in it.

    Boxes are (left, top, right, bottom) in pixels, in the order of drawing.
    """

    name: str
    pixels: np.ndarray
    texts: tuple[tuple[str, Box], ...]

    def box(self, text: str) -> Box:
        """Where a text stands (the first of its kind)."""
        return dict(reversed(self.texts))[text]

    @property
    def numbers(self) -> list[str]:
        """The texts that are whole numbers."""
        return [text for text, _ in self.texts if text.isdigit()]


class Sheet:
    """A page to draw on. `instead` replaces texts as they are written: {"6": "5"} writes 5 wherever 6 is meant."""

    def __init__(self, width: int, height: int, size: int = 20, instead: Mapping[str, str] | None = None) -> None:
        self.image = Image.new("RGB", (width, height), PAPER)
        self.pen = ImageDraw.Draw(self.image)
        self.font = ImageFont.load_default(size)
        self.instead = instead or {}
        self.texts: list[tuple[str, Box]] = []

    def write(self, x: float, y: float, text: str, ink: tuple[int, int, int] = INK) -> None:
        """Write a text with its middle at (x, y)."""
        text = self.instead.get(text, text)
        left, top, right, bottom = self.pen.textbbox((x, y), text, font=self.font, anchor="mm")
        self.pen.text((x, y), text, fill=ink, font=self.font, anchor="mm")
        self.texts.append((text, (math.floor(left), math.floor(top), math.ceil(right), math.ceil(bottom))))

    def line(self, *points: Point, ink: tuple[int, int, int] = INK, width: int = 2) -> None:
        """Draw a polyline."""
        self.pen.line(points, fill=ink, width=width)


def triangle(sheet: Sheet, draw: np.random.Generator) -> None:
    """A triangle with lettered corners and three lengths."""
    width, height = sheet.image.size
    a, b, c = ((0.12 * width, 0.82 * height), (0.85 * width, 0.8 * height), (draw.uniform(0.3, 0.7) * width, 0.16 * height))  # fmt: skip
    sheet.line(a, b, c, a)
    for letter, (x, y), (dx, dy) in zip("ABC", (a, b, c), ((-18, 14), (18, 14), (0, -18)), strict=True):
        sheet.write(x + dx, y + dy, letter)
    lengths = draw.choice(np.arange(11, 99), 3, replace=False)
    for (p, q), (dx, dy), length in zip(((a, b), (b, c), (c, a)), ((0, 18), (24, -6), (-24, -6)), lengths, strict=True):
        sheet.write((p[0] + q[0]) / 2 + dx, (p[1] + q[1]) / 2 + dy, str(length))


def chart(sheet: Sheet, draw: np.random.Generator) -> None:
    """A bar chart with a scale, coloured bars and their values."""
    width, height = sheet.image.size
    floor, left = 0.85 * height, 0.14 * width
    sheet.line((left, 0.1 * height), (left, floor), (0.95 * width, floor))
    for step in range(1, 5):
        y = floor - step * 0.17 * height
        sheet.line((left - 6, y), (left, y))
        sheet.write(left - 26, y, str(step * 20))
    values = draw.choice(np.arange(15, 85), 4, replace=False)
    for place, (value, name) in enumerate(zip(values, ("Mon", "Tue", "Wed", "Thu"), strict=True)):
        x = left + (0.12 + place * 0.2) * width
        top = floor - value / 80 * 0.66 * height
        ink = tuple(int(v) for v in draw.integers(60, 220, 3))
        sheet.pen.rectangle((x - 18, top, x + 18, floor), fill=ink, outline=INK)
        sheet.write(x, top - 14, str(value))
        sheet.write(x, floor + 16, name)


def table(sheet: Sheet, draw: np.random.Generator) -> None:
    """A ruled table of names and numbers."""
    width, height = sheet.image.size
    columns, rows = 4, 4
    xs = [0.05 * width + i * 0.9 * width / columns for i in range(columns + 1)]
    ys = [0.08 * height + i * 0.84 * height / rows for i in range(rows + 1)]
    for x in xs:
        sheet.line((x, ys[0]), (x, ys[-1]))
    for y in ys:
        sheet.line((xs[0], y), (xs[-1], y))
    numbers = iter(draw.choice(np.arange(10, 999), rows * columns, replace=False))
    for row in range(rows):
        for column in range(columns):
            text = ("time", "speed", "mass", "force")[column] if row == 0 else str(next(numbers))
            sheet.write((xs[column] + xs[column + 1]) / 2, (ys[row] + ys[row + 1]) / 2, text)


def options(sheet: Sheet, draw: np.random.Generator) -> None:
    """A circle above a row of answers."""
    width, height = sheet.image.size
    r = 0.28 * min(width, height)
    x, y = 0.5 * width, 0.38 * height
    sheet.pen.ellipse((x - r, y - r, x + r, y + r), outline=INK, width=2)
    sheet.line((x, y), (x + r, y))
    sheet.write(x - 12, y, "O")
    sheet.write(x + r / 2, y - 14, str(draw.integers(2, 10)))
    for place, (letter, value) in enumerate(zip("ABCD", draw.choice(np.arange(10, 99), 4, replace=False), strict=True)):
        sheet.write((0.14 + place * 0.24) * width, 0.88 * height, f"{letter}. {value}")


def circuit(sheet: Sheet, draw: np.random.Generator) -> None:
    """A loop with two resistors, a lamp and a source."""
    width, height = sheet.image.size
    left, right, top, bottom = 0.15 * width, 0.85 * width, 0.2 * height, 0.8 * height
    sheet.line((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
    for place, name in ((0.35, "R1"), (0.65, "R2")):
        x = place * width
        sheet.pen.rectangle((x - 28, top - 9, x + 28, top + 9), fill=PAPER, outline=INK, width=2)
        sheet.write(x, top - 24, name)
        sheet.write(x, top + 26, f"{draw.integers(12, 99)} Ohm")
    x = 0.5 * width
    sheet.pen.ellipse((x - 16, bottom - 16, x + 16, bottom + 16), fill=PAPER, outline=INK, width=2)
    sheet.line((x - 11, bottom - 11), (x + 11, bottom + 11))
    sheet.line((x - 11, bottom + 11), (x + 11, bottom - 11))
    sheet.write(x, bottom - 32, f"{draw.integers(3, 24)} V")


def graph(sheet: Sheet, draw: np.random.Generator) -> None:
    """A parabola in a labelled coordinate system, in colour."""
    width, height = sheet.image.size
    x0, y0 = 0.15 * width, 0.82 * height
    sheet.line((x0, 0.06 * height), (x0, y0), (0.96 * width, y0))
    sheet.write(0.96 * width, y0 + 16, "x")
    sheet.write(x0 - 16, 0.06 * height + 6, "y")
    for step in range(1, 6):
        sheet.line((x0 + step * 0.15 * width, y0), (x0 + step * 0.15 * width, y0 - 6))
        sheet.write(x0 + step * 0.15 * width, y0 + 16, str(step * 10 + int(draw.integers(0, 9))))
    bend = draw.uniform(0.8, 1.2)
    curve = [(x0 + t * 0.75 * width, y0 - bend * 4 * t * (1 - t) * 0.55 * height) for t in np.linspace(0, 1, 60)]
    sheet.line(*curve, ink=(200, 30, 30))


KINDS: dict[str, Callable[[Sheet, np.random.Generator], None]] = {
    kind.__name__: kind for kind in (triangle, chart, table, options, circuit, graph)
}
SIZES = ((480, 360), (640, 420), (400, 400), (560, 340))


def drawn(kind: str, seed: int = 0, instead: Mapping[str, str] | None = None, grey: bool = False) -> Drawing:
    """One picture; equal arguments draw equal pixels, and `instead` changes texts and nothing else."""
    draw = np.random.default_rng((seed, *kind.encode()))
    width, height = SIZES[seed % len(SIZES)]
    sheet = Sheet(width, height, 18 + 3 * (seed % 3), instead)
    KINDS[kind](sheet, draw)
    pixels = np.array(sheet.image.convert("L") if grey else sheet.image)
    pixels.flags.writeable = False
    return Drawing(f"{kind} {seed}", pixels, tuple(sheet.texts))


def exam_pictures(number: int = 24) -> list[Drawing]:
    """Pictures of every kind and size in turn, every third of them grey."""
    return [drawn(list(KINDS)[i % len(KINDS)], i // len(KINDS), grey=i % 3 == 2) for i in range(number)]


def erase(pixels: np.ndarray, box: Box, margin: int = 2) -> np.ndarray:
    """The picture with white where the box was."""
    left, top, right, bottom = box
    erased = pixels.copy()
    erased[max(0, top - margin) : bottom + margin, max(0, left - margin) : right + margin] = 255
    return erased


def blur(pixels: np.ndarray, radius: float) -> np.ndarray:
    """The picture blurred by a Gaussian of this radius in pixels."""
    return np.array(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(radius)))


def textured(pixels: np.ndarray, seed: int = 0, tint: tuple[int, int, int] = (250, 236, 205)) -> np.ndarray:
    """The picture in ink on tinted, slightly mottled paper: RGB of the same size, every text readable."""
    rgb = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
    paper = np.random.default_rng(seed).normal(0, 4, rgb.shape[:2])[..., None]
    ink = rgb.astype(np.float64) / 255
    painted: np.ndarray[Any, Any] = ink * (np.array(tint, np.float64) - 40) + 40 + paper
    return np.clip(painted, 0, 255).astype(np.uint8)


def framed(
    pixels: np.ndarray, shares: tuple[float, float, float, float] = (0.1, 0.2, 0.15, 0.12), value: int = 0
) -> np.ndarray:
    """The picture in a frame: shares of its size at the left, right, top and bottom."""
    height, width = pixels.shape[:2]
    left, right = round(shares[0] * width), round(shares[1] * width)
    top, bottom = round(shares[2] * height), round(shares[3] * height)
    widths = ((top, bottom), (left, right), *((0, 0),) * (pixels.ndim - 2))
    return np.pad(pixels, widths, constant_values=value)
