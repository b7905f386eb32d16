"""image.invert, with salt_pepper the colour perturbation of MDK12-Bench's "Evaluation Methods"."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
import pytest
from making_items import apply, array, draw, item, refusal

from making import choice
from perturb.image.invert import Invert


def test_every_value_is_mirrored() -> None:
    for grey in (False, True):
        before = array(grey=grey)
        after = apply(Invert(), item(before), {}).pictures["images/0.png"]
        assert after.pixels.dtype == np.uint8
        assert np.array_equal(after.pixels.astype(int) + before, np.full(before.shape, 255))


def test_nothing_is_drawn() -> None:
    assert not Invert.random and Invert.severities == ("mild",) and not Invert.noisy
    assert draw(Invert(), choice(images=("images/0.png",))) == {}
    assert draw(Invert(None, "mild"), choice(images=("images/0.png",))) == {"keep": "hue"}
    for severity in ("", "mild"):
        assert refusal(Invert(None, severity), choice()) == "the sample has no picture"


@pytest.mark.parametrize(("language", "question", "colour"), [
    ("en", "What is the area of the white part?", "white"),
    ("en", "How many grey squares are there?", "grey"),
    ("zh", "此图中黑色部分记为II, 求其面积。", "黑色"),
    ("zh", "袋中有红球和白球, 求概率。", "红球"),
    ("en", "What lies in the darkest region?", "darkest"),
])  # fmt: skip
def test_a_question_that_names_a_colour_is_refused(language: Any, question: str, colour: str) -> None:
    sample = choice(question=question, language=language, images=("images/0.png",))
    assert refusal(Invert(), sample) == f"the question goes by colours ({colour})"
    assert draw(Invert(), choice(question="What is the area of the shaded part?", images=("images/0.png",))) == {}
    options = choice(texts=("red", "blue"), images=("images/0.png",))
    assert refusal(Invert(), options) == "the question goes by colours (red)"


@pytest.mark.parametrize(("question", "thing"), [
    ("Which traffic light is on?", "traffic light"), ("石蕊试纸变成了什么？", "石蕊"),
    ("What flag is this?", "flag"), ("Is the fruit ripe?", "ripe"),
])  # fmt: skip
@pytest.mark.parametrize("severity", ["", "mild"])
def test_what_is_known_by_its_colour_is_refused(question: str, thing: str, severity: str) -> None:
    sample = choice(question=question, images=("images/0.png",))
    assert refusal(Invert(None, severity), sample) == f"the question goes by colours ({thing})"
    options = choice(question="What is it?", texts=("litmus paper", "a stone"), images=("images/0.png",))
    assert refusal(Invert(None, severity), options) == "the question goes by colours (litmus)"


def mirrored(pixels: np.ndarray) -> np.ndarray:
    return apply(Invert(None, "mild"), item(pixels), {"keep": "hue"}).pictures["images/0.png"].pixels


def test_mild_keeps_the_hue_and_mirrors_the_lightness() -> None:
    """All of a coarse cube of colours, its corners and edges among them, in HSL as the standard library reckons it."""
    levels = np.array([0, 1, 36, 100, 127, 128, 200, 254, 255], np.uint8)
    before = np.stack(np.meshgrid(levels, levels, levels), -1).reshape(27, 27, 3)
    after = mirrored(before)
    assert after.dtype == np.uint8
    for old, new in zip(before.reshape(-1, 3) / 255, after.reshape(-1, 3) / 255, strict=True):
        hue, lightness, saturation = colorsys.rgb_to_hls(*old)
        assert colorsys.rgb_to_hls(*new) == pytest.approx((hue, 1 - lightness, saturation), abs=1e-9)
    assert np.array_equal(mirrored(after), before), "twice is nothing"


def test_mild_inverts_grey_and_leaves_pure_colours() -> None:
    grey = array(grey=True)
    assert np.array_equal(mirrored(grey), 255 - grey)
    rgb = np.repeat(grey[..., None], 3, axis=2)
    assert np.array_equal(mirrored(rgb), 255 - rgb)
    pure = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]]], np.uint8)
    assert np.array_equal(mirrored(pure), pure)


def test_the_trail_alone_says_which_inversion_it_was() -> None:
    before = item(array())
    mild = apply(Invert(None, "mild"), before, {"keep": "hue"}).pictures["images/0.png"].pixels
    assert np.array_equal(apply(Invert(), before, {"keep": "hue"}).pictures["images/0.png"].pixels, mild)
    full = apply(Invert(None, "mild"), before, {}).pictures["images/0.png"].pixels
    assert np.array_equal(full, 255 - before.pictures["images/0.png"].pixels)


@pytest.mark.parametrize("question", ["Which ball is red?", "Find the area of the blue part.", "袋中有红球和蓝球, 求概率。"])  # fmt: skip
def test_mild_leaves_hues_what_they_are_called(question: str) -> None:
    sample = choice(question=question, images=("images/0.png",))
    assert draw(Invert(None, "mild"), sample) == {"keep": "hue"}
    assert refusal(Invert(), sample).startswith("the question goes by colours (")


def test_mild_refuses_what_goes_by_light_and_dark() -> None:
    options = choice(texts=("dark blue", "blue"), images=("images/0.png",))
    assert refusal(Invert(None, "mild"), options) == "the question goes by colours (dark)"
