"""The summary of runs that other programs read: `mmdyn report RUN --json` prints it, a table and a CSV file show it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from mmdyn.frame import Frame, Framed
from mmdyn.stats import mean_score
from mmdyn.tables.auc import find_auc
from mmdyn.tables.breakdown import cells_of
from mmdyn.tables.brief import brief_lines
from mmdyn.tables.cascades import find_cascades
from mmdyn.tables.charts import pick_chart, summary_charts
from mmdyn.tables.collect import collect
from mmdyn.tables.contexts import fields_of
from mmdyn.tables.contrasts import compare
from mmdyn.tables.correction import find_corrections
from mmdyn.tables.flips import find_flips
from mmdyn.tables.meaning_judges import find_judges
from mmdyn.tables.plot import Plot, draw_chart
from mmdyn.tables.repeats import find_repeats
from mmdyn.tables.results import Key, Scores, Table, score_of
from mmdyn.tables.scale import UNKNOWN
from mmdyn.tables.strengths import find_strengths
from mmdyn.tables.summary_csv import KINDS, csv_rows
from mmdyn.tables.summary_html import summary_html
from mmdyn.tables.summary_rows import ConditionRow, ScoreCell, SummaryRows
from mmdyn.tables.wrong_answers import find_errors
from mmdyn.work import ProgressBar, RunFolder

_UNKNOWN: dict[str, Any] = dict.fromkeys(("chance", "corrected", "corrected_ci95", "unread")) | {"uncorrected": 0}
"""What a ScoreCell says of chance where there is no score."""


class Summary(SummaryRows, Framed, frozen=True):
    """A report: its rows, also as a data frame, as plots, and as what a notebook shows."""

    def frame(self) -> Frame:
        """A row for each score and each contrast, as the CSV file has them."""
        return Frame(KINDS, csv_rows(self))

    def plot(self, name: str = "", *, columns: int = 1) -> Plot:
        """A plot by its name (`drop`, `scores`, `flips`, `by FIELD`), as wide as one or two `columns` of a page;
        without a name the first that there is. Raises UserError where there is no such plot, and MissingExtra."""
        return draw_chart(pick_chart(summary_charts(self), name), columns)

    def __repr__(self) -> str:
        return "\n".join(brief_lines(self))

    def _repr_html_(self) -> str:
        return summary_html(self)


def report(
    *runs: str | Path | RunFolder,
    by: Sequence[str] = (),
    flips: bool = False,
    correct: str = "",
    labels: str | Path | None = None,
    repeats: Sequence[int] | None = None,
    auc: bool = False,
) -> Summary:
    """Summarise run folders: scores with intervals, and contrasts with adjusted p-values.

    Args:
        runs: the folders that `mmdyn eval` made.
        by: fields, or what lay beside the questions (contexts.py), to break scores and contrasts down by.
        flips: add the samples that went from right to wrong and back.
        correct: add scores that are corrected for the scorer's errors, by `rogan-gladen` or `ppi++`.
        labels: the file of people's marks that `ppi++` takes.
        repeats: add what k tries at a question are worth; empty for 1 and all.
        auc: add how well weighed options tell right from wrong.

    Returns:
        The summary, which `print_summary` and `write_csv` show.

    Raises:
        InputError: for a folder that is no run.
        UserError: for an unknown field, and where scores cannot be corrected so.
    """
    folders = [run if isinstance(run, RunFolder) else RunFolder(run) for run in runs]
    return summarise(folders, by=by, flips=flips, correct=correct, labels=labels, repeats=repeats, auc=auc)


def summarise(
    runs: Sequence[RunFolder],
    *,
    by: Sequence[str] = (),
    flips: bool = False,
    correct: str = "",
    labels: str | Path | None = None,
    repeats: Sequence[int] | None = None,
    auc: bool = False,
    progress: ProgressBar | None = None,
) -> Summary:
    """The same as `report` for opened runs; `progress` counts the records as they are read."""
    more: dict[str, Any] = {"flips": flips, "correct": correct, "labels": labels, "repeats": repeats, "auc": auc}
    return summarise_table(collect(runs, by, progress), by=by, **more)


def summarise_table(
    table: Table,
    *,
    by: Sequence[str] = (),
    flips: bool = False,
    correct: str = "",
    labels: str | Path | None = None,
    repeats: Sequence[int] | None = None,
    auc: bool = False,
) -> Summary:
    """The same of records that were read already, broken down by the same names."""
    return Summary(
        schema=1,
        complete=all(state.complete for state in table.states),
        runs=table.states,
        conditions=[_row(table, key, scores) for key, scores in table.scores.items()],
        contrasts=compare(table),
        strengths=find_strengths(table.runs),
        judges=find_judges(table.runs),
        failures=table.failures,
        flips=find_flips(table) if flips else UNSET,
        corrections=find_corrections(table, correct, labels) if correct else UNSET,
        repeats=UNSET if repeats is None else find_repeats(table, repeats),
        auc=find_auc(table) if auc else UNSET,
        cascades=find_cascades(table) if any(run.config.judged for run in table.runs.values()) else UNSET,
        errors=find_errors(table.runs, by) or UNSET,
    )


def _row(table: Table, key: Key, scores: Scores) -> ConditionRow:
    fields = fields_of(table, key)
    by: dict[str, dict[str, ScoreCell]] = {name: {} for name in fields}
    for name, value, keep in cells_of(fields, scores.asked):
        by[name][value] = _cell(table, scores, keep)
    whole = _cell(table, scores, np.ones(len(table.names), np.bool_))
    run, model, set, factors = key.place
    counts = {name: scores.counts[name] for name in ("ok", "unparsed", "refused", "truncated")}
    numbers: dict[str, Any] = msgspec.structs.asdict(whole) | counts
    factors |= {"language": "+".join(sorted(scores.languages))}
    return ConditionRow(run, model, set, factors, **numbers, by=by)


def _cell(table: Table, scores: Scores, keep: NDArray[np.bool_]) -> ScoreCell:
    """The score of some parents; `keep` says so for every parent."""
    part = keep[scores.parents]
    counts = {name: int(keep[parents].sum()) for name, parents in scores.records.items()}
    lower = counts.pop("bounded") > 0
    parents = scores.parents[part]
    if not len(parents):
        note = "no parent has an answer that is scored"
        return ScoreCell(0, None, None, **_UNKNOWN | counts, bound="", method="", note=note)
    found = mean_score(scores.values[part], scores.weights[part], table.clusters[parents])
    score, ends, bound = score_of(found, lower=lower)
    corrected, method = _corrected(table, scores, part, lower=lower)
    methods, note = "; ".join(filter(None, (found.method, method))), UNKNOWN if corrected["chance"] is None else ""
    return ScoreCell(len(parents), score, ends, **corrected | counts, bound=bound, method=methods, note=note)


def _corrected(table: Table, scores: Scores, part: NDArray[np.bool_], *, lower: bool) -> tuple[dict[str, Any], str]:
    """What guessing earns some parents and their score corrected for it, by a ScoreCell's names, and the method of its
    interval where that is another one."""
    means = (np.average(column[part], weights=scores.weights[part]) for column in (scores.chance, scores.unread))
    chance, unread = (round(float(mean), 6) for mean in means)
    found = _UNKNOWN | {"unread": unread}
    if np.isnan(chance):
        return found, ""
    told = part & ~np.isnan(scores.corrected)
    found |= {"chance": chance, "uncorrected": int(part.sum() - told.sum())}
    if not told.any():
        return found, ""
    least, clusters = float(scores.least[told].min()), table.clusters[scores.parents[told]]
    beyond = mean_score(scores.corrected[told], scores.weights[told], clusters, least)
    score, ends, _ = score_of(beyond, lower=lower)
    method = f"corrected for chance: {beyond.method}, of scores mapped onto 0 to 1" if least else ""
    return found | {"corrected": score, "corrected_ci95": ends}, method
