"""What judges make of a run: their scores beside the rules', scores corrected for their errors, and the judges of
variants.

Source of the checklist score: AcadReason, section 3.4 (R_j: items that are met over items, over all questions).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from mmdyn.data import SampleSet, SetManifest, read_set_manifest
from mmdyn.errors import UserError, counted, did_you_mean
from mmdyn.plugins import load, names
from mmdyn.record import Judgement, Record, Score
from mmdyn.sample import Sample
from mmdyn.stats import Estimate, Floats, Ints, prediction_powered, rogan_gladen, tuned_power, weighted_kappa
from mmdyn.table import Corrected, Dimensions, Judged, MeaningJudges
from mmdyn.tables.blocks import Block, Numbered, Row, RowWatcher
from mmdyn.tables.columns import Cell, Columns, Counts, record_weights
from mmdyn.tables.factors import POOLED, Key, changed
from mmdyn.tables.measurements import Calibration, Grading, Marks, judge_id, load_calibrations, load_gradings, named
from mmdyn.tables.run_state import SHOWN_FAILURES, FailedReply, RunState, Spending
from mmdyn.tables.scores import conditions_of
from mmdyn.work import (
    Evaluator,
    JudgeEntry,
    Reader,
    RunFolder,
    Scoring,
    SetEntry,
    judged_kind,
    score_kind,
    unjudged_kind,
)

NO_SCORE = "no answer has such a score"
BETWEEN = "answers without a verdict as 0 and as 1"

T = TypeVar("T")
_Mask: TypeAlias = NDArray[np.bool_]


class JudgedWatcher(RowWatcher):
    """The scores of each judged run: those in force, and those under way."""

    def __init__(self, part: Judged, runs: Mapping[str, RunFolder]) -> None:
        self._seen = 0
        self._scores = {
            name: [
                _Scores(name, scoring, evaluator.scorer, root)
                for root, evaluator in run.config.by_root.items()
                for scoring in evaluator.judged
            ]
            for name, run in runs.items()
        }

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Take what rules and judges say of the answer."""
        for scores in self._scores[run]:
            scores.add(self._seen, record, reader)
        self._seen += 1

    def state(self, run: str, state: RunState) -> RunState:
        """The same with what judges took, and the answers that have no verdict."""
        every = self._scores[run]
        spending = {judge.entry.id: judge.spending.rounded for scores in every for judge in scores.judges}
        failures = [failure for scores in every for failure in scores.failures][:SHOWN_FAILURES]
        return replace(
            state,
            judge_spending=[*spending.values()],
            judge_failures=failures,
            no_verdict=sum(scores.no_verdict for scores in every),
            else_rules=sum(scores.else_rules for scores in every),
        )

    def rows(self, block: Block) -> Iterator[Numbered]:
        """The rows of each condition of each run that has judges: by the rules, by each judge, and by both."""
        conditions = conditions_of(block).items()
        for run, every in self._scores.items():
            for scores in every:
                for key, records in conditions:
                    if key.run == run and key.chain != POOLED:
                        yield from scores.rows(block, key, np.isin(scores.records, records))

    def notes(self, rows: Sequence[Row]) -> Iterable[str]:
        """What each judge took, and on how many answers the rules decide in its place."""
        for run, every in self._scores.items():
            for judge in {judge.entry.id: judge for scores in every for judge in scores.judges}.values():
                name, spent = f"{run}: " if run else "", judge.spending
                cached = f" {counted(spent.cached, 'reply')} out of the cache cost nothing." if spent.cached else ""
                if spent.replies or cached:
                    yield f"{name}judge {judge.entry.name}: {spent.tokens}, cost {spent.money}.{cached}"
        if count := sum(scores.else_rules for every in self._scores.values() for scores in every):
            yield f"On {counted(count, 'answer')} no judge gave a verdict, and the rules' score counts (else-rules)."


