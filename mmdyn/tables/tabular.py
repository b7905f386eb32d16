"""The summary as one CSV file: a row for each score and each contrast, whole and broken down."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from mmdyn.errors import UserError
from mmdyn.record import Contrast
from mmdyn.tables.auc import AucRow
from mmdyn.tables.bounds import BY_RULES
from mmdyn.tables.cascades import CascadeRow, Cascades, lines_of
from mmdyn.tables.correction import CorrectionRow
from mmdyn.tables.error_kinds import ErrorRow, Part
from mmdyn.tables.judges import JudgeRow
from mmdyn.tables.measurement_cache import named
from mmdyn.tables.repeats import RepeatsRow, figures_of
from mmdyn.tables.summary import ConditionRow, Mean, Summary

FACTORS = ("variant", "chain", "context", "style", "language")
COLUMNS = (
    *("kind", "run", "model", "set", *FACTORS, "factor", "a", "b", "by", "value"),
    *("n", "left_out", "ok", "unparsed", "refused", "truncated", "failed", "unscored", "needs_judge"),
    *("estimate", "bound", "low", "high", "p", "p_adjusted", "method", "note"),
)
"""`kind` is `score`, `contrast`, `meaning_judge`, `correction`, `error`, `cascade`, `repeats` or `auc`; `estimate` is
the score in [0, 1] or the difference b - a in [-1, 1], between `low` and `high`; where `bound` is `lower` it is a lower
bound, and `high` is empty. `by` and `value` are empty for the whole. The judge of a dynamic set stands under `model`:
its first row counts under `n` the variants that it was asked about and under `left_out` those it rejected, each further
row has a share of n pairs, with its name under `by` and the labelled file under `value`. A corrected score has the
scorer under `by`, the labelled file under `value` and the number of marked answers under `n`. The share of a kind of
error, which stands under `factor`, counts under `n` the answers that were labelled, or needed no label. A score by
rules, by one judge or by both together has who gave it under `value` and the scorer under `factor`; `left_out` counts
what a judge was not asked about, `failed` what it gave no verdict on. Where answers wait for a verdict it has no
estimate, and `low` and `high` are the bounds that these leave. A figure of repeats stands under `factor`, and what is
repeated under `value`; an AUC has its task type there."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What makes a spreadsheet take a cell for a formula, or for two cells."""


def write_csv(summary: Summary, file: str | Path) -> None:
    """Write a UTF-8 file. Texts that a spreadsheet would run as a formula get a leading apostrophe. Raises
    UserError."""
    try:
        with Path(file).open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, COLUMNS, restval="", lineterminator="\n")
            writer.writeheader()
            for row in _rows(summary):
                writer.writerow({name: safe_cell(cell) for name, cell in row.items()})
    except OSError as error:
        raise UserError(f"cannot write {file} ({error.strerror}): choose another file") from None


def _rows(summary: Summary) -> Iterator[dict[str, object]]:
    for condition in summary.conditions:
        yield from _condition(condition)
    for contrast in summary.contrasts:
        yield from _contrast(contrast)
    for judge in summary.judges:
        yield from _judge(judge)
    yield from map(_correction, summary.corrections or ())
    for errors in summary.errors or ():
        yield from _errors(errors)
    for cascade in summary.cascades.rows if isinstance(summary.cascades, Cascades) else ():
        yield from _cascade(cascade)
    for repeats in summary.repeats or ():
        yield from _repeats(repeats)
    yield from map(_auc, summary.auc or ())


def _condition(row: ConditionRow) -> Iterator[dict[str, object]]:
    names: dict[str, object] = {"kind": "score", **_place(row)}
    statuses = {"ok": row.ok, "unparsed": row.unparsed, "refused": row.refused, "truncated": row.truncated}
    yield {**names, **_score(row), **statuses}
    for name, values in row.by.items():
        for value, cell in values.items():
            yield {**names, "by": name, "value": value, **_score(cell)}


def _score(cell: Mean | ConditionRow) -> dict[str, object]:
    names = ("n", "failed", "unscored", "needs_judge", "bound", "method", "note")
    return {**{name: getattr(cell, name) for name in names}, "estimate": cell.score, **_ends(cell.ci95)}


