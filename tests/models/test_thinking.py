"""What was thought aloud is parted from the answer."""

from __future__ import annotations

import pytest

from mmdyn.models.backends._thinking import split_thinking


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("Answer: A", "", "Answer: A"),
        ("<think>\nhm\n</think>\n\nAnswer: A", "hm", "Answer: A"),
        ("\n <think>hm</think>Answer: A ", "hm", "Answer: A "),
        ("<think></think>Answer: A", "", "Answer: A"),
        ("<think>Answer: B, or is it", "Answer: B, or is it", ""),
        ("hm</think>\nAnswer: A", "hm", "Answer: A"),
        ("<think>one</think>two</think>three", "one", "two</think>three"),
        ("The tag <think> opens, </think> closes.", "", "The tag <think> opens, </think> closes."),
        ("", "", ""),
    ],
)
def test_a_leading_block_is_the_reasoning(text: str, reasoning: str, answer: str):
    assert split_thinking(text) == (reasoning, answer)
