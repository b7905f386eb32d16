"""image.invert, with salt_pepper the colour perturbation of MDK12-Bench's "Evaluation Methods"."""

from __future__ import annotations

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


def test_twice_is_nothing() -> None:
    before = item(array())
    after = apply(Invert(), apply(Invert(), before, {}), {})
    assert np.array_equal(after.pictures["images/0.png"].pixels, before.pictures["images/0.png"].pixels)


def test_nothing_is_drawn() -> None:
    assert not Invert.random and not Invert.severities and not Invert.noisy
    assert draw(Invert(), choice(images=("images/0.png",))) == {}
    assert refusal(Invert(), choice()) == "the sample has no picture"


@pytest.mark.parametrize(
    ("language", "question", "colour"),
    [
        ("en", "What is the area of the white part?", "white"),
        ("en", "How many grey squares are there?", "grey"),
        ("zh", "此图中黑色部分记为II, 求其面积。", "黑色"),
        ("zh", "袋中有红球和白球, 求概率。", "红球"),
    ],
)
def test_a_question_that_names_a_colour_is_refused(language: Any, question: str, colour: str) -> None:
    sample = choice(question=question, language=language, images=("images/0.png",))
    assert refusal(Invert(), sample) == f"the question speaks of colours ({colour})"
    assert draw(Invert(), choice(question="What is the area of the shaded part?", images=("images/0.png",))) == {}
    options = choice(texts=("red", "blue"), images=("images/0.png",))
    assert refusal(Invert(), options) == "the question speaks of colours (red)"
