"""Token counts as servers write them: an odd one never costs the answer that it came with."""

from __future__ import annotations

from mmdyn.record import Usage

MOST = 2**53
"""What no count of tokens reaches."""


def count(usage: object, *names: str) -> int:
    """The count under the names, one inside the other; 0 where there is none that can be read."""
    for name in names:
        usage = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(usage, float) and usage.is_integer():
        usage = int(usage)
    return usage if type(usage) is int and 0 <= usage < MOST else 0


def consistent(prompt: int, completion: int, reasoning: int, cached: int) -> Usage:
    """The counts as a Usage has them: reasoning among the completion, which some servers count apart, cached among the
    prompt."""
    return Usage(
        prompt, completion + reasoning if reasoning > completion else completion, reasoning, min(cached, prompt)
    )
