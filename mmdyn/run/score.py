"""The records of a run scored again, by rules, judges or one more metric, against the golden answers as they are
now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import Given, SampleSet, is_set
from mmdyn.errors import Stopped, UserError, command_line
from mmdyn.keys import Json, canonical, digest
from mmdyn.models import Budget, Caches, say_cost
from mmdyn.record import Condition, Record, Score
from mmdyn.run.evaluate import read_served, still_served
from mmdyn.run.execution import Execution, Limits
from mmdyn.run.flow import carry_out, waiting_for
from mmdyn.run.grader import Grader, JudgeCounts, begun_again, scoring_of, settle
from mmdyn.run.predictions import as_exported
from mmdyn.run.recorded import check_asked, pictures_of, sample_of, stored_sample
from mmdyn.run.sets import check_digest, digest_of, entry_of, open_sets, several
from mmdyn.run.settings import ScoringConfig, needed_judges, open_cascades
from mmdyn.sample import Sample
from mmdyn.scoring import Cascade, Scorer
from mmdyn.tables import Waiting
from mmdyn.work import (
    ANSWERED_NOW,
    LOG,
    RECORD,
    SAMPLE,
    Evaluator,
    ProgressBar,
    Reader,
    RunFolder,
    SetEntry,
    Store,
    answers_kind,
    record_under,
    run_log,
    run_to_the_end,
    score_kind,
    scored_records,
)

SHOWN = ("question", "task_type", "language", "options", "options_in_image", "images", "knowledge_points", "hints")
"""What of a sample a model may be shown: where it differs, something else was asked."""

SCORED_BY = ("answer", "match", "points", "checklist")
"""What of a sample decides a score, and no model is shown."""


class Answers(Struct):
    """The run's sets with the answers that it is scored by, and what there is to say about them."""

    entries: list[SetEntry]
    notes: list[str]


_AskedOf: TypeAlias = dict[str, dict[str, list[str]]]


class _Asked(Struct):
    set: str
    sample: str
    digest: str


def find_answers(run: RunFolder, store: Store, given: Sequence[SampleSet] = ()) -> Answers:
    """Look into the run's sets, or into those `given` in their place, and keep in the store which samples are scored
    anew.

    A sample that asks something else now, or is gone, is scored by the answer that it was asked with. Raises UserError
    for a set that the run did not ask, and for variants of a set whose answers changed since.
    """
    asked, found = cache(lambda: _asked(run)), Answers([], [])
    names = {opened.name: opened for opened in given}
    if unknown := names.keys() - {entry.name for entry in run.config.sets}:
        known = ", ".join(entry.name for entry in run.config.sets)
        name = unknown.pop()
        raise UserError(
            f"{run.folder} did not ask {name}: give {known}, by that name"
            f" (`{command_line('mmdyn', 'data', 'convert', name, '-o', 'FOLDER', '--name', 'NAME')}`)"
        )
    for root, entries in groupby(sorted(run.config.sets, key=lambda entry: entry.root), lambda entry: entry.root):
        _Root(run, store, asked, names).look(root, [*entries], found)
    order = [entry.name for entry in run.config.sets]
    found.entries.sort(key=lambda entry: order.index(entry.name))
    return found


class _Now(NamedTuple):
    """A set of a run as it is now, with its digest, and by the digests of then the samples that have another answer."""

    entry: SetEntry
    opened: SampleSet
    digest: str
    corrected: dict[str, Sample]


