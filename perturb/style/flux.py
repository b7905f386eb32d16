"""The styler of the paper: FLUX.1-dev, image to image."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from mmdyn.keys import Json
from perturb.style._diffusion import Diffusion
from perturb.style._painter import TOKENS, Call, Costs

GUIDANCE = 3.5
STRENGTHS = {"mild": 0.1, "": 0.2, "strong": 0.3}
"""Which share of the 50 steps is painted anew, by severity."""


class Flux(Diffusion):
    """Noise is added to the picture as of the last tenths of the way, and taken away under a prompt: 10 of 50 steps.

    FLUX.1-dev is free for non-commercial use and gated; `klein` is the freely licensed option.

    Source: MDK12-Bench, "Evaluation Methods", Style (Flux-Dev); the paper's release has the strength (0.2 of 50 steps)
        and the guidance (3.5), which the paper does not name. `mild` and `strong` are our own.
    """

    label = "flux"
    repository = "black-forest-labs/FLUX.1-dev"
    kinds = ("FluxPipeline", "FluxImg2ImgPipeline")
    text_parts = ("text_encoder", "text_encoder_2", "tokenizer", "tokenizer_2")
    steps = 50
    costs = Costs(transformer=800)

    def params(self, stream: Generator, severity: str) -> dict[str, Json]:
        """A prompt's name, a 63-bit seed, and the strength."""
        return {**super().params(stream, severity), "strength": STRENGTHS[severity]}

    @property
    def pipeline_class(self) -> Any:
        """FluxImg2ImgPipeline."""
        from diffusers import FluxImg2ImgPipeline

        return FluxImg2ImgPipeline

    @staticmethod
    def encode(pipeline: Any, texts: list[str]) -> dict[str, Any]:
        """T5's tokens and CLIP's summary."""
        import torch

        with torch.no_grad():
            tokens, summary, _ = pipeline.encode_prompt(texts, texts, max_sequence_length=TOKENS)
        return {"prompt_embeds": tokens, "pooled_prompt_embeds": summary}

    @staticmethod
    def repaint(pipeline: Any, pictures: Any, call: Call, **arguments: Any) -> Any:
        """Image to image at the bucket's size, which the pipeline would otherwise make 1024x1024."""
        height, width = call.bucket
        arguments |= {"height": height, "width": width, "strength": call.strength, "guidance_scale": GUIDANCE}
        return pipeline(image=pictures, output_type="pt", **arguments).images
