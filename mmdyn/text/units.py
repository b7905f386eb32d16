"""Units of measurement: is a text one, and are two the same unit in other words. What converts them is `dimensions`."""

from __future__ import annotations

import re

from mmdyn.text.dimensions import measure

_NAMES = {
    "%": "% percent pct percentage",
    "‰": "‰ permille",
    "°": "° degree degrees deg 度",
    "°C": "°C ℃ celsius 摄氏度",
    "m": "m meter meters metre metres 米",
    "cm": "cm Cm CM centimeter centimeters centimetre centimetres 厘米",
    "mm": "mm millimeter millimeters millimetre millimetres 毫米",
    "dm": "dm 分米",
    "km": "km Km KM kilometer kilometers kilometre kilometres 千米 公里",
    "nm": "nm nanometer nanometers 纳米",
    "μm": "μm um micrometer micrometers 微米",
    "m^2": "m^2 m2 平方米 ㎡",
    "cm^2": "cm^2 cm2 平方厘米",
    "km^2": "km^2 km2 平方千米 平方公里",
    "m^3": "m^3 m3 立方米",
    "cm^3": "cm^3 cm3 立方厘米",
    "L": "L l liter liters litre litres 升",
    "mL": "mL ml milliliter milliliters 毫升",
    "kg": "kg Kg KG kilogram kilograms 千克 公斤",
    "g": "g gram grams 克",
    "mg": "mg milligram milligrams 毫克",
    "t": "t ton tons tonne tonnes 吨",
    "s": "s sec secs second seconds 秒",
    "ms": "ms millisecond milliseconds 毫秒",
    "min": "min mins minute minutes 分 分钟",
    "h": "h hr hrs hour hours 时 小时",
    "d": "d day days 天 日",
    "week": "week weeks 周 星期",
    "month": "month months 月 个月",
    "year": "yr yrs year years 年",
    "m/s": "m/s 米/秒 米每秒",
    "m/s^2": "m/s^2 m/s2 米/秒^2",
    "km/h": "km/h kmh kph 千米/时 千米/小时 公里/小时",
    "N": "N newton newtons 牛 牛顿",
    "J": "J joule joules 焦 焦耳",
    "kJ": "kJ 千焦",
    "W": "W watt watts 瓦 瓦特",
    "kW": "kW kilowatt kilowatts 千瓦",
    "MW": "MW megawatt megawatts 兆瓦",
    "mW": "mW milliwatt milliwatts 毫瓦",
    "V": "V volt volts 伏 伏特",
    "A": "A amp amps ampere amperes 安 安培",
    "mA": "mA 毫安",
    "Ω": "Ω ohm ohms 欧 欧姆",
    "Hz": "Hz hertz 赫兹",
    "Pa": "Pa pascal pascals 帕 帕斯卡",
    "kPa": "kPa 千帕",
    "K": "K kelvin kelvins 开尔文",
    "C": "C coulomb coulombs 库仑",
    "T": "T tesla teslas 特斯拉",
    "mol": "mol mole moles 摩尔",
    "mol/L": "mol/L mol/l 摩尔/升",
    "eV": "eV 电子伏",
    "cal": "cal calories 卡路里",
    "dollar": "dollar dollars usd 美元",
    "yuan": "yuan rmb cny 元 块",
}
_CANON = {alias: unit for unit, aliases in _NAMES.items() for alias in aliases.split()}

_INVERSE = re.compile(r"[·* ]?([A-Za-zΩμ]+)\^-1(?!\d)")
_INVERSE_SQUARE = re.compile(r"[·* ]?([A-Za-zΩμ]+)\^-(\d)")
_HAN = re.compile(r"[\u4e00-\u9fff/]{1,6}")
_HAN_JOINS = re.compile(r"[或和与及且到至不非点分之多]")
_WORDS = re.compile(r"[A-Za-z]{3,20}(?: [A-Za-z]{2,20}){0,4}")
_NO_UNIT = frozenset({
    "or", "and", "are", "were", "wrong", "right", "not", "nor", "but", "than", "then", "since", "because", "though", "while", "plus", "minus",
    "times", "over", "mod", "if", "is", "was", "the", "this", "that", "sin", "cos", "tan", "log", "exp",
    "sqrt", "lim", "max", "hundred", "thousand", "million", "billion", "trillion", "dozen",
})  # fmt: skip
_COMPOUND = re.compile(r"[A-Za-zΩμ°%]+(?:\^?-?\d)?(?:[/*·][A-Za-zΩμ]+(?:\^?-?\d)?){0,3}")


def known_unit(text: str) -> str | None:
    """The one name of a unit of the table; None for any other text."""
    return _CANON.get(text) or (_CANON.get(text.lower()) if len(text) > 2 else None)


def unit(text: str) -> str | None:
    """The one name of a unit as written (`centimetres` -> `cm`); None where the text is no unit.

    Words of three letters and more and up to six Chinese characters count as things that are counted (`5 apples`,
    `5个`), single letters only where they are a unit's symbol, so that the x of 5x is none.
    """
    text = _INVERSE_SQUARE.sub(r"/\1^\2", _INVERSE.sub(r"/\1", text.strip().rstrip(".")))
    known = known_unit(text)
    if known:
        return known
    if _HAN.fullmatch(text) and not _HAN_JOINS.search(text):
        return text
    if _COMPOUND.fullmatch(text) and all(_CANON.get(part) for part in re.findall(r"[A-Za-zΩμ°%]+", text)):
        return text.replace("·", "*")
    if measure(text):
        return text.replace("·", "*")
    if _WORDS.fullmatch(text) and not _NO_UNIT.intersection(text.lower().split()):
        return text.lower().rstrip("s")
    return None
