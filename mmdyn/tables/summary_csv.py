"""The summary as one CSV file: a row for each score and each contrast, whole and broken down."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from mmdyn.data import WEAKNESS
from mmdyn.errors import UserError
from mmdyn.record import Contrast
from mmdyn.tables.auc import AucRow
from mmdyn.tables.cascades import CascadeRow, Cascades
from mmdyn.tables.correction import CorrectionRow
from mmdyn.tables.meaning_judges import JudgeRow
from mmdyn.tables.measurements import named
from mmdyn.tables.repeats import RepeatsRow
from mmdyn.tables.results import FACTORS, OfCondition, pick
from mmdyn.tables.strengths import StrengthRow
from mmdyn.tables.summary_rows import ConditionRow, ScoreCell, SummaryRows
from mmdyn.tables.wrong_answers import ErrorRow, Part

Row = dict[str, object]

COLUMNS = (
    *("kind", "run", "model", "set", *FACTORS, "language", "factor", "a", "b", "by", "value"),
    *("n", "left_out", "variants_left_out", "ok", "unparsed", "refused", "truncated", "failed", "unscored"),
    *("needs_judge", "estimate", "bound", "low", "high", "p", "p_adjusted", "method", "note", "differs"),
    *("chance", "corrected", "corrected_low", "corrected_high", "uncorrected", "unread", "scale", "raw_delta"),
)
"""`kind` is `score`, `contrast`, `strength`, `meaning_judge`, `correction`, `error`, `cascade`, `repeats` or `auc`;
`estimate` is
the score in [0, 1] or the difference b - a in [-1, 1], between `low` and `high`; where `bound` is `lower` it is a lower
bound, and `high` is empty. `by` and `value` are empty for the whole. The median strength of a chain's n variants
has its measure under `by`. The judge of a dynamic set stands under `model`:
its first row counts under `n` the variants that it was asked about and under `left_out` those it rejected, each further
row has a share of n pairs, with its name under `by` and the labelled file under `value`. A corrected score has the
scorer under `by`, the labelled file under `value` and the number of marked answers under `n`. The share of a kind of
error, which stands under `factor`, counts under `n` the answers that were labelled, or needed no label. A score by
rules, by one judge or by both together has who gave it under `value` and the scorer under `factor`; `left_out` counts
what a judge was not asked about, `failed` what it gave no verdict on. Where answers wait for a verdict it has no
estimate, and `low` and `high` are the bounds that these leave. A figure of repeats stands under `factor`, and what is
repeated under `value`; an AUC has its task type there. The last columns are those of chance, as ConditionRow and
Contrast have them: of a score what it is `corrected` for chance, of a contrast the `scale` that its figures are on."""

KINDS: dict[str, type] = dict.fromkeys(COLUMNS, str)
KINDS |= dict.fromkeys((*COLUMNS[COLUMNS.index("n") : COLUMNS.index("estimate")], "uncorrected"), int)
KINDS |= dict.fromkeys(("estimate", "low", "high", "p", "p_adjusted", "chance", "corrected"), float)
KINDS |= dict.fromkeys(("corrected_low", "corrected_high", "unread", "raw_delta"), float)
"""The columns with what their cells are."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What makes a spreadsheet take a cell for a formula, or for two cells."""


def write_csv(summary: SummaryRows, file: str | Path) -> None:
    """Write a UTF-8 file. Texts that a spreadsheet would run as a formula get a leading apostrophe. Raises
    UserError."""
    try:
        with Path(file).open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, COLUMNS, restval="", lineterminator="\n")
            writer.writeheader()
            for row in csv_rows(summary):
                writer.writerow({name: safe_cell(cell) for name, cell in row.items()})
    except OSError as error:
        raise UserError(f"cannot write {file} ({error.strerror}): choose another file") from None


def csv_rows(summary: SummaryRows) -> Iterator[Row]:
    """The rows, by COLUMNS."""
    cascades = summary.cascades.rows if isinstance(summary.cascades, Cascades) else ()
    every = (map(_scores, summary.conditions), map(_contrast, summary.contrasts))
    sets = (map(_strength, summary.strengths), map(_judge, summary.judges))
    asked = (map(_correction, summary.corrections or ()), map(_errors, summary.errors or ()), map(_cascade, cascades))
    more = (map(_repeats, summary.repeats or ()), map(_auc, summary.auc or ()))
    for rows in chain(*every, *sets, *asked, *more):
        yield from rows


def _scores(row: ConditionRow) -> Iterator[Row]:
    counts = pick(row, "ok", "unparsed", "refused", "truncated")
    yield _of("score", row) | _score(row) | counts
    for name, values in row.by.items():
        for value, cell in values.items():
            yield _of("score", row) | {"by": name, "value": value} | _score(cell)


