"""Reads the number that a reply puts in the place of what its question asks for ("There are 5 objects left.")."""

from __future__ import annotations

import re

from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.wording import (
    DOUBTS,
    HAN,
    MOST_WORDS,
    STOP,
    Word,
    around_blank,
    asked,
    assertions,
    fills,
    in_order,
    one_polarity,
    words,
)
from mmdyn.text import numerals
from mmdyn.text.normalise import visible
from mmdyn.text.units import known_unit

_HOW_MANY = re.compile(r"\b(?:how\smany|what\s(?:is|was)\sthe\s(?:total\s)?number\sof)\s(?P<what>\S.*)", re.IGNORECASE)
_HOW_MUCH = re.compile(r"\bhow\s(?:much|long|far|tall|high|deep|wide|old|heavy)\b", re.IGNORECASE)
_WHICH_YEAR = re.compile(
    r"\b(?:which|what)\syear\b|\bwhen\s(?:is|was|did|does|do|were|are|has|had|will)\b", re.IGNORECASE
)
_WHAT_IS = re.compile(r"\bwhat\s(?:is|was|are|were)\s", re.IGNORECASE)
_WHAT_PERCENT = re.compile(r"\bwhat\spercent(?:age)?\s", re.IGNORECASE)
_SAME = {"remov": "subtract", "remain": "left"}
_ADDED = frozenset(
    {"total", "exactly", "about", "approximately", "around", "only", "just", "altogether", "after", "once"}
)
"""What a statement may say of a number beyond its question: an estimate is an answer, and is compared as any other number."""
_BOUNDS = frozenset((
    "than", "least", "most", "over", "under", "up", "to", "between", "from", "nearly", "almost", "and", "or", "before", "after", "until",
    "since", "by", "not", "no", "times", "first", "next", "every", "per", "below", "above", "within", "number",
))  # fmt: skip
_ASKED_FOR = frozenset({"many", "year", "percent", "percentag", "money"})
_SHOWN = frozenset({"imag", "image", "pictur", "picture", "figur", "figure", "graph", "chart", "diagram", "photo"})
_TENSES = frozenset({"is", "was", "will", "would"})
_IN_YEAR = frozenset({"in", "year", "is", "was", "during"})
_IS = frozenset({"is", "was", "of", "equal", "about", "approximately", "around", "exactly"})
_WORDS = "|".join(numerals.WORDS)
_NUMBER = re.compile(
    rf"(?:(?<![\w.)%])-)?[$€£¥]?\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{_WORDS})(?:-(?:{_WORDS}))?\b", re.IGNORECASE
)
_UNIT = re.compile(r"\s?(%|°[CF]?|[A-Za-z]{1,20}(?:\^?[23](?!\d))?)")
_YEAR = re.compile(r"[12]\d{3}")
_IN_A_SUM = frozenset("0123456789 $€£.,+-*/x×÷()%=")
_TOUCHES = ".,:/^_\\-–~"
_MOSTLY, _IN_ORDER, _ALL_OF_IT = 0.85, 0.6, 0.8
_LONGEST, _LONGEST_NUMBER, _MOST_NUMBERS = 500, 25, 12

_ASKED_ZH = re.compile(r"多少|几|哪一?(?=年)")
_NUMBER_ZH = re.compile(rf"\d+(?:\.\d+)?|[{numerals.HAN}]+")
_BETWEEN_ZH = re.compile(r"[一二两三四五六七八九]{2}")
_LOOSE_ZH = re.compile(r"[\s,.:;?。、*]|(?<=剩)下")
_THINGS_ZH = re.compile(r"(?<=[个件])(?:物体|物品|东西)$")


