"""Compare lists of values, regions of the real line, and equations, which are equal in any order and form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from mmdyn.equal.formula import Formula, Number, close, constant, context, read_formula
from mmdyn.sample import Match
from mmdyn.text import SET_CLOSE, SET_OPEN, closing_bracket, split_outside

Same = Callable[[str, str, Match], bool | None]

AND, OR = "\ue001", "\ue002"
"""Stand for the words that join values, in texts that `joined` has gone through."""

_MARKS = f",;、{AND}{OR}"
_JOINS = re.compile(
    r"(?i)\{?[,;、]?\s*\b(?:(?P<or>or)|and)\b\s*\}?"
    r"|[,;、]?\s?(?P<han_or>或者?)|[,;、]?\s?(?:以及|和|与|及)(?=[^\u4e00-\u9fff])"
)
_MOST_PARTS, _LONGEST_NAME = 30, 40
_VALUE_NAME = re.compile(
    r"(?!\\(?:ln|log|sqrt)|ln|log|sqrt)(?:[^\W\d_]|[∠△(\\])(?:[^-+*^<>≤≥≠≈±∈=,;]|-(?=[a-z]{3}))*(?:\^\{?[*']\}?)?"
    r"|\([A-Za-z_\d{}, ]+\)"
)
_INDEX, _PRODUCT = re.compile(r"_\{[^{}]*\}"), re.compile(r"[a-z]{2,3}")
_LETTER, _COMMAND = re.compile(r"[A-Za-zα-ωΑ-Ω\u4e00-\u9fff]"), re.compile(r"\\[A-Za-z]+")
_PAIR = re.compile(r"\s*-?\d{1,3},\d{3}\s*")
_VALUE_BUILDER = re.compile(r"([A-Za-z])\s*(?:∈\s*[Rℝ])?\s*[|:]\s*(\1\s*=.+)")
_NUMBERED = re.compile(r"([xytkmnazprs])_?\{?(\d)\}?")
_MATRIX = re.compile(
    r"[\[(]?\s*\\begin\s?\{((?:[pbB]|small)?matrix|array)\}\s*(?:\{[clr|\s]*\})?(.*)\\end\s?\{\1\}\s*[\])]?", re.DOTALL
)
_SET_MEMBER = re.compile(rf"^[A-Za-z](?:_\w)?\s*∈\s*(?={SET_OPEN})")
_KINDS = {"()": "tuple", "⟨⟩": "tuple", "[]": "square", SET_OPEN + SET_CLOSE: "set", "[)": "[)", "(]": "(]"}


class Listed(Struct, frozen=True):
    """The values of a list.

    kind: set (in any order), tuple (in round brackets, or a matrix), square, joined (by "and"), record (each value has
        a name of its own), or bare; "[)" and "(]" for half-open brackets.
    """

    kind: str
    values: tuple[str, ...]


def joined(text: str) -> str:
    """Replace the words that join values (and, or, 和, 或) by single characters.

    Args:
        text: A text that is spelled by `mmdyn.text.spell_formula`.
    """
    text = text.replace("空集", "∅").replace("∅", SET_OPEN + SET_CLOSE).replace("+∞", "∞")
    return _JOINS.sub(lambda found: OR if found["or"] or found["han_or"] else AND, text)


def parts_of(text: str) -> tuple[str, ...]:
    """Split a list without its brackets into its values. In brackets the comma of two values is no thousands separator.

    >>> parts_of("12,102"), parts_of("1,000, 3")
    (('12', '102'), ('1,000', '3'))
    """
    return tuple(part for part in (text.split(",") if _PAIR.fullmatch(text) else split_outside(text, _MARKS)) if part)


def assigned(text: str) -> tuple[str, str] | None:
    """Split a text such as `x = 4`, `V_1:V_2 = 1+1 = 2` or `the area = 5` into its name and its last value.

    Returns:
        None where the text assigns no value.

    >>> assigned("x = 4"), assigned("x < 4")
    (('x', '4'), None)
    """
    parts = split_outside(text, "=")
    if len(parts) < 2 or not all(parts) or re.search(r"[<>≤≥≠]", text) or len(split_outside(text, f"{_MARKS}且")) > 1:
        return None
    if not _LETTER.search(_COMMAND.sub("", parts[0])):
        return "", parts[-1]
    named = _VALUE_NAME.fullmatch(_INDEX.sub("_", parts[0])) and not _PRODUCT.fullmatch(parts[0])
    return (parts[0].replace(" ", ""), parts[-1]) if named and len(parts[0]) <= _LONGEST_NAME else None


def bracketed(text: str) -> tuple[str, str] | None:
    """Split a text in one pair of brackets into the kind of the brackets and its inside; None for any other text."""
    kind = _KINDS.get(text[:1] + text[-1:])
    return (
        (kind, text[1:-1].strip()) if kind and (text[0] == "⟨" or closing_bracket(text, 0) == len(text) - 1) else None
    )


def listed(text: str) -> Listed | None:
    """Read a list of values from a text that `joined` has processed; None where it is one value.

    >>> listed("x=2,x=3")
    Listed(kind='set', values=('x=2', 'x=3'))
    """
    text = _SET_MEMBER.sub("", text)
    if matrix := _MATRIX.fullmatch(text):
        return _matrix(matrix[2])
    if found := bracketed(text):
        kind, inside = found
        if kind == "set":
            builder = _VALUE_BUILDER.fullmatch(inside)
            return listed(builder[2]) if builder else Listed("set", _signs(parts_of(inside)))
        values = parts_of(inside)
        if kind == "square" and len(values) > 1 and all(value[0] + value[-1] == "[]" for value in values):
            return Listed("tuple", tuple(f"({value[1:-1]})" for value in values))  # a matrix by its rows
        return Listed(kind, values) if len(values) > 1 else None
    values = parts_of(text)
    return None if len(values) > _MOST_PARTS else _several(values, text) if len(values) > 1 else _one(text)


def _matrix(body: str) -> Listed | None:
    """The tuple of the rows; of the entries where it is one row or one column."""
    rows = [[cell.strip() for cell in row.split("&")] for row in re.split(r"\\\\|\\cr\b", body) if row.strip()]
    if "\\begin" in body or len({len(row) for row in rows}) != 1 or len(rows) * len(rows[0]) > _MOST_PARTS:
        return None
    single = 1 in (len(rows), len(rows[0]))
    return Listed("tuple", tuple(cell for row in rows for cell in (row if single else [f"({','.join(row)})"])))


def _one(text: str) -> Listed | None:
    """x = ±2, x = {1, 2}; and (x, y) = (1, 2) as values with names."""
    name, value = assigned(text) or ("", text)
    keys, inside = bracketed(name), bracketed(value)
    if keys and inside and keys[0] == inside[0] == "tuple":
        pairs = zip(parts_of(keys[1]), parts_of(inside[1]), strict=False)
        return Listed("record", tuple(f"{key}={each}" for key, each in pairs))
    if name and inside and inside[0] == "set":
        return Listed("set", tuple(f"{name}={each}" for each in parts_of(inside[1])))
    return Listed("set", _signs((text,))) if "±" in text else None


def _several(values: tuple[str, ...], text: str) -> Listed:
    found = [assigned(value) or ("", value) for value in values]
    names = [name for name, _ in found]
    places = [place for name in names if (place := _NUMBERED.fullmatch(name))]
    roots = sorted(place[2] for place in places) == [str(at + 1) for at in range(len(names))]  # x_1=2, x_2=3
    if roots or len(set(names)) == 1 or not any(names[1:]):  # x=2 or x=3; a = 4, -8
        name = places[0][1] if roots else names[0]
        values = tuple(f"{name}={value}" for _, value in found) if name else values
    elif all(names):
        return Listed("record", values)
    points = all(value[0] == "(" and closing_bracket(value, 0) == len(value) - 1 for value in values)
    if points or any(names) or OR in text or "±" in text:
        return Listed("set", _signs(values))
    return Listed("joined" if AND in text and "," not in text else "bare", values)


def _signs(values: tuple[str, ...]) -> tuple[str, ...]:
    """Both values of each that has a ±."""
    signs = [(value, sign) for value in values for sign in ("+-" if "±" in value else "+")]
    both = (value.replace("±", sign).replace("∓", "-" if sign == "+" else "+") for value, sign in signs)
    return tuple(value.removeprefix("+").strip() for value in both)


def same_list(given: Listed | None, gold: Listed | None, match: Match, same: Same) -> bool | None:
    """Compare two lists.

    Args:
        given: The answer's list.
        gold: The right list.
        match: Order, tolerance and unit.
        same: Compares two values.

    Returns:
        None where one is no list, or where that is undecided.
    """
    if given is None or gold is None:
        return None
    kinds = {given.kind, gold.kind}
    square = kinds & {"square", "[)", "(]"} and len(kinds) > 1 and len(gold.values) < 3
    if len(given.values) != len(gold.values):
        return False if all(map(read_formula, given.values)) else None
    if square or ("set" in kinds and kinds & {"tuple", "square", "record"}):
        return False
    plain = Match(tolerance=match.tolerance, unit=match.unit)
    if "set" in kinds or kinds in ({"joined"}, {"record"}) or not match.ordered:
        fits = [[same(one, other, plain) for other in gold.values] for one in given.values]
        if len(partners([[fit is True for fit in row] for row in fits])) == len(gold.values):
            return True
        may_fit = partners([[fit is not False for fit in row] for row in fits])
        return None if len(may_fit) == len(gold.values) else False
    verdicts = [same(one, other, plain) for one, other in zip(given.values, gold.values, strict=True)]
    return False if False in verdicts else None if None in verdicts else True


def partners(fits: list[list[bool]]) -> list[tuple[int, int]]:
    """Match rows and columns that fit, each at most once, as many as possible.

    Returns:
        The pairs (row, column).

    >>> partners([[True, True], [True, False]]) == [(0, 1), (1, 0)]
    True
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(fits, maximize=True) if fits else ((), ())
    return [(row, column) for row, column in zip(rows, columns, strict=True) if fits[row][column]]


