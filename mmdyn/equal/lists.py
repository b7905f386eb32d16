"""Several values: sets, tuples, lists, values with names, solutions in any order (x=2 or x=3; x_1=2, x_2=3; ±)."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from mmdyn.equal.formula import read_formula
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
_NAME = re.compile(
    r"(?!\\(?:ln|log|sqrt)|ln|log|sqrt)(?:[^\W\d_]|[∠△(\\])(?:[^-+*^<>≤≥≠≈±∈=,;]|-(?=[a-z]{3}))*(?:\^\{?[*']\}?)?"
    r"|\([A-Za-z_\d{}, ]+\)"
)
_INDEX, _PRODUCT = re.compile(r"_\{[^{}]*\}"), re.compile(r"[a-z]{2,3}")
_LETTER, _COMMAND = re.compile(r"[A-Za-zα-ωΑ-Ω\u4e00-\u9fff]"), re.compile(r"\\[A-Za-z]+")
_PAIR = re.compile(r"\s*-?\d{1,3},\d{3}\s*")
_BUILDER = re.compile(r"([A-Za-z])\s*(?:∈\s*[Rℝ])?\s*[|:]\s*(\1\s*=.+)")
_NUMBERED = re.compile(r"([xytkmnazprs])_?\{?(\d)\}?")
_MATRIX = re.compile(
    r"[\[(]?\s*\\begin\s?\{((?:[pbB]|small)?matrix|array)\}\s*(?:\{[clr|\s]*\})?(.*)\\end\s?\{\1\}\s*[\])]?", re.DOTALL
)
_MEMBER = re.compile(rf"^[A-Za-z](?:_\w)?\s*∈\s*(?={SET_OPEN})")
_KINDS = {"()": "tuple", "⟨⟩": "tuple", "[]": "square", SET_OPEN + SET_CLOSE: "set", "[)": "[)", "(]": "(]"}


class Listed(Struct, frozen=True):
    """Values of a list. `kind`: set (any order), tuple (round brackets, matrices), square, joined (by "and"), record
    (each value with a name of its own), bare."""

    kind: str
    values: tuple[str, ...]


def joined(text: str) -> str:
    """A spelled text in which the words that join values are single characters."""
    text = text.replace("空集", "∅").replace("∅", SET_OPEN + SET_CLOSE).replace("+∞", "∞")
    return _JOINS.sub(lambda found: OR if found["or"] or found["han_or"] else AND, text)


def parts_of(text: str) -> tuple[str, ...]:
    """The values of a list without its brackets. In brackets the comma of two values separates no thousands:
    (12,102)."""
    return tuple(part for part in (text.split(",") if _PAIR.fullmatch(text) else split_outside(text, _MARKS)) if part)


def assigned(text: str) -> tuple[str, str] | None:
    """The name and the last value of `x = 4`, `V_1:V_2 = 1+1 = 2`, `the area = 5`; None where a text says no such
    thing."""
    parts = split_outside(text, "=")
    if len(parts) < 2 or not all(parts) or re.search(r"[<>≤≥≠]", text) or len(split_outside(text, f"{_MARKS}且")) > 1:
        return None
    if not _LETTER.search(_COMMAND.sub("", parts[0])):
        return "", parts[-1]
    named = _NAME.fullmatch(_INDEX.sub("_", parts[0])) and not _PRODUCT.fullmatch(parts[0])
    return (parts[0].replace(" ", ""), parts[-1]) if named and len(parts[0]) <= _LONGEST_NAME else None


def bracketed(text: str) -> tuple[str, str] | None:
    """The kind of the brackets in which a text stands as a whole, and its inside."""
    kind = _KINDS.get(text[:1] + text[-1:])
    return (
        (kind, text[1:-1].strip()) if kind and (text[0] == "⟨" or closing_bracket(text, 0) == len(text) - 1) else None
    )


def listed(text: str) -> Listed | None:
    """The values of a text that `joined` has gone through; None where it is one value."""
    text = _MEMBER.sub("", text)
    if matrix := _MATRIX.fullmatch(text):
        return _matrix(matrix[2])
    if found := bracketed(text):
        kind, inside = found
        if kind == "set":
            builder = _BUILDER.fullmatch(inside)
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
    """Are two lists the same? None where one is no list, or where that cannot be told."""
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
    """Rows and columns that fit, each at most once, and as many as can be."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(fits, maximize=True) if fits else ((), ())
    return [(row, column) for row, column in zip(rows, columns, strict=True) if fits[row][column]]
