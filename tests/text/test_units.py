"""Units in symbols and words of both languages, their sizes and dimensions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mmdyn.text import unit_measure, unit_ratio


@pytest.mark.parametrize(
    ("unit", "other", "size"),
    [
        ("km/h", "m/s", "5/18"), ("miles per hour", "mph", "1"), ("cubic centimeters", "mL", "1"),
        ("平方千米", "m^2", "1000000"), ("千米每小时", "km/h", "1"), ("N*m", "J", "1"), ("J/(kg*°C)", "J/(kg*K)", "1"),
        ("kilowatt hours", "千瓦时", "1"), ("metres per second squared", "米每二次方秒", "1"), ("mmol/L", "mol/m^3", "1"),
        ("acre", "m^2", "4046.8564224"), ("eV", "J", "1.602176634e-19"), ("mmHg", "Pa", "20265/152"),
        ("s^-1", "Hz", "1"), ("μm", "微米", "1"), ("转/分", "转/秒", "1/60"), ("斤", "g", "500"),
    ],
)  # fmt: skip
def test_ratios(unit: str, other: str, size: str) -> None:
    assert unit_ratio(unit, other) == Fraction(size)


@pytest.mark.parametrize(
    ("unit", "other"), [("m", "s"), ("mW", "W/m"), ("°C", "K"), ("month", "d"), ("apple", "apple"), ("W/m^2*K", "W")]
)
def test_what_is_not_converted(unit: str, other: str) -> None:
    assert unit_ratio(unit, other) is None


@pytest.mark.parametrize(
    "text", ["", "x", "dx", "am", "students", "m^9", "m/s/s/s", "m" * 50, "*", "/", "(m", "3", "m s m s m s m s"]
)
def test_no_units(text: str) -> None:
    assert unit_measure(text) is None
