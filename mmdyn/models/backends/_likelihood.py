"""How likely a model finds each of several continuations of a prompt.

A continuation's score is the log-probability of its tokens given the prompt, divided by their number, so that long ones
are not at a disadvantage (as in Brown et al. 2020, "Language Models are Few-Shot Learners", section 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mmdyn.models.backends._local_prompt import Prompt, continuation_ids
from mmdyn.record import Reply, Usage

if TYPE_CHECKING:
    from mmdyn.models.backends._local_model import LocalModel

Tokens = tuple[int, ...]


def weigh(local: LocalModel, prompts: Sequence[Prompt]) -> list[Reply | ValueError]:
    """The likeliest continuation of each prompt; prompts have equally many pictures. Raises Refused where one is too
    long.

    A row of the batch is a prompt with all but the last token of a continuation: those of one token each share a row.
    """
    found = [[continuation_ids(local.tokenizer, prompt.text, text) for text in prompt.choices] for prompt in prompts]
    rows = list(dict.fromkeys((number, ids[:-1]) for number, each in enumerate(found) for ids in each))
    inputs = local.encode([prompts[number] for number, _ in rows], "right")
    lengths = [int(length) for length in inputs["attention_mask"].sum(-1)]
    starts = {number: length for (number, _), length in zip(rows, lengths, strict=True)}
    local.check_length(max(lengths), max(len(ids) for each in found for ids in each))
    appended(inputs, lengths, [ids for _, ids in rows])
    tables = dict(zip(rows, log_probabilities(local, inputs, lengths, [len(ids) + 1 for _, ids in rows]), strict=True))
    replies = list[Reply | ValueError]()
    for number, (prompt, each) in enumerate(zip(prompts, found, strict=True)):
        sums = [sum(float(tables[number, ids[:-1]][place, token]) for place, token in enumerate(ids)) for ids in each]
        replies.append(likeliest(prompt, sums, [len(ids) for ids in each], starts[number]))
    return replies


def likeliest(prompt: Prompt, sums: Sequence[float], lengths: Sequence[int], tokens: int) -> Reply:
    """The reply for a prompt of so many tokens, its continuations' log-probabilities (nats) and their lengths in
    tokens."""
    means = [total / length for total, length in zip(sums, lengths, strict=True)]
    return Reply(
        text=(prompt.lead + prompt.choices[means.index(max(means))]).strip(),
        finish_reason="likelihood",
        usage=Usage(prompt_tokens=tokens),
        logprobs=tuple(sums),
        option_tokens=tuple(lengths),
        changed=prompt.changed,
    )


def appended(inputs: Any, lengths: Sequence[int], rows: Sequence[Tokens]) -> None:
    """Put each row's tokens behind its prompt, in place; what is kept by token (masks, types) grows with them."""
    if not any(rows):
        return
    import torch

    shape = inputs["input_ids"].shape
    wide = max(length + len(ids) for length, ids in zip(lengths, rows, strict=True))
    for name, old in list(inputs.items()):
        if not hasattr(old, "shape") or old.shape != shape:
            continue
        new = torch.zeros((shape[0], max(wide, shape[1])), dtype=old.dtype, device=old.device)
        new[:, : shape[1]] = old
        for number, (length, ids) in enumerate(zip(lengths, rows, strict=True)):
            values = {"input_ids": list(ids), "attention_mask": [1] * len(ids)}.get(name, [0] * len(ids))
            new[number, length : length + len(ids)] = torch.tensor(values, dtype=old.dtype, device=old.device)
        inputs[name] = new


def log_probabilities(local: LocalModel, inputs: Any, lengths: Sequence[int], counts: Sequence[int]) -> list[Any]:
    """For each row a float32 tensor of shape (count, vocabulary), in nats: what comes after the prompt's last token,
    and on."""
    import torch

    needed = [range(length - 1, length - 1 + count) for length, count in zip(lengths, counts, strict=True)]
    places = sorted({place for each in needed for place in each})
    kept = {"logits_to_keep": torch.tensor(places, device=local.model.device)} if local.keeps_logits else {}
    with torch.inference_mode():
        logits = local.model(**inputs, use_cache=False, **kept).logits
    column = {place: number for number, place in enumerate(places)} if kept else {place: place for place in places}
    return [
        torch.log_softmax(logits[row, [column[place] for place in each]].float(), -1).cpu()
        for row, each in enumerate(needed)
    ]
