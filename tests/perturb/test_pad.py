"""image.pad, as MDK12-Bench's "Evaluation Methods" describes its spatial perturbation."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from making_items import apply, array, draw, item

from making import choice
from mmdyn.sample import Option, Sample
from perturb import Item, NotApplicable
from perturb.image.pad import Pad

PARAMS = {"left": 0.1, "right": 0.2, "top": 0.15, "bottom": 0.1, "value": 128}


def test_each_side_grows_by_its_ratio_of_the_dimension_along_it() -> None:
    before = array(40, 60)
    after = apply(Pad(), item(before), PARAMS).pictures["images/0.png"].pixels
    assert after.shape == (40 + 6 + 4, 60 + 6 + 12, 3)
    assert np.array_equal(after[6:46, 6:66], before), "nothing is resized"
    frame = after.copy()
    frame[6:46, 6:66] = 128
    assert (frame == 128).all()


def test_grey_stays_grey() -> None:
    after = apply(Pad(), item(array(20, 20, grey=True)), {**PARAMS, "value": 255}).pictures["images/0.png"].pixels
    assert after.shape == (20 + 3 + 2, 20 + 2 + 4)
    assert after[0, 0] == 255


@pytest.mark.parametrize(("height", "width"), [(1, 300), (300, 1), (1, 1), (2, 3)])
def test_a_side_is_at_least_one_pixel(height: int, width: int) -> None:
    before = array(height, width)
    after = apply(Pad(), item(before), PARAMS).pictures["images/0.png"].pixels
    top, left = max(1, round(0.15 * height)), max(1, round(0.1 * width))
    assert np.array_equal(after[top : top + height, left : left + width], before)
    assert after.shape[0] >= height + 2 and after.shape[1] >= width + 2


def test_ratios_are_uniform_between_10_and_20_percent_and_colours_equally_frequent() -> None:
    sample = choice(images=("images/0.png",))
    draws = [draw(Pad(), sample, number) for number in range(1500)]
    for side in ("left", "right", "top", "bottom"):
        ratios = np.array([params[side] for params in draws])
        assert 0.10 <= ratios.min() < 0.101 and 0.199 < ratios.max() <= 0.20
        assert abs(ratios.mean() - 0.15) < 0.003
        assert abs(ratios.std() - 0.1 / 12**0.5) < 0.002
    sides = np.array([[params["left"], params["right"], params["top"], params["bottom"]] for params in draws])
    assert np.abs(np.corrcoef(sides.T) - np.eye(4)).max() < 0.1, "the sides are drawn one by one"
    colours = Counter(params["value"] for params in draws)
    assert set(colours) == {0, 128, 255}
    assert min(colours.values()) > 430


@pytest.mark.parametrize(("severity", "low", "high"), [("mild", 0.05, 0.10), ("strong", 0.20, 0.35)])
def test_severities(severity: str, low: float, high: float) -> None:
    sample = choice(images=("images/0.png",))
    draws = [draw(Pad(severity=severity), sample, number) for number in range(500)]
    for side in ("left", "right", "top", "bottom"):
        ratios = np.array([params[side] for params in draws])
        assert low <= ratios.min() < low + 0.002 and high - 0.003 < ratios.max() <= high
    assert draws[0]["value"] == draw(Pad(), sample)["value"], "the colour does not hang on the severity"


def test_all_pictures_of_a_sample_share_one_frame() -> None:
    options = tuple(Option(label, "", f"images/{number}.png") for number, label in enumerate("ABCD", 1))
    sample = Sample("s", "Which?", "single_choice", ("C",), options=options, images=("images/0.png",))
    pictures = item(*(array(40, 60, seed=number) for number in range(5))).pictures
    changed = apply(Pad(), Item(sample, pictures), draw(Pad(), sample))
    shapes = {picture.pixels.shape for picture in changed.pictures.values()}
    corners = {tuple(picture.pixels[0, 0]) for picture in changed.pictures.values()}
    assert len(changed.pictures) == 5 and len(shapes) == 1 and len(corners) == 1


def test_a_frame_that_would_pass_the_limit_does_not_apply() -> None:
    refused = Pad().apply(item(np.zeros((7000, 7000), np.uint8)), PARAMS)
    assert isinstance(refused, NotApplicable)
    assert refused.reason == "the padded picture would have more than 50,000,000 pixels"
