"""Score the records of a run again, by rules and by judges. Only what a change touches is scored and judged; no model that was
evaluated is asked. The scores of before stay in the store under their scorer's name."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn.errors import Stopped
from mmdyn.models.budget import Budget, open_budget, say_cost
from mmdyn.record import Condition, Record, Score
from mmdyn.reporting.waiting import Waiting
from mmdyn.run.draining import see_through, waiting_for
from mmdyn.run.grader import Counts, Grader, JudgeLine
from mmdyn.run.in_force import settle
from mmdyn.run.judges import Judging, open_cascade
from mmdyn.run.recorded import pictures_of
from mmdyn.scoring.scorer import Scorer
from mmdyn.work.interrupts import run_to_the_end
from mmdyn.work.progress import ProgressBar
from mmdyn.work.run_folder import RECORD, RunFolder, score_kind
from mmdyn.work.store import Reader, Store

AT_ONCE = 64
"""Records that are scored by rules at a time."""


class Change(Struct, frozen=True):
    """A record whose score in force is another one now; scores in [0, 1], None where it had none."""

    model: str
    sample: str
    mode: str
    before: float | None
    after: float | None


class Rescored(Struct, frozen=True):
    """What became of a run's answers: `changes` in the records' order, and the judges' `counts`. `waiting`: why the scores of
    before are still in force. `saved`: verdicts that were not needed or known before."""

    changes: list[Change]
    waiting: Waiting | None
    counts: Counts
    saved: int


class _Named(Struct):
    """What of a record a Change tells."""

    model: str
    sample: str
    condition: Condition


def score(
    run: RunFolder | str | Path,
    policy: str = "mdk12",
    *,
    judges: str | Sequence[str] = (),
    judge_mode: str = "cascade",
    votes: int = 1,
    rubric: str = "auto",
    judge_pictures: bool = False,
    else_rules: bool = False,
    **asking: Any,
) -> list[Change]:
    """Score every answered record by a policy, and by judges as `evaluate` does; make these scores the ones in force, unless a
    verdict is missing, and return what changed.

    Verdicts that are in the store stand: a judge is asked only about answers on which it gave none, and which it is to judge.
    asking: concurrency, use_cache, prices, max_cost, max_requests and quiet, as of `evaluate`; they are about the judges alone.
    Raises Busy while the run is going on, UserError for settings that do not fit, ModelError for a judge that cannot be asked,
    Stopped at a limit; then the scores of before stay in force, and the same call goes on.
    """
    models = (judges,) if isinstance(judges, str) else tuple(judges)
    return rescore(
        run, policy, Judging(models, judge_mode, votes, rubric, judge_pictures, else_rules), **asking
    ).changes


def rescore(
    run: RunFolder | str | Path,
    policy: str,
    judging: Judging,
    *,
    concurrency: int = 32,
    use_cache: bool = True,
    prices: str | Path | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    quiet: bool = True,
) -> Rescored:
    """The same, with what the judges were asked."""
    run = run if isinstance(run, RunFolder) else RunFolder(run)
    scorer, budget = Scorer(policy), open_budget(prices, max_cost, max_requests)
    settings: dict[str, Any] = {"concurrency": concurrency, "use_cache": use_cache, "budget": budget}
    with open_cascade(scorer, judging, **settings) as cascade, Store(run.records_folder) as store:
        budget.check([judge.asker.model for judge in cascade.judges])
        run = RunFolder(run.folder)
        before = _values(run) if run.config.scorer.startswith(cascade.name) else score_kind(run.config.scorer)
        grader = Grader(store, cascade)
        with ProgressBar("scoring", run.config.planned, quiet=quiet) as progress:
            again = _Again(run, grader, store, budget, progress)
            again.check()
            run_to_the_end(again.grade())
        waiting = settle(run, store, cascade, else_rules=judging.else_rules)
        changes = [change for change in _compared(run, before) if change.before != change.after]
    counts = grader.counts
    return Rescored(changes, waiting, counts, again.answers * len(cascade.judges) - counts.judged - counts.failed)


class _Again:
    """One call's way through a run's records. answers (attribute): how many there are."""

    def __init__(self, run: RunFolder, grader: Grader, store: Store, budget: Budget, progress: ProgressBar) -> None:
        self._run, self._grader, self._store, self._budget, self._progress = run, grader, store, budget, progress
        self._line = JudgeLine(grader, self._halt)
        self._stopped: Stopped | None = None
        self._pictures = pictures_of(run)
        self.answers = 0

    def check(self) -> None:
        """Raise UserError where a judge's rubric is not for what was asked."""
        if any(judge.chosen for judge in self._grader.cascade.judges):
            with Reader(self._run.records_folder) as reader:
                for _, value in reader.items(RECORD):
                    self._grader.cascade.check(self._grader.sample_of(msgspec.json.decode(value, type=Record)))

    async def grade(self) -> None:
        """Score and judge every record as far as it is not. Raises ModelError and Stopped when what was in flight is in."""
        try:
            await see_through(asyncio.create_task(self._grade_all()), self._interrupt)
        finally:
            await self._grader.cascade.close()

    def _halt(self, why: Stopped) -> None:
        self._stopped = self._stopped or why
        self._line.stop(why)

    def _interrupt(self) -> None:
        self._halt(Stopped("interrupted"))
        if self._line.in_flight:
            self._progress.say(waiting_for(self._line.in_flight))

    async def _grade_all(self) -> None:
        await self._line.beside(self._by_rules(), self._store, self._note)
        if self._stopped is not None:
            left = f"{self._line.left} to judge, and the same command goes on from here"
            raise Stopped(f"{self._stopped}: {self._budget} by this call; {left}")

    async def _by_rules(self) -> None:
        slots = asyncio.Semaphore(AT_ONCE)
        with Reader(self._run.records_folder) as reader:
            async with asyncio.TaskGroup() as tasks:
                for key, value in reader.items(RECORD):
                    if self._stopped is not None:
                        break
                    self.answers += 1
                    if self._grader.is_settled(key):
                        self._progress.advance(there=True)
                        await asyncio.sleep(0)
                        continue
                    await slots.acquire()
                    record = msgspec.json.decode(value, type=Record)
                    tasks.create_task(self._one(key, record)).add_done_callback(lambda _: slots.release())

    async def _one(self, key: str, record: Record) -> None:
        if await self._grader.by_rules(key, self._grader.sample_of(record), record.reply):
            self._line.add(key, self._pictures.get(record.set))
        self._progress.advance()

    def _note(self) -> None:
        counts, budget = self._grader.counts, self._budget
        self._progress.note(
            in_flight=self._line.in_flight,
            to_judge=self._line.left,
            judged=counts.judged,
            unjudged=counts.failed,
            cost=say_cost(budget.spent, budget.unknown),
        )


def _values(run: RunFolder) -> dict[str, float | None]:
    """The scores in force by record."""
    kind = score_kind(run.config.scorer)
    with Reader(run.records_folder) as reader:
        return {key: _value(reader.get(kind, key)) for key, _ in reader.items(RECORD)}


def _compared(run: RunFolder, before: str | dict[str, float | None]) -> Iterator[Change]:
    """Every answered record with its score of before (by its kind, or by record where that kind has changed) and in force."""
    kind = score_kind(run.config.scorer)
    with Reader(run.records_folder) as reader:
        for key, value in reader.items(RECORD):
            record = msgspec.json.decode(value, type=_Named)
            had = _value(reader.get(before, key)) if isinstance(before, str) else before[key]
            has = _value(reader.get(kind, key))
            yield Change(record.model, record.sample, record.condition.mode, had, has)


def _value(score: bytes | None) -> float | None:
    return msgspec.json.decode(score, type=Score).value if score is not None else None
