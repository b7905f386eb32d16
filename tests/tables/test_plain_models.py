"""Whose names are taken for one model's."""

from __future__ import annotations

import pytest

from mmdyn.tables.factors import plain_model


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("openai:Qwen/Qwen2.5-VL-7B", "qwen2.5vl7b"),
        ("GPT-5.1-high", "gpt5.1high"),
        ("ollama:qwen2.5:7b", "qwen2.57b"),
        ("ollama:llama3:7b", "llama37b"),
        ("openai:通义千问", "通义千问"),
    ],
)
def test_a_name_is_without_backend_owner_and_signs(label: str, plain: str) -> None:
    assert plain_model(label) == plain