class _Graded(NamedTuple):
    """A judge's grades on the dimensions of its rubric, as they come, with the places of their records among all."""

    entry: JudgeEntry
    dimensions: tuple[str, ...]
    records: array[int]
    grades: array[float]


class DimensionsWatcher(RowWatcher):
    """The grades of each judge whose rubric has dimensions; of other judges nothing is read."""

    def __init__(self, part: Dimensions, runs: Mapping[str, RunFolder]) -> None:
        self._seen, self._graded = 0, dict[tuple[str, str, str], _Graded]()
        for name, run in runs.items():
            for root, evaluator in run.config.by_root.items():
                for entry in (entry for scoring in evaluator.judged for entry in scoring.judges):
                    if dimensions := _dimensions(entry):
                        self._graded[name, root, entry.id] = _Graded(entry, dimensions, array("q"), array("d"))

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Take the grades of the answer, if it has any."""
        for (name, root, judge), graded in self._graded.items():
            if name == run and root in ("", record.set):
                said = _read(reader, judged_kind(judge), record, Judgement)
                if said and len(said.parts) == len(graded.dimensions):
                    graded.records.append(self._seen)
                    graded.grades.extend(said.parts)
        self._seen += 1

    def rows(self, block: Block) -> Iterator[Numbered]:
        """The mean grade on each dimension under each condition, over the answers that have grades."""
        for key, records in conditions_of(block).items():
            for (name, _, _), graded in self._graded.items():
                places = np.array(graded.records, np.int64)
                if name != key.run or key.chain == POOLED or not (kept := np.isin(places, records)).any():
                    continue
                here = block._replace(front=key.place | {"judge": graded.entry.name})
                own, every, counts = places[kept], here.cell(records), Counts(answers=int(kept.sum()))
                weights = record_weights(block.columns, "score", own)
                left_out = int((~block.columns.flags["failed"][records]).sum()) - len(own)
                each = np.array(graded.grades).reshape(len(places), -1)[kept].T
                for dimension, grades in zip(graded.dimensions, each, strict=True):
                    cell = every.holding(block.columns.parents[own], grades, weights)._replace(counts=counts)
                    yield here.mean_row((), (), dimension, cell, left_out=left_out), cell


def _dimensions(entry: JudgeEntry) -> tuple[str, ...]:
    """The dimensions of a judge's rubric; none where it has several rubrics, or one that is not installed here."""
    if len(entry.rubrics) != 1 or entry.rubrics[0] not in names("rubrics"):
        return ()
    return tuple(getattr(load("rubrics", entry.rubrics[0]), "dimensions", ()))


