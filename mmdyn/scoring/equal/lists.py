"""Several values: sets, tuples, lists, values with names, solutions in any order (x=2 or x=3; x_1=2, x_2=3; ±)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from mmdyn.sample import Match
from mmdyn.text.maths import SET_CLOSE, SET_OPEN, closing, outside

Same = Callable[[str, str, Match], bool]

AND, OR = "\ue001", "\ue002"
"""Stand for the words that join values, in texts that `joined` has gone through."""

_JOINS = re.compile(
    r"\{?[,;、]?\s*\b(?:(?P<or>or)|and)\b\s*\}?|[,;、]?\s?(?P<han_or>或者?)|[,;、]?\s?(?:以及|和|与|及)(?=[^\u4e00-\u9fff])",
    re.IGNORECASE,
)
_TEXT_JOINS = re.compile(r"和|与|以及")
_MOST_PARTS, _DEEPEST, _LONGEST_NAME = 30, 4, 40
_NAME = re.compile(
    r"(?!\\(?:ln|log|sqrt)|ln|log|sqrt)(?:[^\W\d_]|[∠△(\\])(?:[^-+*^<>≤≥≠≈±∈=,;]|-(?=[a-z]{3}))*(?:\^\{?[*']\}?)?|\([A-Za-z_\d{}, ]+\)"
)
_INDEX, _PRODUCT = re.compile(r"_\{[^{}]*\}"), re.compile(r"[a-z]{2,3}")
_LETTER, _COMMAND = re.compile(r"[A-Za-zα-ωΑ-Ω\u4e00-\u9fff]"), re.compile(r"\\[A-Za-z]+")
_PAIR = re.compile(r"\s*-?\d{1,3},\d{3}\s*")
_BUILDER = re.compile(r"(?P<name>[A-Za-z])\s*(?:∈\s*[Rℝ])?\s*(?:\||:)\s*(?P<roots>(?P=name)\s*=.+)")
_NUMBERED = re.compile(r"(?P<base>[A-Za-z])_?\{?\d\}?$")
_CASES = re.compile(
    r"\\begin\s?\{cases\}(.*)\\end\s?\{cases\}|⦃\s*\\begin\s?\{(?:aligned|array|matrix)\}(?:\{[lcr]+\})?(.*)\\end\s?\{\w+\}",
    re.DOTALL,
)


class Listed(Struct, frozen=True):
    """Values of a list. `kind`: set (any order), tuple (round brackets), square, joined (by "and"), bare; `names` where each has one."""

    kind: str
    values: tuple[str, ...]
    names: tuple[str, ...] = ()


def joined(text: str) -> str:
    """A spelled text in which the words that join values are single characters."""
    cases = _CASES.search(text)
    if cases:
        rows = (cases[1] or cases[2]).replace("&", "").split("\\\\")
        text = text[: cases.start()] + ", ".join(row.strip(" ,;") for row in rows if row.strip()) + text[cases.end() :]
    return _JOINS.sub(lambda found: OR if found["or"] or found["han_or"] else AND, text)


def assigned(text: str) -> tuple[str, str] | None:
    """The name and the last value of `x = 4`, `V_1:V_2 = 1+1 = 2`, `the area = 5`; None where a text says no such thing."""
    parts = outside(text, "=")
    if len(parts) < 2 or not all(parts) or re.search(r"[<>≤≥≠]", text) or len(outside(text, f",;、且{AND}{OR}")) > 1:
        return None
    if not _LETTER.search(_COMMAND.sub("", parts[0])):
        return "", parts[-1]
    named = _NAME.fullmatch(_INDEX.sub("_", parts[0])) and not _PRODUCT.fullmatch(parts[0])
    return (parts[0].replace(" ", ""), parts[-1]) if named and len(parts[0]) <= _LONGEST_NAME else None


def bracketed(text: str) -> tuple[str, str] | None:
    """The opening bracket and the inside of a text that stands as a whole in brackets of one kind."""
    for opened, closed in (("(", ")"), ("[", "]"), (SET_OPEN, SET_CLOSE), ("⟨", "⟩")):
        if text[:1] == opened and text[-1:] == closed and (opened == "⟨" or closing(text, 0) == len(text) - 1):
            return opened, text[1:-1].strip()
    return None


def listed(text: str) -> Listed | None:
    """The values of a text that `joined` has gone through; None where it is one value."""
    text = re.sub(r"^(?:[A-Za-z](?:_\w)?)\s*∈\s*(?=⦃)", "", text)
    inside = bracketed(text)
    if inside:
        kind = {"(": "tuple", "⟨": "tuple", "[": "square", SET_OPEN: "set"}[inside[0]]
        builder = _BUILDER.fullmatch(inside[1]) if kind == "set" else None
        roots = listed(builder["roots"]) if builder else None
        if roots:
            return Listed("set", roots.values)
        values = tuple(parts_inside(inside[1]))
        if kind == "set":
            return Listed("set", _signs(values) if inside[1] else ())
        return Listed(kind, values) if len(values) > 1 else None
    groups = _groups(text)
    if groups:
        return Listed("set", groups)
    values = _values(text)
    if len(values) < 2:
        return _named_set(text) or (Listed("set", _signs(values)) if _signs(values) != values else None)
    if len(values) > _MOST_PARTS:
        return None
    return _named(values, "set" if OR in text else "joined" if AND in text and "," not in text else "bare")


def parts_inside(text: str) -> list[str]:
    """The values between brackets; of two, the comma is no thousands separator: (12,102)."""
    parts = [part for part in outside(text, f",;、{AND}{OR}") if part]
    pair = text.split(",")
    return [part.strip() for part in pair] if len(parts) == 1 and len(pair) == 2 and _PAIR.fullmatch(text) else parts


def _groups(text: str) -> tuple[str, ...]:
    """p=5, q=2; p=7, q=2: solutions of several unknowns each."""
    for marks in (";", OR, AND):
        parts = [part for part in outside(text, marks) if part]
        counts = {len([each for each in outside(part, ",") if "=" in each]) for part in parts}
        if len(parts) > 1 and len(counts) == 1 and counts.pop() > 1:
            return tuple(part.strip(", ") for part in parts)
    return ()


def _values(text: str) -> tuple[str, ...]:
    return tuple(part for part in outside(text, f",;、{AND}{OR}") if part)


def _named(values: tuple[str, ...], kind: str) -> Listed:
    found = [assigned(value) for value in values]
    first = found[0]
    if all(found):
        names = tuple(each[0] for each in found if each)
        bases = {match["base"] if (match := _NUMBERED.search(name)) else name for name in names}
        roots = len(bases) == 1 and (
            len(set(names)) == 1 or bases <= {"x", "y", "t", "k", "m", "n", "a", "z", "p", "r", "s"}
        )
        plain = tuple(each[1] for each in found if each)
        if len(set(names)) == 1 or (roots and _in_turn(names)):
            return Listed("set", _signs(plain), (next(iter(bases)),))
        return Listed("bare", plain, names)
    if first and first[0] and not any(found[1:]):
        return Listed("set", _signs((first[1], *values[1:])), (first[0],))
    points = all(value[:1] == "(" and closing(value, 0) == len(value) - 1 for value in values)
    signs = _signs(values)
    return Listed("set" if points or signs != values else kind, signs)


def _in_turn(names: Sequence[str]) -> bool:
    """Do indices number the names from 1, as roots are numbered: x_1, x_2?"""
    indices = sorted(re.sub(r"\D", "", name) for name in names)
    return indices == [str(number) for number in range(1, len(names) + 1)]


def _named_set(text: str) -> Listed | None:
    """x = ±2, x = {1, 2}; and (x, y) = (1, 2) as values with names."""
    found = assigned(text)
    if not found or not found[0]:
        return None
    names, values = bracketed(found[0]), bracketed(found[1])
    if names and values and names[0] == values[0] == "(":
        keys, parts = _values(names[1]), _values(values[1])
        return Listed("bare", parts, keys) if len(keys) == len(parts) > 1 else None
    if values and values[0] == SET_OPEN:
        return Listed("set", _signs(_values(values[1])), (found[0],))
    signs = _signs((found[1],))
    return Listed("set", signs, (found[0],)) if len(signs) > 1 else None


def _signs(values: tuple[str, ...]) -> tuple[str, ...]:
    """Both values of each that has a ±."""
    out = list[str]()
    for value in values:
        if ("±" in value or "∓" in value) and value.count("±") + value.count("∓") <= 3:
            out += [value.translate({0xB1: "+", 0x2213: "-"}), value.translate({0xB1: "-", 0x2213: "+"})]
        else:
            out.append(value)
    return tuple(value[1:].strip() if value[:1] == "+" else value for value in out)


def same_list(given: Listed | None, gold: Listed | None, match: Match, same: Same) -> bool | None:
    """Are two lists the same? None where a comparison of lists does not decide: one is no list, or the kinds are not comparable."""
    if given is None or gold is None:
        return None
    kinds = {given.kind, gold.kind}
    if "square" in kinds and len(kinds) > 1 and (len(gold.values) < 3 or "set" in kinds):
        return False
    if "set" in kinds and kinds & {"tuple", "square"}:
        return False
    records = [len(each.names) == len(each.values) > 1 for each in (given, gold)]
    if ("set" in kinds and any(records)) or len(given.values) != len(gold.values):
        return False
    if not gold.values:
        return True
    plain = Match(tolerance=match.tolerance)
    if all(records):
        order = [given.names.index(name) if name in given.names else -1 for name in gold.names]
        return -1 not in order and all(
            same(given.values[at], value, plain) for at, value in zip(order, gold.values, strict=True)
        )
    if kinds == {"set"} and given.names and gold.names and given.names != gold.names:
        return False
    any_order = "set" in kinds or kinds == {"joined"} or not match.ordered
    if not any_order:
        return all(same(one, other, plain) for one, other in zip(given.values, gold.values, strict=True))
    return assigns(given.values, gold.values, lambda one, other: same(one, other, plain))


def assigns(given: Sequence[str], gold: Sequence[str], fits: Callable[[str, str], bool]) -> bool:
    """Can every value be given a partner of its own?"""
    from scipy.optimize import linear_sum_assignment

    table = [[fits(one, other) for other in gold] for one in given]
    rows, columns = linear_sum_assignment(table, maximize=True)
    return all(table[row][column] for row, column in zip(rows, columns, strict=True))
