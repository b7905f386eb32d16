"""image.invert."""

from __future__ import annotations

import numpy as np
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
