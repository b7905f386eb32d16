"""Records scored by rules and judges as they come, and which scores of a run are in force.

Which scores of a run are in force: those of judges only when no verdict is missing, since without the answers that
wait for one the mean would be of those that the rules call right.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import groupby

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import ImageFolder
from mmdyn.errors import Stopped
from mmdyn.keys import canonical
from mmdyn.record import Judgement, Reply, Score
from mmdyn.run.settings import entries_of
from mmdyn.sample import Sample
from mmdyn.scoring import Cascade, Judge
from mmdyn.tables import Waiting, find_waiting
from mmdyn.work import (
    FAILURE,
    RECORD,
    Evaluator,
    Reader,
    RunConfig,
    RunFolder,
    Scoring,
    SetEntry,
    Store,
    judged_kind,
    score_kind,
    scored_records,
    unjudged_kind,
)

AHEAD = 4
"""Records under way for each request that a judge has in flight at most: those that wait to ask again leave their
place."""


class JudgeCounts(Struct):
    """What judges were asked by this call: verdicts `judged`, asks that `failed` to bring one, and for both the
    `requests` that were sent, tries again counted, and the replies `cached` beside them.
    """

    judged: int = 0
    failed: int = 0
    requests: int = 0
    cached: int = 0


class Grader:
    """Scores records of a store, those of each standard set by the cascade that `cascade` gives for its name, one of
    `cascades`. All that it finds is in the store at once. counts (attribute): of this call."""

    def __init__(self, store: Store, cascade: Callable[[str], Cascade], cascades: Sequence[Cascade]) -> None:
        self.cascade, self.counts, self.left = cascade, JudgeCounts(), 0
        self.cascades, self._store = cascades, store
        self.judges = [*dict.fromkeys(judge for one in cascades for judge in one.judges)]

    def is_settled(self, key: str, root: str) -> bool:
        """Whether a record of a standard set that is in the store has its score, and every verdict where all are
        wanted."""
        cascade = self.cascade(root)
        self._learn(key, cascade)
        if self._store.get(score_kind(cascade.name), key) is None:
            return False
        wanted = cascade.judges if cascade.mode == "all" else ()
        return all(self._store.get(judged_kind(judge.id), key) is not None for judge in wanted)

    async def grade(
        self,
        key: str,
        root: str,
        sample: Sample,
        reply: Reply,
        images: ImageFolder | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        """Score a record by rules, and have it judged where it needs that, as far as it is not.

        Args:
            root: the name of its standard set.
            images: where the sample's pictures lie.
            fresh: the record has just come, so that nothing is known of it.

        Raises:
            ModelError: a judge cannot be asked at all.
            Stopped: no further request is to be sent.
        """
        if not fresh and self.is_settled(key, root):
            return
        cascade = self.cascade(root)
        by_rules = score_kind(cascade.scorer.name)
        score = None if fresh else self._known(by_rules, key)
        if score is None:
            score = await _by_rules(cascade, sample, reply)
            self._store.put(by_rules, key, canonical(score))
        judgements: list[Judgement | None] = [None] * len(cascade.judges) if fresh else self._judgements(key, cascade)
        if cascade.pending(reply, score, judgements):
            self.left += 1
            await self._by_judges(cascade, key, sample, reply, score, judgements, images)
            self.left -= 1
        combined = cascade.combined(reply, score, judgements)
        if combined is not None and cascade.name != cascade.scorer.name:
            self._store.put(score_kind(cascade.name), key, canonical(combined))

    @property
    def in_flight(self) -> int:
        """How many requests to judges are in flight."""
        return sum(judge.asker.in_flight for judge in self.judges)

    @property
    def workers(self) -> int:
        """How many records may be with the judges at a time, so that none of them is idle."""
        return AHEAD * max((judge.asker.concurrency for judge in self.judges), default=0)

    def stop(self, why: Stopped) -> None:
        """Ask no judge any more; what is in flight comes in."""
        for judge in self.judges:
            judge.asker.stop(why)

    async def close(self) -> None:
        """Close the judges."""
        for judge in self.judges:
            await judge.close()

    async def _by_judges(
        self,
        cascade: Cascade,
        key: str,
        sample: Sample,
        reply: Reply,
        score: Score,
        judgements: list[Judgement | None],
        images: ImageFolder | None,
    ) -> None:
        """Ask the judges, one after the other as far as that is needed, and fill in what they said."""
        while pending := cascade.pending(reply, score, judgements):
            asked = (self._judge(cascade.judges[place], key, sample, reply, images) for place in pending)
            found = await asyncio.gather(*asked, return_exceptions=True)
            for place, judgement in zip(pending, found, strict=True):
                if isinstance(judgement, BaseException):
                    raise judgement
                judgements[place] = judgement

    def _learn(self, key: str, cascade: Cascade) -> None:
        """A judge that was asked for a verdict which is there does answer: what it refuses now is not for its
        options."""
        for judge in cascade.judges:
            if not judge.asker.answers and (value := self._store.get(judged_kind(judge.id), key)) is not None:
                known = msgspec.json.decode(value, type=Judgement)
                judge.asker.answers = known.requests + known.cached > 0

    async def _judge(
        self, judge: Judge, key: str, sample: Sample, reply: Reply, images: ImageFolder | None
    ) -> Judgement:
        judgement = await judge.judge(sample, reply, images)
        self.counts.requests += judgement.requests
        self.counts.cached += judgement.cached
        if judgement.value is None:
            self.counts.failed += 1
            self._store.put(unjudged_kind(judge.id), f"{key}:{time.time_ns()}", canonical(judgement))
        else:
            self.counts.judged += 1
            self._store.put(judged_kind(judge.id), key, canonical(judgement))
        return judgement

    def _judgements(self, key: str, cascade: Cascade) -> list[Judgement | None]:
        values = (self._store.get(judged_kind(judge.id), key) for judge in cascade.judges)
        return [None if value is None else msgspec.json.decode(value, type=Judgement) for value in values]

    def _known(self, kind: str, key: str) -> Score | None:
        value = self._store.get(kind, key)
        return None if value is None else msgspec.json.decode(value, type=Score)


async def _by_rules(cascade: Cascade, sample: Sample, reply: Reply) -> Score:
    if sample.kind.is_text:  # to compare texts may take symbolic maths a second
        return await asyncio.to_thread(cascade.scorer.score, sample, reply)
    return cascade.scorer.score(sample, reply)


ELSE_RULES = "+else-rules"
"""The end of a scorer's name by which the rules' score counts where no verdict could be had."""


def scoring_of(cascade: Cascade) -> Scoring:
    """The scores of a cascade, for run.json."""
    return Scoring(cascade.name, entries_of(cascade), cascade.mode if cascade.judges else "")


def begun(config: RunConfig, cascade: Callable[[str], Cascade], before: RunFolder | None) -> RunConfig:
    """The run.json with which the asking begins. `cascade`: how each standard set is scored; `before`: the run that
    goes on.

    Scores by rules are in force at once. Those of judges are under way: the scores of `before` stay where all that is
    asked has one, else it is those by the rules alone. Metrics beside them stay, too.
    """
    config = replace(config, beside=before.config.beside) if before else config

    def begin(root: str, evaluator: Evaluator) -> Evaluator:
        asked = scoring_of(cascade(root))
        if not asked.judges:
            return _in_force(evaluator, asked)
        stay = Scoring(asked.rules)
        if before and _is_asked(before, config.planned):
            known = before.config.evaluator(root).active_scores
            stay = known if _is_whole(before, config.sets, known.scorer, root) else stay
        return _under_way(evaluator, stay, asked)

    return config.with_evaluators(begin)


def begun_again(run: RunFolder, asked: Scoring, root: str) -> Callable[[str, Evaluator], Evaluator]:
    """How the evaluator of a standard set begins to score the answers of a run again: as in `begun`, but that scores by
    rules, too, come into force at the end, where all answers have those of before."""

    def begin(name: str, evaluator: Evaluator) -> Evaluator:
        if name != root:
            return evaluator
        whole = _is_whole(run, run.config.sets, evaluator.scorer, root)
        stay = evaluator.active_scores if whole else Scoring(asked.rules)
        return _under_way(evaluator, stay, asked) if asked.judges else _in_force(evaluator, stay)

    return begin


def settle(
    run: RunFolder, store: Store, cascade: Cascade, root: str = "", *, else_rules: bool = False
) -> Waiting | None:
    """Bring a cascade's scores of a standard set and its variants into force; what is waited for where a verdict is
    missing, and then those of before stay.

    else_rules: where no verdict could be had the rules' score counts, under a name of its own.
    """
    store.flush()
    asked = scoring_of(cascade)
    waiting = find_waiting(run, asked, root)
    if waiting.missing and else_rules and cascade.judges:
        asked = replace(asked, scorer=_keep_else_rules(run, store, asked))
    elif waiting.missing:
        run.write_config(run.config.with_evaluators(begun_again(run, asked, root)))
        return replace(waiting, active=run.config.by_root[root].scorer)
    run.write_config(run.config.with_evaluators(lambda name, one: _in_force(one, asked) if name == root else one))
    return None


def _in_force(evaluator: Evaluator, scoring: Scoring) -> Evaluator:
    return replace(
        evaluator, scorer=scoring.scorer, judges=scoring.judges, judge_mode=scoring.judge_mode, under_way=None
    )


def _under_way(evaluator: Evaluator, stay: Scoring, asked: Scoring) -> Evaluator:
    """The same where scores are under way and others stay in force; these themselves, where they are."""
    if stay.scorer == asked.scorer:
        return _in_force(evaluator, asked)
    return replace(_in_force(evaluator, stay), under_way=asked)


def _is_asked(run: RunFolder, planned: int) -> bool:
    """Whether so many asks have an answer, or never had one."""
    with Reader(run.records_folder) as reader:
        answered = sum(1 for _ in reader.items(RECORD))
        failed = groupby(reader.items(FAILURE), lambda item: item[0].partition(":")[0])
        return answered + sum(reader.get(RECORD, key) is None for key, _ in failed) >= planned


def _is_whole(run: RunFolder, sets: tuple[SetEntry, ...], scorer: str, root: str) -> bool:
    """Whether every answer has a score of this scorer, against the golden answers of these sets."""
    kind = score_kind(scorer)
    with Reader(run.records_folder) as reader:
        return all(reader.get(kind, key) is not None for key, _ in scored_records(reader, sets, root))


def _keep_else_rules(run: RunFolder, store: Store, asked: Scoring) -> str:
    """Keep each answer's score of these, else the rules', anew; what they are called."""
    name = f"{asked.scorer}{ELSE_RULES}"
    kinds = score_kind(asked.scorer), score_kind(asked.rules)
    store.forget(score_kind(name))
    with Reader(run.records_folder) as reader:
        for key, _ in scored_records(reader, run.config.sets):
            value = reader.get(kinds[0], key) or reader.get(kinds[1], key)
            if value is not None:  # the answers to a set of another evaluator have none
                store.put(score_kind(name), key, value)
    store.flush()
    return name
