"""The one value that a phrase states: "She has 15 apples left", 他一共走了15千米, `m+n = 45+8 = 53`, `RMB 70,000`."""

from __future__ import annotations

import re
from fractions import Fraction

from mmdyn.text import Number, read_quantities, readable_text

_LONGEST, _THOUSAND = 160, 1000
_NEUTRAL = frozenset(
    re.findall(
        "[a-z]+|[\u3400-\u9fff]",
        """
    a an the is are was were be has have had will he she it they them we you there this that in of for to all total
    overall altogether together final finally answer result solution output value number amount sum length width height
    area left remaining so thus therefore hence then get gets got equals equal gives comes exactly only now as shown rmb
    usd
    答案是为等于共有总合计一的值结果所以因此故得到了他她它们我这那只个人名本张条块支件棵位元
""",
    )
)
"""Words that say nothing of a number but that it is the value."""

_ALTERED = re.compile(
    r"(?i)n't\b|\b(?:not?|never|without|or|either|if|unless|least|most|more|less|fewer|greater|larger|smaller|over|under"
    r"|above|below|than|between|times|twice|half|double|triple|power|roots?|multiples?|factors?|squared?|cubed?|by|but"
    r"|every|each|per|before|after|until|next|previous|first|last|pairs?|dozens?|hundreds?|up|down|off|too)\b"
    r"|[不没非无或倍半余除第每前后增加减少降多超至内外]|平方|立方|次方"
)
"""Words by which a phrase says something else than that its value is the number, whatever was asked."""

_SIGNS = re.compile(r"[\d+*/^√<>≤≥≠±|_{}\[\]\\;%?]|\b[b-hj-zB-HJ-Z]\b(?=\W*$)")
_NEGATIVE = re.compile(r"(?i)(?:\b(?:minus|negative)\s?|负)$")
_ATTACHED, _KILO = re.compile(r"[A-Za-z_^'(]"), re.compile(r"[kK]\b\s?")
_SIDES, _PARTS = re.compile("[=≈]"), re.compile(r"(?<!\d),|,(?!\d{3})|[;、和或]|\b(?:and|or)\b")
_WORD, _ENDING = (
    re.compile(r"[^\W\d_]{2,}(?<![\u3400-\u9fff])|[\u3400-\u9fff]"),
    re.compile(r"(?<=..)(?:ies|e?s|e?d|ing|y)$"),
)
_BOLD = re.compile(r"\*\*(?!\d)|(?<!\d)\*\*")


def stated_value(text: str, question: str = "") -> Number | None:
    """The number, with its unit, that a phrase of at most 160 characters states; None where it names several, none, or
    uses words that are neither neutral nor the question's, or may but repeat the question. Of a chain of equations the
    last side."""
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
    said = _stems(around) - _NEUTRAL
    if said and (not said <= _stems(question) or value in _values_in(question)):
        return None
    return Number(value, unit=unit)


def _values_in(question: str) -> set[Fraction]:
    flat = readable_text(question)
    return {quantity.value for quantity in read_quantities(flat, set(re.findall("[a-z]+", flat.lower())))[0]}


def _stems(text: str) -> frozenset[str]:
    """The words of a text without their endings; a Chinese character is a word, a single letter is a symbol."""
    return frozenset(word if word in _NEUTRAL else _ENDING.sub("", word) for word in _WORD.findall(text.lower()))
