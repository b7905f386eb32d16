"""Matrices and columns, entry by entry; a column or a row is the tuple of its entries."""

from __future__ import annotations

import re
from collections.abc import Callable

from mmdyn.scoring.equal.lists import Listed

_MATRIX = re.compile(
    r"(?P<open>[\[(|]?)\s*\\begin\s?\{(?P<kind>[pbBvV]?(?:small)?matrix|array)\}\s*(?:\{[clr|\s]*\})?(?P<body>.*)\\end\s?\{(?P=kind)\}\s*[\])|]?",
    re.DOTALL,
)
_ROWS = re.compile(r"\\\\(?:\s*\[[^\[\]]*\])?|\\cr\b")
_MOST = 100

Matrix = tuple[str, tuple[tuple[str, ...], ...]]


def read_matrix(text: str) -> Matrix | None:
    """`det` for one between bars, else `matrix`; and the entries by row. None where the text is none as a whole."""
    found = _MATRIX.fullmatch(text.strip())
    if not found or "\\begin" in found["body"]:
        return None
    rows = tuple(tuple(cell.strip() for cell in row.split("&")) for row in _ROWS.split(found["body"]) if row.strip())
    if not rows or len({len(row) for row in rows}) != 1 or len(rows) * len(rows[0]) > _MOST:
        return None
    bars = found["kind"][0] in "vV" or found["open"] == "|"
    return "det" if bars else "matrix", rows


def as_tuple(matrix: Matrix | None) -> Listed | None:
    """A column or a row as a tuple."""
    if matrix is None or matrix[0] == "det" or 1 not in (len(matrix[1]), len(matrix[1][0])):
        return None
    cells = tuple(cell for row in matrix[1] for cell in row)
    return Listed("tuple", cells) if len(cells) > 1 else None


def same_matrix(given: Matrix | None, gold: Matrix | None, same: Callable[[str, str], bool]) -> bool | None:
    """Are two matrices the same? None unless both are ones."""
    if given is None or gold is None:
        return None
    if given[0] != gold[0] or len(given[1]) != len(gold[1]) or len(given[1][0]) != len(gold[1][0]):
        return False
    pairs = [
        (one, other)
        for row, meant in zip(given[1], gold[1], strict=True)
        for one, other in zip(row, meant, strict=True)
    ]
    return all(same(one, other) for one, other in pairs)
