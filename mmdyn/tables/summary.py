"""The tables that a report is made of unless others are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mmdyn.table import (
    AnswerKeys,
    Auc,
    Contrasts,
    Corrected,
    ErrorKinds,
    Judged,
    MeaningJudges,
    Metrics,
    Part,
    Position,
    Repeats,
    Scores,
    Strengths,
)
from mmdyn.tables.contexts import LEAK
from mmdyn.tables.results import Report
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
        Metrics(),
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
