"""Paints batches of pictures of one size with a loaded diffusion pipeline; its encoded prompts are cached on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import sqrt
from typing import Any

import numpy as np
import yaml
from filelock import FileLock
from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json, digest
from mmdyn.models import USED, cache_folder, free_memory
from perturb.device_pixels import to_host

TOKENS = 128
"""The tokens that prompts are padded to. They are shorter; the models' usual 512 would make each step at 1024x1024 a
tenth longer."""

_FORMAT = 1


@cache
def styles() -> tuple[str, ...]:
    """The names of the styles."""
    return tuple(_file()["styles"])


@cache
def prompts(backend: str) -> dict[str, str]:
    """A backend's prompts by style; by STYLE@SEVERITY, too, where they depend on the severity."""
    return {
        f"{name}@{severity}" if severity else name: text.format(style=look)
        for severity, text in _file()[backend].items()
        for name, look in _file()["styles"].items()
    }


def encoded(texts: dict[str, str], what: Json, encode: Callable[[list[str]], dict[str, Any]]) -> dict[str, Any]:
    """Encode texts, or read them from the cache. Of several processes one encodes while the others wait.

    Args:
        texts: Prompts by name.
        what: The checkpoint and dtype, which decide the result.
        encode: Encodes a list of texts.

    Returns:
        Tensors by argument of the pipeline; the first axis follows `texts`.

    Raises:
        UserError: The cache cannot be written or read.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file, save_file

    folder = cache_folder().with_name("prompts")
    file = folder / f"{digest([_FORMAT, TOKENS, list(texts.values()), what])}.safetensors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock"):
            if not file.is_file():
                part = file.with_suffix(".part")
                save_file({name: tensor.contiguous() for name, tensor in encode(list(texts.values())).items()}, part)
                part.replace(file)
            tensors: dict[str, Any] = load_file(file)
    except OSError as error:
        reason = f"cannot use the cache {folder} ({error.strerror})"
        raise UserError(f"{reason}: set MMDYN_CACHE to a writable folder") from None
    except SafetensorError as error:
        raise UserError(f"the cached prompts {file} are damaged ({error}): delete the file") from None
    return tensors


@cache
def _file() -> dict[str, dict[str, str]]:
    text = files("perturb.style").joinpath("prompts.yaml").read_text(encoding="utf-8")
    read: dict[str, dict[str, str]] = yaml.safe_load(text)
    return read


SIDES = (*range(64, 512, 64), *range(512, 1024, 128), *range(1024, 2049, 256))
"""Sides of buckets in pixels: coarse steps, so that pictures of many sizes share a batch (models need multiples of 16),
up to the largest side that the models were trained on."""

LARGEST, SMALLEST = 1024 * 1024, 256 * 256
"""The most and the least pixels of a bucket."""

BUCKETS = tuple((height, width) for height in SIDES for width in SIDES if SMALLEST <= height * width <= LARGEST)
"""All sizes (height, width) in which pictures are painted."""

_STRIP = 256
"""Pictures are scaled in strips of so many columns or rows: a large picture would take gigabytes in floats."""

_LOBES = 3

MOST_PIXELS = 8 * LARGEST
"""The most pixels of a batch: some 30 thousand tokens, far more than keep a GPU busy."""

NO_PICTURE = "the model painted no picture (its values overflowed): use dtype=bf16"


class Call(Struct, frozen=True):
    """What the pictures of a batch share: the bucket as (height, width), and the strength of image to image."""

    bucket: tuple[int, int]
    strength: float = 1.0

    @property
    def pixels(self) -> int:
        """The pixels of the bucket."""
        return self.bucket[0] * self.bucket[1]


class PaintJob(Struct, frozen=True, eq=False):
    """A picture to paint, array or tensor, with its prompt's name and the seed of its generator."""

    pixels: Any
    fit: Fit
    prompt: str
    seed: int


class Costs(Struct, frozen=True):
    """Bytes for each pixel of a bucket: the transformer's for each picture of a batch, the VAE's for one picture."""

    transformer: int
    vae: int = 4096


