"""Wrong values near a right one, by rules: the slips that people make, in the right one's own print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import gcd, isqrt

from mmdyn.text import without_latex
from perturb.answers import Answer, answer_of, differ

_LITERAL = re.compile(r"(?<![\d.])(?:\d{1,3}(?:,\d{3})+|\d{1,12})(?:\.\d{1,12})?(?![\d.])")
_EXPONENT = re.compile(r"(?:[\^_]\{?|e)[+-]?$", re.IGNORECASE)
_POWER = re.compile(r"\^\{?[+-]?\d")
_START = re.compile(r"^(\$*\s*)(-?)")
_FRACTION = re.compile(r"(?:(\d+) )?(?<![√\d])(\d+)(?:\s?[√π][^/]*)?\)?\s?/\s?(\d+)")
_ROOT = re.compile(r"√\(?(\d+)(?![\d.])")
_UNTIDY = re.compile(r"(?<![\d.])(?:[01]\s?[√π]|0\s?[+-]|(?:0|\d{2,})(?:\.\d+)?\s?(?:[eE][+-]?\d|[×·*]\s?10\^))")
"""1√2, 0 + √3, 13.2×10^4."""
_YEARS = range(1000, 2101)
_HALF_TURN = 180
_MOST_LITERALS = 4


@lru_cache(maxsize=1024)
def near_values(right: Answer, signed: bool = False, apart: float = 0.0) -> tuple[tuple[Answer, ...], ...]:
    """Wrong values in the print of the right one: a number in it off by one, doubled, halved, off by a tenth, with its
    digits turned round, or the whole with another sign. None comes nearer than `apart`, relative to the right one
    (years may).

    They come in groups: in a group one and the same number of the print is changed, so that the right answer is not the
    one that has most in common with the others. A positive value is turned negative only where `signed`; shares stay
    below 1, angles below a half turn, fractions in lowest terms. Empty where the right answer is no value in digits.
    """
    if right.value is None:
        return ()
    text = right.text
    places = [found.span() for found in _LITERAL.finditer(text) if not _EXPONENT.search(text[: found.start()])]
    places = [(start, end) for start, end in places if not _POWER.match(text, end)][:_MOST_LITERALS]
    apart = 0.0 if right.kind == "number" and right.value in _YEARS else apart
    other_sign = _with_other_sign(right, signed)
    groups = [
        [text[:start] + slip + text[end:] for slip in _slips(text[start:end])] + other_sign for start, end in places
    ]
    return tuple(tuple(_sound(right, group, apart)) for group in groups)


def _with_other_sign(right: Answer, signed: bool) -> list[str]:
    assert right.value is not None
    if right.value < 0:
        return [_START.sub(r"\1", right.text, count=1)]
    positive = right.value > 0 and right.kind in ("number", "value")
    return [_START.sub(r"\1-", right.text, count=1)] if signed and positive else []


def _sound(right: Answer, texts: Iterable[str], apart: float) -> Iterator[Answer]:
    for text in dict.fromkeys(texts):
        other = answer_of(text)
        if _is_sound(right, other) and differ(right, other, apart):
            yield other


def _slips(literal: str) -> list[str]:
    """A number as it is printed, wrong in one way each; the zeros at the end of a round number stay."""
    whole, _, decimals = literal.replace(",", "").partition(".")
    number, zeros = int(whole + decimals), 0
    while not decimals and number >= 100 and number % 10 == 0:
        number, zeros = number // 10, zeros + 1
    if not decimals and number in _YEARS:
        wrong = [number + years for years in (-10, -4, -2, -1, 1, 2, 4, 10)]
    else:
        part = round(number / (4 if decimals else 10))
        wrong = [number + off for off in (-2, -1, 1, 2, 3, -part, part)] + [2 * number, 3 * number]
        wrong += [number // 2] if number % 2 == 0 else []
        wrong += [number // 3] if decimals else []
        wrong += [int(str(number)[::-1])]
    return [_printed(slip, literal, len(decimals), zeros) for slip in wrong if slip >= 0 and slip != number]


def _printed(number: int, literal: str, decimals: int, zeros: int) -> str:
    text = str(number).rjust(decimals + 1, "0") + "0" * zeros
    whole, decimal = (text[:-decimals], text[-decimals:]) if decimals else (text, "")
    whole = f"{int(whole):,}" if "," in literal else whole
    return f"{whole}.{decimal}" if decimal else whole


def _is_sound(right: Answer, other: Answer) -> bool:
    """Whether nothing but its value speaks against the other answer."""
    if other.value is None or other.kind != right.kind or right.value is None:
        return False
    if other.value == 0 and (right.kind != "number" or right.value < 0):
        return False
    if 0 < right.value < 1 and not -1 < other.value < 1:
        return False
    if right.kind == "number °" and 0 < right.value <= _HALF_TURN < other.value:
        return False
    return _is_tidy(other)


def _is_tidy(other: Answer) -> bool:
    """Whether it is printed as an answer would be: in lowest terms, no 1√2, no √9, no "1 apples"."""
    shown = without_latex(other.text)
    if (other.value == 1 and re.search(r"[a-z]s$", shown)) or _UNTIDY.search(shown):
        return False
    for whole, above, below in _FRACTION.findall(shown):
        if (
            gcd(int(above), int(below)) > 1
            or int(below) == 1
            or (whole and not (int(whole) and 0 < int(above) < int(below)))
        ):
            return False
    return not any(isqrt(int(under)) ** 2 == int(under) for under in _ROOT.findall(shown))
