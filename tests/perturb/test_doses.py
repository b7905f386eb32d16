"""Graded doses: what each level does, that levels share their draws, that more is more, and what a judge makes of it."""

from __future__ import annotations

import hashlib
import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making_items import apply, array, draw, item, refusal
from PIL import Image

from making import choice, image_ref, open_ended, write_set
from mmdyn.data import SampleSet
from perturb import NotApplicable, Operator, perturb
from perturb.codec import encode, encode_png
from perturb.image.blur import Blur
from perturb.image.jpeg import Jpeg
from perturb.image.pad import Pad
from perturb.image.rotate import Rotate
from perturb.image.salt_pepper import SaltPepper
from perturb.image.scale import Scale
from perturb.item import LEVELS, Picture
from perturb.strength import aligned, ssim
from perturb.text.substitute import Substitute

DRAWING = np.full((240, 320), 255, np.uint8)
DRAWING[40:44, 30:290] = DRAWING[40:200, 30:34] = DRAWING[196:200, 30:290] = 0
DRAWING[60:190:12, 60:270:3] = 90


def drawings(folder: Path) -> SampleSet:
    data = encode_png(DRAWING)
    return write_set(folder, [choice(id="q", images=(image_ref(data),))], images=[data])


def painted(operator: Operator, pixels: np.ndarray = DRAWING) -> np.ndarray:
    before = item(pixels)
    return apply(operator, before, draw(operator, before.sample)).pictures["images/0.png"].pixels


@pytest.mark.parametrize(("kind", "params"), [
    (Blur, [{"radius": r} for r in (0.001, 0.002, 0.004, 0.008, 0.016)]),
    (Jpeg, [{"quality": q} for q in (40, 20, 10, 5, 2)]),
    (Scale, [{"share": s} for s in (0.7, 0.5, 0.35, 0.25, 0.15)]),
    (Rotate, [{"angle": a} for a in (3, 6, 10, 15, 20)]),
])  # fmt: skip
def test_each_level_is_one_dose_and_the_middle_one_is_usual(kind: type[Operator], params: list[Any]) -> None:
    assert [draw(kind(severity=level), choice(images=("images/0.png",))) for level in LEVELS] == params
    assert draw(kind(), choice(images=("images/0.png",))) == params[2]
    assert refusal(kind(), choice()) == "the sample has no picture"


@pytest.mark.parametrize("kind", [Blur, Jpeg, Scale, SaltPepper])
def test_a_higher_level_leaves_less(kind: type[Operator]) -> None:
    alike = [ssim(DRAWING, painted(kind(severity=level))) for level in LEVELS]
    assert alike == sorted(alike, reverse=True) and alike[0] > alike[-1] + 0.03
    assert len({hashlib.sha256(painted(kind(severity=level)).tobytes()).digest() for level in LEVELS}) == 5