class Painter(Struct, frozen=True, eq=False):
    """A pipeline that paints batches.

    Args:
        prompts: The encoded prompts on the device, by argument of the pipeline; the first axis follows `names`.
        repaint: The backend's call of its pipeline (`Diffusion.repaint`).
        batch: The most pictures in a batch; None chooses it from the free memory.
        lent: Bytes of offloaded weights that are on the device while it paints.
    """

    pipeline: Any
    prompts: Mapping[str, Any]
    names: Sequence[str]
    repaint: Callable[..., Any]
    costs: Costs
    steps: int
    device: Any
    batch: int | None = None
    lent: int = 0

    def batch_size(self, call: Call) -> int:
        """The pictures in a batch: `batch` if given; else as many as fit on a GPU, and 1 on another device."""
        if self.batch or self.device.type != "cuda":
            return self.batch or 1
        fits = int((USED * self._free - self.costs.vae * call.pixels) / (self.costs.transformer * call.pixels))
        return max(1, min(fits, MOST_PIXELS // call.pixels))

    @property
    def lacks(self) -> float:
        """The bytes of free memory that a picture of a megapixel lacks; 0 where it fits."""
        needed = (self.costs.vae + self.costs.transformer) * LARGEST / USED
        return max(0.0, needed - self._free) if self.device.type == "cuda" else 0.0

    @property
    def _free(self) -> float:
        return free_memory(self.device) - self.lent

    def paint(self, call: Call, jobs: Sequence[PaintJob]) -> list[Any | ValueError]:
        """Paint pictures; each in RGB and its own size, an array or a tensor as it came, or a ValueError where values
        overflowed.

        Each picture has its own generator on the CPU, so its random numbers depend neither on the device nor on the
        batch.
        """
        import torch

        rows = torch.tensor([self.names.index(job.prompt) for job in jobs], device=self.device)
        arguments: dict[str, Any] = {name: tensor[rows] for name, tensor in self.prompts.items()}
        arguments["generator"] = [torch.Generator().manual_seed(job.seed) for job in jobs]
        with torch.no_grad():
            pictures = torch.stack([put_in(self._tensor(job.pixels), job.fit) for job in jobs])
            painted = self.repaint(self.pipeline, pictures, call, num_inference_steps=self.steps, **arguments)
            sound = painted.isfinite().flatten(1).all(1).tolist()
            done = [take_out(picture, job.fit) for picture, job in zip(painted, jobs, strict=True)]
        return [
            (to_host(picture) if isinstance(job.pixels, np.ndarray) else picture) if good else ValueError(NO_PICTURE)
            for picture, job, good in zip(done, jobs, sound, strict=True)
        ]

    def _tensor(self, pixels: Any) -> Any:
        import torch

        tensor = torch.from_numpy(np.array(pixels)) if isinstance(pixels, np.ndarray) else pixels
        return tensor.to(self.device)


class Fit(Struct, frozen=True):
    """How a picture fits into a bucket: scaled to `inner` at the top left, with its aspect ratio kept to a pixel; the
    rest of the bucket repeats its last row and column. All are (height, width) in pixels."""

    size: tuple[int, int]
    inner: tuple[int, int]
    bucket: tuple[int, int]


def fit(height: int, width: int) -> Fit:
    """Choose the bucket that shrinks a picture least, and of these the smallest; a small picture is enlarged first.

    A picture that fits into a bucket, and is not small, is not scaled.

    >>> fit(300, 400)
    Fit(size=(300, 400), inner=(300, 400), bucket=(320, 448))
    """
    larger = max(1.0, sqrt(SMALLEST / (height * width)))
    wanted = max(1, round(height * larger)), max(1, round(width * larger))

    def scale(bucket: tuple[int, int]) -> float:
        return min(1.0, bucket[0] / wanted[0], bucket[1] / wanted[1])

    bucket = max(BUCKETS, key=lambda bucket: (scale(bucket), -bucket[0] * bucket[1]))
    scaled = larger * scale(bucket)
    return Fit((height, width), (max(1, round(height * scaled)), max(1, round(width * scaled))), bucket)


def put_in(pixels: Any, fit: Fit) -> Any:
    """Scale a uint8 tensor, (height, width) or (height, width, 3), into its bucket: float32 (3, *bucket) from
    0 to 1."""
    import torch
    from torch.nn.functional import pad

    planes = pixels[None].expand(3, -1, -1) if pixels.ndim == 2 else pixels.permute(2, 0, 1)
    rows, columns = (
        _lanczos(source, target, planes.device) for source, target in zip(fit.size, fit.inner, strict=True)
    )
    strips = (strip.float() / 255 for strip in planes.split(_STRIP, 2))
    inner = torch.cat([strip if rows is None else rows @ strip for strip in strips], 2)
    inner = inner if columns is None else inner @ columns.T
    down, across = fit.bucket[0] - fit.inner[0], fit.bucket[1] - fit.inner[1]
    return pad(inner[None], (0, across, 0, down), mode="replicate")[0].clamp(0, 1).contiguous()


def take_out(painted: Any, fit: Fit) -> Any:
    """Cut a picture out of a painted bucket, float (3, *bucket): uint8 (height, width, 3) of its own size."""
    import torch

    inner = painted[:, : fit.inner[0], : fit.inner[1]].float()
    rows, columns = (
        _lanczos(source, target, painted.device) for source, target in zip(fit.inner, fit.size, strict=True)
    )
    inner = inner if columns is None else inner @ columns.T
    strips = inner.split(_STRIP, 1) if rows is None else (some @ inner for some in rows.split(_STRIP))
    return torch.cat([(strip.clamp(0, 1) * 255).round().byte() for strip in strips], 1).permute(1, 2, 0).contiguous()


def _lanczos(source: int, target: int, device: Any) -> Any:
    """What each of `target` pixels takes of each of `source` pixels by Lanczos' filter, which torch lacks, as Pillow
    reckons it: float32 (target, source). None where the two are the same."""
    import torch

    if source == target:
        return None
    step = source / target
    middles = (torch.arange(target, device=device)[:, None] + 0.5) * step
    away = (torch.arange(source, device=device)[None] + 0.5 - middles) / max(step, 1.0)
    weights = torch.sinc(away) * torch.sinc(away / _LOBES) * (away.abs() < _LOBES)
    return weights / weights.sum(1, keepdim=True)