def restated_value(response: Response, question: str) -> tuple[int, int] | None:
    """Where in `response.text` the number stands that the last sentence puts in the place of what its question asks for.

    With its sign and currency, and with its unit where the question does not give it. An estimate ("about 5") counts as the other
    readers have it; a bound ("at least 5"), a range, and a second number that the question does not have do not.
    """
    question = visible(question)[0]
    asking, spans = asked(question), assertions(response, question)
    if not asking or not spans or spans[-1][1] - spans[-1][0] > _LONGEST:
        return None
    read = _value_zh if HAN.search(asking) else _value
    places = [read(response.text, question, asking, *span) for span in spans if span[1] - span[0] <= _LONGEST]
    said = {response.text[slice(*place)].lower() for place in places if place}
    return places[-1] if len(said) == 1 else None


def _value(text: str, question: str, asking: str, start: int, end: int) -> tuple[int, int] | None:
    text = _without_sum(text[:end], start)
    numbers = list(_NUMBER.finditer(text, start, end))
    if len(numbers) > _MOST_NUMBERS or not all(_alone(text, each) for each in numbers):
        return None
    gap = around_blank(asking)
    if gap:
        sides = ((_forms(text[start : each.start()]), _forms(text[each.end() : end])) for each in numbers)
        return next((each.span() for each, side in zip(numbers, sides, strict=True) if fills(gap, *side)), None)
    given, needed = _amounts(question[-4000:]), _amounts(asking) - {"1"}
    new = [each for each in numbers if _amount(each[0]) not in given]
    if not new:
        new = [each for each in numbers if each[0].lower() == "one" and len(numbers) == 1]
    if len(new) != 1 or not needed <= {_amount(each[0]) for each in numbers}:
        return None
    number, unit = new[0], _unit(text, new[0].end(), end)
    added = "" if {*_forms(unit)} & {*_forms(question[-4000:])} else unit
    before, behind = words(text, start, number.start()), words(text, number.end() + len(added), end)
    if not _fits(asking, number[0], _as_forms(before), _as_forms(behind), unit):
        return None
    return (number.start(), number.end() + len(added)) if _says_it(question, asking, before + behind) else None


def _without_sum(text: str, start: int) -> str:
    """The text with the sum blanked that ends in a number: "he will spend $7 x 1.3 = $9.10"."""
    equals = at = text.rfind("=", start)
    while at > start and text[at - 1] in _IN_A_SUM:
        at -= 1
    while at < equals and text[at] != " ":
        at += 1
    summed = equals > start and any(map(str.isdigit, text[at:equals]))
    return text[:at] + " " * (equals + 1 - at) + text[equals + 1 :] if summed else text


def _alone(text: str, number: re.Match[str]) -> bool:
    """Does the number stand for itself: no part of a range, a fraction, a clock's time, a name or an ordinal?"""
    before, behind = text[max(0, number.start() - 1) : number.start()], text[number.end() : number.end() + 2]
    if before.isalnum() or (before and before in _TOUCHES) or (behind and behind[0] in "/^_-–~"):
        return False
    if len(number[0]) > _LONGEST_NUMBER:
        return False
    if behind[:1] and behind[0] in ".,:":
        return not behind[1:].isalnum()
    return not behind[:1].isalpha() or bool(_unit(text, number.end(), len(text)))


def _unit(text: str, start: int, end: int) -> str:
    """The unit behind a number, with the space before it; "" where none stands there."""
    unit = _UNIT.match(text, start, end)
    known = (
        unit and not text[unit.end() : unit.end() + 1].isalnum() and unit[1] not in ("a", "in") and known_unit(unit[1])
    )
    return unit[0] if unit and known else ""


def _fits(asking: str, number: str, before: list[str], behind: list[str], unit: str) -> bool:
    """Does the number stand where a count, an amount, a year or a value would?"""
    last = before[-1] if before else ""
    if last in _BOUNDS:
        return False
    many = _HOW_MANY.search(asking)
    if many:
        counted = behind[1:] if behind[:1] == ["left"] else behind
        return bool(counted) and counted[:1] == _forms(many["what"])[:1]
    if number.lower() in ("one", "zero"):
        return False
    if _WHICH_YEAR.search(asking):
        return bool(_YEAR.fullmatch(number)) and not unit and (last in _IN_YEAR or not before)
    if _HOW_MUCH.search(asking):
        return number.lstrip("-")[:1] in "$€£¥" or bool(unit)
    if _WHAT_PERCENT.search(asking):
        return unit.strip() in ("%", "percent")
    return bool(_WHAT_IS.search(asking)) and last in _IS and {*behind} <= {*_forms(unit)}


