"""Are two short answers the same? By spelling, by value and by structure; docs/scoring.md says what is equal."""

from __future__ import annotations

import re
from functools import partial

from mmdyn.sample import Match
from mmdyn.scoring.equal.algebra import same_algebra
from mmdyn.scoring.equal.chemistry import same_reaction, same_species
from mmdyn.scoring.equal.dates import same_moment
from mmdyn.scoring.equal.formulas import same_formula
from mmdyn.scoring.equal.intervals import read_region, same_region
from mmdyn.scoring.equal.lists import AND, OR, assigned, bracketed, joined, listed, parts_inside, same_list
from mmdyn.scoring.equal.matrices import as_tuple, read_matrix, same_matrix
from mmdyn.scoring.equal.numbers import PLAIN, decimal_comma, read_quantity, same_number
from mmdyn.scoring.equal.relations import same_chain, same_relation, solves
from mmdyn.text.fold import fold
from mmdyn.text.maths import SET_OPEN, outside, spelled

__all__ = ["LONGEST", "PLAIN", "match_blanks", "same", "same_number"]

LONGEST = 2_000
"""Answers longer than this many characters are compared as they are, not read as formulas or numbers."""

_LONGEST_STRUCTURE, _DEEPEST = 600, 4
_CIRCLED = re.compile(r"[\u2460-\u2473]")
_COMMAS = re.compile(r"[\s,;、，；和与]")
_MATHS = re.compile(r"[和\d+*/!=<>≤≥≠^√π∞∈∪∅±|⦃\\,;、" + AND + OR + r"(\[]|\b[A-Za-z]-[A-Za-z]\b|空集")
_EMPTY = frozenset(("∅", "⦃⦄", "空集", "emptyset", "empty set"))


def same(given: str, gold: str, match: Match = PLAIN) -> bool:
    """Is `given` the answer `gold`?

    Equal are: texts that `mmdyn.text.fold.fold` makes equal; numbers of one value, in units of one dimension (`match.tolerance`
    is relative to gold's; without one an exact gold wants the exact number; a gold printed with decimals, three significant
    digits or two decimals of which both count, also takes what rounds to it; one without finite decimals, such as 1/3 or √2,
    what it rounds to); formulas of one value; `x = 4` and `4`; lists part by part; regions, equations, reactions and dates that
    say the same. A part of a reply never counts for the whole, and several circled numbers (①③) are never one number (13).
    Thread-safe; symbolic maths that needs more than arithmetic runs in other processes for a second at most.
    """
    return _same(given, gold, match, 0)


def _same(given: str, gold: str, match: Match, depth: int) -> bool:
    """`same` for answers at depth 0, and for parts of them, which are spelled and joined already."""
    if len(given) > LONGEST or len(gold) > LONGEST:
        return given.strip() == gold.strip()
    if _several_circled(given) or _several_circled(gold):
        return _same_circled(given, gold, match)
    moments = same_moment(given, gold)
    if moments is not None:
        return moments
    numbers = read_quantity(given), read_quantity(gold)
    if numbers[0] and numbers[1]:
        return same_number(numbers[0], numbers[1], match)
    left, right = fold(given), fold(gold)
    if not left or not right:
        return False
    if left == right or decimal_comma(left, right):
        return True
    if depth > _DEEPEST or max(len(given), len(gold)) > _LONGEST_STRUCTURE:
        return False
    return _same_meaning(given, gold, match, depth)


def _several_circled(text: str) -> bool:
    return len(_CIRCLED.findall(text)) > 1


def _same_circled(given: str, gold: str, match: Match) -> bool:
    one, other = (_COMMAS.sub("", fold(_CIRCLED.sub(_angled, text))) for text in (given, gold))
    return one == other or (not match.ordered and sorted(one.split("<")) == sorted(other.split("<")))


def _angled(found: re.Match[str]) -> str:
    return f"<{ord(found[0]) - 0x245F}>"


