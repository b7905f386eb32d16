"""How likely a model of transformers finds each of several continuations of a prompt, which is read once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

ROOM = 2**25
"""The most log-probabilities (prompts x tokens x vocabulary) that are computed at a time."""


class Token(NamedTuple):
    """A token's log-probability, in nats, and the mean and the standard deviation of those of all tokens at its place,
    under the model's own distribution."""

    logprob: float
    mean: float
    deviation: float


def read_continuations(
    model: Any,
    input_ids: Any,
    logits_processor: Any,
    stopping_criteria: Any,
    generation_config: Any,
    continuations: Sequence[Sequence[tuple[int, ...]]],
    room: int = ROOM,
    **state: Any,
) -> list[list[list[Token]]]:
    """A way to decode for `generate(custom_generate=...)`, which sets up masks, positions and the cache for it.

    Continuations are read behind the prompt, as the model itself would go on: so every architecture keeps its own
    positions (of pictures, too) and cache. Those of one token cost nothing but the prompt, others one pass; several,
    where a table of log-probabilities would be too large. A model that keeps a state in place of keys and values
    (Mamba) reads token by token, because its state cannot take several.

    Args:
        model: With what `generate` hands over: `input_ids` of shape (prompts, length), padded on the left, and so on.
        continuations: For each prompt the tokens of each of its continuations.
        room: The most log-probabilities that are computed at a time.

    Returns:
        For each prompt what is told of each token of each continuation.
    """
    import torch

    def read(ids: Any, count: int, state: dict[str, Any], **how: Any) -> tuple[Any, Callable[[int], dict[str, Any]]]:
        """Log-probabilities of what comes after each of the last tokens, of shape (prompts, count, vocabulary), and the
        state in which so many tokens can be read behind them."""
        state |= {"logits_to_keep": count} if "logits_to_keep" in state else {}
        outputs = model(**model.prepare_inputs_for_generation(ids, **how, **state), return_dict=True)
        table = torch.log_softmax(outputs.logits[:, -count:].float(), -1).to(ids.device)
        encodes = model.config.is_encoder_decoder
        return table, lambda more: model._update_model_kwargs_for_generation(outputs, {**state}, encodes, more)

    first, behind_prompt = read(input_ids, 1, state, is_first_iteration=True)
    step = 1 if model._is_stateful else max(1, room // first.numel())
    found: list[list[list[Token]]] = [[] for _ in continuations]
    for number in range(max(map(len, continuations))):
        rows = [each[number] if number < len(each) else () for each in continuations]
        wide = max(map(len, rows))
        tokens = torch.tensor([[*row, *[0] * (wide - len(row))] for row in rows], device=input_ids.device)
        told, ids, behind = [_told(first, tokens[:, :1])], input_ids, behind_prompt
        for start in range(0, wide - 1, step):
            new = tokens[:, start : min(start + step, wide - 1)]
            ids, count = torch.cat([ids, new], -1), new.shape[1]
            then = behind(count) if start else _own_cache(behind(count))
            how = {"next_sequence_length": count} if then.get("use_cache", True) else {}
            table, behind = read(ids, count, then, **how)
            told.append(_told(table, tokens[:, start + 1 : start + 1 + count]))
        for own, row, values in zip(found, rows, torch.cat(told, 1).tolist(), strict=True):
            own += [[Token(*value) for value in values[: len(row)]]] * bool(row)
    return found


def _told(table: Any, tokens: Any) -> Any:
    """What is told of tokens of shape (prompts, count), in the order of Token's fields along the last axis."""
    import torch

    shares = table.exp()
    mean = -torch.special.entr(shares).sum(-1, keepdim=True)
    squares = (shares * (table - mean).square()).nan_to_num(0.0)  # where a token is impossible, minus infinity
    return torch.cat([table.gather(-1, tokens[..., None]), mean, squares.sum(-1, keepdim=True).sqrt()], -1)


def _own_cache(state: dict[str, Any]) -> dict[str, Any]:
    """A state whose cache may grow while the other's stays."""
    import torch

    return {name: value if isinstance(value, torch.Tensor) else deepcopy(value) for name, value in state.items()}