def _says_it(question: str, asking: str, said: list[Word]) -> bool:
    """Does a sentence, but for its number, say what the question says, and nothing else?"""
    everything, wanted, forms = _forms(question[-4000:]), _forms(asking), _as_forms(said)
    if max(len(wanted), len(said)) > MOST_WORDS or not one_polarity(wanted, forms) or _than(wanted) != _than(forms):
        return False
    if (
        (DOUBTS & {*forms}) - {*wanted, "only"}
        or ("to" in forms and "to" not in wanted)
        or not _one_tense(wanted, forms)
    ):
        return False
    needed, content = ([each for each in of if each not in STOP | _ADDED] for of in (wanted, forms))
    measure = _HOW_MUCH.search(asking)
    needed = [each for each in needed if each not in (*_ASKED_FOR, *_forms(measure[0] if measure else ""))]
    added = {*content} - {*wanted} - (_ASKED_FOR if _WHICH_YEAR.search(asking) else _SHOWN)
    if {"after", "once"} & {*forms} - {*wanted}:
        whole = {each for each in everything if each not in STOP | _ADDED | _ASKED_FOR}
        added = added - {*everything} if len(whole & {*content}) >= _ALL_OF_IT * len(whole) else added | {"after"}
    covered = bool(needed) and len({*content} & {*needed}) >= _MOSTLY * len({*needed})
    moved = {*_counted(asking)}
    told, order = ([each for each in of if each in needed and each not in moved | {"left"}] for of in (content, needed))
    return covered and not added and (len(told) < 2 or in_order(order, told) >= _IN_ORDER)


def _counted(asking: str) -> list[str]:
    """What "how many" asks for, which a statement moves behind its number: the words before the verb."""
    many = _HOW_MANY.search(asking)
    forms = _forms(many["what"]) if many else []
    return forms[: next((at for at, each in enumerate(forms) if each in STOP), 0)]


def _one_tense(wanted: list[str], said: list[str]) -> bool:
    """There were, there would be: not what is there."""
    one, other = {*wanted} & _TENSES, {*said} & _TENSES
    return not (other - one) if one else "would" not in other


def _than(forms: list[str]) -> str:
    return next((each for each in forms[forms.index("than") + 1 :]), "") if "than" in forms else ""


def _forms(text: str) -> list[str]:
    return _as_forms(words(text))


def _as_forms(found: list[Word]) -> list[str]:
    return [_SAME.get(each.form, each.form) for each in found]


def _amounts(text: str) -> set[str]:
    return {_amount(each[0]) for each in _NUMBER.finditer(text)}


def _amount(number: str) -> str:
    """A number in one spelling: two is 2."""
    return str(numerals.WORDS.get(number.lower(), number.lstrip("$€£¥-").replace(",", "")))


def _value_zh(text: str, question: str, asking: str, start: int, end: int) -> tuple[int, int] | None:
    """The number in the place of 多少, 几 or of a blank: all the other characters are the question's, in its order."""
    asked_for = list(_ASKED_ZH.finditer(asking))
    gap = around_blank(asking)
    if gap:
        before, behind = "".join(gap[0]), "".join(gap[1])
    elif len(asked_for) == 1:
        before, behind = (_LOOSE_ZH.sub("", each) for each in _ASKED_ZH.split(asking))
    else:
        return None
    for number in list(_NUMBER_ZH.finditer(text, start, end))[:_MOST_NUMBERS]:
        left, right = _LOOSE_ZH.sub("", text[start : number.start()]), _LOOSE_ZH.sub("", text[number.end() : end])
        if _BETWEEN_ZH.search(number[0]):
            continue
        if left == before and behind in (right, _THINGS_ZH.sub("", right)) and (before or behind):
            return number.span()
    return None
