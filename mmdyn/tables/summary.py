"""The tables that a report is made of unless others are asked for, and how pages read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mmdyn.table import (
    AnswerKeys,
    Auc,
    Contrasts,
    Corrected,
    ErrorKinds,
    Judged,
    MeaningJudges,
    Part,
    Position,
    Repeats,
    Scores,
    Strengths,
)
from mmdyn.tables.contexts import LEAK
from mmdyn.tables.labels import is_main, is_pooled, who_of
from mmdyn.tables.pairing import RAW, READ
from mmdyn.tables.results import Report
from mmdyn.tables.rows import Row, TablePart
from mmdyn.tables.tabulation import tabulate
from mmdyn.work import ProgressBar, RunFolder


def summary_parts(
    by: Sequence[str] = (),
    *,
    repeats: Sequence[int] | None = None,
    auc: bool = False,
    correct: str = "",
    labels: str | Path | None = None,
) -> list[Part]:
    """The declarations of a report; those with nothing to tell are left out of it."""
    return [
        Scores(),
        *(Scores(by=name) for name in by),
        Contrasts(),
        *(Contrasts(by=name) for name in by),
        *([] if LEAK in by else [Contrasts(by=LEAK, factors=("context",))]),
        *([Corrected(method=correct, labels=str(labels or ""))] if correct else []),
        *([] if repeats is None else [Repeats(k=tuple(repeats))]),
        *([Auc()] if auc else []),
        Judged(),
        ErrorKinds(by=tuple(by), silent=True),
        Position(),
        AnswerKeys(),
        Strengths(),
        MeaningJudges(),
    ]


def report(
    *runs: str | Path | RunFolder,
    by: Sequence[str] = (),
    repeats: Sequence[int] | None = None,
    auc: bool = False,
    correct: str = "",
    labels: str | Path | None = None,
    progress: ProgressBar | None = None,
) -> Report:
    """Summarise run folders: scores with intervals, and contrasts with adjusted p-values.

    Args:
        runs: the folders that `mmdyn eval` made.
        by: fields, or what lay beside the questions (contexts.py), to break scores and contrasts down by.
        repeats: add what k tries at a question are worth; empty for 1 and all.
        auc: add how well weighed options tell right from wrong.
        correct: add scores that are corrected for the scorer's errors, by `rogan-gladen` or `ppi++`.
        labels: the file of people's marks that `ppi++` takes.
        progress: counts the records as they are read.

    Raises:
        InputError: for a folder that is no run.
        UserError: for an unknown field, and where scores cannot be corrected so.
    """
    parts = summary_parts(by, repeats=repeats, auc=auc, correct=correct, labels=labels)
    return tabulate(runs, parts, progress=progress)


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
        factors = change.factors
        who = who_of(factors)
        if factors["factor"] == "variant" and change.is_main and (who not in found or is_pooled(factors)):
            found[who] = change
    return list(found.values())


def _together(parts: Sequence[TablePart], kind: str, by: str) -> list[dict[str, Row]]:
    """The rows of a kind of table that have the same factors, by quantity; of the table by a field, or of the whole."""
    found = dict[tuple[str, ...], dict[str, Row]]()
    for part in parts:
        for row in part.rows if part.kind == kind and part.by == by else ():
            found.setdefault(tuple(row.factors.items()), {})[row.quantity] = row  # type: ignore[arg-type]
    return list(found.values())
