"""Flux2KleinPipeline for batches: as it comes, every picture that it is given is a reference of every picture it
paints.

This file imports diffusers, so it is only imported where a picture is painted.
"""

from __future__ import annotations

from typing import Any

import torch
from diffusers import Flux2KleinPipeline
from diffusers.pipelines.flux2.image_processor import Flux2ImageProcessor


class Reference:
    """A picture that is where it is needed already: a tensor (3, height, width) from 0 to 1, in a bucket's size."""

    def __init__(self, picture: Any) -> None:
        self.picture = picture
        self.size = picture.shape[2], picture.shape[1]


class _Processor(Flux2ImageProcessor):  # type: ignore[misc]
    """Takes references as they are: buckets have the right size, and pixels stay on their device."""

    @staticmethod
    def check_image_input(image: Reference) -> Reference:
        return image

    def preprocess(self, image: Reference, **_: Any) -> Any:
        return image.picture[None] * 2 - 1


class OneReferenceEach(Flux2KleinPipeline):  # type: ignore[misc]
    """Each picture of a batch has one reference of its own. Takes `image` as a list of `Reference`."""

    @classmethod
    def from_pretrained(cls, *where: Any, **parts: Any) -> Any:
        """As ever, with a processor that takes references as they are."""
        pipeline = super().from_pretrained(*where, **parts)
        pipeline.image_processor = _Processor(vae_scale_factor=2 * pipeline.vae_scale_factor)
        return pipeline

    def prepare_image_latents(self, images: list[Any], batch_size: int, generator: Any, device: Any, dtype: Any) -> Any:
        """Latents (batch, tokens, channels) and their places, all alike."""
        latents = [self._encode_vae_image(image.to(device, dtype), None) for image in images]
        places = self._prepare_image_ids(latents[:1]).repeat(batch_size, 1, 1)
        return torch.cat([self._pack_latents(latent) for latent in latents]), places.to(device)