RELATION, TURNED = re.compile(r"([=<>≤≥≠])"), {"=": "=", "≠": "≠", "<": ">", ">": "<", "≤": "≥", "≥": "≤"}
_DEEPEST = 4
_NAME = r"[A-Za-zα-ωΑ-Ω](?:_\{?[^\W_]{1,3}\}?|'|\([a-z]\))*"
_MEMBER = re.compile(rf"({_NAME})\s*∈\s*(.+)")
_BUILDER = re.compile(rf"{_NAME}(?:\s*∈\s*[Rℝ])?\s*[|:]\s*(.+?)(?:,?\s*(?:{_NAME}\s*)?∈\s*[Rℝ])?")
_LETTER_U = re.compile(r"(?<=[)\]∞\d\s])U(?=[(\[\s])")
_MAY_BE = re.compile(r"(?=.*(?:[<>≤≥≠∈∪∖∩ℝR]|实数|real|[)\]⦄]$))(?!.*(?:[ℤℕℚℂ]|integer|整数|∈\s*[ZN]\b)).{1,300}$")
_REALS = ("ℝ", "R", "all real numbers", "real numbers", "全体实数", "一切实数", "实数集", "任意实数")
_INTERVALS = dict.fromkeys(_REALS, "(-∞,∞)") | {"ℝ+": "(0,∞)", "ℝ-": "(-∞,0)"}
_TESTS: tuple[tuple[str, Callable[[Iterator[bool]], bool]], ...] = (
    (f"∪∨{OR}", any), ("∖", lambda found: next(found) and not any(found)), ("∩", all), (f"∧{AND},;且", all),
)  # fmt: skip


