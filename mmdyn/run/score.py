"""Score the records of a run again, by rules and by judges. Only what a change touches is scored and judged; no model
that was evaluated is asked. The scores of before stay in the store under their scorer's name."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import Given
from mmdyn.errors import Stopped
from mmdyn.models import Budget, Caches, say_cost
from mmdyn.record import Condition, Record, Score
from mmdyn.run.active_scores import begun_again, scoring_of, settle
from mmdyn.run.answers import find_answers
from mmdyn.run.execution import Execution, Limits
from mmdyn.run.flow import carry_out, waiting_for
from mmdyn.run.grader import Grader, JudgeCounts
from mmdyn.run.recorded import check_asked, pictures_of, sample_of
from mmdyn.run.scoring_config import ScoringConfig, needed_judges, open_cascades
from mmdyn.run.served import read_served, still_served
from mmdyn.run.sets import open_sets, several
from mmdyn.sample import Sample
from mmdyn.scoring import Cascade
from mmdyn.tables import Waiting
from mmdyn.work import (
    ANSWERED_NOW,
    LOG,
    Evaluator,
    ProgressBar,
    Reader,
    RunFolder,
    Store,
    record_under,
    run_log,
    run_to_the_end,
    score_kind,
    scored_records,
)

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
    """What became of a run's answers: `changes` in the records' order, and the judges' `counts`. `notes`: which golden
    answers are others than were asked with. `waiting`: why the scores of before are still in force. `saved`: verdicts
    that were not needed or known before."""

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
    """Score every answered record by a policy, and by judges, as `evaluate` does; make these scores the ones in force,
    unless a verdict is missing, and return what changed. `scoring` may be the name of a policy; without one each set is
    scored by that of its scores in force.

    The golden answers are those that the run's sets have now, where the question is still the one that was asked;
    `sets`: the same sets where they lie elsewhere, as `evaluate` takes them. Verdicts that are in the store stand: a
    judge is asked only about answers on which it gave none, and which it is to judge.
    `limits` (all but n) and `execution` (cache, changed_model and quiet) are about the judges alone.

    Raises Busy while the run is going on, UserError for settings that do not fit and a run without answers, ModelError
    for a judge that cannot be asked, Stopped at a limit; then the scores of before stay in force, and the same call
    goes on.
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
    settings: dict[str, Any] = {"concurrency": limits.concurrency, "caches": caches, "budget": budget}
    scorings = {root: _scoring_of(scoring, evaluator) for root, evaluator in run.config.by_root.items()}
    with open_cascades(scorings.values(), **settings) as cascades, Store(run.records_folder) as store:
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
