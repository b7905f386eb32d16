"""The one value that a phrase states: "She has 15 apples left", 他一共走了15千米, `m+n = 45+8 = 53`, `RMB 70,000`."""

from __future__ import annotations

import re

from mmdyn.text import Number, read_quantities, readable_text

_LONGEST, _THOUSAND = 160, 1000
_ALTERED = re.compile(
    r"(?i)n't\b|\b(?:not?|never|without|or|either|maybe|perhaps|possibly|unless|if|least|most|more|less|fewer|greater"
    r"|larger|smaller|over|under|above|below|than|between|almost|nearly|times|twice|half|double|triple|power|roots?"
    r"|multiples?|factors?|squared?|cubed?|factorial|decreas\w+|declin\w+|loss|los[et]|losing|drop\w*|falls?|fell"
    r"|reduc\w+|increas\w+|down|up|but|by|within|beyond|exceed\w*|max\w*|min\w*|divi\w+|subtract\w*|add\w*|plus"
    r"|short|too|cannot|impossible|unlike|like|opposite|inverse|reciprocal|log|every|each|per|off|some|to go|fold"
    r"|guess\w*|probabl[ey]|likely|think|nicht|kein\w*|nie|pas|non|ne|nunca"
    r"|instead|rather|except|excluding|wrong|incorrect|before|after|until|since|centur\w+|decades?"
    r"|steps?|questions?|options?|figures?|fig|tables?|pages?|lines?|equations?|eq|cases?|parts?|sections?|chapters?"
    r"|examples?|problems?|exercises?|theorem|levels?|versions?|methods?|rows?|columns?|items?|blanks?|notes?"
    r"|jan\w*|feb\w*|mar|march|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec(?:ember)?)\b"
    r"|[不没非无或许可多少倍半余除第题步图表页式例月日差近每前增加相反倒减下降亏]|左右|如果|至[少多]|超过|以[上下]|大于|小于|之间"
    r"|平方|立方|次方|几乎|将近"
)
"""Words by which a phrase says something else than that its value is the number: bounds, alternatives, multiples,
decreases, and what is only numbered."""

_SIGNS = re.compile(r"[\d+*/^√<>≤≥≠±|_{}\[\]\\;%?]|\b[b-hj-zB-HJ-Z]\b(?=\W*$)")
_NEGATIVE = re.compile(r"(?i)(?:\b(?:minus|negative)\s?|负)$")
_ATTACHED, _KILO = re.compile(r"[A-Za-z_^'(]"), re.compile(r"[kK]\b\s?")
_SIDES, _PARTS = re.compile("[=≈]"), re.compile(r"(?<!\d),|,(?!\d{3})|[;、和或]|\b(?:and|or)\b")
_BOLD = re.compile(r"\*\*(?!\d)|(?<!\d)\*\*")


def stated_value(text: str) -> Number | None:
    """The number, with its unit, that a phrase of at most 160 characters states; None where it names several, none, or
    says more of it than that it is the value. Of a chain of equations the last side."""
    if len(text) > _LONGEST:
        return None
    flat = readable_text(_BOLD.sub("", text))
    told = [part for part in _PARTS.split(flat) if _SIDES.search(part)]
    if len(told) > 1:
        return None
    sides = _SIDES.split(told[0]) if told and not re.search(r"\d", flat.replace(told[0], "")) else [flat]
    found, rest = read_quantities(sides[-1], set(re.findall("[a-z]+", sides[-1].lower())))
    if len(found) != 1 or found[0].unit == "th":
        return None
    value, unit = found[0].value, found[0].unit
    before, _, behind = rest.partition(str(value))
    if kilo := _KILO.match(behind):
        value, behind = value * _THOUSAND, behind[kilo.end() :]
    if negative := _NEGATIVE.search(before):
        value, before = -value, before[: negative.start()]
    around = f"{before} {behind}"
    if (
        _ALTERED.search(around)
        or _SIGNS.search(around)
        or _ATTACHED.match(behind)
        or before[-1:] in tuple("-(_")
        or behind[:1] == "-"
    ):
        return None
    return Number(value, unit=unit)
