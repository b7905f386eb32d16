"""What tables measure: a number and a weight of each record, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import nan
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from mmdyn.errors import UserError, did_you_mean
from mmdyn.plugins import load, names
from mmdyn.record import Judgement, Record, Reply, Score
from mmdyn.tables.keys import sample_of
from mmdyn.tables.run_state import has_failed, is_cut_off
from mmdyn.work import Reader, RunFolder, judged_kind, score_kind

Unit: TypeAlias = Literal["share", "tokens", "seconds", "cost", "count"]
Worth: TypeAlias = tuple[float, float]
"""A value, NaN where a record has none, and what it weighs."""

NONE: Worth = (nan, 0.0)


class Measure(NamedTuple):
    """of: what a record is worth, out of the record, its run and the run's store. better: whether more is better, None
    where neither is. answers: whether it is of answers alone, and not of failed records. judged: whether a
    judge may change it.
    """

    of: Callable[[Record, RunFolder, Reader], Worth]
    unit: Unit = "share"
    better: bool | None = None
    answers: bool = True
    judged: bool = False


@cache
def measure(name: str) -> Measure:
    """A measure by its name, which may be that of a metric. Raises UserError."""
    if name in MEASURES:
        return MEASURES[name]
    metrics = [scorer for scorer in names("scorers") if hasattr(load("scorers", scorer), "compare")]
    if name in metrics:
        return Measure(_by_metric(name), better=True)
    known = [*MEASURES, *metrics]
    raise UserError(f"there is no measure {name!r}{did_you_mean(name, known)}: give one of {', '.join(known)}")


def _by_metric(metric: str) -> Callable[[Record, RunFolder, Reader], Worth]:
    def of(record: Record, run: RunFolder, reader: Reader) -> Worth:
        scorer = run.config.scores_by(metric, record.set)
        stored = reader.get(score_kind(scorer), record.key) if scorer else None
        score = msgspec.json.decode(stored, type=Score) if stored else None
        return NONE if score is None or score.value is None else (score.value, score.weight)

    return of


def _scored(worth: Callable[[Score], float]) -> Callable[[Record, RunFolder, Reader], Worth]:
    def of(record: Record, run: RunFolder, reader: Reader) -> Worth:
        score = record.score
        return NONE if score is None or score.value is None else (worth(score), score.weight)

    return of


def _replied(worth: Callable[[Reply], float | None]) -> Callable[[Record, RunFolder, Reader], Worth]:
    def of(record: Record, run: RunFolder, reader: Reader) -> Worth:
        value = worth(record.reply)
        return NONE if value is None else (float(value), 1.0)

    return of


def _counted(worth: Callable[[Reply], int]) -> Callable[[Record, RunFolder, Reader], Worth]:
    """A number of tokens, where the server counted any."""
    return _replied(lambda reply: worth(reply) if reply.usage.prompt_tokens + reply.usage.completion_tokens else None)


def _corrected(score: Score) -> float:
    """As `correct_for_chance` has it, of one score."""
    if score.value is None or score.chance >= 1:
        return nan
    return (score.value - score.chance) / (1 - score.chance) if score.status == "ok" else 0.0


def _checklist(record: Record, run: RunFolder, reader: Reader) -> Worth:
    """The items that are met, by the last judge that looked at a checklist; a record weighs as many as it has.

    An answer that scores 0 and that no judge was to see, such as an empty one, meets no item of its sample's.
    """
    judged, score = False, record.score
    for entry in reversed(run.config.evaluator(record.set).judges):
        stored = reader.get(judged_kind(entry.id), record.key)
        items = msgspec.json.decode(stored, type=Judgement).items if stored else ()
        if items:
            return sum(items) / len(items), float(len(items))
        judged |= "checklist" in entry.rubrics
    if not judged or score is None or score.value != 0:
        return NONE
    count = len(sample_of(record, run, reader).checklist)
    return (0.0, float(count)) if count else NONE


MEASURES = {
    "score": Measure(_scored(lambda score: score.value or 0.0), better=True, judged=True),
    "pass_rate": Measure(_scored(lambda score: float(score.value == 1)), better=True, judged=True),
    "corrected": Measure(_scored(_corrected), better=True, judged=True),
    "checklist": Measure(_checklist, better=True),
    "questions": Measure(lambda record, run, reader: (1.0, 1.0), "count", answers=False),
    "unparsed": Measure(_scored(lambda score: float(score.status == "unparsed"))),
    "refused": Measure(_scored(lambda score: float(score.status == "refused"))),
    "unread": Measure(_scored(lambda score: float(score.status != "ok"))),
    "failed": Measure(lambda record, run, reader: (float(has_failed(record)), 1.0), answers=False),
    "truncated": Measure(_replied(is_cut_off)),
    "response_tokens": Measure(_counted(lambda reply: reply.usage.completion_tokens), "tokens"),
    "reasoning_tokens": Measure(_counted(lambda reply: reply.usage.reasoning_tokens), "tokens"),
    "prompt_tokens": Measure(_counted(lambda reply: reply.usage.prompt_tokens), "tokens"),
    "seconds": Measure(_replied(lambda reply: reply.seconds), "seconds"),
    "cost": Measure(_replied(lambda reply: reply.cost), "cost"),
}
"""By name. Tokens of a response are all that a model wrote, its reasoning among them; answers out of the response cache
count as they were given first."""