class _Root:
    """The sets of one root: the standard one and its variants. asked: what `_asked` gives, read where a set is another
    one now."""

    def __init__(
        self, run: RunFolder, store: Store, asked: Callable[[], _AskedOf], given: Mapping[str, SampleSet]
    ) -> None:
        self._run, self._store, self._asked, self._given = run, store, asked, given
        self._left, self._other = dict[str, list[str]](), 0

    def look(self, root: str, entries: Sequence[SetEntry], found: Answers) -> None:
        """Add the entries with their answers to what was `found`."""
        sets = [(entry, self._open(entry)) for entry in entries]
        if gone := [entry for entry, opened in sets if opened is None]:
            places = ", ".join(str(self._run.set_folder(entry)) for entry in gone)
            found.notes.append(f"{places} is no set any more: {root} is scored by the answers of before")
            found.entries += entries
            return
        if root not in self._given and (imported := [one for one in entries if _is_imported(one)]):
            found.notes.append(f"{imported[0].name} was read from a file: give that with --set if its answers changed")
        there = [(entry, opened, digest_of(opened)) for entry, opened in sets if opened is not None]
        if all(entry.digest == now for entry, _, now in there):
            found.entries += [self._keep(_Now(entry, opened, now, {})) for entry, opened, now in there]
            return
        self._left = dict(self._asked().get(root, {}))
        each = [_Now(entry, opened, now, self._compare(opened)) for entry, opened, now in there]
        self._other += sum(map(len, self._left.values()))
        self._check_variants(each)
        found.entries += [self._keep(now) for now in each]
        found.notes += self._notes(root, sum(len(now.corrected) for now in each))

    def _open(self, entry: SetEntry) -> SampleSet | None:
        if entry.name in self._given:
            return self._given[entry.name]
        folder = self._run.set_folder(entry)
        return SampleSet(folder) if is_set(folder) else None

    def _compare(self, opened: SampleSet) -> dict[str, Sample]:
        """The samples that have another answer than was asked with, by the digest of then."""
        corrected = dict[str, Sample]()
        with Reader(self._run.records_folder) as reader:
            for sample in opened:
                for before in self._left.pop(sample.id, ()):
                    if before == sample.digest:
                        continue
                    was = stored_sample(reader, self._run.folder, before, sample.id)
                    alike = (one for one in (sample, as_exported(sample)) if _of(one, SHOWN) == _of(was, SHOWN))
                    if (now := next(alike, None)) is None:
                        self._other += 1
                    elif _of(now, SCORED_BY) != _of(was, SCORED_BY):
                        corrected[before] = now
        return corrected

    def _check_variants(self, each: Sequence[_Now]) -> None:
        """Raise UserError for variants that still have the answers of before: a contrast would be with other
        answers."""
        standard = {now.entry.name: now for now in each if now.corrected}
        for opened in [now.opened for now in each]:
            origin = opened.manifest.parent
            if origin is None or origin.name not in standard or origin.digest == standard[origin.name].digest:
                continue
            check_digest(standard[origin.name].opened, standard[origin.name].digest)
            again = "" if self._run.config.ops else "perturb that set again, or "
            raise UserError(
                f"{opened.folder} was made of {origin.name} with the answers of before: {again}evaluate into another"
                " folder, where what was asked before comes out of the cache"
            )

    def _keep(self, now: _Now) -> SetEntry:
        """Keep in the store what the set is scored by; the entry that says so."""
        folder = entry_of(now.opened, self._run.folder).folder
        if not now.corrected:
            return replace(now.entry, folder=folder, answers="")
        answers = digest([now.entry.digest, now.digest]) if self._other else now.digest
        for before, sample in now.corrected.items():
            self._store.put(SAMPLE, sample.digest, canonical(sample))
            self._store.put(answers_kind(answers), before, sample.digest.encode())
        return replace(now.entry, folder=folder, answers=answers)

    def _notes(self, root: str, corrected: int) -> list[str]:
        notes = list[str]()
        if corrected:
            notes.append(
                f"samples of {root} with another answer, or other points, than when they were asked: {corrected}; they"
                " are scored by what they have now"
            )
        if self._other:
            notes.append(
                f"samples of {root} that ask something else now, or are gone: {self._other}; they are scored by the"
                " answer that they were asked with, and `mmdyn eval` into another folder asks them"
            )
        return notes


def _is_imported(entry: SetEntry) -> bool:
    """Whether it was made of a file for the run, in whose folder it lies; what became of the file is not known."""
    return entry.name == entry.root and not Path(entry.folder).is_absolute()


