"""Find every number of a running text with its unit, in digits or in words; English and Chinese. Nothing is converted.

Units are those of unit_spellings.tsv and of unit_spellings_in_running_text.tsv. Counted things (5 apples, 五个) are no
units here, because they may be named by other words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

from mmdyn.text.numbers import known_unit, read_names, read_number, unit_name

ORDINAL = "th"
"""The unit of third and 第三."""


class Quantity(NamedTuple):
    """A number, exact (percentages are hundredths), its unit ("" without one), and whether it was spelled in words."""

    value: Fraction
    unit: str
    spelled: bool = False


_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SMALL = f"zero|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|{_ONES}"
_TIMES = "hundred|thousand|million|billion|trillion|dozen"
_PARTS = ("half", "third", "quarter", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "hundredth")
_BELOW = dict(zip(_PARTS, (2, 3, 4, 4, 5, 6, 7, 8, 9, 10, 100), strict=True))
_ORDINALS = dict(zip(("first", "second", *_PARTS[1:2], *_PARTS[3:10]), range(1, 11), strict=True))
_FACTORS = {
    **dict.fromkeys(("half", "halve", "halved"), Fraction(1, 2)),
    **dict.fromkeys(("twice", "double", "doubled", "doubles"), Fraction(2)),
    **dict.fromkeys(("thrice", "triple", "tripled", "triples"), Fraction(3)),
}
_HAN = "零〇一二两三四五六七八九十百千万亿"
_HAN_UNITS = "克米瓦焦帕卡伏赫欧"
_BIG = rf"(?:[十百千]?[万亿](?![有物一能岁])|[百千](?![{_HAN_UNITS}牛字分年]))"

_FIGURES = re.compile(
    rf"""(?=[\d.¥€£第半{_HAN}-])(?:(?<![A-Za-zα-ωΑ-Ω_\d])(?<!\d\.)(?P<sign>(?<![\w)\].])-(?!\s)|(?<![\w)\].])(?<![\w)\].]\s)-\s)?(?P<money>[¥€£]\s?)?
    (?P<digits>(?:\d{{1,3}}(?:,\d{{3}})++(?!\d)|\d++)(?:\.\d++)?|\.\d++)
    (?:(?P<nth>st|nd|rd|th)\b|\s?/\s?(?P<below>\d++)(?![./]?\d)|\s?\*\s?10\s?\^\s?\(?(?P<power>-?\d{{1,3}})\)?)?
    (?:\s?(?P<times>(?:{_TIMES})(?![A-Za-z])|{_BIG}))?
    | 第(?P<place>[{_HAN}]{{1,9}}|\d{{1,6}})
    | (?P<share>[{_HAN}]{{1,9}}分之(?:[{_HAN}]{{1,9}}|\d{{1,9}}(?:\.\d{{1,9}})?))
    | 半(?=[个年天圈数价]|小时|分钟|周期)|(?<=一)半
    | (?!(?<=[哪有某同每])一个?[天年日月周]|(?<=[统唯])一|两两|十分(?![之钟米])|千万[不别要]|万[有物一能]
        |百[姓科度货合家叶分]|四[周处面]|[百千万亿][^{_HAN}])
      (?P<numeral>[{_HAN}]{{1,12}}?)(?=[百千]?[{_HAN_UNITS}](?<=[百千].)|[^{_HAN}]|\Z))""",
    re.VERBOSE,
)
_WORDS = re.compile(
    rf"""\b(?:(?P<part>an?|(?P<single>one)|{_ONES})[- ](?P<of>{"|".join(_PARTS)})(?:s|(?(single)|(?=\s(?:of|as|the))))
    |(?P<word>(?:(?:minus|negative)\s)?(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{_SMALL})(?:[- ](?:{_TIMES}))?)
    |an?\s(?P<round>{_TIMES})|(?P<ordinal>{"|".join(_ORDINALS)})|(?P<factor>{"|".join(_FACTORS)}))\b(?!-li[fv]e)""",
    re.VERBOSE | re.IGNORECASE,
)
_SHARES = {"%": 100, "‰": 1000, "折": 10}
_NUMBER_WORDS = frozenset("|".join((_SMALL, _TENS, _TIMES, *_PARTS, *_ORDINALS, *_FACTORS)).split("|"))
_UNIT = re.compile(
    r"""\s?-?(?:(?P<several>(?:square|cubic|degrees?)\s[A-Za-z]{4,12}|[A-Za-z]{1,11}\sper\s(?:(?:square|cubic)\s)?[A-Za-z]{4,10}(?:\ssquared)?|per\scent)(?![A-Za-z])
    |(?P<one>[A-Za-zΩμ°%‰]{1,14}+(?:\^?-?\d(?!\d))?(?:[/*][A-Za-zΩμ]{1,14}+(?:\^?-?\d(?!\d))?){0,2})(?![A-Za-z\d])
    |(?P<han>[\u4e00-\u9fff][\u4e00-\u9fff/*]{0,7}))""",
    re.VERBOSE,
)
_POWER = re.compile(r"\^([23])(?!\d)")
_IN_FORMULA = re.compile(r"\s?[+→⇌]")
_WORD = re.compile(r"\s?-?(?P<one>[A-Za-z]{1,14}+)(?![A-Za-z\d])")
_ASKED = re.compile(
    r"(?:\b(?i:in|into|to|per|an?|each|every|how many|nearest)\s(?![A-Z]\b)"
    r"|(?:_{2,}|\(|单位[:为是]?)\s?|多少|几(?!分之)|每|用|(?:换算|化|折合)[成为])"
    r"(?=[A-Za-zΩμ°%\u4e00-\u9fff])"
)
_ARTICLE = re.compile(r"\san?(?=\s)")
_CLOSED = re.compile(r"\s?\)")
_HAN_LONGEST = 8


def read_quantities(text: str, words: Collection[str]) -> tuple[list[Quantity], str]:
    """Find the numbers of a readable text and replace each with its value: `½ kg` with 1/2.

    `Twice` and `double` are 2; `first` and `第一` are 1 in the unit ORDINAL.

    Args:
        text: As `readable_text` returns it.
        words: The text's words in lower case.

    Returns:
        The numbers, and the text with their values.

    >>> read_quantities("walks 1.5 km", {"walks", "km"})
    ([Quantity(value=Fraction(3, 2), unit='km', spelled=False)], 'walks 3/2')
    >>> read_quantities("the second step", {"the", "second", "step"})[0]
    [Quantity(value=Fraction(2, 1), unit='th', spelled=True)]
    """
    found = list[Quantity]()
    text = _taken(_FIGURES, text, found)
    if not _NUMBER_WORDS.isdisjoint(words):
        text = _taken(_WORDS, text, found)
    return found, text


def _taken(pattern: re.Pattern[str], text: str, found: list[Quantity]) -> str:
    """The text without the quantities that a pattern finds, which go into `found`."""
    rest, end = list[str](), 0
    for match in pattern.finditer(text):
        if match.start() < end or (value := _value(match.groupdict())) is None or _is_time(text, match):
            continue
        rest.append(f"{text[end : match.start()]}{value}")
        name, end = _unit_of(text, match)
        if name in _SHARES:
            value, name = value / _SHARES[name] / (10 if name == "折" and value > 10 else 1), ""
        found.append(Quantity(value, name, not match[0][-1].isdigit()))
    return "".join(rest) + text[end:] if rest else text


def _unit_of(text: str, match: re.Match[str]) -> tuple[str, int]:
    """The unit of a number, and where it ends."""
    named = match.groupdict()
    if named.get("nth") or named.get("ordinal") or named.get("place"):
        return ORDINAL, match.end()
    if named.get("money"):
        return _known(named["money"].strip()), match.end()
    if (named.get("factor") or "").lower() == "half" and (article := _ARTICLE.match(text, match.end())):
        name, end = unit_at(text, article.end())
        return (name, end) if name else ("", match.end())
    return ("", match.end()) if named.get("factor") or named.get("share") else unit_at(text, match.end())


def asked_units(text: str) -> tuple[set[str], str]:
    """Find the units that a text names without a number, and remove them from it.

    Such are "in cm", "how many miles", 多少千克, and a unit behind a blank or alone in brackets.

    >>> asked_units("Give the length in cm.")
    ({'cm'}, 'Give the length in .')
    """
    units, rest, end = set[str](), list[str](), 0
    for found in _ASKED.finditer(text):
        name, stop = unit_at(text, found.end()) if found.end() > end else ("", 0)
        alone = text[found.end() - 1] != "(" or _CLOSED.match(text, stop)
        if name and alone and not _IN_FORMULA.match(text, stop):
            units.add(name)
            rest.append(text[end : found.end()])
            end = stop
    return units, "".join(rest) + text[end:]


def _value(found: Mapping[str, str | None]) -> Fraction | None:
    """The value of a match's named groups; None for what is no number after all."""
    if digits := found.get("digits"):
        return _of_digits(digits, found)
    if part := found.get("part"):
        above = 1 if part.lower() in ("a", "an") else _spelled(part)
        return Fraction(above or 1) / _BELOW[str(found["of"]).lower()]
    if times := found.get("round"):
        return _spelled("one " + times)
    if ordinal := found.get("ordinal"):
        return Fraction(_ORDINALS[ordinal.lower()])
    if factor := found.get("factor"):
        return _FACTORS[factor.lower()]
    numeral = next((found[name] for name in ("word", "place", "share", "numeral") if found.get(name)), None)
    return _spelled(numeral) if numeral else Fraction(1, 2)


def _of_digits(digits: str, found: Mapping[str, str | None]) -> Fraction | None:
    value = _plain_number(digits.replace(",", ""), found["below"] or "1")
    if value is None:
        return None
    if power := found["power"]:
        value *= Fraction(10) ** int(power)
    if times := found["times"]:
        value *= _spelled(("one " if times.isascii() else "一") + times) or 1
    return -value if found["sign"] else value


@lru_cache(maxsize=8192)
def _plain_number(above: str, below: str) -> Fraction | None:
    return Fraction(above) / int(below) if len(above) + len(below) < 60 and int(below) else None


@lru_cache(maxsize=2048)
def _spelled(text: str) -> Fraction | None:
    number = read_number(text)
    return number.value if number else None


def _is_time(text: str, match: re.Match[str]) -> bool:
    """Whether `second` is a span of time."""
    if match[0].lower() != "second":
        return False
    before = text[max(0, match.start() - 6) : match.start()].lower()
    return before.endswith(("per ", "each ", "every ", "a ")) or before[-2:-1].isdigit()


def unit_at(text: str, at: int) -> tuple[str, int]:
    """Find the unit that begins at a position of a text.

    Returns:
        Its canonical name and its end; ("", at) where none begins there.

    >>> unit_at("5 metres long", 1), unit_at("5 apples", 1)
    (('m', 8), ('', 1))
    """
    found = _UNIT.match(text, at)
    if not found:
        return "", at
    if found["han"]:
        for length in range(min(_HAN_LONGEST, len(found["han"])), 0, -1):
            name, end = _known(word := found["han"][:length]), found.start("han") + length
            if name and (power := _POWER.match(text, end)):
                return f"{name}^{power[1]}", power.end()
            if name or word in _more():
                return name, end if name else at
        return "", at
    if found["several"] and (name := _known(found["several"].lower())):
        return name, found.end("several")
    single = found if found["one"] else _WORD.match(text, at)
    name = _known(single["one"]) if single else ""
    return (name, single.end("one")) if single and name else ("", at)


@lru_cache(maxsize=8192)
def _known(text: str) -> str:
    """The one name of a unit, or the empty string for what is only counted."""
    more = _more()
    if text in more:
        return more[text]
    if name := known_unit(text) or more.get(text.lower() if len(text) > 3 else ""):
        return name
    compound = unit_name(text) if re.search(r"[/*^]|[a-zA-Z]\d|\sper\s", text) and text.isascii() else None
    return compound or ""


@cache
def _more() -> dict[str, str]:
    return {name: names[0] for names in read_names("unit_spellings_in_running_text.tsv") for name in names}
