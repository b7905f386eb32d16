"""The rows that every table is made of, whatever it shows: terminal, JSON, CSV, Markdown and LaTeX show the same
ones."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from mmdyn.tables.results import Bound, Interval

TOTAL, MACRO = "all", "mean"
"""The value of a factor over which a row is total, and over whose values' means it is a mean."""

ERRORS = "errorkinds"
"""The kind of rows that are of wrong answers."""


class Row(Struct, frozen=True, kw_only=True):
    """One number. Shares are in [0, 1], their differences in [-1, 1]; `unit` says what others are in.

    quantity: what `value` is: the measure, a side of a difference, `difference`, `slope`, … factors: of what records;
        TOTAL stands for all values of a factor, MACRO for the mean of its values' means. n: parents (pairs where it is
        of pairs). left_out: parents asked and not paired. failed, unscored, needs_judge: count records. p: of the test
        that a difference is 0, or that all are equal; p_adjusted: by Holm's method over its part of the table. mark:
        `best` or `second` where that is told apart from the next. note: why there is no value, or what to know of it.
        paper: what the paper has there, for `paper_model`.
    """

    part: int
    kind: str
    factors: dict[str, str]
    quantity: str
    unit: str
    value: float | None
    ci95: Interval | None = None
    n: int = 0
    left_out: int = 0
    failed: int = 0
    unscored: int = 0
    needs_judge: int = 0
    p: float | None = None
    p_adjusted: float | None = None
    bound: Bound = ""
    mark: Literal["", "best", "second"] = ""
    method: str = ""
    note: str = ""
    paper: float | None = None
    paper_model: str = ""


class TablePart(Struct, frozen=True):
    """The rows of one declaration. across: the factor whose values stand side by side, in the order of `columns` as far
    as that is given; `quantity` where quantities do."""

    title: str
    across: str
    rows: list[Row]
    notes: list[str]
    columns: list[str] = []


class TableRows(Struct, frozen=True):
    """The rows of several declarations. `complete` is False where records are missing or not scored; `failed` counts
    failed records."""

    title: str
    complete: bool
    failed: int
    parts: list[TablePart]

    def to_json(self) -> bytes:
        """The rows as JSON text; equal runs give equal bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"