class Region(NamedTuple):
    """A region of the real line: a membership test, the points where it may change, and the variable's names."""

    holds: Callable[[Number], bool]
    ends: list[Number]
    names: set[str]


def read_region(text: str) -> Region | None:
    """Read a region from a spelled and joined text; None for any other.

    >>> read_region("1 < x ≤ 2").holds(context().mpf(2))
    True
    """
    if not _MAY_BE.match(text):
        return None
    text = _LETTER_U.sub("∪", text)
    member = _MEMBER.fullmatch(text)
    try:
        region = _read(member[2] if member else text, 0)
    except ValueError:
        return None
    return region._replace(names=region.names | {member[1]}) if member else region


def same_region(given: Region | None, gold: Region | None) -> bool | None:
    """Compare two regions; None where one is none.

    >>> same_region(read_region("x > 3"), read_region("(3, ∞)"))
    True
    """
    if given is None or gold is None:
        return None
    ends = sorted(filter(context().isfinite, [*given.ends, *gold.ends])) or [context().zero]
    edges = [ends[0] - 1, *ends, ends[-1] + 1]
    tests = [*edges, *((low + high) / 2 for low, high in pairwise(edges))]
    return len(given.names | gold.names) < 2 and all(given.holds(x) == gold.holds(x) for x in tests)


