"""Markdown tables in a response: their rows, and the cells of a column that holds answers."""

from __future__ import annotations

import re

from msgspec import Struct

from mmdyn.scoring.reading.response import Response

Cell = tuple[int, int]
"""Where the text of a cell begins and ends."""

ANSWER_HEAD = re.compile(
    r"(?:the\s|my\s)?(?:final\s|correct\s|right\s)?(?:answers?|ans\.?)|(?:最终|正确|参考)?答案", re.IGNORECASE
)
_MOST = 50
_RULE = re.compile(r"^[ \t]*(?:\|[ \t]*)?(?::?-+:?[ \t]*\|[ \t]*)+(?::?-+:?[ \t]*)?$", re.MULTILINE)


class Table(Struct, frozen=True):
    """A header and the rows below its rule, as cells; every row has as many as the header. `start` is the header's."""

    start: int
    end: int
    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def column(self, response: Response, head: re.Pattern[str]) -> tuple[Cell, ...]:
        """The cells below the last header that a pattern fits as a whole; none where no header does."""
        fits = [at for at, cell in enumerate(self.header) if head.fullmatch(response.flat[slice(*cell)].strip())]
        return tuple(row[fits[-1]] for row in self.rows) if fits else ()


def tables_of(response: Response) -> list[Table]:
    """The tables of a response, in order (the first 50)."""
    flat = response.flat
    if "|" not in flat or "-" not in flat:
        return []
    found, at = list[Table](), 0
    while len(found) < _MOST and (rule := _RULE.search(flat, at)):
        start = flat.rfind("\n", 0, max(0, rule.start() - 1)) + 1
        header = _cells(flat, start, max(start, rule.start() - 1))
        rows, at = _rows(flat, rule.end() + 1, len(header))
        if len(header) > 1 and rows:
            found.append(Table(start, rule.end(), header, rows))
    return found


def _rows(flat: str, at: int, wanted: int) -> tuple[tuple[tuple[Cell, ...], ...], int]:
    """The lines from a place on that have so many cells, and where the first one begins that has not."""
    rows = list[tuple[Cell, ...]]()
    while at < len(flat):
        line = flat.find("\n", at)
        end = line if line >= 0 else len(flat)
        row = _cells(flat, at, end)
        if len(row) != wanted:
            break
        rows.append(row)
        at = end + 1
    return tuple(rows), at


def _cells(flat: str, start: int, end: int) -> tuple[Cell, ...]:
    """The cells of a line; none where it is not parted by bars."""
    cells, at = list[Cell](), start
    for part in flat[start:end].split("|"):
        cells.append((at, at + len(part)))
        at += len(part) + 1
    if len(cells) < 2:
        return ()
    first, last = (0 if flat[slice(*cells[0])].strip() else 1), (None if flat[slice(*cells[-1])].strip() else -1)
    return tuple(cells[first:last])
