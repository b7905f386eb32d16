"""Reads the number that a reply puts in the place of what its question asks for ("There are 5 objects left.")."""

from __future__ import annotations

import re
from itertools import pairwise

from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.wording import (
    DOUBTS,
    HAN,
    MOST_WORDS,
    MOSTLY,
    PICTURES,
    STOP,
    Word,
    around_blank,
    asked,
    assertions,
    fills,
    one_polarity,
    shared_order,
    stem,
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
_ADDED = frozenset((
    "total", "exactly", "about", "approximately", "around", "only", "just", "altogether", "after", "once", "≈", "~",
))  # fmt: skip
"""What a statement may say of a number beyond its question: an estimate is an answer, and is compared as any other number."""
_BOUNDS = frozenset((
    "than", "least", "most", "over", "under", "up", "to", "between", "from", "nearly", "almost", "and", "or", "before", "after", "until",
    "since", "by", "not", "no", "times", "first", "next", "every", "per", "below", "above", "within", "number",
))  # fmt: skip
_ASKED_FOR = frozenset({"many", "year", "percent", "percentag", "money"})
_PICTURES = frozenset(map(stem, PICTURES))
_TENSES = frozenset({"is", "was", "will", "would"})
_RELATIVES = frozenset({"who", "that", "which"})
_IN_YEAR = frozenset({"in", "year", "is", "was", "during"})
_IS = frozenset({"is", "was", "of", "equal", "about", "approximately", "around", "exactly", "≈", "~"})
_WORDS = "|".join(numerals.WORDS)
_CURRENCY = "$€£¥"
_NUMBER = re.compile(
    rf"(?:(?<![\w.)%])[-−])?(?:[{_CURRENCY}]\s?)?\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{_WORDS})(?:-(?:{_WORDS}))?\b",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\s?([%‰℃℉]|°[CF]?|[A-Za-z]{1,20}(?:\^?[23](?!\d))?)")
_YEAR = re.compile(r"[12]\d{3}")
_IN_A_SUM = frozenset("0123456789 $€£.,+-*/x×÷()%=")
_IN_ORDER = 0.8
"""Of the words that a statement shares with its question so many stand in its order.

Set after the same replies as `MOSTLY`: all up to 0.8 read the same, 0.9 one fewer.
"""
_LONGEST, _LONGEST_NUMBER, _MOST_NUMBERS, _NEAR = 500, 25, 12, 12

_ASKED_ZH = re.compile(r"多少|几|哪一?(?=年)")
_NUMBER_ZH = re.compile(rf"[-−]?\d+(?:,\d{{3}})*(?:\.\d+)?|[{numerals.HAN}]+")
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
    if len(numbers) > _MOST_NUMBERS or not all(_alone(text, *each.span()) for each in numbers):
        return None
    gap = around_blank(asking)
    if gap:
        sides = ((_forms(text[start : each.start()].rstrip(" ≈~")), _forms(text[each.end() : end])) for each in numbers)
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


def _alone(text: str, start: int, end: int) -> bool:
    """Does a number stand for itself: no part of a root, a product, a range, a fraction, a clock's time, a name or an ordinal?

    What stands next to it, with or without a space, is a letter, a comma or stop, a known unit, the text's end, or "is", "=" or "≈".
    """
    end += len(_unit(text, end, len(text)))
    return start + _LONGEST_NUMBER >= end and _free_before(text, start) and _free_behind(text, end)


def _free_before(text: str, start: int) -> bool:
    left = text[max(0, start - _NEAR) : start].rstrip("*")
    near, parted = left.rstrip(" \t"), left != left.rstrip()
    if near[-1:] in ("=", ":", "≈", "~"):  # mean = 5; is ~5
        return near[:-1].rstrip(" \t")[-1:].isalpha()
    if near[-1:] in (".", "!", "?", ",", ";"):
        return parted
    return near[-1:] in ("", "\n", "。", "，", "；") or bool(HAN.match(near[-1])) or (near[-1].isalpha() and parted)


def _free_behind(text: str, end: int) -> bool:
    right = text[end : end + _NEAR].lstrip("*")
    near = right.lstrip(" \t")
    if near[:1] in (".", ",", ";"):  # 5.x, 5,3
        return not near[1:2].isalnum()
    return near[:1] in ("", "\n", "。", "，", "；") or bool(HAN.match(near)) or (near[0].isalpha() and near != right)


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
        return number.lstrip("-−")[:1] in _CURRENCY or bool(unit)
    if _WHAT_PERCENT.search(asking):
        return unit.strip() in ("%", "percent")
    return bool(_WHAT_IS.search(asking)) and last in _IS and {*behind} <= {*_forms(unit)}


def _says_it(question: str, asking: str, said: list[Word]) -> bool:
    """Does a sentence, but for its number, say what the question says, and nothing else?"""
    wanted, forms = _forms(asking), _as_forms(said)
    if max(len(wanted), len(said)) > MOST_WORDS or not _agree(wanted, forms):
        return False
    measure = _HOW_MUCH.search(asking)
    asks = _ASKED_FOR | {*_forms(measure[0] if measure else "")}
    needed, content = [each for each in _content(wanted) if each not in asks], _content(forms)
    covered = bool(needed) and len({*content} & {*needed}) >= MOSTLY * len({*needed})
    moved = {*_counted(asking), "left"}
    order, told = ([each for each in of if each in needed and each not in moved] for of in (needed, content))
    in_its_order = len(told) < 2 or shared_order(order, told) >= _IN_ORDER
    return covered and in_its_order and not _says_more(question, asking, forms)


def _agree(wanted: list[str], forms: list[str]) -> bool:
    """Does a statement deny, doubt, bound, compare and date only what its question does?"""
    doubted = (DOUBTS & {*forms}) - {*wanted, "only"}
    reaches = "to" in forms and "to" not in wanted  # it rose to 5
    compared_alike = _than(wanted) == _than(forms)
    return one_polarity(wanted, forms) and not doubted and not reaches and compared_alike and _one_tense(wanted, forms)


def _says_more(question: str, asking: str, forms: list[str]) -> bool:
    """Has a statement a word that its question lacks? What was done before ("after removing …") is said as a whole."""
    wanted, everything, content = {*_forms(asking)}, {*_forms(question[-4000:])}, {*_content(forms)}
    added = content - wanted - (_ASKED_FOR if _WHICH_YEAR.search(asking) else _PICTURES)
    if not {"after", "once"} & {*forms} - wanted:
        return bool(added)
    whole = everything - STOP - _ADDED - _ASKED_FOR
    return bool(added - everything) or len(whole & content) < MOSTLY * len(whole)


def _content(forms: list[str]) -> list[str]:
    return [each for each in forms if each not in STOP | _ADDED]


def _counted(asking: str) -> list[str]:
    """What "how many" asks for, which a statement moves behind its number: the words before the verb."""
    many = _HOW_MANY.search(asking)
    forms = _forms(many["what"]) if many else []
    return forms[: next((at for at, each in enumerate(forms) if each in STOP), 0)]


def _one_tense(wanted: list[str], said: list[str]) -> bool:
    """There were, there would be: not what is there. Of "there are two who were …" the clause tells the tense."""
    pairs = list(pairwise(said)) if said[:2] == ["there", "is"] else []
    clause = next((at for at, (one, other) in enumerate(pairs) if one in _RELATIVES and other in _TENSES), 0)
    one, other = {*wanted} & _TENSES, {*said[clause:]} & _TENSES
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
    return str(numerals.WORDS.get(number.lower(), number.lstrip(f"-− {_CURRENCY}").replace(",", "")))


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
        if _BETWEEN_ZH.search(number[0]) or not _alone(text[:end], *number.span()):
            continue
        if left == before and behind in (right, _THINGS_ZH.sub("", right)) and (before or behind):
            return number.span()
    return None
