"""How likely a model of transformers finds each of several continuations of a prompt, which is read once."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any


def log_likelihoods(
    model: Any,
    input_ids: Any,
    logits_processor: Any,
    stopping_criteria: Any,
    generation_config: Any,
    continuations: Sequence[Sequence[tuple[int, ...]]],
    **state: Any,
) -> list[list[float]]:
    """A way to decode for `generate(custom_generate=...)`, which sets up masks, positions and the cache for it.

    Continuations are told token by token, as the model itself would write them: so every architecture keeps its own
    positions (of pictures, too) and cache. Those of one token cost nothing but the prompt.

    Args:
        model: With what `generate` hands over: `input_ids` of shape (prompts, length), padded on the left, and so on.
        continuations: For each prompt the tokens of each of its continuations.

    Returns:
        For each prompt the log-probability of each continuation, in nats.
    """
    import torch

    def read(ids: Any, state: dict[str, Any], **how: Any) -> tuple[Any, dict[str, Any]]:
        """Log-probabilities of the next token, of shape (prompts, vocabulary), and the state behind the ids."""
        outputs = model(**model.prepare_inputs_for_generation(ids, **how, **state), return_dict=True)
        state = model._update_model_kwargs_for_generation(outputs, state, model.config.is_encoder_decoder)
        return torch.log_softmax(outputs.logits[:, -1].float(), -1).to(ids.device), state

    first, state = read(input_ids, state, is_first_iteration=True)
    step = {"next_sequence_length": 1} if state.get("use_cache", True) else {}
    sums = list[list[float]]()
    for number in range(max(map(len, continuations))):
        rows = [each[number] if number < len(each) else () for each in continuations]
        wide = max(map(len, rows))
        tokens = torch.tensor([[*row, *[0] * (wide - len(row))] for row in rows], device=input_ids.device)
        told = torch.tensor([[1.0] * len(row) + [0.0] * (wide - len(row)) for row in rows], device=input_ids.device)
        table, ids, then = first, input_ids, state
        total = torch.zeros(len(rows), device=input_ids.device)
        for place in range(wide):
            if place:
                ids = torch.cat([ids, tokens[:, place - 1 : place]], -1)
                then = _own_cache(then) if place == 1 else then
                table, then = read(ids, then, **step)
            total = total + told[:, place] * table.gather(1, tokens[:, place : place + 1])[:, 0]
        sums.append(total.tolist())
    return [[column[row] for column, _ in zip(sums, each, strict=False)] for row, each in enumerate(continuations)]


def _own_cache(state: dict[str, Any]) -> dict[str, Any]:
    """A state whose cache may grow while the other's stays."""
    import torch

    return {name: value if isinstance(value, torch.Tensor) else deepcopy(value) for name, value in state.items()}
