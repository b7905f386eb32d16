"""The styler with a free licence: FLUX.2-klein (Apache-2.0), an editing model that needs four steps."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from mmdyn.errors import UserError
from mmdyn.keys import Json
from perturb.style._diffusion import Diffusion
from perturb.style._painter import TOKENS, Call, Costs


class Klein(Diffusion):
    """Edits the picture by a prompt, with the picture as the reference; the prompt's words set the severity.

    It replaces the Flux-Dev of MDK12-Bench ("Evaluation Methods", Style) by a model that is free for all uses.
    """

    label = "klein"
    repository = "black-forest-labs/FLUX.2-klein-4B"
    kinds = ("Flux2KleinPipeline",)
    text_parts = ("text_encoder", "tokenizer")
    steps = 4
    costs = Costs(transformer=1600)  # the reference is as long again as what is painted

    def params(self, stream: Generator, severity: str) -> dict[str, Json]:
        """Draw a prompt's name, which includes the severity, and a 63-bit seed."""
        drawn = super().params(stream, severity)
        return {**drawn, "prompt": f"{drawn['prompt']}@{severity}"} if severity else drawn

    @property
    def pipeline_class(self) -> Any:
        """Flux2KleinPipeline with one reference for each picture."""
        try:
            from perturb.style._klein_pipeline import OneReferenceEach
        except ImportError as error:
            raise UserError(f"diffusers is too old for klein ({error}): pip install -U 'mmdyn[gpu]'") from None
        return OneReferenceEach

    @staticmethod
    def encode(pipeline: Any, texts: list[str]) -> dict[str, Any]:
        """Encode prompts to the language model's hidden states."""
        import torch

        with torch.no_grad():
            tokens, _ = pipeline.encode_prompt(texts, max_sequence_length=TOKENS)
        return {"prompt_embeds": tokens}

    @staticmethod
    def repaint(pipeline: Any, pictures: Any, call: Call, **arguments: Any) -> Any:
        """Paint each picture after itself; distilled models take no guidance."""
        from perturb.style._klein_pipeline import Reference

        height, width = call.bucket
        arguments |= {"height": height, "width": width, "guidance_scale": 1.0}
        return pipeline(image=[Reference(picture) for picture in pictures], output_type="pt", **arguments).images