def _contrast(row: Contrast) -> Iterator[dict[str, object]]:
    held = {name: value for name, value in row.held.items() if name in COLUMNS}
    names = {
        "kind": "contrast",
        "model": row.model,
        "set": row.set,
        **held,
        "factor": row.factor,
        "a": row.a,
        "b": row.b,
    }
    numbers = ("n", "left_out", "failed", "needs_judge", "p", "p_adjusted", "method", "note")
    whole = {name: getattr(row, name) for name in numbers}
    yield {**names, **whole, "estimate": row.delta, **_ends(row.ci95)}
    for name, values in row.by.items():
        for value, cell in values.items():
            part = {number: cell[number] for number in numbers}
            yield {**names, "by": name, "value": value, **part, "estimate": cell["delta"], **_ends(cell["ci95"])}


def _judge(row: JudgeRow) -> Iterator[dict[str, object]]:
    names = {
        "kind": "meaning_judge",
        "run": row.run,
        "set": row.set,
        "model": " ".join(filter(None, (row.judge, row.id))),
    }
    yield {**names, "n": row.kept + row.rejected, "left_out": row.rejected, "note": row.note}
    for found in row.calibrations:
        for name in ("precision", "recall", "specificity"):
            if share := getattr(found, name):
                whole = {"n": share.n, "failed": found.failed, "estimate": share.value, "method": "Wilson"}
                yield {**names, "by": name, "value": named(found), **whole, **_ends((share.low, share.high))}


def _correction(row: CorrectionRow) -> dict[str, object]:
    names = {"kind": "correction", **_place(row)}
    where = {"by": row.scorer, "value": row.calibration, "n": row.labels}
    ends = _ends(row.corrected_ci95)
    return {**names, **where, "estimate": row.corrected, **ends, "method": row.method, "note": row.note}


def _errors(row: ErrorRow) -> Iterator[dict[str, object]]:
    cells: list[tuple[str, str, Part]] = [("", "", row)]
    cells += [(name, value, part) for name, values in row.by.items() for value, part in values.items()]
    for name, value, part in cells:
        where = {"kind": "error", "run": row.run, "model": row.model, "by": name, "value": value}
        said = {"n": part.truncated + part.empty + part.labelled, "method": part.method, "note": part.note}
        for kind, rate in (part.kinds or {}).items():
            yield {**where, "factor": kind, **said, "estimate": rate.share, **_ends(rate.ci95)}


def _cascade(row: CascadeRow) -> Iterator[dict[str, object]]:
    names = {"kind": "cascade", **_place(row), "factor": row.scorer, "by": "scored by"}
    for who, found, judge in lines_of(row):
        counts = {"left_out": judge.saved, "failed": judge.failed} if judge else {}
        note = "between the bounds that answers without a verdict leave" if found.bounds else ""
        numbers = {"n": found.n, "estimate": found.score, **_ends(found.bounds or found.ci95)}
        yield {**names, "value": who, **counts, **numbers, "bound": found.bound, "method": found.method, "note": note}


def _repeats(row: RepeatsRow) -> Iterator[dict[str, object]]:
    names = {"kind": "repeats", **_place(row), "by": "over", "value": row.over}
    counts = {"failed": row.failed, "unscored": row.unscored, "needs_judge": row.needs_judge}
    for name, found in figures_of(row):
        note = BY_RULES if row.mean.bound and not found.bound else ""
        numbers = {"n": found.n, "left_out": found.left_out, "estimate": found.value, **_ends(found.ci95)}
        yield {**names, "factor": name, **counts, **numbers, "bound": found.bound, "method": found.method, "note": note}


def _auc(row: AucRow) -> dict[str, object]:
    names = {"kind": "auc", **_place(row), "by": "task_type", "value": row.task_type}
    return {**names, "n": row.n, "estimate": row.auc, **_ends(row.ci95), "method": row.method}


def _place(row: ConditionRow | CorrectionRow | CascadeRow | RepeatsRow | AucRow) -> dict[str, object]:
    return {"run": row.run, "model": row.model, "set": row.set, **row.factors}


def _ends(interval: object) -> dict[str, object]:
    return dict(zip(("low", "high"), interval, strict=True)) if isinstance(interval, (tuple, list)) else {}


def safe_cell(cell: object) -> object:
    """A cell that no spreadsheet runs as a formula: a text that looks like one gets a leading apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
