"""Conditions and changes of a report as pages tell them: the rows of one condition, or of one contrast, together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mmdyn.tables.labels import is_change, is_main, is_pooled, who_of
from mmdyn.tables.pairing import RAW, READ
from mmdyn.tables.rows import Row, TablePart


class Scored(NamedTuple):
    """A condition as pages tell it: its score, what guessing earns there, the score corrected for that, and the share
    that was not read; None where there is no such number."""

    factors: Mapping[str, str]
    score: Row
    chance: Row | None
    corrected: Row | None
    unread: Row | None


class Change(NamedTuple):
    """A contrast as pages tell it: both sides, b - a, and that of raw scores where it is of corrected ones; a and b are
    None where no question has both. unread: the shares of the answers that were refused or not read; read: b - a over
    those that were read on both sides, where any was not."""

    factors: Mapping[str, str]
    a: Row | None
    b: Row | None
    difference: Row
    raw: Row | None
    unread: tuple[float, float] = (0.0, 0.0)
    read: Row | None = None

    @property
    def is_main(self) -> bool:
        """Whether it answers a main question: all else is as usual."""
        return is_main(self.factors)

    @property
    def value(self) -> float | None:
        """b - a; None where there is no such number."""
        return self.difference.value


def scores_of(parts: Sequence[TablePart], by: str = "") -> list[Scored]:
    """The scores of a report, in its order; by a field where one is named."""
    found = (rows for rows in _together(parts, "scores", by) if "score" in rows)
    names = ("score", "chance", "corrected", "unread")
    return [Scored(rows["score"].factors, rows["score"], *(rows.get(name) for name in names[1:])) for rows in found]


def changes_of(parts: Sequence[TablePart], by: str = "") -> list[Change]:
    """The contrasts of a report, in its order; by a field where one is named."""
    return [_change(rows) for rows in _together(parts, "contrasts", by) if "difference" in rows]


def _change(rows: Mapping[str, Row]) -> Change:
    difference, unread = rows["difference"], [rows.get("unread a"), rows.get("unread b")]
    shares = tuple((row.value or 0.0) if row else 0.0 for row in unread)
    sides = rows.get("a"), rows.get("b")
    return Change(difference.factors, *sides, difference, rows.get(RAW), (shares[0], shares[1]), rows.get(READ))


def main_changes(parts: Sequence[TablePart]) -> list[Change]:
    """The change from standard to dynamic of each model on each set, over all chains or over the one that there is,
    where all else is as usual."""
    found = dict[tuple[str, ...], Change]()
    for change in changes_of(parts):
        who = who_of(change.factors)
        if is_change(change.factors) and (who not in found or is_pooled(change.factors)):
            found[who] = change
    return list(found.values())


def _together(parts: Sequence[TablePart], kind: str, by: str) -> list[dict[str, Row]]:
    """The rows of a kind of table that have the same factors, by quantity; of the table by a field, or of the whole."""
    found = dict[tuple[str, ...], dict[str, Row]]()
    for part in parts:
        for row in part.rows if part.kind == kind and part.by == by else ():
            found.setdefault(tuple(row.factors.items()), {})[row.quantity] = row  # type: ignore[arg-type]
    return list(found.values())
