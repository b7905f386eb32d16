"""Scores of a report that are corrected for what the scorer is known to get wrong, beside the plain ones."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
from msgspec.structs import replace

from mmdyn.errors import UserError, did_you_mean
from mmdyn.stats import Estimate, Floats, Ints, Share, mean_score, prediction_powered, rogan_gladen, tuned_power
from mmdyn.tables.marks import Marks
from mmdyn.tables.measurements import Grading, load_gradings, named
from mmdyn.tables.results import POOLED, Bound, Interval, Key, OfCondition, Table, cluster_of, score_of
from mmdyn.tables.terminal import names_of, open_console, percent, print_grid
from mmdyn.work import RunFolder

METHODS = ("rogan-gladen", "ppi++")
FEW = "fewer than two marked answers that do not belong together"
UNKNOWN = (
    "{scorer} was never calibrated here, so that its errors are not known: run `mmdyn grade LABELLED --calibrate"
    " --policy {policy}{judge}` on answers that people marked, or mark answers of this run and give --correct ppi++"
    " --labels FILE"
)
UNMEASURED = (
    "{scorer} is by a judge that is shown pictures, which `mmdyn grade --calibrate` cannot measure: mark answers of"
    " this run and give --correct ppi++ --labels FILE"
)
GRADED = (
    "{run} has scores between 0 and 1 ({value:g} of {sample}), and Rogan-Gladen is for right and wrong alone: "
    "give --correct ppi++ --labels FILE"
)
USELESS = "sensitivity {se:.3f} and specificity {sp:.3f} on {file} tell right from wrong no better than chance"
ONE_SIDED = "people call all answers of {file} right, or none, so that it has no sensitivity or no specificity"
TITLE = (
    "Scores in percent, corrected for the scorer's errors, with 95 % intervals; marks counts answers that people marked"
)


class CorrectionRow(OfCondition, frozen=True):
    """A condition's score as it is, and `corrected` by a method; both in [0, 1], with 95 % intervals.

    bound: `lower` where the plain score is one. n: answers; labels: the marked answers that it was corrected by, which
        are the calibration's or this condition's own.
    scorer: whose errors it is corrected for. calibration: the labelled file, with the sensitivity and the specificity
        there (Rogan-Gladen). power: how much the scores count (PPI++). `corrected` is None where `note` says why.
    """

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
    marks: NaN where there is none. bounded: 1 for a value that is a lower bound, else 0."""

    parents: Ints
    clusters: Ints
    values: Floats
    weights: Floats
    marks: Floats
    bounded: Floats

    @classmethod
    def of(cls, numbers: array[float]) -> _Answers:
        """Answers out of their numbers, one answer after the other; a weight is shared by the answers of a parent."""
        parents, clusters, values, weights, *rest = np.array(numbers).reshape(-1, len(cls._fields)).T
        _, places, counts = np.unique(parents, return_inverse=True, return_counts=True)
        return cls(parents.astype(np.int64), clusters.astype(np.int64), values, weights / counts[places], *rest)


def find_corrections(table: Table, method: str, labels: str | Path | None = None) -> list[CorrectionRow]:
    """The conditions of a report in its order, corrected; conditions without a scored answer are left out.

    Args:
        table: the records that the report is of.
        method: `rogan-gladen` gives a row for each calibration of the run's scorer in this user's cache;
            `ppi++` corrects by marks of the run's own answers.
        labels: the file of these marks.

    Raises:
        UserError: where there is no way to correct the scores.
        InputError: for a bad file of marks.
    """
    if method not in METHODS:
        raise UserError(f"there is no correction {method!r}{did_you_mean(method, METHODS)}: use {', '.join(METHODS)}")
    powered = method == "ppi++"
    if powered and (labels is None or len(table.runs) != 1):
        raise UserError(f"{method} corrects one run by marks of its own answers: give one RUN and --labels FILE")
    if not powered and labels is not None:
        raise UserError("labels go with ppi++: Rogan-Gladen takes what `mmdyn grade --calibrate` measured")
    marks = Marks(labels) if labels is not None else None
    rows = list[CorrectionRow]()
    for name, run in table.runs.items():
        answers = _answers(name, run, marks, binary=not powered)
        gradings = [] if powered else _usable(run)
        for key in table.scores:
            found = _behind(key, answers) if key.run == name else None
            if found and powered:
                rows.append(_by_labels(key, run, found))
            elif found:
                rows += [_by_calibration(key, run, found, grading) for grading in gradings]
    return rows


def print_corrections(rows: Sequence[CorrectionRow], file: TextIO | None = None) -> None:
    """Print the corrected scores to `file` or standard output, and below them by what they were corrected."""
    if rows:
        print_grid(open_console(file), TITLE, [_shown(row) for row in rows])


