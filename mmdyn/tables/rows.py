"""The rows that every table is made of, whatever it shows: all formats, pages and plots show the same ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

from mmdyn.record import Scale

TOTAL, MACRO = "all", "mean"
"""The value of a factor over which a row is total, and over whose values' means it is a mean."""

Interval: TypeAlias = tuple[float, float]
"""The ends of a 95 % interval."""

WAITING = "some answers wait for a judge: intervals and p hold whatever it will say"
AS_RULES = "some answers wait for a judge, and count here as the rules have them"
UNTESTED = "some answers wait for a judge, so that nothing is tested"
"""What a number is noted with some of whose answers need a judge and had none."""


class Row(Struct, frozen=True, kw_only=True):
    """One number. Shares are in [0, 1], their differences in [-1, 1]; `unit` says what others are in.

    quantity: what `value` is: the measure, a side of a difference, `difference`, `slope`, … factors: of what records;
        TOTAL stands for all values of a factor, MACRO for the mean of its values' means. n: parents (pairs where it is
        of pairs). left_out: parents asked and not counted or paired; variants_left_out: variants that pairs
        lack, of these `not_applicable` ones, ones `rejected` by a judge and ones that rules found `doubtful`, with no
        model to judge them; the others failed, or were not asked.
    answers, unparsed, refused, truncated, failed, unscored, needs_judge: count records.
    p: of the test that a difference is 0, or that all are equal; p_adjusted: by Holm's method over its family. judged:
        where answers wait for a judge, between what the value lies once all are judged; interval and p hold whatever
        the verdicts. scale: what a difference of scores is of, `raw` ones, or ones `corrected` for chance.
    differs: what differs between its sides beside the factor. mark: `best` or `second` where that is told apart from
        the next. note: why there is no value, or what to know of it. paper: what the paper has there, for
        `paper_model`.
    """

    factors: dict[str, str]
    quantity: str
    unit: str
    value: float | None
    ci95: Interval | None = None
    n: int = 0
    left_out: int = 0
    variants_left_out: int = 0
    not_applicable: int = 0
    rejected: int = 0
    doubtful: int = 0
    answers: int = 0
    unparsed: int = 0
    refused: int = 0
    truncated: int = 0
    failed: int = 0
    unscored: int = 0
    needs_judge: int = 0
    p: float | None = None
    p_adjusted: float | None = None
    judged: Interval | None = None
    scale: Scale | Literal[""] = ""
    differs: tuple[str, ...] = ()
    mark: Literal["", "best", "second"] = ""
    method: str = ""
    note: str = ""
    paper: float | None = None
    paper_model: str = ""


class TablePart(Struct, frozen=True):
    """The rows of one declaration. kind: that of the declaration, in lower case; by: the field that its scores or
    contrasts are broken down by. across: the factor whose values stand
    side by side, in the order of `columns` as far as that is given; `quantity` where quantities do; empty where each
    row is a line."""

    kind: str
    title: str
    across: str
    rows: list[Row]
    notes: list[str]
    columns: list[str] = []
    by: str = ""


def rows_of(parts: Iterable[TablePart], kind: str, quantity: str = "") -> list[Row]:
    """The rows of all parts of a kind; of a quantity where one is named."""
    every = (row for part in parts if part.kind == kind for row in part.rows)
    return [row for row in every if quantity in ("", row.quantity)]


def p_digits(p: float) -> float:
    """A p-value as reports have it: six digits that count."""
    return float(f"{p:.6g}")
