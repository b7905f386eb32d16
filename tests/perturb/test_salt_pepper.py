"""image.salt_pepper, with invert the colour perturbation of MDK12-Bench's "Evaluation Methods"."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
from making_items import apply, draw, item, refusal
from making_pictures import Sheet

from making import choice
from perturb import Item, Picture
from perturb.codec import decode
from perturb.device_pixels import to_device, to_host
from perturb.image.pad import Pad
from perturb.image.salt_pepper import SaltPepper

GREY = np.full((600, 800), 100, np.uint8)


def specks(pixels: np.ndarray, density: float = 0.03, seed: int = 7) -> np.ndarray:
    return apply(SaltPepper(), item(pixels), {"density": density, "seed": seed}).pictures["images/0.png"].pixels


@pytest.mark.parametrize("density", [0.001, 0.01, 0.03, 0.1])
def test_the_density_is_the_share_of_pixels_and_half_are_salt(density: float) -> None:
    after = specks(GREY, density)
    touched = (after != 100).mean()
    spread = (density * (1 - density) / GREY.size) ** 0.5
    assert abs(touched - density) < 4 * spread
    salt, pepper = (after == 255).sum(), (after == 0).sum()
    assert salt + pepper == (after != 100).sum()
    assert abs(salt - pepper) < 4 * (salt + pepper) ** 0.5


def test_specks_are_spread_evenly_and_do_not_line_up() -> None:
    touched = specks(GREY, 0.05) != 100
    for axis in (0, 1):
        counts = touched.sum(axis)
        expected = touched.sum() / len(counts)
        assert abs((counts - expected) ** 2 / expected).mean() < 1.3, "chi square per line is about 1"
    halves = touched[:, 1:] & touched[:, :-1]
    assert abs(halves.mean() - 0.05**2) < 0.0005


def test_colour_pictures_get_white_and_black_specks() -> None:
    after = specks(np.full((200, 300, 3), 100, np.uint8))
    touched = after[(after != 100).any(axis=2)]
    assert set(map(tuple, touched.tolist())) == {(255, 255, 255), (0, 0, 0)}


def test_seed_and_picture_number_change_the_specks() -> None:
    first = specks(GREY, seed=1)
    assert np.array_equal(first, specks(GREY, seed=1))
    both = apply(SaltPepper(), item(GREY, GREY), {"density": 0.03, "seed": 1}).pictures
    second = both["images/1.png"].pixels
    assert np.array_equal(both["images/0.png"].pixels, first)
    for other in (second, specks(GREY, seed=2), specks(GREY, seed=(1 << 63) - 1)):
        common = ((first != 100) & (other != 100)).mean()
        assert abs(common - 0.03**2) < 0.0003, "no more in common than chance"


def test_the_bits_are_pinned() -> None:
    """Whoever replays a trail, on whatever machine, gets these."""
    after = specks(np.full((50, 70), 100, np.uint8), 0.02, 123456789)
    assert hashlib.sha256(after.tobytes()).hexdigest()[:16] == "b7371ae06f045ad3"


def test_draws() -> None:
    sample = choice(images=("images/0.png",))
    draws = [draw(SaltPepper(), sample, number) for number in range(1000)]
    densities = np.array([params["density"] for params in draws])
    assert 0.01 <= densities.min() < 0.0101 and 0.0299 < densities.max() <= 0.03
    assert abs(densities.mean() - 0.02) < 0.0007
    seeds = {params["seed"] for params in draws}
    assert len(seeds) == 1000 and min(seeds) >= 0 and (1 << 61) < max(seeds) < 1 << 63
    assert refusal(SaltPepper(), choice()) == "the sample has no picture"


@pytest.mark.parametrize(("severity", "low", "high"), [("mild", 0.003, 0.01), ("strong", 0.03, 0.08)])
def test_severities(severity: str, low: float, high: float) -> None:
    sample = choice(images=("images/0.png",))
    draws = [draw(SaltPepper(severity=severity), sample, number) for number in range(500)]
    densities = np.array([params["density"] for params in draws])
    assert low <= densities.min() < low + 0.02 * (high - low) and high - 0.02 * (high - low) < densities.max() <= high
    assert draws[0]["seed"] == draw(SaltPepper(), sample)["seed"], "the places do not hang on the severity"


def test_a_milder_draw_of_one_seed_leaves_fewer_specks_in_the_same_places() -> None:
    mild, strong = specks(GREY, 0.005), specks(GREY, 0.05)
    assert ((mild != 100) <= (strong != 100)).all()


@pytest.mark.parametrize("channels", [(), (3,)])
def test_pixels_that_do_not_lie_in_a_row_in_memory(channels: tuple[int, ...]) -> None:
    wide = np.full((60, 80, *channels), 100, np.uint8)
    view = wide[::2, ::2]
    assert np.array_equal(specks(view), specks(np.ascontiguousarray(view)))


def test_small_print_gets_less_noise_on_every_way() -> None:
    sheet = Sheet(400, 300, 9)
    for place in range(12):
        sheet.write(50 + place % 4 * 100, 50 + place // 4 * 100, str(100 + place))
    buffer = io.BytesIO()
    sheet.image.save(buffer, "PNG")
    picture = decode(buffer.getvalue())
    assert 0.005 <= picture.densest() < 0.04
    strong = {"density": 0.08, "seed": 1}
    sample = choice(images=("images/0.png",))
    noisy = apply(SaltPepper(), Item(sample, {"images/0.png": picture}), strong).pictures["images/0.png"]
    share = (noisy.pixels != picture.pixels).any(axis=-1).mean()
    assert 0.3 * picture.densest() < share <= picture.densest()
    padded = apply(Pad(), Item(sample, {"images/0.png": picture}), draw(Pad(), sample)).pictures["images/0.png"]
    assert padded.densest() == picture.densest(), "what an earlier step did to the picture does not matter"
    tensor = Picture(to_device(picture.pixels, "cpu"), "png", picture.densest)
    same = apply(SaltPepper(), Item(sample, {"images/0.png": tensor}), strong).pictures["images/0.png"]
    assert np.array_equal(to_host(same.pixels), noisy.pixels)
