"""Drawing tokens so that what one request gets does not depend on those that are answered beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmdyn.keys import stream


class Draws:
    """A step of transformers' generation: leaves of each row's scores the one token that was drawn.

    A row has a stream of its own, of which each step takes one number u in [0, 1). Tokens stand in the order of their
    probabilities, and the one whose share holds u is taken; those beyond the likeliest that make up `top_p` have no
    share (nucleus sampling, Holtzman et al. 2020, section 3.1).
    """

    def __init__(self, seeds: Sequence[tuple[str | int, ...]], temperature: float, top_p: float) -> None:
        self._streams = [stream(*seed) for seed in seeds]
        self._temperature, self._top_p = temperature, top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Scores of shape (rows, tokens) with all but one of each row at minus infinity."""
        import torch

        shares = torch.softmax(scores.float() / self._temperature, -1)
        probabilities, tokens = torch.sort(shares, dim=-1, descending=True, stable=True)
        ends = probabilities.cumsum(-1)
        kept = ends - probabilities < self._top_p
        ends = torch.where(kept, ends, torch.inf)
        total = torch.where(kept, probabilities, 0).sum(-1, keepdim=True)
        numbers = torch.tensor([[each.random()] for each in self._streams], device=scores.device, dtype=torch.float32)
        places = torch.minimum((ends <= numbers * total).sum(-1, keepdim=True), kept.sum(-1, keepdim=True) - 1)
        return torch.full_like(scores, -torch.inf).scatter(-1, tokens.gather(-1, places), 0.0)