def _asked(run: RunFolder) -> _AskedOf:
    """By root and id, the digests of the samples that were asked."""
    found = dict[str, dict[str, list[str]]]()
    with Reader(run.records_folder) as reader:
        for _, value in reader.items(RECORD):
            record = msgspec.json.decode(value, type=_Asked)
            digests = found.setdefault(record.set, {}).setdefault(record.sample, [])
            if record.digest not in digests:
                digests.append(record.digest)
    return found


def _of(sample: Sample, names: Sequence[str]) -> list[Json]:
    return [msgspec.to_builtins(getattr(sample, name)) for name in names]


AT_ONCE = 64
"""Records that are scored by rules at a time."""


class Change(Struct, frozen=True):
    """A record whose score in force is another one now: its value, in [0, 1], or what it weighs in totals; None where
    it had none."""

    model: str
    sample: str
    mode: str
    before: float | None
    after: float | None
    weight_before: float | None = None
    weight_after: float | None = None

    @property
    def is_weighed_anew(self) -> bool:
        """Whether it was scored before and weighs something else now."""
        return self.weight_before is not None and self.weight_before != self.weight_after


class Rescored(Struct, frozen=True):
    """The new scores of a run's answers: `changes` in the records' order, and the judges' `counts`. `notes`: which
    golden answers are others than were asked with. `waiting`: why the scores of before are still in force.
    `saved`: verdicts that were not needed or known before."""

    changes: list[Change]
    notes: list[str]
    waiting: Waiting | None
    counts: JudgeCounts
    saved: int


class _Named(Struct):
    """What of a record a Change tells."""

    model: str
    set: str
    sample: str
    condition: Condition


def score(
    run: RunFolder | str | Path,
    scoring: str | ScoringConfig = ScoringConfig(""),
    *,
    sets: Given | Sequence[Given] = (),
    limits: Limits = Limits(),
    execution: Execution = Execution(quiet=True),
) -> list[Change]:
    """Score every answered record by a policy, and by judges, as `evaluate` does; put these scores in force.

    While a verdict is missing, and after an error, the earlier scores stay in force; the same call goes on. The golden
    answers are those that the run's sets have now, where the question is still the one that was asked. Verdicts that
    are in the store stand: a judge is asked only about answers on which it gave none, and which it is to judge.

    Args:
        run: An opened run, or its folder.
        scoring: The settings, or the name of a policy; without one each set is scored by that of its scores in force.
        sets: The run's sets where they lie elsewhere, as `evaluate` takes them.
        limits: All but `n`, for the judges.
        execution: `cache`, `changed_model` and `quiet`, for the judges.

    Returns:
        What changed, a record each.

    Raises:
        Busy: The run is going on.
        UserError: Settings do not fit, or the run has no answers.
        ModelError: A judge cannot be asked.
        Stopped: A limit was reached.

    >>> from mmdyn import Execution, evaluate
    >>> primes = {"id": "primes", "question": "Which are prime?", "task_type": "multi_select", "answer": ["A", "C"]}
    >>> primes |= {"options": [{"label": label, "text": text} for label, text in zip("ABC", "247")]}
    >>> run = evaluate([[primes]], lambda messages: "Answer: A", "run", execution=Execution(quiet=True))
    >>> [(change.sample, change.before, change.after) for change in score(run, "strict")]
    [('primes', 0.5, 0.0)]
    """
    scoring = ScoringConfig(scoring) if isinstance(scoring, str) else scoring
    return rescore(run, scoring, several(sets), limits, execution).changes


