"""What other words for a question must keep, and how it is told that they do not."""

from __future__ import annotations

import unicodedata
from collections import Counter

from mmdyn.text import protected_spans

_SHOWN = 40


def kept(text: str) -> Counter[str]:
    """What must not change (`mmdyn.text.protected`), each with how often it stands there; spaces do not count."""
    return Counter("".join(text[start:end].split()) for start, end in protected_spans(text))


def controls(text: str) -> set[str]:
    """The control characters in a text, besides line breaks and tabs."""
    return {char for char in set(text) - {"\n", "\t"} if unicodedata.category(char) == "Cc"}


def shown(texts: Counter[str]) -> str:
    """The first of some texts as a reason names it."""
    return f"⟨{next(iter(texts))[:_SHOWN]}⟩"
