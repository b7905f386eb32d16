"""Operators on pixels that are tensors: the same bits as on arrays."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pytest
import torch
from making_items import array, draw

from making import choice
from mmdyn.keys import stream
from perturb import Item, NotApplicable, Picture
from perturb._hashing import keys
from perturb.device_pixels import Canvas, to_device, to_host
from perturb.image.invert import Invert
from perturb.image.pad import Pad
from perturb.image.salt_pepper import SaltPepper

SHAPES = [(1, 1), (3, 7), (1, 900, 3), (481, 641), (240, 320, 3), (333, 517, 3)]
DENSITIES = [0.0001, 0.003, 0.02, 0.08, 0.5]


def items(shape: tuple[int, ...]) -> tuple[Item, Item]:
    """Two equal pictures of a sample, as arrays and as tensors."""
    sample = choice(images=("images/0.png", "images/1.png"))
    arrays = [np.random.default_rng(number).integers(0, 256, shape, dtype=np.uint8) for number in range(2)]
    refs = sample.all_images
    host = {ref: Picture(pixels, "png") for ref, pixels in zip(refs, arrays, strict=True)}
    there = {ref: Picture(to_device(pixels, "cpu"), "png") for ref, pixels in zip(refs, arrays, strict=True)}
    return Item(sample, host), Item(sample, there)


def both(operator: Any, shape: tuple[int, ...], number: int) -> None:
    """Apply an operator to both; the tensors stay tensors, stay as they were, and hold the same bits."""
    host, there = items(shape)
    params = operator.params(stream("device", number), host.sample)
    changed, changed_there = operator.apply(host, params), operator.apply(there, params)
    assert not isinstance(changed, NotApplicable) and not isinstance(changed_there, NotApplicable)
    for ref in host.sample.all_images:
        after, before = changed_there.pictures[ref].pixels, there.pictures[ref].pixels
        assert isinstance(after, torch.Tensor) and after.dtype == torch.uint8
        assert np.array_equal(to_host(after), changed.pictures[ref].pixels)
        assert np.array_equal(to_host(before), host.pictures[ref].pixels)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [Pad, Invert, SaltPepper])
@pytest.mark.parametrize("severity", ["", "mild", "strong"])
def test_arrays_and_tensors_get_the_same_bits(kind: Any, shape: tuple[int, ...], severity: str) -> None:
    if severity in ("", *kind.severities):
        for number in range(3):
            both(kind(None, severity), shape, number)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("density", DENSITIES)
def test_specks_at_every_density(shape: tuple[int, ...], density: float) -> None:
    host, there = items(shape)
    params = {"density": density, "seed": (1 << 63) - 7}
    changed, changed_there = SaltPepper().apply(host, params), SaltPepper().apply(there, params)
    assert isinstance(changed, Item) and isinstance(changed_there, Item)
    for ref in host.sample.all_images:
        assert np.array_equal(to_host(changed_there.pictures[ref].pixels), changed.pictures[ref].pixels)


def test_the_bits_are_pinned() -> None:
    """Those of image.salt_pepper's own test, where arrays get them."""
    pixels = to_device(np.full((50, 70), 100, np.uint8), "cpu")
    canvas = Canvas()
    after = canvas.sprinkle(pixels, round(-math.log1p(-0.02) * 50 * 70), keys(123456789, 0))
    canvas.close()
    assert hashlib.sha256(to_host(after).tobytes()).hexdigest()[:16] == "b7371ae06f045ad3"


def test_a_chain_of_all_three() -> None:
    host, there = items((97, 131, 3))
    for operator in (Pad(), Invert(None, "mild"), Invert(), SaltPepper()):
        params = draw(operator, host.sample)
        host, there = operator.apply(host, params), operator.apply(there, params)  # type: ignore[assignment]
    for ref in host.sample.all_images:
        assert np.array_equal(to_host(there.pictures[ref].pixels), host.pictures[ref].pixels)


def test_there_and_back() -> None:
    for pixels in (array(), array(grey=True)):
        tensor = to_device(pixels, "cpu")
        assert tensor.dtype == torch.uint8 and tuple(tensor.shape) == pixels.shape
        tensor[0, 0] = 255 - tensor[0, 0]
        assert (to_host(tensor) != pixels).any(), "the array was copied"
    back = to_host(to_device(array(), "cpu"))
    assert np.array_equal(back, array()) and not back.flags.writeable
    assert to_host(back) is back
