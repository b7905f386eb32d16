"""Scores of a report that are corrected for what the scorer is known to get wrong, beside the plain ones."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from mmdyn.errors import UserError, did_you_mean
from mmdyn.tables.bounds import Bound, Interval, bound_of, interval_of
from mmdyn.tables.calibration import Share
from mmdyn.tables.estimators import prediction_powered, rogan_gladen, tuned_power
from mmdyn.tables.grading import Grading, load_gradings
from mmdyn.tables.labels import Labels
from mmdyn.tables.measurement_cache import named
from mmdyn.tables.results import POOLED, Key, Table, cluster_of, key_of, members
from mmdyn.tables.statistics import Estimate, Floats, Labels as Codes, mean_score
from mmdyn.work import RunConfig, RunFolder

METHODS = ("rogan-gladen", "ppi", "ppi++")
FEW = "fewer than two marked answers that do not belong together"
UNKNOWN = (
    "{scorer} was never calibrated here, so that its errors are not known: run `mmdyn grade LABELLED --calibrate"
    " --policy {policy}{judge}` on answers that people marked, or mark answers of this run and give --correct ppi"
    " --labels FILE"
)
UNMEASURED = (
    "{scorer} is by a judge that is shown pictures, which `mmdyn grade --calibrate` cannot measure: mark answers of"
    " this run and give --correct ppi --labels FILE"
)
GRADED = (
    "{run} has scores between 0 and 1 ({value:g} of {sample}), and Rogan-Gladen is for right and wrong alone: "
    "give --correct ppi --labels FILE"
)
USELESS = "sensitivity {se:.3f} and specificity {sp:.3f} on {file} tell right from wrong no better than chance"
ONE_SIDED = "people call all answers of {file} right, or none, so that it has no sensitivity or no specificity"


class CorrectionRow(Struct, frozen=True):
    """A condition's score as it is, and `corrected` by a method; both in [0, 1], with 95 % intervals.

    bound: `lower` where the plain score is one. n: answers; labels: the marked answers that it was corrected by, which
        are the calibration's or this condition's own.
    scorer: whose errors it is corrected for. calibration: the labelled file, with the sensitivity and the specificity
        there (Rogan-Gladen). power: how much the scores count (PPI). `corrected` is None where `note` says why.
    """

    run: str
    model: str
    set: str
    factors: dict[str, str]
    scorer: str
    n: int
    score: float
    ci95: Interval
    corrected: float | None
    corrected_ci95: tuple[float, float] | None
    method: str
    labels: int
    calibration: str = ""
    sensitivity: Share | None = None
    specificity: Share | None = None
    power: float | None = None
    note: str = ""
    bound: Bound = ""


class _Answers(NamedTuple):
    """A condition's scored answers, one a place: the weights are such that the weighted mean is the report's score.
    bounded: whose value is a lower bound."""

    parents: Codes
    clusters: Codes
    values: Floats
    weights: Floats
    marks: Floats
    bounded: NDArray[np.bool_]


def find_corrections(table: Table, method: str, labels: str | Path | None = None) -> list[CorrectionRow]:
    """The conditions of a report in its order, corrected; conditions without a scored answer are left out.

    rogan-gladen: a row for each calibration of the run's scorer in this user's cache. ppi, ppi++: by marks of the run's
    own answers. Raises UserError where there is no way to correct them, InputError for a bad file of labels.
    """
    if method not in METHODS:
        raise UserError(f"there is no correction {method!r}{did_you_mean(method, METHODS)}: use {', '.join(METHODS)}")
    powered = method != "rogan-gladen"
    if powered and (labels is None or len(table.runs) != 1):
        raise UserError(f"{method} corrects one run by marks of its own answers: give one RUN and --labels FILE")
    if not powered and labels is not None:
        raise UserError("labels go with ppi: Rogan-Gladen takes what `mmdyn grade --calibrate` measured")
    marks = Labels(labels) if labels is not None else None
    rows = list[CorrectionRow]()
    for name, run in table.runs.items():
        answers = _answers(name, run, marks, binary=not powered)
        gradings = [] if powered else _usable(run)
        for key in table.scores:
            found = _behind(key, answers) if key.run == name else None
            if found and powered:
                rows.append(_by_labels(key, run, found, tuned=method == "ppi++"))
            elif found:
                rows += [_by_calibration(key, run, found, grading) for grading in gradings]
    return rows


def _usable(run: RunFolder) -> list[Grading]:
    """The calibrations of a run's scorer. Raises UserError where there is none, or none that tells right from wrong."""
    scorer = run.config.scorer
    gradings = load_gradings(scorer)
    if not gradings:
        if _shows_pictures(run.config):
            raise UserError(UNMEASURED.format(scorer=scorer))
        judge = " --judge MODEL" * (scorer.count(",") + 1) if "+" in scorer else ""
        raise UserError(UNKNOWN.format(scorer=scorer, policy=scorer.partition("@")[0], judge=judge))
    if all(map(_useless, gradings)):
        raise UserError(f"{scorer} cannot be corrected: {_useless(gradings[0])}; calibrate it on other answers")
    return list(gradings)


