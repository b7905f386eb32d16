"""What servers tell of replies: the tokens that they count, and what answered; and the likeliest of choices."""

from __future__ import annotations

from collections.abc import Sequence

from mmdyn.record import Reply, Usage

MOST = 2**53
"""What no count of tokens reaches."""
LONGEST_NAME = 200


def count(usage: object, name: str, within: str = "") -> int:
    """The count under a name, perhaps `within` an object; 0 where there is none that can be read: an odd one never
    costs the answer that it came with."""
    if within:
        usage = usage.get(within) if isinstance(usage, dict) else None
    value = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < MOST else 0


def consistent(prompt: int, completion: int, reasoning: int, cached: int, total: int = 0) -> Usage:
    """The counts as a Usage has them: reasoning among the completion, cached among the prompt.

    Some servers count reasoning apart from the completion: it is larger then, or a part of the `total` beside it.
    Others tell it by the total alone, as what is neither prompt nor completion; where that is the cached tokens, those
    are left out of the prompt.
    """
    apart = total - prompt - completion if prompt else 0
    if not reasoning and apart > 0:
        prompt, reasoning = (prompt + cached, 0) if apart == cached else (prompt, apart)
    whole = completion + reasoning if reasoning > completion or apart == reasoning else completion
    return Usage(prompt, whole, reasoning, min(cached, prompt))


def name_of(told: object) -> str:
    """What a server says that a reply is of, such as its `model`; empty where that is no name."""
    return told[:LONGEST_NAME] if isinstance(told, str) else ""


def likeliest(
    lead: str, choices: Sequence[str], sums: Sequence[float], lengths: Sequence[int], usage: Usage, changed: str = ""
) -> Reply:
    """The reply for the likeliest of the choices with which an answer may go on.

    A choice's score is the log-probability of its tokens given the prompt, divided by their number, so that long ones
    are not at a disadvantage (as in Brown et al. 2020, "Language Models are Few-Shot Learners", section 2.4).

    Args:
        lead: What the answer begins with.
        choices: What it may go on with.
        sums: The choices' log-probabilities, in nats.
        lengths: Their lengths in tokens.
        usage: What was read and written.
        changed: What of the request was changed.
    """
    means = [total / length for total, length in zip(sums, lengths, strict=True)]
    return Reply(
        text=(lead + choices[means.index(max(means))]).strip(),
        finish_reason="likelihood",
        usage=usage,
        logprobs=tuple(sums),
        option_tokens=tuple(lengths),
        changed=changed,
    )