def rescore(
    run: RunFolder | str | Path, scoring: ScoringConfig, sets: Sequence[Given], limits: Limits, execution: Execution
) -> Rescored:
    """The same, with what the judges were asked."""
    run = run if isinstance(run, RunFolder) else RunFolder(run)
    budget = limits.budget
    caches = Caches(execution.cache, run.folder)
    concurrency = limits.concurrency
    scorings = {root: _scoring_of(scoring, evaluator) for root, evaluator in run.config.by_root.items()}
    with (
        open_cascades(scorings.values(), concurrency=concurrency, caches=caches, budget=budget) as cascades,
        Store(run.records_folder) as store,
    ):
        judges = [judge.asker.model for cascade in cascades.values() for judge in cascade.judges]
        budget.check(judges)
        run = RunFolder(run.folder)
        check_asked(run)
        now = read_served((), judges)
        served = still_served(run.folder, run.config.served, now, changed_model=execution.changed_model)
        before = _scores(run)
        answers = find_answers(run, store, open_sets(sets, run.folder))
        store.flush()
        run.config = replace(run.config, sets=tuple(answers.entries), served=served)

        def cascade_of(root: str) -> Cascade:
            return cascades[scorings.get(root) or scorings[""]]

        grader = Grader(store, cascade_of, [*cascades.values()])
        with run_log(run.folder), ProgressBar("scoring", run.config.planned, quiet=execution.quiet) as progress:
            names = " and ".join(cascade.name for cascade in cascades.values())
            LOG.info("mmdyn %s: %d answers are scored by %s", version("mmdyn"), run.config.planned, names)
            again = _Again(run, grader, store, budget, progress)
            again.check()
            for root in scorings:
                run.write_config(run.config.with_evaluators(begun_again(run, scoring_of(cascade_of(root)), root)))
            run_to_the_end(again.grade())
        waiting = [settle(run, store, cascade_of(root), root, else_rules=scoring.else_rules) for root in scorings]
        changes = [*_changed(run, before)]
    counts = grader.counts
    saved = again.verdicts - counts.judged - counts.failed
    return Rescored(changes, answers.notes, Waiting.together(waiting), counts, saved)


def _scoring_of(scoring: ScoringConfig, evaluator: Evaluator) -> ScoringConfig:
    """How a set is scored again: without a policy by the one that its scores in force are by, and by judges where these
    need any."""
    if scoring.policy:
        return scoring
    return needed_judges(replace(scoring, policy=evaluator.active_scores.policy))


class _Again:
    """One call's way through a run's records. verdicts (attribute): how many judges could be asked for."""

    def __init__(self, run: RunFolder, grader: Grader, store: Store, budget: Budget, progress: ProgressBar) -> None:
        self._run, self._grader, self._store, self._budget, self._progress = run, grader, store, budget, progress
        self._stopped: Stopped | None = None
        self._pictures = pictures_of(run)
        self.verdicts = 0

    def check(self) -> None:
        """Raise UserError where a judge's rubric is not for what was asked."""
        if any(judge.chosen for judge in self._grader.judges):
            with Reader(self._run.records_folder) as reader:
                for key, value in scored_records(reader, self._run.config.sets):
                    record = record_under(key, value, reader)
                    self._grader.cascade(record.set).check(self._sample_of(record))

    async def grade(self) -> None:
        """Score and judge every record as far as it is not. Raises ModelError and Stopped when what was in flight is
        in."""
        grader = self._grader
        try:
            with Reader(self._run.records_folder) as reader:
                await carry_out(
                    scored_records(reader, self._run.config.sets),
                    lambda one: self._one(one[0], one[1], reader),
                    workers=AT_ONCE + grader.workers,
                    stop=grader.stop,
                    note=self._note,
                    interrupted=self._say_waiting,
                )
        finally:
            await grader.close()
        if self._stopped is not None:
            left = f"{grader.left} to judge, and the same command goes on from here"
            raise Stopped(f"{self._stopped}: {self._budget} by this call; {left}")

    async def _one(self, key: str, value: bytes, reader: Reader) -> None:
        """Grade a record. At a limit the others are still scored by rules: what is left to judge is then known."""
        record = record_under(key, value, reader)
        self.verdicts += len(self._grader.cascade(record.set).judges)
        settled = self._grader.is_settled(key, record.set)
        if not settled:
            sample, images = self._sample_of(record), self._pictures.get(record.set)
            try:
                await self._grader.grade(key, record.set, sample, record.reply, images)
            except Stopped as why:
                self._stopped = self._stopped or why
                self._grader.stop(why)
        self._progress.advance(there=settled)
        await asyncio.sleep(0)

    def _sample_of(self, record: Record) -> Sample:
        return sample_of(self._store, self._store.folder.parent, record)

    def _say_waiting(self) -> None:
        if self._grader.in_flight:
            self._progress.say(waiting_for(self._grader.in_flight))

    def _note(self) -> None:
        counts, budget = self._grader.counts, self._budget
        self._progress.note(
            in_flight=self._grader.in_flight,
            to_judge=self._grader.left,
            judged=counts.judged,
            unjudged=counts.failed,
            cost=say_cost(budget.spent, budget.unknown),
        )


