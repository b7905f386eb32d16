"""Numbers in every writing, with what they stand in; and texts that are none."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mmdyn.text import Number, read_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", "4"), ("+4", "4"), ("−5", "-5"), ("- 5", "-5"), ("４．５", "9/2"), (".4", "2/5"), ("5.", "5"),
        ("0. 98.", "49/50"), ("1,000", "1000"), ("1 000 000", "1000000"), ("15{,}000", "15000"),
        ("32,\\! 349", "32349"), ("1/3", "1/3"), ("-1/3", "-1/3"), ("1.5/2.5", "3/5"), ("\\frac{1}{3}", "1/3"),
        ("\\frac{-1}{2}", "-1/2"), ("\\tfrac13", "1/3"), ("1 1/2", "3/2"), ("1\\frac{1}{2}", "3/2"),
        ("-1 1/2", "-3/2"), ("½", "1/2"), ("3½", "7/2"), ("1.5e3", "1500"), ("1.5E-3", "3/2000"),
        ("1.5×10^3", "1500"), ("2.5\\times10^{-4}", "1/4000"), ("2.5×10⁻⁴", "1/4000"), ("10^6", "1000000"),
        ("-10^{-2}", "-1/100"), ("50%", "1/2"), ("28 percent", "7/25"), ("5‰", "1/200"), ("5 million", "5000000"),
        ("1.2亿", "120000000"), ("5万", "50000"), ("十", "10"), ("十二", "12"), ("二十", "20"), ("一百零五", "105"),
        ("三千二百", "3200"), ("一万二千", "12000"), ("两亿", "200000000"), ("二〇二一", "2021"), ("负五", "-5"), ("三分之一", "1/3"),
        ("百分之五十", "1/2"), ("twelve", "12"), ("Twenty-one", "21"), ("four hundred", "400"), ("minus two", "-2"),
        ("about 3.14", "157/50"), ("≈3.14", "157/50"), ("约为3.14", "157/50"), ("\\$1,000.50", "2001/2"), ("¥5", "5"),
    ],
)  # fmt: skip
def test_values(text: str, value: str) -> None:
    number = read_number(text)
    assert number is not None and number.value == Fraction(value)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("5 cm", "cm"), ("5厘米", "cm"), ("5 centimetres", "cm"), ("5 m·s^{-1}", "m/s"), ("5 m/s", "m/s"),
        ("5 m s^{-2}", "m/s^2"), ("5 mW", "mW"), ("5 MW", "MW"), ("90°", "°"), ("90^\\circ", "°"), ("90度", "°"),
        ("$10\\text{ cm}$", "cm"), ("5 apples", "apple"), ("5个", "个"), ("三个", "个"), ("4000千克", "kg"), ("5万元", "yuan"),
        ("10 N·m", "N*m"), ("7", ""),
    ],
)  # fmt: skip
def test_units(text: str, unit: str) -> None:
    number = read_number(text)
    assert number is not None and number.unit == unit


def test_what_was_printed() -> None:
    assert read_number("3.140") == Number(Fraction(157, 50), Fraction(1, 1000), 4, "")
    assert read_number("0.05") == Number(Fraction(1, 20), Fraction(1, 100), 1, "")
    assert read_number("1.50×10^3") == Number(Fraction(1500), Fraction(10), 3, "")
    assert read_number("28.5%") == Number(Fraction(57, 200), Fraction(1, 1000), 3, "%")
    assert read_number("5") == Number(Fraction(5), None, 1, "")


@pytest.mark.parametrize(
    "text",
    ["", " ", "x", "5x", "2π", "4i", "5!", "5'", "|5|", "1,23", "12,34", "4 5", "4 or 5", "4或5", "3月5日", "0x10", "1/0", "1e999", "nan", "inf", "x=4",
     "±4", "√3", "12:30", "5 and", "5 since", "一定", "三角形", "two-dimensional", "oneself", "1" * 100, "--5", "1.2.3", "5 sin x", "5 to"],
)  # fmt: skip
def test_no_numbers(text: str) -> None:
    assert read_number(text) is None
