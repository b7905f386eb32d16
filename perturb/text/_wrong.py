"""Where wrong answers come from: the stem's own alternatives, a rewriter model, other samples, or rules, by the slips
that people make: wrong values near the right one, in its own print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import gcd, isqrt
from typing import TypeAlias

from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.text import without_latex
from perturb.item import EMBEDDED, NotApplicable
from perturb.services import Services
from perturb.short_answers import ROUNDED, ShortAnswer, answer_of, differ, spread
from perturb.text._other_forms import Short
from perturb.text._reworded import controls
from perturb.text._stem import is_rough, takes_other_answers

COUNT = 3
"""Wrong options of a single choice, where the stem does not name its alternatives itself."""

_APART = 0.05
"""How far a wrong value stays from the right one at least, relative to it: a solver may have rounded on the way."""

_BRACKETED = re.compile(r"[(（]([^()（）]{3,80})[)）]")
_BETWEEN = re.compile(r"\s*(?:[、，,;；/“”\"‘’]|\bor\b|或者?|还是|[选请]?填(?:写|入|空)?)\s*", re.IGNORECASE)
_EITHER = re.compile(r"(?<![,，]\s)\b([A-Za-z]{2,20}) or ([A-Za-z]{2,20})\b")
_LONGEST_ALTERNATIVE, _MOST_ALTERNATIVES = 20, 4
_SIGNED = re.compile(r"=\s?\${0,2}\s?(?:_{2,}\s?\${0,2})?$")
_END = " .。．"

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


Wrong: TypeAlias = "tuple[tuple[str, ...], dict[str, Json]]"
"""Wrong answers, and what the trail says of them: `by` whom (`stem`, `pool`, `rules` or a model's label), and the
digest of the `pool` that was used."""


def wrong_answers(
    sample: Sample, short: Short, count: int, stream: Generator, services: Services
) -> Wrong | NotApplicable:
    """`count` wrong answers of a question, or as many as the stem itself names beside the right one, at most three.

    Where a rewriter model was chosen it is asked rather than the pool and the rules. Raises ValueError where a model
    did not answer.
    """
    if found := takes_other_answers(sample.question):
        return NotApplicable(f"other answers may be right too ({found})")
    if others := _alternatives(sample.question, short):
        places = stream.permutation(len(others))[:count]
        return tuple(_printed_like(short.text, others[place]) for place in places), {"by": "stem"}
    if services.tools.rewriter != EMBEDDED:
        return _by_model(sample, short, count, stream, services)
    apart = max(2 * ROUNDED if is_rough(sample.question) else _APART, 2 * (sample.match.tolerance or 0.0))
    pool = services.pool
    if (texts := pool.draw(sample, short.text, count, stream, apart)) and _all_wrong(texts, short):
        return tuple(_printed_like(short.text, text) for text in texts), {"by": "pool", "pool": pool.digest}
    if (texts := _by_rules(sample, short, count, stream, apart)) and _all_wrong(texts, short):
        return texts, {"by": "rules"}
    return NotApplicable("no wrong answers that look right were found")


def _alternatives(stem: str, short: Short) -> tuple[str, ...]:
    """The other answers that a stem names beside the right one, such as （填“增大”或“减小”） and (yes or no)."""
    lists = [_BETWEEN.split(found[1]) for found in _BRACKETED.finditer(stem) if _BETWEEN.search(found[1])]
    lists += [list(found.groups()) for found in _EITHER.finditer(stem)]
    right = {answer_of(text).folded for text in short.accepted}
    for parts in lists:
        named = {answer_of(part).folded: part.strip() for part in parts if part.strip()}
        others = [part for folded, part in named.items() if folded not in right]
        if len(named) - len(others) == 1 and 0 < len(others) < _MOST_ALTERNATIVES:
            return tuple(others) if all(len(part) <= _LONGEST_ALTERNATIVE for part in others) else ()
    return ()


def _by_model(sample: Sample, short: Short, count: int, stream: Generator, services: Services) -> Wrong | NotApplicable:
    rewriter = services.rewriter
    texts = rewriter.distractors(sample, short.text, count, stream)
    if isinstance(texts, NotApplicable):
        return texts
    if controls("".join(texts)):
        return NotApplicable("the rewriter added control characters")
    if not _all_wrong(texts, short):
        return NotApplicable("a wrong answer may be a right one")
    return texts, {"by": rewriter.label}


def _by_rules(sample: Sample, short: Short, count: int, stream: Generator, apart: float) -> tuple[str, ...] | None:
    right = answer_of(short.text)
    signed = bool(_SIGNED.search(sample.question.rstrip(_END)))
    groups = [group for group in near_values(right, signed, apart) if len(group) >= count]
    return spread(stream, right, groups[stream.integers(len(groups))], count) if groups else None


def _printed_like(right: str, other: str) -> str:
    """With the right answer's case, which must not give it away."""
    if right[:1].isupper() and other.islower():
        return other[:1].upper() + other[1:]
    return other.lower() if right.islower() and other.istitle() else other


def _all_wrong(texts: tuple[str, ...], short: Short) -> bool:
    """Whether every text differs from everything that is accepted."""
    return all(differ(answer_of(right), answer_of(text)) for right in short.accepted for text in texts)


@lru_cache(maxsize=1024)
def near_values(right: ShortAnswer, signed: bool = False, apart: float = 0.0) -> tuple[tuple[ShortAnswer, ...], ...]:
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
    groups = ([text[:start] + slip + text[end:] for slip in _slips(text[start:end])] for start, end in places)
    return tuple(tuple(_sound(right, [*group, *other_sign], apart)) for group in groups)


def _with_other_sign(right: ShortAnswer, signed: bool) -> list[str]:
    assert right.value is not None
    if right.value < 0:
        return [_START.sub(r"\1", right.text, count=1)]
    positive = right.value > 0 and right.kind in ("number", "value")
    return [_START.sub(r"\1-", right.text, count=1)] if signed and positive else []


def _sound(right: ShortAnswer, texts: Iterable[str], apart: float) -> Iterator[ShortAnswer]:
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


def _is_sound(right: ShortAnswer, other: ShortAnswer) -> bool:
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


def _is_tidy(other: ShortAnswer) -> bool:
    """Whether it is printed as an answer would be: in lowest terms, no 1√2, no √9, no "1 apples"."""
    shown = without_latex(other.text)
    if (other.value == 1 and re.search(r"[a-z]s$", shown)) or _UNTIDY.search(shown):
        return False
    for whole, above, below in _FRACTION.findall(shown):
        mixed = not whole or (int(whole) and 0 < int(above) < int(below))
        if gcd(int(above), int(below)) > 1 or int(below) == 1 or not mixed:
            return False
    return not any(isqrt(int(under)) ** 2 == int(under) for under in _ROOT.findall(shown))