class _Judge:
    """What a judge said, as it comes: of each answer its value (NaN where it gave none), whether it was asked in vain,
    whether it was not to be asked, its requests, items of a checklist and those that are met, and how far its votes
    agree (NaN where they are not several)."""

    def __init__(self, entry: JudgeEntry) -> None:
        self.entry, self.spending, self._said = entry, Spending(entry.name), array("d")
        self._failed: dict[str, list[Judgement]] | None = None

    def add(self, record: Record, reader: Reader, *, scored: bool) -> list[Judgement]:
        """Take what it said of an answer; the asks that brought no verdict, the latest last."""
        if self._failed is None:
            self._failed = _failed(reader, self.entry)
        failed = self._failed.get(record.key, [])
        judgement = _read(reader, judged_kind(self.entry.id), record, Judgement)
        asks, said = [*failed, *([judgement] if judgement else [])], judgement or Judgement(None)
        for one in asks:
            if one.requests:
                self.spending.add(one.usage, one.cost, one.currency)
            self.spending.cached += one.cached
        none, requests = said.value is None, sum(one.requests for one in asks)
        fate = none and bool(failed), none and not failed and scored, requests, len(said.items), sum(said.items)
        value, agreement = (nan if number is None else number for number in (said.value, said.agreement))
        self._said.extend((value, *fate, agreement))
        return failed

    def rows(self, answers: _Answers, kept: _Mask, rules: Floats, *, all_asked: bool) -> Iterator[Numbered]:
        """The score of the answers that it judged; it gave no verdict on `failed` ones and was not asked about those
        `left_out`. agreement, kappa: with the rules, where it was asked about all; consistency: the mean share of votes
        that say what was decided."""
        values, failed, saved, requests, items, met, votes = np.array(self._said).reshape(-1, 7)[kept].T
        who, both = f"judge {self.entry.name}", ~np.isnan(values)
        yield answers.row(who, values, failed=int(failed.sum()), left_out=int(saved.sum()))
        shares = dict[str, tuple[float | None, str]]()
        if all_asked and both.any():
            shares["agreement"] = float(((values[both] == 1) == (rules[both] == 1)).mean()), "share"
            shares["kappa"] = weighted_kappa(rules[both], values[both]), ""
        if len(several := votes[~np.isnan(votes)]):
            shares["consistency"] = float(several.mean()), "share"
        counts = {"requests": int(requests.sum())}
        if items.any():
            counts |= {"items": int(items.sum()), "met": int(met.sum())}
            shares["checklist"] = float(met.sum() / items.sum()), "share"
        for name, count in counts.items():
            yield answers.block.row(("scored by",), (who,), name, count, unit="count"), None
        for name, (value, unit) in shares.items():
            if value is not None:
                yield answers.block.row(("scored by",), (who,), name, round(value, 6), unit=unit), None


class _Scores:
    """The answers of a run that the rules have scored, and those that no judge gave a verdict on."""

    def __init__(self, name: str, scoring: Scoring, in_force: str, root: str) -> None:
        self.records, self._numbers = array("q"), array("d")
        self.judges = [_Judge(entry) for entry in scoring.judges]
        self.failures, self.no_verdict, self.else_rules = list[FailedReply](), 0, 0
        self._name, self._scoring, self._active, self._root = name, scoring, scoring.scorer == in_force, root
        plain, _, self._instead = scoring.scorer.partition(")+")
        self._by_verdict = score_kind(f"{plain})" if self._instead else plain)

    def add(self, place: int, record: Record, reader: Reader) -> None:
        """Take the answer at this place among all records."""
        if self._root not in ("", record.set):
            return
        rules = _read(reader, score_kind(self._scoring.rules), record, Score)
        if record.reply.error or rules is None:
            return
        both = _read(reader, score_kind(self._scoring.scorer), record, Score)
        combined = nan if both is None or both.value is None else both.value
        waits = _waits(rules), both is not None and _waits(both)
        self.records.append(place)
        self._numbers.extend((rules.value or 0.0, rules.weight, combined, *waits))
        scored = reader.get(self._by_verdict, record.key) is not None
        self.else_rules += bool(self._instead) and not scored
        failed = [judge.add(record, reader, scored=scored) for judge in self.judges]
        if both is None and any(failed):
            self.no_verdict += 1
            if len(self.failures) < SHOWN_FAILURES:
                reason = next(asks[-1].error for asks in reversed(failed) if asks)
                self.failures.append(FailedReply.of(self._name, record, reason))

    def rows(self, block: Block, key: Key, kept: _Mask) -> Iterator[Numbered]:
        """The rows of a condition, some of whose answers are kept."""
        if not kept.any():
            return
        records = np.array(self.records)[kept]
        rules, weights, combined, *waits = np.array(self._numbers).reshape(-1, 5)[kept].T
        block = block._replace(front=key.place | {"scorer": self._scoring.scorer})
        answers = _Answers(block, block.cell(records), block.columns.parents[records], weights)
        yield answers.row("rules", rules, waits=waits[0] > 0)
        for judge in self.judges:
            yield from judge.rows(answers, kept, rules, all_asked=self._scoring.judge_mode == "all")
        who = "combined" if self._active else "combined (not in force)"
        yield answers.combined(who, combined, waits[1] > 0)


