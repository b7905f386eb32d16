"""Into a bucket and back: sizes, aspects, and what is scaled and what is not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from perturb.style._painter import BUCKETS, LARGEST, SIDES, SMALLEST, fit, put_in, take_out

SIZES = [(480, 640), (1024, 1024), (1025, 1024), (300, 220), (1200, 1600), (100, 60), (1, 1), (7000, 7000), (16, 5489)]


@pytest.mark.parametrize(("size", "inner", "bucket"), [
    ((480, 640), (480, 640), (512, 640)),
    ((600, 1100), (600, 1100), (640, 1280)),
    ((1024, 1024), (1024, 1024), (1024, 1024)),
    ((2048, 2048), (1024, 1024), (1024, 1024)),
    ((100, 100), (256, 256), (256, 256)),
    ((220, 300), (220, 300), (256, 320)),
    ((16, 5489), (6, 2048), (64, 2048)),
    ((1100, 900), (1024, 838), (1024, 896)),
    ((900, 1100), (838, 1024), (896, 1024)),
    ((1200, 1600), (768, 1024), (768, 1024)),
    ((1080, 1920), (720, 1280), (768, 1280)),
    ((1024, 1025), (1023, 1024), (1024, 1024)),
])  # fmt: skip
def test_a_picture_goes_into_the_smallest_bucket_that_holds_it(
    size: tuple[int, int], inner: tuple[int, int], bucket: tuple[int, int]
) -> None:
    plan = fit(*size)
    assert (plan.size, plan.inner, plan.bucket) == (size, inner, bucket)


def test_bounds_and_aspect_hold_for_every_size() -> None:
    rng = np.random.default_rng(0)
    for height, width in [*SIZES, *(tuple(map(int, 2 ** rng.uniform(0, 12.7, 2))) for _ in range(2000))]:
        plan = fit(height, width)
        assert plan.bucket in BUCKETS
        assert all(0 < inner <= side for side, inner in zip(plan.bucket, plan.inner, strict=True))
        below = [max((side for side in SIDES if side < bound), default=0) for bound in plan.bucket]
        assert (below[0], plan.bucket[1]) not in BUCKETS or plan.inner[0] > below[0] - 1, "no smaller one holds it"
        assert (plan.bucket[0], below[1]) not in BUCKETS or plan.inner[1] > below[1] - 1
        scales = (plan.inner[0] / height, plan.inner[1] / width)
        assert all(
            abs(inner - scales[0] * side) <= 1 + side / height
            for inner, side in zip(plan.inner, plan.size, strict=True)
        )
        held = any(height <= bucket[0] and width <= bucket[1] for bucket in BUCKETS)
        if height * width >= SMALLEST and held:
            assert plan.inner == plan.size, "neither scaled up nor down"


def test_every_bucket_can_be_chosen_and_none_is_larger_than_a_megapixel() -> None:
    assert all(fit(*bucket).bucket == bucket for bucket in BUCKETS)
    assert max(height * width for height, width in BUCKETS) == LARGEST == 1024 * 1024
    assert all(side % 64 == 0 for bucket in BUCKETS for side in bucket)


@pytest.mark.parametrize("size", [(480, 640, 3), (480, 641), (333, 517, 3), (256, 256)])
def test_a_picture_between_the_bounds_comes_back_as_it_was(size: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, size, dtype=np.uint8)
    plan = fit(*size[:2])
    inside = put_in(torch.from_numpy(pixels), plan)
    assert inside.shape == (3, *plan.bucket) and inside.dtype == torch.float32
    assert inside.min() >= 0 and inside.max() <= 1
    assert torch.equal(inside[:, -1, :1], inside[:, plan.inner[0] - 1, :1]), "its last row goes on"
    after = take_out(inside, plan).numpy()
    assert np.array_equal(after, pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2))


@pytest.mark.parametrize("size", [(1500, 1100), (90, 140)])
def test_scaling_is_pillow_s_lanczos(size: tuple[int, int]) -> None:
    small = Image.fromarray(np.random.default_rng(2).integers(0, 256, (30, 20, 3), dtype=np.uint8))
    picture = small.resize(size[::-1], Image.Resampling.BICUBIC)
    plan = fit(*size)
    height, width = plan.inner
    inside = put_in(torch.from_numpy(np.array(picture)), plan)[:, :height, :width]
    wanted = np.asarray(picture.resize((width, height), Image.Resampling.LANCZOS), int)
    assert np.abs((inside.permute(1, 2, 0) * 255).round().int().numpy() - wanted).max() <= 2, "which rounds in between"
    padded = torch.nn.functional.pad(inside, (0, plan.bucket[1] - width, 0, plan.bucket[0] - height))
    back = np.asarray(Image.fromarray(wanted.astype(np.uint8)).resize(size[::-1], Image.Resampling.LANCZOS), int)
    assert np.abs(take_out(padded, plan).numpy().astype(int) - back).max() <= 2


def test_what_a_model_paints_too_bright_is_cut_off() -> None:
    plan = fit(256, 256)
    assert take_out(torch.full((3, 256, 256), 1.2), plan).max() == 255
    assert take_out(torch.full((3, 256, 256), -0.2), plan).max() == 0
