"""What a model thought aloud, parted from its answer."""

from __future__ import annotations

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
