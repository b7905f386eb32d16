"""How many tokens a text takes, where no tokenizer is at hand."""

from __future__ import annotations

BYTES_A_TOKEN = 4
"""Of UTF-8 text: right for English, and near it for Chinese, whose characters take three bytes."""


def estimate_tokens(text: str) -> float:
    """An estimate of a text's tokens."""
    return len(text.encode()) / BYTES_A_TOKEN