def _shows_pictures(config: RunConfig) -> bool:
    """Is one of a run's judges shown pictures, which answers in a file do not have?"""
    return any(isinstance(judge.identity, dict) and judge.identity.get("pictures") for judge in config.judges)


def _useless(grading: Grading) -> str:
    """Why a calibration corrects nothing; empty where it does."""
    se, sp = grading.sensitivity, grading.specificity
    if se is None or sp is None:
        return ONE_SIDED.format(file=named(grading))
    return USELESS.format(se=se.value, sp=sp.value, file=named(grading)) if se.value + sp.value <= 1 else ""


class _Columns:
    """One condition's answers as they come."""

    def __init__(self) -> None:
        self.parents, self.clusters = array("q"), array("q")
        self.values, self.weights, self.marks = array("d"), array("d"), array("d")
        self.bounded = list[bool]()

    def finish(self) -> _Answers:
        """An answer's weight is shared by the answers of its parent."""
        parents = np.array(self.parents, dtype=np.int64)
        _, places, counts = np.unique(parents, return_inverse=True, return_counts=True)
        columns = (np.array(column, dtype=np.float64) for column in (self.values, self.weights, self.marks))
        values, weights, marks = columns
        clusters, bounded = np.array(self.clusters, dtype=np.int64), np.array(self.bounded, dtype=np.bool_)
        return _Answers(parents, clusters, values, weights / counts[places], marks, bounded)


def _answers(name: str, run: RunFolder, marks: Labels | None, *, binary: bool) -> dict[Key, _Answers]:
    """The scored answers of a run by condition. Raises UserError for a graded score where `binary` ones are needed."""
    columns = dict[Key, _Columns]()
    parents, clusters = dict[tuple[str, str], int](), dict[tuple[str, str, str], int]()
    for record in run.records():
        mark = marks.of(record) if marks else None
        if record.reply.error or record.score is None or record.score.value is None:
            continue
        value = record.score.value if record.score.status == "ok" else 0.0
        if binary and value not in (0.0, 1.0):
            raise UserError(GRADED.format(run=run.folder, value=value, sample=record.sample))
        found = columns.setdefault(key_of(name, record), _Columns())
        found.parents.append(parents.setdefault((record.set, record.parent), len(parents)))
        found.clusters.append(clusters.setdefault(cluster_of(record), len(clusters)))
        found.values.append(value)
        found.weights.append(record.score.weight)
        found.bounded.append(record.score.lower_bound)
        found.marks.append(np.nan if mark is None else mark)
    if marks:
        marks.check()
    return {key: found.finish() for key, found in columns.items()}


def _behind(key: Key, answers: dict[Key, _Answers]) -> _Answers | None:
    """The answers of a condition; of one over all chains, a parent's weight is shared by its chains."""
    found = [answers[member] for member in members(key, answers) if member in answers]
    if key.chain != POOLED or not found:
        return found[0] if found else None
    together = _Answers(*map(np.concatenate, zip(*found, strict=True)))
    chains = np.bincount(np.concatenate([np.unique(part.parents) for part in found]))
    return together._replace(weights=together.weights / chains[together.parents])


def _by_calibration(key: Key, run: RunFolder, found: _Answers, grading: Grading) -> CorrectionRow:
    row = _row(key, run, found, "rogan-gladen", grading.n, _useless(grading), calibration=named(grading))
    se, sp = grading.sensitivity, grading.specificity
    if se is None or sp is None or row.note:
        return row
    corrected = rogan_gladen(found.values, found.weights, found.clusters, se, sp)
    return _filled(row, corrected, sensitivity=se.rounded, specificity=sp.rounded)


def _by_labels(key: Key, run: RunFolder, found: _Answers, *, tuned: bool) -> CorrectionRow:
    marked = ~np.isnan(found.marks)
    few = len(np.unique(found.clusters[marked])) < 2
    row = _row(key, run, found, "ppi++" if tuned else "ppi", int(marked.sum()), FEW if few else "")
    if row.note:
        return row
    power = tuned_power(found.values, found.weights, found.marks) if tuned else 1.0
    corrected = prediction_powered(found.values, found.weights, found.clusters, found.marks, power)
    return _filled(row, corrected, power=round(power, 6))


def _row(
    key: Key, run: RunFolder, found: _Answers, method: str, labels: int, note: str, calibration: str = ""
) -> CorrectionRow:
    """The row with the plain score alone."""
    plain, lower = mean_score(found.values, found.weights, found.clusters), bool(found.bounded.any())
    return CorrectionRow(
        run=key.run,
        model=key.model,
        set=key.set,
        factors=key.factors,
        scorer=run.config.scorer,
        n=len(found.values),
        score=round(plain.value, 6),
        ci95=interval_of(plain, lower=lower),
        corrected=None,
        corrected_ci95=None,
        method=method,
        labels=labels,
        calibration=calibration,
        note=note,
        bound=bound_of(lower),
    )


def _filled(row: CorrectionRow, found: Estimate, **more: Share | float) -> CorrectionRow:
    ends = round(found.low, 6), round(found.high, 6)
    return replace(row, corrected=round(found.value, 6), corrected_ci95=ends, method=found.method, **more)