_Held: TypeAlias = tuple[float | None, float | None]
"""A score's value and weight."""


def _scores(run: RunFolder) -> dict[str, _Held]:
    """The scores in force by the records' keys."""
    with run.reading() as reader:
        each = scored_records(reader, run.config.sets)
        return {_own(key): _in_force(run, reader, key, msgspec.json.decode(value, type=_Named)) for key, value in each}


def _changed(run: RunFolder, before: dict[str, _Held]) -> Iterator[Change]:
    """The answered records whose score of before is not in force."""
    with run.reading() as reader:
        for key, value in scored_records(reader, run.config.sets):
            record = msgspec.json.decode(value, type=_Named)
            had, has = before[_own(key)], _in_force(run, reader, key, record)
            if had != has:
                yield Change(record.model, record.sample, record.condition.mode, had[0], has[0], had[1], has[1])


def _in_force(run: RunFolder, reader: Reader, key: str, record: _Named) -> _Held:
    """The score in force of a record."""
    return _held(reader.get(score_kind(run.config.evaluator(record.set).scorer), key))


def _own(key: str) -> str:
    """A record's own key."""
    return key.partition(ANSWERED_NOW)[0]


def _held(stored: bytes | None) -> _Held:
    if stored is None:
        return None, None
    score = msgspec.json.decode(stored, type=Score)
    return score.value, score.weight


class Beside(Struct, frozen=True):
    """What a metric scored: how many answers it has scored now, how many of these by this call, and the answers that
    are `no_text`, which a metric cannot score."""

    scorer: str
    scored: int
    new: int
    no_text: int


def score_beside(run: RunFolder | str | Path, metric: str, *, quiet: bool = True) -> Beside:
    """Score every answer that is a text by a metric, and show these scores beside those in force, which stay.

    Args:
        run: a run folder.
        metric: a metric by its full or short name, such as bleu (`mmdyn list scorers`).
        quiet: show no progress.

    Raises:
        Busy: while the run is going on.
        UserError: for a policy in place of a metric, one that is in force, and a run without an answer that is a text.
    """
    run, scorer = run if isinstance(run, RunFolder) else RunFolder(run), Scorer(metric)
    if not scorer.compares:
        raise UserError(
            f"{scorer.policy} is a policy, and metrics alone stand beside it: `mmdyn score` puts it in force"
        )
    scored = new = no_text = 0
    kind = score_kind(scorer.name)
    with Store(run.records_folder) as store:
        run = RunFolder(run.folder)
        check_asked(run)
        with (
            run_log(run.folder),
            Reader(run.records_folder) as reader,
            ProgressBar("scoring", run.config.planned, quiet=quiet) as progress,
        ):
            for key, value in scored_records(reader, run.config.sets):
                record, there = record_under(key, value, reader), reader.get(kind, key) is not None
                sample = sample_of(reader, run.folder, record)
                fits = scorer.fits(sample)
                if fits and not there:
                    store.put(kind, key, canonical(scorer.score(sample, record.reply)))
                scored += fits
                new += fits and not there
                no_text += not fits
                progress.advance(there=there)
        if not scored:
            raise UserError(f"{scorer.policy} compares texts, and no answer of {run.folder} is one: choose a policy")
        store.flush()
        others = [name for name in run.config.beside or () if name.partition("@")[0] != scorer.policy]
        run.write_config(replace(run.config, beside=(*others, scorer.name)))
    return Beside(scorer.name, scored=scored, new=new, no_text=no_text)
