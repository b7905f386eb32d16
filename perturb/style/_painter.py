"""A loaded diffusion pipeline at work on batches of pictures of one bucket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from msgspec import Struct

from perturb.style._buckets import LARGEST, Fit, put_in, take_out

MOST_PIXELS = 8 * LARGEST
"""Of a batch: some 30 thousand tokens, far beyond where a GPU is busy with one layer."""

_USED = 0.9
"""How much of the free memory a batch may take."""

NO_PICTURE = "the model painted no picture (its values overflowed): use dtype=bf16"


class Call(Struct, frozen=True):
    """What all pictures of a batch have in common: the bucket as (height, width), and how far image to image goes
    back."""

    bucket: tuple[int, int]
    strength: float = 1.0


class Job(Struct, frozen=True, eq=False):
    """A picture to be painted, array or tensor, with its prompt's name and the seed of its own generator."""

    pixels: Any
    fit: Fit
    prompt: str
    seed: int


class Costs(Struct, frozen=True):
    """Bytes that a pixel of a bucket takes: the transformer's for each picture of a batch, and the VAE's for one
    picture."""

    transformer: int
    vae: int = 4096


class Repaint(Protocol):
    """A backend's own way to call its pipeline."""

    def __call__(self, pipeline: Any, pictures: Any, call: Call, **arguments: Any) -> Any:
        """Pictures, float (n, 3, height, width) from 0 to 1, painted; `arguments` are steps, generators and prompts."""


class Painter:
    """`prompts` are the tensors that stand for prompts: by the name of the pipeline's argument, first axis as in
    `names`.

    `batch` is the most pictures at a time; None leaves it to the memory that is free.
    """

    def __init__(
        self,
        pipeline: Any,
        prompts: Mapping[str, Any],
        names: Sequence[str],
        repaint: Repaint,
        costs: Costs,
        steps: int,
        device: Any,
        batch: int | None = None,
    ) -> None:
        self.pipeline, self._repaint, self._device = pipeline, repaint, device
        self._prompts = {name: tensor.to(device) for name, tensor in prompts.items()}
        self._rows = {name: row for row, name in enumerate(names)}
        self._costs, self._steps, self._batch = costs, steps, batch

    def batch_size(self, call: Call) -> int:
        """How many pictures at a time: what was asked for, on a GPU otherwise what fits, elsewhere one."""
        import torch

        if self._batch or self._device.type != "cuda":
            return self._batch or 1
        pixels = call.bucket[0] * call.bucket[1]
        kept = torch.cuda.memory_reserved(self._device) - torch.cuda.memory_allocated(self._device)
        free = _USED * (torch.cuda.mem_get_info(self._device)[0] + kept)
        fits = int((free - self._costs.vae * pixels) / (self._costs.transformer * pixels))
        return max(1, min(fits, MOST_PIXELS // pixels))

    def paint(self, call: Call, jobs: Sequence[Job]) -> list[Any | ValueError]:
        """Each picture in RGB and its own size, array or tensor as it came; a ValueError for one that is no picture.

        Random numbers are drawn on the CPU, by a generator a picture: the same ones on every device, in every batch.
        """
        import torch

        rows = torch.tensor([self._rows[job.prompt] for job in jobs], device=self._device)
        arguments = {name: tensor[rows] for name, tensor in self._prompts.items()}
        generators = [torch.Generator().manual_seed(job.seed) for job in jobs]
        with torch.no_grad():
            pictures = torch.stack([put_in(self._tensor(job.pixels), job.fit) for job in jobs])
            painted = self._repaint(
                self.pipeline, pictures, call, generator=generators, num_inference_steps=self._steps, **arguments
            )
            sound = painted.isfinite().flatten(1).all(1).tolist()
            done = [take_out(picture, job.fit) for picture, job in zip(painted, jobs, strict=True)]
        return [
            (_array(picture) if isinstance(job.pixels, np.ndarray) else picture) if good else ValueError(NO_PICTURE)
            for picture, job, good in zip(done, jobs, sound, strict=True)
        ]

    def _tensor(self, pixels: Any) -> Any:
        import torch

        tensor = torch.from_numpy(np.array(pixels)) if isinstance(pixels, np.ndarray) else pixels
        return tensor.to(self._device)


def _array(pixels: Any) -> Any:
    array = pixels.cpu().numpy()
    array.flags.writeable = False
    return array