def _usable(run: RunFolder) -> list[Grading]:
    """The calibrations of a run's scorer. Raises UserError where there is none, or none that tells right from wrong."""
    scorer = run.config.scorer
    gradings = load_gradings(scorer)
    if not gradings:
        identities = (judge.identity for judge in run.config.judges)
        if any(isinstance(identity, dict) and identity.get("pictures") for identity in identities):
            raise UserError(UNMEASURED.format(scorer=scorer))
        judge = " --judge MODEL" * (scorer.count(",") + 1) if "+" in scorer else ""
        raise UserError(UNKNOWN.format(scorer=scorer, policy=scorer.partition("@")[0], judge=judge))
    if all(map(_useless, gradings)):
        raise UserError(f"{scorer} cannot be corrected: {_useless(gradings[0])}; calibrate it on other answers")
    return list(gradings)


def _useless(grading: Grading) -> str:
    """Why a calibration corrects nothing; empty where it does."""
    se, sp = grading.sensitivity, grading.specificity
    if se is None or sp is None:
        return ONE_SIDED.format(file=named(grading))
    return USELESS.format(se=se.value, sp=sp.value, file=named(grading)) if se.value + sp.value <= 1 else ""


def _answers(name: str, run: RunFolder, marks: Marks | None, *, binary: bool) -> dict[Key, _Answers]:
    """The scored answers of a run by condition. Raises UserError for a graded score where `binary` ones are needed."""
    numbers: dict[Key, array[float]] = {}
    parents, clusters = dict[tuple[str, str], int](), dict[tuple[str, str, str], int]()
    for record in run.records():
        mark = marks.of(record) if marks else None
        if record.reply.error or record.score is None or record.score.value is None:
            continue
        value = record.score.value if record.score.status == "ok" else 0.0
        if binary and value not in (0.0, 1.0):
            raise UserError(GRADED.format(run=run.folder, value=value, sample=record.sample))
        parent = parents.setdefault((record.set, record.parent), len(parents))
        cluster = clusters.setdefault(cluster_of(record.set, record.parent, record.group), len(clusters))
        scored = (value, record.score.weight, np.nan if mark is None else mark, record.score.lower_bound)
        numbers.setdefault(Key.of(name, record), array("d")).extend((parent, cluster, *scored))
    if marks:
        marks.check()
    return {key: _Answers.of(found) for key, found in numbers.items()}


def _behind(key: Key, answers: dict[Key, _Answers]) -> _Answers | None:
    """The answers of a condition; of one over all chains, a parent's weight is shared by its chains."""
    found = [answers[member] for member in key.members(answers) if member in answers]
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


def _by_labels(key: Key, run: RunFolder, found: _Answers) -> CorrectionRow:
    marked = ~np.isnan(found.marks)
    few = len(np.unique(found.clusters[marked])) < 2
    row = _row(key, run, found, "ppi++", int(marked.sum()), FEW if few else "")
    if row.note:
        return row
    power = tuned_power(found.values, found.weights, found.marks)
    corrected = prediction_powered(found.values, found.weights, found.clusters, found.marks, power)
    return _filled(row, corrected, power=round(power, 6))


def _row(
    key: Key, run: RunFolder, found: _Answers, method: str, labels: int, note: str, calibration: str = ""
) -> CorrectionRow:
    """The row with the plain score alone."""
    plain = mean_score(found.values, found.weights, found.clusters)
    score, ends, bound = score_of(plain, lower=bool(found.bounded.any()))
    about = run.config.scorer, len(found.values), score, ends
    return CorrectionRow(*key.place, *about, None, None, method, labels, calibration, note=note, bound=bound)


def _filled(row: CorrectionRow, found: Estimate, **more: Share | float) -> CorrectionRow:
    found = found.rounded
    return replace(row, corrected=found.value, corrected_ci95=found.ci95, method=found.method, **more)


def _shown(row: CorrectionRow) -> dict[str, object]:
    return {
        **names_of(row),
        "score": percent(row.score, row.ci95),
        "corrected": percent(row.corrected, row.corrected_ci95),
        "marks": row.labels,
        "method": f"{row.method}: {row.note or _by(row)}",
    }


def _by(row: CorrectionRow) -> str:
    """What the score was corrected by."""
    if row.sensitivity is None or row.specificity is None:
        return f"{row.scorer} against people's marks of this run"
    shares = {"sensitivity": row.sensitivity, "specificity": row.specificity}
    spelt = (f"{name} {percent(share.value, (share.low, share.high))} of {share.n}" for name, share in shares.items())
    return f"{row.scorer} on {row.calibration}, {', '.join(spelt)}"
