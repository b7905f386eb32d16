"""Where a text thinks and where it answers, by the marks that families of models write."""

from __future__ import annotations

import pytest

from mmdyn.text import find_answer, split_thinking


@pytest.mark.parametrize(("text", "reasoning", "answer"), [
    ("<think>a</think>b", "a", "b"), ("a</think>\nb", "a", "b"), ("<seed:think>a</seed:think>b", "a", "b"),
    ("[THINK]a[/THINK]b", "a", "b"), ("◁think▷a◁/think▷b", "a", "b"), ("<Thinking>a</Thinking> b", "a", "b"),
    ("<|begin_of_thought|>a<|end_of_thought|>b", "a", "b"), ("analysisA is so.assistantfinalb", "A is so.", "b"),
    ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b", "a", "b"), ("<think>a", "a", ""),
    ("<|channel|>commentary to=x<|message|>a<|channel|>final<|message|>b", "a", "b"), ("analysisThe a", "The a", ""),
    ("<think>a</think>\n", "a", ""), ("analysis of a", "", "analysis of a"), ("a < b", "", "a < b"), ("", "", ""),
    ("b <think>a</think>", "", "b <think>a</think>"), ("<THINK>a</THINK>b", "a", "b"),
])  # fmt: skip
def test_a_reply_is_parted_into_reasoning_and_answer(text: str, reasoning: str, answer: str) -> None:
    assert split_thinking(text) == (reasoning, answer)


@pytest.mark.parametrize(("text", "answer", "unended"), [
    ("b\n<think>a</think>", "b\n", False), ("b\n<think>a", "b\n", False), ("<think>a</think>b<think>c", "b", False),
    ("<think>a", "a", True), ("<think>a</think>b</think>c", "c", False), ("<think>a</think>", "", False),
    ("b", "b", False), ("  <think>a", "a", True),
])  # fmt: skip
def test_the_answer_stands_behind_the_last_thought_or_before_it(text: str, answer: str, unended: bool) -> None:
    start, end, open_end = find_answer(text)
    assert (text[start:end], open_end) == (answer, unended)
