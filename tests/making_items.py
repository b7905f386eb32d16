"""Items for operator tests: samples with pictures that are arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from making import choice
from mmdyn.keys import stream
from mmdyn.sample import Sample
from perturb import Item, NotApplicable, Operator, Picture


def array(height: int = 40, width: int = 60, grey: bool = False, seed: int = 0) -> np.ndarray:
    """A read-only picture in which every pixel differs from its neighbours."""
    shape = (height, width) if grey else (height, width, 3)
    pixels = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)
    pixels.flags.writeable = False
    return pixels


def item(*arrays: np.ndarray, sample: Sample | None = None, suffix: Any = "png") -> Item:
    """A choice question with these pictures, or another sample without them."""
    refs = tuple(f"images/{number}.png" for number in range(len(arrays)))
    pictures = {ref: Picture(pixels, suffix) for ref, pixels in zip(refs, arrays, strict=True)}
    return Item(sample or choice(images=refs), pictures)


def draw(operator: Operator, sample: Sample, number: int = 0) -> dict[str, Any]:
    """Parameters of one draw; fails where the operator does not apply."""
    params = operator.params(stream("test", number), sample)
    assert not isinstance(params, NotApplicable), params.reason
    return params


def apply(operator: Operator, to: Item, params: dict[str, Any]) -> Item:
    """The changed item; fails where the operator does not apply."""
    changed = operator.apply(to, params)
    assert not isinstance(changed, NotApplicable), changed.reason
    return changed


def change(operator: Operator, sample: Sample, number: int = 0) -> Sample:
    """A sample without pictures, changed by one draw."""
    return apply(operator, item(sample=sample), draw(operator, sample, number)).sample


def refusal(operator: Operator, sample: Sample) -> str:
    """Why an operator does not apply."""
    params = operator.params(stream("test"), sample)
    assert isinstance(params, NotApplicable), params
    return params.reason
