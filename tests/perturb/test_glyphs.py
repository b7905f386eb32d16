"""How small the print in a picture is, and how much noise it bears."""

from __future__ import annotations

import re

import numpy as np
import pytest
from making_pictures import INK, Sheet, drawn, exam_pictures, framed, textured

from mmdyn.keys import stream
from mmdyn.models import Ocr
from perturb.codec import densest, readable_density, smallest_glyph


def numbers(size: int, count: int = 20) -> Sheet:
    """A sheet of numbers of three digits in one size of type."""
    sheet = Sheet(600, 400, size)
    for place in range(count):
        sheet.write(60 + place % 5 * 120, 50 + place // 5 * 100, str(100 + (place * 397) % 900))
    return sheet


def digit_height(size: int) -> int:
    """The height of the digit 8 in pixels, as it is drawn."""
    sheet = Sheet(100, 100, size)
    sheet.write(50, 50, "8")
    return int(np.ptp(np.flatnonzero((np.array(sheet.image.convert("L")) < 170).any(axis=1)))) + 1


@pytest.mark.parametrize("size", [10, 12, 14, 17, 21])
def test_the_height_of_digits_is_found(size: int) -> None:
    found = smallest_glyph(np.array(numbers(size).image))
    assert found is not None
    assert abs(found - digit_height(size)) <= 2


@pytest.mark.parametrize("size", [28, 40])
def test_large_print_bears_any_noise(size: int) -> None:
    assert smallest_glyph(np.array(numbers(size).image)) is None
    assert densest(np.array(numbers(size).image)) == 1.0


def test_colours_frames_and_paper_do_not_matter() -> None:
    pixels = np.array(numbers(16).image)
    height = smallest_glyph(pixels)
    for other in (255 - pixels, framed(pixels, value=128), textured(pixels), pixels[..., 0]):
        assert smallest_glyph(np.ascontiguousarray(other)) == height


def test_the_smaller_of_two_sizes_counts() -> None:
    pixels = np.minimum(np.array(numbers(36, 10).image), np.roll(np.array(numbers(13, 10).image), 200, axis=0))
    assert smallest_glyph(pixels) == smallest_glyph(np.array(numbers(13).image))


def test_print_is_found_in_exam_pictures() -> None:
    for drawing in exam_pictures(18):
        height = smallest_glyph(drawing.pixels)
        assert height is not None, drawing.name
        assert 8 <= height <= 24, drawing.name


def test_lines_boxes_and_photographs_are_no_print() -> None:
    sheet = Sheet(400, 300)
    sheet.line((20, 280), (200, 20), (380, 280), (20, 280))
    sheet.pen.ellipse((150, 120, 250, 220), outline=INK, width=2)
    for dash in range(20, 380, 24):
        sheet.pen.rectangle((dash, 288, dash + 12, 293), fill=INK)
        sheet.pen.polygon(((dash, 6), (dash + 10, 11), (dash, 16)), fill=INK)
    assert smallest_glyph(np.array(sheet.image)) is None
    assert smallest_glyph(np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8)) is None


@pytest.mark.parametrize("shape", [(1, 1), (1, 1, 3), (2, 500), (500, 2, 3), (7, 7), (200, 300, 3)])
def test_small_and_empty_pictures_hold_no_print(shape: tuple[int, ...]) -> None:
    for value in (0, 128, 255):
        assert smallest_glyph(np.full(shape, value, np.uint8)) is None


def test_the_print_of_a_large_picture_is_that_of_its_parts() -> None:
    large = np.tile(drawn("table").pixels, (6, 6, 1))
    assert smallest_glyph(large) == smallest_glyph(drawn("table").pixels)


def test_small_print_bears_less_noise() -> None:
    assert [readable_density(height) for height in (4, 5, 6, 8, 13)] == [0.005, 0.005, 0.01, 0.03, 0.08]


@pytest.mark.slow
@pytest.mark.parametrize("size", [11, 13, 18])
def test_digits_are_still_read_at_the_density_that_they_bear(size: int) -> None:
    sheet, ocr = numbers(size), Ocr()
    pixels = np.array(sheet.image.convert("L"))
    height = smallest_glyph(pixels)
    assert height is not None
    draws = stream("specks", size)
    hit = draws.random(pixels.shape) < readable_density(height)
    noisy = np.where(hit, draws.integers(0, 2, pixels.shape) * 255, pixels).astype(np.uint8)

    def reads(picture: np.ndarray) -> list[bool]:
        boxes = [(text, (box[0] - 3, box[1] - 3, box[2] + 3, box[3] + 3)) for text, box in sheet.texts]
        return [re.sub(r"\D", "", ocr.spell(picture, box)[0]) == text for text, box in boxes]

    assert sum(reads(noisy)) >= 0.85 * sum(reads(pixels)) > 10
