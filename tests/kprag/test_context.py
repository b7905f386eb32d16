"""The knowledge beside a question, word for word."""

from __future__ import annotations

import pytest

from kprag.context import knowledge_block
from making import choice


@pytest.mark.parametrize(
    ("point", "text", "shown"),
    [
        ("Force", "Forces act on bodies.", "- Force: Forces act on bodies."),
        ("Force", "Force:\nA push or a pull.", "- Force: A push or a pull."),
        ("函数", "函数的定义域是自变量的取值范围。", "- 函数: 函数的定义域是自变量的取值范围。"),
        ("函数", "函数：一种对应关系。", "- 函数: 一种对应关系。"),
        ("Force", "Force\nA push.", "- Force: A push."),
        ("Force", "", "- Force"),
        ("a+b", "a+b: a sum", "- a+b: a sum"),
    ],
)
def test_a_points_name_is_not_said_twice_and_no_word_is_cut(point: str, text: str, shown: str) -> None:
    assert knowledge_block(choice(knowledge_points=(point,)), {point: text}) == shown
