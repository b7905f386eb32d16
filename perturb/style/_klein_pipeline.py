"""Flux2KleinPipeline with one reference for each picture of a batch; the original takes every picture as a reference of
every other.

This file imports diffusers, so it is only imported where a picture is painted.
"""

from __future__ import annotations

from typing import Any

import torch
from diffusers import Flux2KleinPipeline
from diffusers.pipelines.flux2.image_processor import Flux2ImageProcessor


class Reference:
    """A reference picture: a tensor (3, height, width) from 0 to 1, on its device, in the size of a bucket."""

    def __init__(self, picture: Any) -> None:
        self.picture = picture
        self.size = picture.shape[2], picture.shape[1]


class _Processor(Flux2ImageProcessor):  # type: ignore[misc]
    """Leaves references as they are: buckets have the right size, and pixels stay on their device."""

    @staticmethod
    def check_image_input(image: Reference) -> Reference:
        return image

    def preprocess(self, image: Reference, **_: Any) -> Any:
        return image.picture[None] * 2 - 1


class OneReferenceEach(Flux2KleinPipeline):  # type: ignore[misc]
    """Paints each picture of a batch after its own reference; takes `image` as a list of `Reference`."""

    @classmethod
    def from_pretrained(cls, *where: Any, **parts: Any) -> Any:
        """Load the pipeline, with a processor that leaves references as they are."""
        pipeline = super().from_pretrained(*where, **parts)
        pipeline.image_processor = _Processor(vae_scale_factor=2 * pipeline.vae_scale_factor)
        return pipeline

    def prepare_image_latents(self, images: list[Any], batch_size: int, generator: Any, device: Any, dtype: Any) -> Any:
        """The latents (batch, tokens, channels) and their position ids, which are equal over the batch."""
        latents = [self._encode_vae_image(image.to(device, dtype), None) for image in images]
        places = self._prepare_image_ids(latents[:1]).repeat(batch_size, 1, 1)
        return torch.cat([self._pack_latents(latent) for latent in latents]), places.to(device)