class _Answers(NamedTuple):
    """The answers of a condition; `parents` and `weights` go with them."""

    block: Block
    cell: Cell
    parents: Ints
    weights: Floats

    def row(
        self, who: str, values: Floats, *, waits: NDArray[np.bool_] | None = None, failed: int = 0, left_out: int = 0
    ) -> Numbered:
        """The mean of the answers that have a value."""
        answers = int((~np.isnan(values)).sum())
        counts = Counts(answers=answers, failed=failed)
        cell = self.cell.holding(self.parents, values, self.weights, waits)._replace(counts=counts)
        note = "" if answers else NO_SCORE
        return self.block.mean_row(("scored by",), (who,), "score", cell, note=note, left_out=left_out), cell

    def combined(self, who: str, values: Floats, waits: NDArray[np.bool_]) -> Numbered:
        """The mean of rules and judges; where answers have no verdict, between which ends it lies. Over the others
        alone it would be too high, as all that the rules call right are among them."""
        row, cell = self.row(who, values, waits=waits)
        if not (missing := np.isnan(values)).any():
            return row, cell
        sides = (self.cell.holding(self.parents, np.where(missing, end, values), self.weights) for end in (0.0, 1.0))
        low, high = (round(float(np.average(side.values, weights=side.weights)), 6) for side in sides)
        return replace(row, value=None, ci95=(low, high), judged=None, method="", note=BETWEEN), None


def _waits(score: Score) -> bool:
    """Whether what was read waits for a judge."""
    return score.needs_judge and score.status == "ok"


def _read(reader: Reader, kind: str, record: Record, form: type[T]) -> T | None:
    """What the store has of a kind for a record."""
    value = reader.get(kind, record.key)
    return None if value is None else msgspec.json.decode(value, type=form)


def _failed(reader: Reader, entry: JudgeEntry) -> dict[str, list[Judgement]]:
    """The asks of a judge that brought no verdict, by record, the latest last. There are few, or there is no report
    worth reading."""
    found = dict[str, list[Judgement]]()
    for key, value in reader.items(unjudged_kind(entry.id)):
        found.setdefault(key.partition(":")[0], []).append(msgspec.json.decode(value, type=Judgement))
    return found


UNCALIBRATED = (
    "the judge was never calibrated here: label pairs or mark a sheet (`mmdyn data audit`), and run "
    "`mmdyn judge --calibrate LABELLED` with the --judge and --votes that the set was made with"
)
RULES_MEASURED = (
    "no model judged the variants, and rules are a sieve: on 240 exam pairs that it was not made on, the embedded judge"
    " caught 80 % of the changed questions and kept 84 % of the unchanged ones; `mmdyn perturb --judge MODEL`, or"
    " nli:MODEL, asks a model"
)
"""What is known of the judge `embedded` wherever it is used; a calibration on one's own pairs says more."""

SEEN_BY_RULES = (
    "no model judged the variants, in which only pictures changed: `mmdyn perturb --judge MODEL` asks one that sees"
)
UNJUDGED = "nobody judged the variants: `mmdyn perturb --judge` keeps those that still ask the same"
METHOD = "Agresti-Coull over questions"
"""How the intervals of a calibration's shares are made."""
NOT_THERE = "the set that was asked does not lie in {folder} any more, so nothing is known of its judge"
NOT_WRITTEN = (
    "a set that {command} made does not say which judge that was: calibrations are known for sets of `mmdyn perturb`"
)
NO_VARIANT = "no variant came out"


def without_model(dynamic: SampleSet) -> str:
    """Say what is to be thought of a dynamic set whose variants no model judged; empty where one did.

    What was measured of the rules holds for words, so that it is told only where a chain changes some. A null chain
    changes nothing that a judge would see.
    """
    label, roles = _label(dynamic), dynamic.manifest.roles
    asked = [chain for chain, role in roles.items() if role != "null"]
    if label.partition(":")[0] not in ("", "embedded") or (roles and not asked):
        return ""
    words = not roles or any(changed(chain) != "image" for chain in asked)
    return (RULES_MEASURED if words else SEEN_BY_RULES) if label else UNJUDGED


