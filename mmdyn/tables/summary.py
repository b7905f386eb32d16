"""The summary of runs that other programs read: `mmdyn report RUN --json` prints it, a table and a CSV file show it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import UNSET, Struct, UnsetType
from numpy.typing import NDArray

from mmdyn.record import Contrast
from mmdyn.tables.auc import AucRow, find_auc
from mmdyn.tables.bounds import Bound, Interval, bound_of, interval_of
from mmdyn.tables.cascades import Cascades, find_cascades
from mmdyn.tables.collect import collect
from mmdyn.tables.context_columns import ORDER, fields_of
from mmdyn.tables.contrasts import compare
from mmdyn.tables.correction import CorrectionRow, find_corrections
from mmdyn.tables.error_kinds import ErrorRow, find_errors
from mmdyn.tables.flips import Flip, find_flips
from mmdyn.tables.judges import JudgeRow, find_judges
from mmdyn.tables.repeats import RepeatsRow, find_repeats
from mmdyn.tables.results import Failure, Field, Key, RunState, Scores, Table, by_value
from mmdyn.tables.statistics import mean_score
from mmdyn.work import ProgressBar, RunFolder


class Mean(Struct, frozen=True):
    """A score over n parents, in [0, 1]; None where there is none, and `note` says why. `failed`, `unscored` and
    `needs_judge` count records.

    bound: `lower` where the score is one.
    """

    n: int
    score: float | None
    ci95: Interval | None
    failed: int
    unscored: int
    needs_judge: int
    bound: Bound
    method: str
    note: str


class ConditionRow(Struct, frozen=True):
    """A condition of a model on a set. `ok`, `unparsed`, `refused`, `failed`, `unscored` and `needs_judge` (and had
    none) count records, n counts parents.

    bound: `lower` where the score is one, as open answers, or blanks in words, had no judge. truncated: records whose
        answer was cut off, as the finish reason says, whatever it scores.
    """

    run: str
    model: str
    set: str
    factors: dict[str, str]
    n: int
    score: float | None
    ci95: Interval | None
    ok: int
    unparsed: int
    refused: int
    truncated: int
    failed: int
    unscored: int
    needs_judge: int
    bound: Bound
    method: str
    note: str
    by: dict[str, dict[str, Mean]]


class Summary(Struct, frozen=True):
    """Everything a report says, rounded to six digits. `complete` is False where records are missing or not scored yet.

    `judges` say of each dynamic set who judged it and how well that judge is known to tell changed questions from kept
    ones. `failures` are the first of the failed records, with their reasons; `runs` count them all. `flips`,
    `corrections`, `repeats` and `auc` are there on request, `cascades` where judges scored, `errors` where one has
    labelled wrong answers.
    """

    schema: int
    complete: bool
    runs: list[RunState]
    conditions: list[ConditionRow]
    contrasts: list[Contrast]
    judges: list[JudgeRow]
    failures: list[Failure]
    flips: list[Flip] | UnsetType = UNSET
    corrections: list[CorrectionRow] | UnsetType = UNSET
    repeats: list[RepeatsRow] | UnsetType = UNSET
    auc: list[AucRow] | UnsetType = UNSET
    cascades: Cascades | UnsetType = UNSET
    errors: list[ErrorRow] | UnsetType = UNSET

    @property
    def failed(self) -> int:
        """How many records failed, in all runs."""
        return sum(run.failed for run in self.runs)

    def to_json(self) -> bytes:
        """The summary as JSON text; equal runs give equal bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


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

    `by` names fields, or what lay beside the questions (context_columns.py), to break them down by; `flips` adds the
    samples that went from right to wrong and back; `correct` adds scores that are corrected for the scorer's errors, by
    `rogan-gladen`, or by `ppi` or `ppi++` and people's marks in `labels`; `repeats` adds what k tries at a question are
    worth (empty: 1 and all); `auc` how well weighed options tell right from wrong. Raises InputError for a folder that
    is no run, UserError for an unknown field, and where scores cannot be corrected so.
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
    """The same for opened runs; `progress` counts the records as they are read."""
    table = collect(runs, by, progress)
    return Summary(
        schema=1,
        complete=all(state.complete for state in table.states),
        runs=table.states,
        conditions=[_row(table, key, scores) for key, scores in table.scores.items()],
        contrasts=compare(table),
        judges=find_judges(table.runs),
        failures=table.failures,
        flips=find_flips(table) if flips else UNSET,
        corrections=find_corrections(table, correct, labels) if correct else UNSET,
        repeats=UNSET if repeats is None else find_repeats(table, repeats),
        auc=find_auc(table) if auc else UNSET,
        cascades=find_cascades(table) if any(run.config.judged for run in runs) else UNSET,
        errors=find_errors(table.runs, by) or UNSET,
    )


def _row(table: Table, key: Key, scores: Scores) -> ConditionRow:
    mean = _mean(table, scores, np.ones(len(table.names), np.bool_))
    return ConditionRow(
        run=key.run,
        model=key.model,
        set=key.set,
        factors={**key.factors, "language": "+".join(sorted(scores.languages))},
        ok=scores.statuses["ok"],
        unparsed=scores.statuses["unparsed"],
        refused=scores.statuses["refused"],
        truncated=scores.truncated,
        **msgspec.structs.asdict(mean),
        by={name: _cells(table, scores, name, field) for name, field in fields_of(table, key).items()},
    )


def _cells(table: Table, scores: Scores, name: str, field: Field) -> dict[str, Mean]:
    values, codes = field
    there = set(codes[scores.asked].tolist())
    return {
        values[code]: _mean(table, scores, codes == code)
        for code in by_value(values, ORDER.get(name, ()))
        if code in there
    }


def _mean(table: Table, scores: Scores, keep: NDArray[np.bool_]) -> Mean:
    """The score of some parents; `keep` says so for every parent."""
    part = keep[scores.parents]
    named = {name: getattr(scores, name) for name in ("failed", "unscored", "needs_judge", "bounded")}
    counts = {name: int(keep[parents].sum()) for name, parents in named.items()}
    lower = counts.pop("bounded") > 0
    parents = scores.parents[part]
    if not len(parents):
        return Mean(0, None, None, **counts, bound="", method="", note="no parent has an answer that is scored")
    found = mean_score(scores.values[part], scores.weights[part], table.clusters[parents])
    ends, score = interval_of(found, lower=lower), round(found.value, 6)
    return Mean(len(parents), score, ends, **counts, bound=bound_of(lower), method=found.method, note="")
