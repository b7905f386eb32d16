"""Every number of a running text with its unit, and the units that are asked for."""

from __future__ import annotations

import pytest
from growth import grows_linearly

from mmdyn.text import LOWERCASE_WORD, asked_units, read_quantities, readable_text
from mmdyn.text.quantities import ORDINAL


def read(text: str) -> list[tuple[str, str]]:
    plain = readable_text(text)
    return sorted(
        (str(found.value), found.unit) for found in read_quantities(plain, LOWERCASE_WORD.findall(plain.lower()))[0]
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A 5-metre rope and 5 m of wire", [("5", "m"), ("5", "m")]),
        ("60 km/h, or 60 kilometres per hour", [("60", "km/h"), ("60", "km/h")]),
        ("9.8 m/s$^2$ and $9.8\\,\\mathrm{m\\cdot s^{-2}}$", [("49/5", "m/s^2"), ("49/5", "m/s^2")]),
        ("1,000.5 kg; 2.5 × 10⁻³ mol/L", [("1/400", "mol/L"), ("2001/2", "kg")]),
        ("5% of it is 5 percent, 百分之五", [("1/20", ""), ("1/20", ""), ("1/20", "")]),
        ("twenty-one apples, 2 hundred pears, a dozen plums", [("12", ""), ("200", ""), ("21", "")]),
        ("two-thirds, 2/3, 三分之二, half of it", [("1/2", ""), ("2/3", ""), ("2/3", ""), ("2/3", "")]),
        ("the third day, the 3rd, 第三天", [("3", ORDINAL), ("3", ORDINAL), ("3", ORDINAL)]),
        ("2 metres per second; one second; the second car", [("1", "s"), ("2", "m/s"), ("2", ORDINAL)]),
        ("twice as long", [("2", "")]),
        ("x = -3 and 5-3", [("-3", ""), ("3", ""), ("5", "")]),
        ("x = - 3, 5 - 3, y -3", [("-3", ""), ("-3", ""), ("3", ""), ("5", "")]),
        (
            "half an hour, half a pie; 2 grams per cubic metre",
            [("1/2", ""), ("1/2", "h"), ("2", "grams per cubic metre")],
        ),
        ("H2O, x1, $x_{2}$ and CO₂", []),
        ("$5 and $7.50", [("15/2", "dollar"), ("5", "dollar")]),
        ("$5$ and $2x$", [("2", ""), ("5", "")]),
        ("¥5, 5 元, €3", [("3", "euro"), ("5", "yuan"), ("5", "yuan")]),
        ("三米长，5千克，五千克，一百零五个", [("105", ""), ("3", "m"), ("5", "kg"), ("5", "kg")]),
        ("十分钟，十分重要，千万不要，百分比，四周", [("10", "min")]),
        ("5万元是50000元", [("50000", "yuan"), ("50000", "yuan")]),
        ("半年后，哪一天", [("1/2", "year")]),
        ("90°, 25 °C, 25摄氏度", [("25", "°C"), ("25", "°C"), ("90", "°")]),
        ("3 square metres, 3 m², 3平方米", [("3", "m^2"), ("3", "m^2"), ("3", "m^2")]),
        ("5 miles, 5 feet, 5 lbs", [("5", "foot"), ("5", "mile"), ("5", "pound")]),
        ("half-life", []),
        ("当x=2时，第3时刻", [("2", ""), ("3", ORDINAL)]),
        ("2小时，60千米/时", [("2", "h"), ("60", "km/h")]),
    ],
)
def test_numbers_in_figures_and_in_words(text: str, found: list[tuple[str, str]]) -> None:
    assert read(text) == found


def test_values_stand_in_the_place_of_numbers() -> None:
    assert read_quantities("v=2.50 m/s for half an hour", ["half"])[1] == "v=5/2 for 1/2"


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Give the length in cm.", {"cm"}),
        ("the time (s), the length ( cm )", {"s", "cm"}),
        ("falls (g = 10 m/s²); (m is its mass), (g取10)", set()),
        ("How many miles is it? How many apples?", {"mile"}),
        ("它的长是____千米，每秒多少升", {"km", "s", "L"}),
        ("Convert it into minutes", {"min"}),
        ("from A to C, in a bag, the set in N", set()),
        ("(kg)", {"kg"}),
    ],
)
def test_units_without_a_number(text: str, units: set[str]) -> None:
    assert asked_units(text)[0] == units


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["1,", "一", "1/", "one-", "10^", "in ", "second ", "1 m/m/", pytest.param("a", id="between digits")]
)
def test_the_time_is_linear_in_the_length(piece: str) -> None:
    around = "1" if piece == "a" else ""

    def both(size: int) -> None:
        text = around + piece * (size // len(piece)) + around
        read(text)
        asked_units(text)

    assert grows_linearly(both, 25_000)