def judge_rows(block: Block, part: MeaningJudges) -> Iterator[Numbered]:
    """The outcomes of the variants of each dynamic set, and how well its judge rejects changed questions on each file
    of labelled pairs. Sets are looked for in their folders, calibrations in this user's cache.

    redrawn: attempts that the judge refused and another one followed. Calibrations are never pooled, as a pair may
    stand in several files; n counts the pairs of a share, and on `failed` ones the judge gave no verdict.
    """
    for name, run in block.columns.runs.items():
        for entry in run.config.sets:
            here = block._replace(front=({"run": name} if name else {}) | {"set": entry.name})
            yield from ((row, None) for row in _rows(here, run, entry))


def _rows(block: Block, run: RunFolder, entry: SetEntry) -> Iterator[Row]:
    """The rows of a dynamic set, none for another. What is wrong with the set spoils no report: it is noted."""
    folder, note = run.set_folder(entry), ""
    try:
        manifest = read_set_manifest(folder)
        if manifest is not None and manifest.digest == entry.digest:
            yield from _judged(block, manifest, SampleSet(folder)) if "dynamic" in manifest.variant_kinds else ()
        elif entry.name != entry.root:
            note = NOT_THERE.format(folder=entry.folder)
    except UserError as error:
        note = str(error)
    if note:
        yield block.row((), (), "kept", None, unit="count", note=note)


def _judged(block: Block, manifest: SetManifest, dynamic: SampleSet) -> Iterator[Row]:
    label, identity = _label(dynamic), manifest.made.get("judge")
    who, note, found = label, NO_VARIANT, tuple[Calibration, ...]()
    if identity is None:
        command = f"`{manifest.made.get('command') or 'another program'}`"
        note = NOT_WRITTEN.format(command=command) if label else UNJUDGED
    elif label:
        who = f"{label} {judge_id(identity)}"
        try:
            found = load_calibrations(identity)
            note = "" if found else UNCALIBRATED
        except UserError as error:
            note = str(error)
    rules = without_model(dynamic) if label else ""
    here = block._replace(front=block.front | ({"judge": who} if who else {}))
    for outcome in ("kept", "rejected", "doubtful", "redrawn", "unjudged"):
        said = "; ".join(filter(None, (note, rules))) if outcome == "kept" else ""
        yield here.row((), (), outcome, manifest.counts.get(outcome, 0), unit="count", note=said)
    for one in found:
        shares = {"recall": one.recall, "precision": one.precision, "specificity": one.specificity}
        for name, share in shares.items():
            if share:
                key = (named(one),)
                yield here.share_row(
                    ("calibration",), key, name, share, n=share.n, counts=Counts(failed=one.failed), method=METHOD
                )


def _label(dynamic: SampleSet) -> str:
    """What verdicts name the judge by. One judge judged all whose meaning is kept, so the first of these tells; a
    dropped one where none was kept."""
    for sample in dynamic:
        if sample.variant_kind == "dynamic":
            return _by(sample)
    return next(filter(None, (_by(dropped.sample) for dropped in dynamic.dropped())), "")


def _by(sample: Sample | None) -> str:
    return sample.variant.verdict.by if sample and sample.variant else ""


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
            yield from _both_rows(block, records, None, int(marked.sum()), FEW)
            return
        power = tuned_power(values, weights, marks)
        found = prediction_powered(values, weights, clusters, marks, power)
        yield from _both_rows(block, records, found, int(marked.sum()))
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
    yield from _both_rows(block, records, found, grading.n, note)


def _both_rows(block: Block, records: Ints, found: Estimate | None, marks: int, note: str = "") -> Iterator[Numbered]:
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
