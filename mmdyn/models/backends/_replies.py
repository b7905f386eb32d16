"""What replies are made of, whoever gave them: thinking parted from the answer, and tokens as servers count them."""

from __future__ import annotations

from mmdyn.record import Usage

MOST = 2**53
"""What no count of tokens reaches."""

_OPEN, _CLOSE = "<think>", "</think>"


def split_thinking(text: str) -> tuple[str, str]:
    """(reasoning, answer) of a text that begins with `<think>…</think>`; without such a block the text is all answer.

    A block that was never closed leaves no answer. A text that only closes one was begun by the model's own template.
    """
    begun = text.lstrip()
    if begun.startswith(_OPEN):
        reasoning, _, answer = begun.removeprefix(_OPEN).partition(_CLOSE)
        return reasoning.strip(), answer.lstrip()
    reasoning, closed, answer = text.partition(_CLOSE)
    return (reasoning.strip(), answer.lstrip()) if closed and _OPEN not in reasoning else ("", text)


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
