"""No two texts make the comparison raise or hang.

Few texts are tried; `--hypothesis-profile=long` tries 100,000 in each test: docs/performance.md has the whole command.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from making_hostile import FORMULAS, SEARCH, TEXTS

from mmdyn.equal import asked_unit, same


@given(TEXTS, TEXTS)
@SEARCH
def test_any_two_texts_are_compared_without_raising(given: str, gold: str) -> None:
    assert isinstance(same(given, gold), bool)
    assert asked_unit(given) is None or asked_unit(given)


@given(FORMULAS, FORMULAS)
@SEARCH
def test_any_latex_is_compared_without_raising(given: str, gold: str) -> None:
    assert isinstance(same(given, gold), bool)
    assert isinstance(same(f"\\frac{{1}}{{{given}}}", f"\\frac{{1}}{{{gold}}}"), bool)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["(", "{", "[", "\\{", "x^", "\\sqrt{", "\\frac{", "-", "+", "|", "√", "1,", "x=1, ", "x=1 or ", "±", "∪", "{1,", "({", "H2O+", "→", "2h ", "=", "<", "①", "1/", "a_", "!", "^2", "每", "e^{", "9^{", "sin "],
)  # fmt: skip
def test_a_long_answer_is_compared_in_no_time(piece: str) -> None:
    for length in (590, 1990):
        one, other = (piece + "1") * (length // (len(piece) + 1)), (piece + "2") * (length // (len(piece) + 1))
        began = time.process_time()
        same(one, other)
        same(other[::-1], one)
        assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "text", ["x" + "_a" * 40 + "__", "x" + "_" * 80, "x_" + "a_" * 30 + " b", "y" + "'_1" * 30 + "_"]
)
def test_a_name_that_goes_on_for_long_is_read_once(text: str) -> None:
    began = time.process_time()
    for relation in ("{} > 3", "3 < {}", "{} ∈ (1, 2)", "{{{} | x > 3}}", "1 < {} ≤ 2"):
        same(relation.format(text), "x > 3")
    assert time.process_time() - began < 2


def test_nested_sets_end() -> None:
    text = "1"
    for _ in range(4):
        text = f"\\{{{text},{text},{text}\\}}"
    began = time.process_time()
    same(text.replace("1", "x+1"), text.replace("1", "x+2"))
    assert time.process_time() - began < 10
