"""What servers tell of replies: the tokens that they count, and what answered."""

from __future__ import annotations

from mmdyn.record import Usage

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


def consistent(prompt: int, completion: int, reasoning: int, cached: int) -> Usage:
    """The counts as a Usage has them: reasoning among the completion, which some servers count apart, cached among the
    prompt."""
    whole = completion + reasoning if reasoning > completion else completion
    return Usage(prompt, whole, reasoning, min(cached, prompt))


def name_of(told: object) -> str:
    """What a server says that a reply is of, such as its `model`; empty where that is no name."""
    return told[:LONGEST_NAME] if isinstance(told, str) else ""
