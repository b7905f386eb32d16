"""Scores of a report that are corrected for what the scorer is known to get wrong, beside the plain ones."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from math import nan

import numpy as np

from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Record
from mmdyn.stats import Estimate, Ints, prediction_powered, rogan_gladen, tuned_power
from mmdyn.table import Corrected
from mmdyn.tables.blocks import Block, Numbered, RowWatcher
from mmdyn.tables.columns import Columns, record_weights
from mmdyn.tables.keys import Key
from mmdyn.tables.marks import Marks
from mmdyn.tables.measurements import Grading, load_gradings, named
from mmdyn.tables.scores import conditions_of
from mmdyn.work import Evaluator, Reader, RunFolder

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


class CorrectedWatcher(RowWatcher):
    """The calibrations of each run's scorer, or people's mark of each answer.

    Raises UserError where there is no way to correct the scores, InputError for a bad file of marks.
    """

    def __init__(self, part: Corrected, runs: Mapping[str, RunFolder]) -> None:
        self._method, powered = part.method, part.method == "ppi++"
        if part.method not in METHODS:
            hint = did_you_mean(part.method, METHODS)
            raise UserError(f"there is no correction {part.method!r}{hint}: use {', '.join(METHODS)}")
        if powered and (not part.labels or len(runs) != 1):
            raise UserError("ppi++ corrects one run by marks of its own answers: give one RUN and --labels FILE")
        if not powered and part.labels:
            raise UserError("labels go with ppi++: Rogan-Gladen takes what `mmdyn grade --calibrate` measured")
        self._marks, self._marked = Marks(part.labels) if powered else None, array("d")

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Take the mark of the answer."""
        mark = self._marks.of(record) if self._marks else None
        self._marked.append(nan if mark is None else mark)

    def rows(self, block: Block) -> Iterator[Numbered]:
        """The score of each condition, and the score corrected by each calibration or by the condition's own marks.

        Raises UserError for a graded score where right and wrong ones are needed, InputError for a mark of no answer.
        """
        if self._marks:
            self._marks.check()
        gradings, told = dict[str, list[Grading]](), dict[tuple[str, str], Grading]()
        for key, records in conditions_of(block).items():
            evaluator = block.columns.runs[key.run].config.evaluator(key.set)
            scorer = evaluator.scorer
            here = block._replace(front=key.place | {"scorer": scorer, "correction": self._method})
            if not len(here.cell(records).values):
                continue
            if self._marks:
                yield from self._by_marks(here, records)
                continue
            _check_binary(block.columns, key.run, records)
            if scorer not in gradings:
                gradings[scorer] = _usable(evaluator)
            for grading in gradings[scorer]:
                yield from _by_calibration(here, records, grading)
                told[scorer, named(grading)] = grading
        for (scorer, name), grading in told.items():
            here = block._replace(front={"scorer": scorer, "correction": self._method, "calibration": name})
            for quantity, share in (("sensitivity", grading.sensitivity), ("specificity", grading.specificity)):
                if share:
                    yield here.share_row((), (), quantity, share, n=share.n), None

    def _by_marks(self, block: Block, records: Ints) -> Iterator[Numbered]:
        columns, marks = block.columns, np.array(self._marked)[records]
        scored = ~np.isnan(columns.worth["score"][0][records])
        kept, marks = records[scored], marks[scored]
        values, weights = columns.worth["score"][0][kept], record_weights(columns, "score", kept)
        clusters, marked = columns.clusters[columns.parents[kept]], ~np.isnan(marks)
        if len(np.unique(clusters[marked])) < 2:
            yield from _rows(block, records, None, int(marked.sum()), FEW)
            return
        power = tuned_power(values, weights, marks)
        found = prediction_powered(values, weights, clusters, marks, power)
        yield from _rows(block, records, found, int(marked.sum()))
        yield block.row((), (), "power", round(power, 6), unit=""), None


def _usable(evaluator: Evaluator) -> list[Grading]:
    """The calibrations of a scorer. Raises UserError where there is none, or none that tells right from wrong."""
    scorer = evaluator.scorer
    gradings = load_gradings(scorer)
    if not gradings:
        identities = (judge.identity for judge in evaluator.judges)
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


def _by_calibration(block: Block, records: Ints, grading: Grading) -> Iterator[Numbered]:
    block = block._replace(front=block.front | {"calibration": named(grading)})
    se, sp, note, found = grading.sensitivity, grading.specificity, _useless(grading), None
    if se and sp and not note:
        cell = block.cell(records)
        found = rogan_gladen(cell.values, cell.weights, block.labels(cell), se, sp)
    yield from _rows(block, records, found, grading.n, note)


def _rows(block: Block, records: Ints, found: Estimate | None, marks: int, note: str = "") -> Iterator[Numbered]:
    """The plain score, the corrected one, and how many answers people marked that it was corrected by."""
    cell = block.cell(records)
    yield block.mean_row((), (), "score", cell), cell
    n = len(cell.values)
    if found is None:
        yield block.row((), (), "corrected", None, n=n, note=note), None
    else:
        yield block.share_row((), (), "corrected", found, n=n, method=found.method), None
    yield block.row((), (), "marks", marks, unit="count"), None


def _check_binary(columns: Columns, run: str, records: Ints) -> None:
    """Raise UserError for a graded score."""
    values = columns.worth["score"][0][records]
    graded = np.flatnonzero(~np.isnan(values) & ~np.isin(values, (0.0, 1.0)))
    if len(graded):
        value, parent = values[graded[0]], columns.names[columns.parents[records[graded[0]]]]
        raise UserError(GRADED.format(run=columns.runs[run].folder, value=value, sample=parent))
