"""How far a variant is from its parent: tokens, pictures, and what of it stands in a set."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

import mmdyn
from making import choice, image_ref, open_ended, picture, write_set
from mmdyn.data import ChainStrength, describe_trail
from mmdyn.sample import Option, Sample, Strength
from perturb import Item, Picture
from perturb.image.pad import Pad
from perturb.strength import ssim, strength, unseen

REF = "images/0.png"


def tokens_changed(before: Sample, after: Sample) -> float:
    return strength(before, after, {}, {}, ()).tokens


@pytest.mark.parametrize(("old", "new", "share"), [
    ("Find the area of it.", "Work out the area of it.", 2 / 6),
    ("求 $x$ 的值。", "试求 $x$ 的值。", 1 / 5),
    ("What is it?", "What is it ?!", 0.0),
    ("a b c d", "e f g h", 1.0),
    ("If $x_1 = 20$ then", "Given that $x_1 = 20$ then", 2 / 6),
])  # fmt: skip
def test_english_words_and_chinese_characters_count(old: str, new: str, share: float) -> None:
    before = open_ended(question=old)
    assert tokens_changed(before, replace(before, question=new)) == pytest.approx(share, abs=1e-4)


def test_options_count_with_their_labels_and_pictures() -> None:
    options = (Option("A", "one two"), Option("B", "three"), Option("C", image="images/a/b.png"))
    before = replace(choice(), question="Which is it", options=options, answer=("A",))
    assert tokens_changed(before, replace(before, question="What is it")) == pytest.approx(1 / 10, abs=1e-4)
    moved = (Option("A", "three"), Option("B", "one two"), options[2])
    assert tokens_changed(before, replace(before, options=moved)) == 0.4
    other = (*options[:2], Option("C", image="images/a/c.png"))
    assert tokens_changed(before, replace(before, options=other)) == 0.1
    assert tokens_changed(before, before) == 0


def noise(height: int, width: int, *channels: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, *channels), np.uint8)


def test_ssim_of_one_window_by_hand() -> None:
    """Wang et al., equation 13, on a picture of one window."""
    a, b = noise(8, 8), noise(8, 16)[:, 8:]
    x, y = a.astype(float), b.astype(float)
    spread = ((x - x.mean()) * (y - y.mean())).mean()
    light = (2 * x.mean() * y.mean() + 6.5025) / (x.mean() ** 2 + y.mean() ** 2 + 6.5025)
    assert ssim(a, b) == pytest.approx(light * (2 * spread + 58.5225) / (x.var() + y.var() + 58.5225), abs=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (40, 7, 3), (300, 410, 3), (16, 16)])
def test_ssim_is_one_for_equal_pictures_and_falls_with_noise(shape: tuple[int, ...]) -> None:
    page = noise(*shape)
    assert ssim(page, page) == pytest.approx(1, abs=1e-4)
    assert ssim(page, 255 - page) < (0.9 if page.size > 3 else 1)
    if page.ndim == 2:
        assert ssim(page, np.repeat(page[..., None], 3, axis=2)) == pytest.approx(1, abs=1e-4)
    spoilt = np.where(np.random.default_rng(1).random(shape) < 0.2, 0, page).astype(np.uint8)
    assert page.size <= 3 or ssim(page, spoilt) < 0.99


def test_ssim_is_near_that_over_all_windows() -> None:
    from scipy.ndimage import uniform_filter

    x = np.add.outer(np.arange(400.0), np.arange(600.0)) % 256
    y = np.clip(x + np.random.default_rng(1).normal(0, 20, x.shape), 0, 255).round()
    mean_x, mean_y, both = uniform_filter(x, 8), uniform_filter(y, 8), uniform_filter(x * y, 8)
    spread = uniform_filter(x * x, 8) - mean_x**2 + uniform_filter(y * y, 8) - mean_y**2
    light = (2 * mean_x * mean_y + 6.5025) / (mean_x**2 + mean_y**2 + 6.5025)
    whole = (light * (2 * (both - mean_x * mean_y) + 58.5225) / (spread + 58.5225))[4:-4, 4:-4].mean()
    assert ssim(x.astype(np.uint8), y.astype(np.uint8)) == pytest.approx(whole, abs=0.02)


def test_a_picture_is_compared_where_the_original_lies() -> None:
    sample, page = choice(images=(REF,)), noise(60, 90, 3)
    item: Item = Item(sample, {REF: Picture(page, "png")})
    for params in ({"left": 0.1, "top": 0.2, "right": 0.2, "bottom": 0.1, "value": 0},) * 2:
        framed = Pad().apply(item, params)
        assert isinstance(framed, Item)
        item = framed
    assert item.pictures[REF].corner == (12 + 16, 9 + 12)
    assert strength(sample, sample, {REF: Picture(page, "png")}, item.pictures, [REF]) == Strength(0.0, 1.0, 0.0)
    small = {REF: Picture(page[::2, ::2], "png")}
    far = strength(sample, sample, {REF: Picture(page, "png")}, small, [REF]).ssim
    assert far is not None and far < 0.9, "one of another size is brought to the original's"


@pytest.mark.parametrize(("value", "share"), [(255, 0.75), (250, 0.75), (230, 0.0), (128, 0.0), (0, 0.25)])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_a_frame_of_the_paper_s_colour_is_not_seen(value: int, share: float, channels: tuple[int, ...]) -> None:
    """White paper, of whose four equal edges one is black."""
    page = np.full((60, 60, *channels), 255, np.uint8)
    page[:, 0] = 0
    framed = np.full((80, 90, *channels), value, np.uint8)
    framed[10:70, 20:80] = page
    found = unseen(Picture(page, "png"), Picture(framed, "png", corner=(10, 20)))
    assert found == pytest.approx(share, abs=0.01), "its corners are on two edges"
    assert unseen(Picture(page, "png"), Picture(page, "png")) is None
    assert unseen(Picture(page, "png"), Picture(framed[10:], "png", corner=(0, 20))) is None


def test_a_trail_and_set_json_say_how_strong_it_is(tmp_path: Path) -> None:
    data = picture(width=200, height=150)
    samples = [choice(f"s{n}", images=(image_ref(data),)) for n in range(3)]
    source = write_set(tmp_path / "set", samples, "small", [data])
    made = mmdyn.perturb(source, tmp_path / "out", ops="pad,invert,shuffle,pad+shuffle", quiet=True)
    first = {variant.variant.chain: variant for variant in made if variant.variant}
    found = {chain: variant.variant.strength for chain, variant in first.items() if variant.variant}
    trails = [one.variant for one in made if one.variant and one.variant.chain == "pad"]
    white = [trail.steps[0].params["value"] == 255 for trail in trails]
    assert [trail.strength for trail in trails] == [Strength(0.0, 1.0, float(same)) for same in white]
    assert 0 < sum(white) < 3
    assert (inverted := found["invert"]) and inverted.ssim is not None and inverted.ssim < 0
    assert (shuffled := found["shuffle"]) and shuffled.tokens > 0.1 and shuffled.ssim is None
    assert (both := found["pad+shuffle"]) and both.tokens > 0.1 and both.ssim == 1
    said = "strength: 0.0 % of the tokens changed, SSIM of pictures 1.00, 100 % of the frame unseen"
    white_one = next(one for one in made if one.variant and one.variant.steps[0].params.get("value") == 255)
    assert said in describe_trail(white_one) and "frame" not in describe_trail(first["shuffle"])
    medians = json.loads((tmp_path / "out" / "set.json").read_text("utf-8"))["strength"]
    assert medians["pad"] == {
        "n": 3,
        "tokens": 0.0,
        "ssim": 1.0,
        "legibility": None,
        "role": "treatment",
        "unseen": pytest.approx(sum(white) / 3, abs=1e-4),
    }
    assert "strength" not in json.loads((tmp_path / "set" / "set.json").read_text("utf-8"))


def test_weak_is_under_three_percent_where_pictures_hardly_change() -> None:
    assert ChainStrength(9, 0.0299).weak and not ChainStrength(9, 0.03).weak
    assert ChainStrength(9, 0.0, 0.95).weak and not ChainStrength(9, 0.0, 0.94).weak
    assert str(ChainStrength(9, 0.0, 1.0, unseen=1 / 3)).endswith("SSIM of pictures 1.00, unseen frames 0.33")
    assert str(ChainStrength(9, 0.0123, 0.9, 0.05)) == (
        "1.2 % of the tokens changed, SSIM of pictures 0.90, legibility 0.05"
    )
