"""Numbers with units: conversions, temperatures, durations, ordinals, money, and what must not be converted."""

from __future__ import annotations

from mmdyn.equal import same
from mmdyn.sample import Match

EQUAL = [
    ("10 m/s", "36 km/h"), ("500 cm", "5 m"), ("1.5 L", "1500 cubic centimeters"), ("10 kg·m/s^2", "10 N"),
    ("4200 J/(kg·℃)", "4.2 kJ/(kg·K)"), ("72千米每小时", "20 m/s"), ("0.5千克", "500 g"), ("1 h 30 min", "90分钟"),
    ("3小时20分", "200 min"), ("5 ft 3 in", "63 inches"), ("¥5", "5元"), ("\\$5", "5 dollars"),
    ("\\frac{4}{5}\\text{ cm}^2", "0.8 cm²"), ("25π cm^2", "0.0025π m^2"), ("25π", "25π cm²"), ("三又二分之一", "3.5"),
    ("八成", "80%"), ("one hundred and five", "105"), ("0,111", "0.111"), ("0.1\\overline{6}", "1/6"),
]  # fmt: skip
UNEQUAL = [
    ("10 km/h", "36 km/h"), ("100 cm^2", "1 m^2"), ("5 N", "5 N/m"), ("3 s", "3 m"), ("240 J", "240 W"),
    ("25 K", "25 °C"), ("3000", "3 kg"), ("19世纪", "1900年"), ("1990s", "1990"), ("1 byte", "10 dB"), ("€5", "\\$5"),
    ("seventh", "seven"), ("3小时5分", "3.5小时"), ("二千五", "2005"), ("2mgh", "2"), ("5 apples", "5 pears"),
    ("8\\sqrt{3}\\text{ in}", "8\\sqrt{3}\\text{ in}^2"),
]  # fmt: skip


def test_the_unit_of_a_bare_gold_is_converted_too() -> None:
    assert same("50 mm", "5", Match(unit="cm"))
    assert same("1.51 L", "1500", Match(unit="cm^3", tolerance=0.01))
    assert not same("50 mm", "5", Match(unit="cm^2"))
    assert not same("5 m", "5", Match(unit="cm"))
