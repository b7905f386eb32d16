"""The styler of the paper: FLUX.1-dev, image to image."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from mmdyn.keys import Json
from perturb.style._diffusion import Diffusion
from perturb.style._painter import TOKENS, Call, Costs

GUIDANCE = 3.5
STRENGTHS = {"mild": 0.1, "": 0.2, "strong": 0.3}
"""By severity, the share of the 50 steps that are painted anew."""


class Flux(Diffusion):
    """Adds noise to the picture, and removes it under a prompt, in the last fifth of the steps: 10 of 50.

    FLUX.1-dev is free for non-commercial use and gated; `klein` has a free licence.

    Source: MDK12-Bench, "Evaluation Methods", Style (Flux-Dev). The strength (0.2 of 50 steps) and the guidance (3.5),
        which the paper does not name, are those of its release; `mild` and `strong` are our own.
    """

    label = "flux"
    repository = "black-forest-labs/FLUX.1-dev"
    kinds = ("FluxPipeline", "FluxImg2ImgPipeline")
    text_parts = ("text_encoder", "text_encoder_2", "tokenizer", "tokenizer_2")
    steps = 50
    costs = Costs(transformer=800)

    def params(self, stream: Generator, severity: str) -> dict[str, Json]:
        """Draw a prompt's name and a 63-bit seed; add the strength."""
        return {**super().params(stream, severity), "strength": STRENGTHS[severity]}

    @property
    def pipeline_class(self) -> Any:
        """FluxImg2ImgPipeline."""
        from diffusers import FluxImg2ImgPipeline

        return FluxImg2ImgPipeline

    @staticmethod
    def encode(pipeline: Any, texts: list[str]) -> dict[str, Any]:
        """Encode prompts to T5's tokens and CLIP's pooled vector."""
        import torch

        with torch.no_grad():
            tokens, summary, _ = pipeline.encode_prompt(texts, texts, max_sequence_length=TOKENS)
        return {"prompt_embeds": tokens, "pooled_prompt_embeds": summary}

    @staticmethod
    def repaint(pipeline: Any, pictures: Any, call: Call, **arguments: Any) -> Any:
        """Run image to image in the bucket's size; the pipeline's default is 1024x1024."""
        height, width = call.bucket
        arguments |= {"height": height, "width": width, "strength": call.strength, "guidance_scale": GUIDANCE}
        return pipeline(image=pictures, output_type="pt", **arguments).images