def _read(text: str, depth: int) -> Region:
    """Raises ValueError for what is no region."""
    text = _INTERVALS.get(re.sub(r"[\s^_{}]", "", text), text).strip()
    inside = bracketed(text)
    if depth > _DEEPEST or not text:
        raise ValueError
    if inside and inside[0] == "set":
        if builder := _BUILDER.fullmatch(inside[1]):
            return _read(builder[1], depth + 1)
        if not depth:
            raise ValueError  # a list of values
        points = [_number(part) for part in parts_of(inside[1])]
        return Region(lambda x: any(close(x, point) for point in points), points, set())
    for marks, test in _TESTS if RELATION.search(text) else _TESTS[:3]:
        parts = [part for part in split_outside(text, marks) if part]
        if len(parts) > 1:
            return _combined([_read(part, depth + 1) for part in parts], test)
    parts = [part.strip() for part in RELATION.split(text)]
    bounds = [_bound(parts[at], parts[at + 1], parts[at + 2]) for at in range(0, len(parts) - 2, 2)]
    return _combined(bounds, all) if bounds else _interval(text)


def _combined(parts: list[Region], test: Callable[[Iterator[bool]], bool]) -> Region:
    ends = [end for part in parts for end in part.ends]
    return Region(lambda x: test(part.holds(x) for part in parts), ends, set().union(*(part.names for part in parts)))


def _interval(text: str) -> Region:
    ends = parts_of(text[1:-1])
    if text[0] not in "([" or text[-1] not in ")]" or len(ends) != 2:
        raise ValueError
    low = _bound("x", "≥" if text[0] == "[" else ">", ends[0])
    high = _bound("x", "≤" if text[-1] == "]" else "<", ends[1])
    if not low.ends[0] < high.ends[0] and not (text[0] + text[-1] == "[]" and low.ends == high.ends):
        raise ValueError
    return _combined([low, high], all)._replace(names=set())


def _bound(left: str, sign: str, right: str) -> Region:
    """x < 3, 3 > x, x ≠ 5."""
    if re.fullmatch(_NAME, right):
        left, sign, right = right, TURNED[sign], left
    if not re.fullmatch(_NAME, left) or sign == "=":
        raise ValueError
    end = _number(right)

    def holds(x: Number) -> bool:
        return sign in "≤≥" if close(x, end) else sign == "≠" or (x < end) == (sign in "<≤")

    return Region(holds, [end], {left})


def _number(text: str) -> Number:
    if text.lstrip("+-") == "∞":
        return context().mpf("-inf" if text[0] == "-" else "inf")
    value = constant(read_formula(text))
    if value is None:
        raise ValueError
    return context().mpf(value.numerator) / value.denominator


def same_relation(given: str, gold: str) -> bool | None:
    """Compare two spelled relations, with one sign each and formulas on both sides; None where that is undecided.

    >>> same_relation("y = 2x", "2x - y = 0"), same_relation("x < y", "y < x")
    (True, False)
    """
    one, other = _difference(given), _difference(gold)
    if not one or not other:
        return None
    ratios = [a / b for a, b in zip(one[1].values, other[1].values, strict=True) if a and b]
    if len(ratios) < 3 or one[1].names != other[1].names or not all(close(ratio, ratios[0]) for ratio in ratios):
        return False
    return abs(ratios[0].imag) < 1e-30 and one[0] == (other[0] if ratios[0].real > 0 else TURNED[other[0]])


def _difference(text: str) -> tuple[str, Formula] | None:
    """The sign of a relation, and its left side less its right side."""
    parts = [part.strip() for part in RELATION.split(text)]
    sides = [side for part in parts[::2] if (side := read_formula(part))] if len(parts) == 3 else []
    if len(sides) != 2 or not (names := sides[0].names | sides[1].names):
        return None
    pairs = zip(sides[0].values, sides[1].values, strict=True)
    values: list[Number | None] = [None if a is None or b is None else a - b for a, b in pairs]
    return parts[1], Formula(values, names)


def ascending(text: str) -> str:
    """Turn a chain's signs into the direction of <: c > b > a becomes a<b<c.

    >>> ascending("c > b > a")
    'a<b<c'
    """
    if SET_OPEN in text:  # {x | x > 3} is no chain
        return text
    parts = [part.strip() for part in RELATION.split(text)]
    turned = [TURNED.get(part, part) for part in parts[::-1]]
    return "".join(turned if set(parts[1::2]) <= set(">≥") else parts)