def _score(cell: ScoreCell | ConditionRow) -> Row:
    counts = pick(cell, "n", "failed", "unscored", "needs_judge", "bound", "method", "note", "uncorrected", "unread")
    low, high = cell.corrected_ci95 or ("", "")
    beyond = pick(cell, "chance", "corrected") | {"corrected_low": low, "corrected_high": high}
    return counts | _estimate(cell.score, cell.ci95) | beyond


def _contrast(row: Contrast) -> Iterator[Row]:
    held = {name: value for name, value in row.held.items() if name in COLUMNS}
    names = {"kind": "contrast", **held, **pick(row, "model", "set", "factor", "a", "b")}
    names |= {"differs": ", ".join(row.differs)}
    counts = ("n", "left_out", "variants_left_out", "failed", "needs_judge")
    numbers = (*counts, "p", "p_adjusted", "method", "note", "scale", "raw_delta")
    yield names | pick(row, *numbers) | _estimate(row.delta, row.ci95)
    for name, values in row.by.items():
        for value, cell in values.items():
            part = {number: cell[number] for number in numbers} | _estimate(cell["delta"], cell["ci95"])
            yield names | {"by": name, "value": value} | part


def _strength(row: StrengthRow) -> Iterator[Row]:
    names: Row = {"kind": "strength", "variant": "dynamic", **pick(row, "run", "set", "chain", "n"), "method": "median"}
    for name, measure in pick(row, "tokens", "ssim", "distance", "legibility").items():
        if measure is not None:
            yield names | {"by": name, "estimate": measure, "note": WEAKNESS * row.weak}


def _judge(row: JudgeRow) -> Iterator[Row]:
    who = " ".join(filter(None, (row.judge, row.id)))
    names: Row = {"kind": "meaning_judge", "run": row.run, "set": row.set, "model": who}
    yield names | {"n": row.kept + row.rejected, "left_out": row.rejected, "note": row.note}
    for found in row.calibrations:
        for name in ("precision", "recall", "specificity"):
            if share := getattr(found, name):
                numbers = {"n": share.n, "failed": found.failed, "method": found.method}
                where = {"by": name, "value": named(found)}
                yield names | where | numbers | _estimate(share.value, (share.low, share.high))


def _correction(row: CorrectionRow) -> Iterator[Row]:
    where = {"by": row.scorer, "value": row.calibration, "n": row.labels}
    yield _of("correction", row) | where | _estimate(row.corrected, row.corrected_ci95) | pick(row, "method", "note")


def _auc(row: AucRow) -> Iterator[Row]:
    where = {"by": "task_type", "value": row.task_type}
    yield _of("auc", row) | where | pick(row, "n", "method") | _estimate(row.auc, row.ci95)


def _errors(row: ErrorRow) -> Iterator[Row]:
    cells: list[tuple[str, str, Part]] = [("", "", row)]
    cells += [(name, value, part) for name, values in row.by.items() for value, part in values.items()]
    for name, value, part in cells:
        where = {"kind": "error", **pick(row, "run", "model"), "by": name, "value": value}
        said = {"n": part.truncated + part.empty + part.labelled, **pick(part, "method", "note")}
        for kind, rate in (part.kinds or {}).items():
            yield where | said | {"factor": kind} | _estimate(rate.share, rate.ci95)


def _cascade(row: CascadeRow) -> Iterator[Row]:
    names = _of("cascade", row) | {"factor": row.scorer, "by": "scored by"}
    for who, found, judge in row.lines():
        counts = {"left_out": judge.saved, "failed": judge.failed} if judge else {}
        note = "between the bounds that answers without a verdict leave" if found.bounds else ""
        numbers = pick(found, "n", "bound", "method") | _estimate(found.score, found.bounds or found.ci95)
        yield names | {"value": who, "note": note} | counts | numbers


def _repeats(row: RepeatsRow) -> Iterator[Row]:
    names = _of("repeats", row) | {"by": "over", "value": row.over}
    counts = pick(row, "failed", "unscored", "needs_judge")
    for name, found, note in row.figures():
        numbers = pick(found, "n", "left_out", "bound", "method") | _estimate(found.value, found.ci95)
        yield names | counts | numbers | {"factor": name, "note": note}


def _of(kind: str, row: OfCondition) -> Row:
    return {"kind": kind, **pick(row, "run", "model", "set"), **row.factors}


def _estimate(value: object, interval: object) -> Row:
    ends = interval if isinstance(interval, (tuple, list)) else ("", "")
    return {"estimate": value, "low": ends[0], "high": ends[1]}


def safe_cell(cell: object) -> object:
    """A cell that no spreadsheet runs as a formula: a text that looks like one gets a leading apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
