"""Numbers in words of both languages."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mmdyn.text.numbers import chinese, english, han


@pytest.mark.parametrize(
    ("text", "value", "percent"),
    [
        ("一百零三万", "1030000", False), ("二千五", "2500", False), ("两千零五", "2005", False), ("二〇二一", "2021", False),
        ("拾", "10", False), ("三又二分之一", "7/2", False), ("2又3/4", "11/4", False), ("百分之十二点五", "1/8", True),
        ("千分之三", "3/1000", False), ("八成", "4/5", True), ("八成五", "17/20", True), ("零点五", "1/2", False),
        ("一半", "1/2", False), ("负三分之二", "-2/3", False),
    ],
)  # fmt: skip
def test_chinese(text: str, value: str, percent: bool) -> None:
    assert chinese(text) == (Fraction(value), "", percent)


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("one hundred and five", "105", ""), ("one million two hundred thousand", "1200000", ""),
        ("two thirds", "2/3", ""), ("three and a half", "7/2", ""), ("minus seven", "-7", ""),
        ("twenty-one apples", "21", " apples"),
    ],
)  # fmt: skip
def test_english(text: str, value: str, rest: str) -> None:
    assert english(text) == (Fraction(value), rest)


@pytest.mark.parametrize("text", ["five six", "twenty eleven", "two-dimensional", "oneself", "hundred", "thirds"])
def test_no_english_numbers(text: str) -> None:
    assert english(text) is None


def test_a_last_digit_stands_at_the_next_place() -> None:
    assert (han("一万二"), han("三百二"), han("三百零二")) == (12_000, 320, 302)