def test_a_blur_takes_as_much_at_any_resolution() -> None:
    """A step of black and white, 100 or 400 pixels wide: as large a share of it is grey."""
    for side in (100, 400):
        step = np.zeros((side, side), np.uint8)
        step[:, side // 2 :] = 255
        after = painted(Blur(severity="5"), step)[side // 2]
        assert 0.04 <= ((after > 16) & (after < 239)).mean() <= 0.08  # 2 x 1.53 standard deviations of 0.016


def test_a_jpeg_is_what_pillow_makes_of_that_quality() -> None:
    colours = array(48, 40)
    buffer = io.BytesIO()
    Image.fromarray(colours).save(buffer, "JPEG", quality=5, subsampling="4:2:0")
    assert np.array_equal(painted(Jpeg(severity="4"), colours), np.asarray(Image.open(buffer)))
    assert encode(Picture(painted(Jpeg(severity="4"), colours), "png")).startswith(b"\x89PNG")
    long = Jpeg().apply(item(np.zeros((2, 65_501), np.uint8)), {"quality": 5})
    assert long == NotApplicable("a JPEG has at most 65,500 pixels a side")


def test_scaling_keeps_the_size_and_means_of_pixels() -> None:
    stripes = np.tile(np.array([0, 255], np.uint8), (40, 20))
    after = painted(Scale(severity="2"), stripes)
    assert after.shape == stripes.shape and set(after.ravel().tolist()) <= {127, 128}
    assert painted(Scale(severity="5"), np.zeros((2, 3), np.uint8)).shape == (2, 3)


def test_a_turned_page_grows_and_its_corners_are_the_border() -> None:
    page = np.full((200, 300, 3), (250, 240, 230), np.uint8)
    page[90:110, 140:160] = 0
    after = painted(Rotate(severity="5"), page)
    assert after.shape[:2] == pytest.approx((290, 350), abs=2)
    assert all(tuple(after[row, column]) == (250, 240, 230) for row in (0, -1) for column in (0, -1))
    assert (after.max(axis=2) < 60).sum() == pytest.approx(400, abs=50), "nothing of the mark was lost"
    middle = np.argwhere(after.max(axis=2) < 60).mean(axis=0)
    assert middle == pytest.approx((after.shape[0] / 2, after.shape[1] / 2), abs=2)
    before = item(page)
    turned = apply(Rotate(), before, {"angle": 3}).pictures["images/0.png"]
    assert aligned(before.pictures["images/0.png"], turned).shape == page.shape
    huge = item(np.zeros((1, 1), np.uint8).repeat(9500, 0).repeat(9500, 1))
    assert "would have more than" in Rotate().apply(huge, {"angle": 30}).reason  # type: ignore[union-attr]


def test_a_sample_turns_the_same_way_at_every_level_and_half_of_them_either_way() -> None:
    sample = choice(images=("images/0.png",))
    signs = [[draw(Rotate(severity=level), sample, number)["angle"] > 0 for level in LEVELS] for number in range(60)]
    assert all(len(set(levels)) == 1 for levels in signs) and 20 < sum(levels[0] for levels in signs) < 40


@pytest.mark.parametrize(
    "question", ["Which car turns left?", "哪个物体在右侧？", "What are the coordinates of P?", "求竖直方向的力"]
)
def test_no_picture_is_turned_whose_question_goes_by_directions(question: str) -> None:
    assert refusal(Rotate(), choice(question=question, images=("i.png",))).startswith(
        "the question goes by directions ("
    )


def test_a_dose_of_noise_spares_no_print_and_holds_the_lower_one() -> None:
    before = item(DRAWING)
    tight = type(before)(before.sample, {"images/0.png": Picture(DRAWING, "png", lambda: 0.001)})
    doses = [draw(SaltPepper(severity=level), before.sample) for level in LEVELS]
    assert [params["dose"] for params in doses] == [0.01, 0.02, 0.04, 0.08, 0.16] and len(
        {p["seed"] for p in doses}
    ) == 1
    low, high = (apply(SaltPepper(), tight, params).pictures["images/0.png"].pixels for params in (doses[0], doses[4]))
    changed = low != DRAWING
    assert changed.mean() > 0.004 and np.array_equal(high[changed], low[changed])


def test_frames_and_words_by_level() -> None:
    sample = choice(images=("images/0.png",))
    sides = [
        {draw(Pad(severity=level), sample)[side] for side in ("left", "right", "top", "bottom")} for level in LEVELS
    ]
    assert sides == [{0.1}, {0.2}, {0.3}, {0.4}, {0.5}]
    wordy = open_ended(
        question="Because Tom buys 3 candies and tosses a coin, calculate how many candies there are in total."
    )
    texts = [draw(Substitute(severity=level), wordy)["question"] for level in LEVELS]
    gone = [set(wordy.question.split()) - set(text.split()) for text in texts]
    assert all(fewer <= more for fewer, more in itertools.pairwise(gone)) and len(gone[0]) < len(gone[-1])
    assert texts[-1].split()[:3] == draw(Substitute(severity="strong"), wordy)["question"].split()[:3]


def test_a_judge_measures_a_dose_and_does_not_reject_it(tmp_path: Path) -> None:
    source = drawings(tmp_path / "set")
    ops = ",".join(f"{name}@5" for name in ("blur", "jpeg", "scale", "rotate", "salt_pepper", "pad"))
    dynamic = perturb(source, tmp_path / "out", ops=ops, judge="embedded", quiet=True)
    assert {one.variant.verdict.status for one in dynamic if one.variant} == {"kept"} and len(list(dynamic)) == 6


def test_levels_share_their_draws_and_older_chains_keep_theirs(tmp_path: Path) -> None:
    source = drawings(tmp_path / "set")
    dynamic = perturb(source, tmp_path / "out", ops="pad@1,pad@5,pad,pad@mild,salt_pepper@strong", seed=7, quiet=True)
    drawn = {one.variant.chain: one.variant.steps[0].params for one in SampleSet(dynamic.folder) if one.variant}
    assert drawn["pad@1"]["value"] == drawn["pad@5"]["value"]
    assert drawn["pad"]["left"] == 0.14994 and drawn["pad"]["value"] == 128
    assert drawn["pad@mild"]["left"] == 0.071517 and drawn["pad@mild"]["value"] == 255
    assert drawn["salt_pepper@strong"] == {"density": 0.070821, "seed": 658940335124046348}
