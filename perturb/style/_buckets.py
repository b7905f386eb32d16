"""The sizes at which a diffusion model paints, and how a picture gets into one of them and back."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

from msgspec import Struct

GRID = 64
"""Sides of buckets are multiples of it: coarse, so that pictures of many sizes share a batch (models need 16)."""

LARGEST, SMALLEST = 1024 * 1024, 256 * 256
"""The most pixels of a bucket, and the least of a picture in it: larger pictures are scaled down and smaller ones
up."""

LONGEST = 2048
"""The longest side that a picture is given, so that places stay within what models were trained on."""

_LOBES = 3


class Fit(Struct, frozen=True):
    """How a picture goes into a bucket: scaled to `inner` (its aspect kept, to a pixel) at the top left; the rest of
    the bucket repeats its last row and column. All are (height, width) in pixels.
    """

    size: tuple[int, int]
    inner: tuple[int, int]
    bucket: tuple[int, int]


def fit(height: int, width: int) -> Fit:
    """The smallest bucket that holds a picture; a picture between the bounds is not scaled at all."""
    area = height * width
    scale = sqrt(LARGEST / area) if area > LARGEST else sqrt(SMALLEST / area) if area < SMALLEST else 1.0
    scale = min(scale, LONGEST / max(height, width))
    while True:
        inner = max(1, round(height * scale)), max(1, round(width * scale))
        bucket = ceil(inner[0] / GRID) * GRID, ceil(inner[1] / GRID) * GRID
        if bucket[0] * bucket[1] <= LARGEST:
            return Fit((height, width), inner, bucket)
        scale *= 0.99


def put_in(pixels: Any, fit: Fit) -> Any:
    """A tensor of uint8 pixels, (height, width) or (height, width, 3), as float32 (3, *bucket) from 0 to 1."""
    from torch.nn.functional import pad

    planes = pixels[None].expand(3, -1, -1) if pixels.ndim == 2 else pixels.permute(2, 0, 1)
    inner = _scaled(planes.float() / 255, fit.inner)
    down, across = fit.bucket[0] - fit.inner[0], fit.bucket[1] - fit.inner[1]
    return pad(inner[None], (0, across, 0, down), mode="replicate")[0].clamp(0, 1).contiguous()


def take_out(painted: Any, fit: Fit) -> Any:
    """The picture in a painted bucket, float (3, *bucket), as uint8 (height, width, 3) of its own size."""
    inner = painted[:, : fit.inner[0], : fit.inner[1]].float()
    return (_scaled(inner, fit.size).clamp(0, 1) * 255).round().byte().permute(1, 2, 0).contiguous()


def _scaled(planes: Any, size: tuple[int, int]) -> Any:
    """Planes (3, height, width) scaled by Lanczos' filter, which torch lacks; as they are where the size is theirs."""
    if planes.shape[1] != size[0]:
        planes = _lanczos(planes.shape[1], size[0], planes.device) @ planes
    if planes.shape[2] != size[1]:
        planes = planes @ _lanczos(planes.shape[2], size[1], planes.device).T
    return planes


def _lanczos(source: int, target: int, device: Any) -> Any:
    """What each of `target` pixels takes of each of `source` pixels, as Pillow reckons it: float32 (target, source)."""
    import torch

    step = source / target
    middles = (torch.arange(target, device=device)[:, None] + 0.5) * step
    away = (torch.arange(source, device=device)[None] + 0.5 - middles) / max(step, 1.0)
    weights = torch.sinc(away) * torch.sinc(away / _LOBES) * (away.abs() < _LOBES)
    return weights / weights.sum(1, keepdim=True)