def _same_meaning(given: str, gold: str, match: Match, depth: int) -> bool:
    """Formulas and what is made of them: the first reading that both sides have decides."""
    reactions = same_reaction(given, gold)
    if reactions is None:
        reactions = same_species(given, gold)
    if reactions is not None:
        return reactions
    left, right = (unwrapped(text if depth else joined(spelled(text))) for text in (given, gold))
    if left == right:
        return bool(left)
    if not (_MATHS.search(left) or _MATHS.search(right)) or not left or not right:
        return False
    if left in _EMPTY or right in _EMPTY:
        return left in _EMPTY and right in _EMPTY
    inner = partial(_same, depth=depth + 1)
    if "≈" in left or "≈" in right:
        return _about(left, right, match, depth)
    structure = _same_structure(left, right, match, depth)
    if structure is not None:
        return structure
    named = _same_named(left, right, match, depth)
    if named is not None:
        return named
    for decides in (
        same_relation(left, right),
        same_chain(left, right, lambda one, other: inner(one, other, PLAIN)),
        same_formula(left, right, match),
    ):
        if decides is not None:
            return decides
    return same_algebra(left, right)


def unwrapped(text: str) -> str:
    """Without brackets around the whole of one value: (x + 1), not (1, 2)."""
    inside = bracketed(text)
    while inside and inside[0] == "(" and inside[1] and len(parts_inside(inside[1])) == 1:
        text = inside[1]
        inside = bracketed(text)
    return text.removeprefix("+").lstrip() if text[1:2] in ("∞", "\\") else text


def _about(left: str, right: str, match: Match, depth: int) -> bool:
    """1/3 ≈ 0.33 is either of them; x ≈ 11 is x = 11."""
    if "≈" in left and "≈" in right:
        return False
    about, other = (left, right) if "≈" in left else (right, left)
    parts = outside(about, "≈")
    if len(parts) != 2 or not all(parts):
        return False
    named = assigned("=".join(parts))
    readings = [named[1]] if named and named[0] and "=" not in parts[0] else parts
    return any(_same(*((part, other) if about is left else (other, part)), match, depth + 1) for part in readings)


def _same_structure(left: str, right: str, match: Match, depth: int) -> bool | None:
    """Matrices, regions and lists."""

    def inner(one: str, other: str, plain: Match = PLAIN) -> bool:
        return _same(one, other, plain, depth + 1)

    matrices = read_matrix(left), read_matrix(right)
    found = same_matrix(*matrices, inner)
    if found is not None:
        return found
    regions = [read_region(text) for text in (left, right)]
    if left == "R" or right == "R":
        regions = [
            region or (read_region("ℝ") if text == "R" else None)
            for region, text in zip(regions, (left, right), strict=True)
        ]
    found = same_region(regions[0], regions[1], inner)
    if found is not None:
        return found
    if not match.ordered:
        left, right = left.replace("和", AND), right.replace("和", AND)
    lists = [as_tuple(matrix) or listed(text) for matrix, text in zip(matrices, (left, right), strict=True)]
    for text, values in ((left, lists[1]), (right, lists[0])):
        if "|" in text and values and values.kind == "set" and (roots := solves(text, values.values)) is not None:
            return roots
    return same_list(lists[0], lists[1], match, inner)


def _same_named(left: str, right: str, match: Match, depth: int) -> bool | None:
    """`x = 4` and `4`, whichever side names the symbol; `2 + 2 = 4` and `4`; two names must be the same name."""
    says, meant = assigned(left), assigned(right)
    if says and meant:
        if says[0] != meant[0] and says[0] and meant[0]:
            return None  # y = x and x = y
        return _same(says[1], meant[1], match, depth + 1)
    if not (says or meant) or (not says and "=" in left) or (not meant and "=" in right):
        return None
    if _several(left if says else right):
        return None
    return _same(says[1] if says else left, meant[1] if meant else right, match, depth + 1)


def _several(text: str) -> bool:
    return len(outside(text, f",;{AND}{OR}")) > 1 and SET_OPEN not in text


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
