"""Are two short answers the same? By spelling and by number; nothing is computed symbolically and no model is asked."""

from __future__ import annotations

import re
from fractions import Fraction

from mmdyn.sample import Match
from mmdyn.text.fold import fold
from mmdyn.text.numbers import Number, in_unit, read_number

LONGEST = 2_000
"""Answers longer than this many characters are compared as they are, not read as formulas or numbers."""

PLAIN = Match()
"""How answers are compared where a sample says nothing: in order, by gold's precision, without a unit of its own."""

_NAME = r"[^\W\d_\u4e00-\u9fff][\w:/(),'|]{0,14}|[(∠][A-Za-z,]{1,9}\)?"
_SAYS = re.compile(
    rf"(?P<name>{_NAME}|[^=A-Za-z\u0370-\u03ff\u4e00-\u9fff]{{1,40}})=(?:[^=]{{1,80}}=)?(?P<value>[^=]+)"
)
_BRACKETS = {"(": ")]", "[": ")]", "{": "}"}
_JOINED = re.compile(r"、|和|与|以及|(?<=[\d\W])and(?=[\d\W])")
_CIRCLED = re.compile(r"[\u2460-\u2473]")
_COMMAS = re.compile(r"[\s,;、，；和与]")
_MOST_PARTS, _DEEPEST = 30, 3
_ROUNDED = 3


def same(given: str, gold: str, match: Match = PLAIN) -> bool:
    """Is `given` the answer `gold`?

    Equal are: texts that `mmdyn.text.fold.fold` makes equal; numbers of one value (`match.tolerance` is relative to gold's;
    without one an exact gold wants the exact number; a gold printed with decimals, three significant digits or two decimals
    of which both count, also takes what rounds to it; one without finite decimals, such as 1/3, what it rounds to) whose units are the same or given once; `x = 4` and `4`;
    brackets whose parts are equal, in order, and braces in any order. A part of a reply never counts for the whole, and
    several circled numbers (①③) are never read as one number (13).
    """
    if len(given) > LONGEST or len(gold) > LONGEST:
        return given.strip() == gold.strip()
    if _several_circled(given) or _several_circled(gold):
        return _without_commas(given) == _without_commas(gold)
    numbers = read_number(given), read_number(gold)
    if numbers[0] and numbers[1]:
        return same_number(numbers[0], numbers[1], match)
    left, right = fold(given), fold(gold)
    if not left or not right:
        return False
    return left == right or _same_value(left, right, match) or _same_parts(left, right, match)


def _several_circled(text: str) -> bool:
    return len(_CIRCLED.findall(text)) > 1


def _without_commas(text: str) -> str:
    return _COMMAS.sub("", fold(_CIRCLED.sub(lambda found: f"<{ord(found[0]) - 0x245F}>", text)))


def same_number(given: Number, gold: Number, match: Match = PLAIN) -> bool:
    """Is one number the other, by the tolerance, the rounding and the units that `same` tells of?"""
    if match.unit and not gold.unit:
        gold = in_unit(gold, match.unit)
    if given.unit and gold.unit and given.unit != gold.unit:
        return False
    if _close(given, gold, match.tolerance):
        return True
    if given.unit == gold.unit or "%" not in (given.unit, gold.unit):
        return False
    # the per cent sign was left out on one side: 28 for 28 %
    scale = Fraction(100) if given.unit == "%" else Fraction(1, 100)
    scaled = Number(given.value * scale, given.step and given.step * scale, given.digits)
    return _close(scaled, gold, match.tolerance)


def _close(given: Number, gold: Number, tolerance: float | None) -> bool:
    off = abs(given.value - gold.value)
    if tolerance is not None:
        return off <= Fraction(tolerance) * abs(gold.value)
    return off == 0 or off <= _rounding(gold) or off <= (0 if _terminates(gold.value) else _rounding(given))


def _rounding(number: Number) -> Fraction:
    """Half a unit of the last digit printed after the point, where enough digits are significant to mean a rounded number."""
    printed = number.step is not None and (
        number.digits >= _ROUNDED or (number.digits == _ROUNDED - 1 and number.step <= Fraction(1, 100))
    )
    return number.step / 2 if number.step and printed else Fraction(0)


def _terminates(value: Fraction) -> bool:
    """Can the number be written with a finite number of decimals?"""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _same_value(left: str, right: str, match: Match) -> bool:
    """`x = 4` and `4`, whichever side names the symbol; `2 + 2 = 4` and `4`; `1/3 ≈ 0.33` and either of them."""
    if left.count("≈") == 1:
        return any(part and same(part, right, match) for part in left.split("≈"))
    says, meant = _SAYS.fullmatch(left), _SAYS.fullmatch(right)
    if not (says or meant) or ("=" in left and not says) or ("=" in right and not meant):
        return False
    if says and meant and (says["name"] != meant["name"] or left.count("=") + right.count("=") == 2):
        return False
    return same(says["value"] if says else left, meant["value"] if meant else right, match)


def _same_parts(left: str, right: str, match: Match) -> bool:
    """Lists part by part, with the same brackets or none; in order, but for braces."""
    bracketed = [text[-1] in _BRACKETS.get(text[0], "none") for text in (left, right)]
    if any(bracketed) and not (all(bracketed) and left[0] == right[0] and left[-1] == right[-1]):
        return False
    given, gold = (split(_JOINED.sub(",", text[1:-1] if any(bracketed) else text), ",;") for text in (left, right))
    if len(given) != len(gold) or not 2 <= len(given) <= _MOST_PARTS or _nesting(left) > _DEEPEST:
        return False
    ordered = not (any(bracketed) and left[0] == "{")
    return all(match_blanks(tuple(given), tuple((part,) for part in gold), Match(ordered, match.tolerance)))


def _nesting(text: str) -> int:
    depth = deepest = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        deepest = max(deepest, depth)
    return deepest


def split(text: str, separators: str) -> list[str]:
    """The parts of a text between separators that stand in no bracket, stripped; a comma within 1,000 separates nothing."""
    parts, depth, start = list[str](), 0, 0
    for at, char in enumerate(text):
        if char in "([{（【":
            depth += 1
        elif char in ")]}）】":
            depth = max(0, depth - 1)
        elif char in separators and depth == 0 and not _thousands(text, at, char):
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _thousands(text: str, at: int, char: str) -> bool:
    return char == "," and bool(re.match(r"\d,\d{3}(?!\d)", text[max(0, at - 1) : at + 5]))


def match_blanks(given: tuple[str, ...], accepted: tuple[tuple[str, ...], ...], match: Match) -> tuple[bool, ...]:
    """Which blanks are right: `accepted` has the accepted texts of each.

    In order, or (`match.ordered` False) by the assignment that makes the most of them right. More answers than blanks make
    none right, so that a list of guesses buys nothing.
    """
    if len(given) > len(accepted):
        return (False,) * len(accepted)
    if match.ordered:
        padded = (*given, *[""] * (len(accepted) - len(given)))
        return tuple(_fits(text, texts, match) for text, texts in zip(padded, accepted, strict=True))
    from scipy.optimize import linear_sum_assignment

    fits = [[_fits(text, texts, match) for texts in accepted] for text in given]
    rows, columns = linear_sum_assignment(fits, maximize=True) if given else ((), ())
    right = {column for row, column in zip(rows, columns, strict=True) if fits[row][column]}
    return tuple(blank in right for blank in range(len(accepted)))


def _fits(text: str, accepted: tuple[str, ...], match: Match) -> bool:
    return bool(text) and any(same(text, gold, match) for gold in accepted)
