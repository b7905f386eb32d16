"""Answers that stand in a file, scored by rules and by judges, in the file's order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence

import msgspec
from msgspec import Struct

from mmdyn.data import JsonRow
from mmdyn.errors import Stopped
from mmdyn.models import DRAIN_SECONDS
from mmdyn.record import Judgement, Score
from mmdyn.scoring.cascade import Cascade
from mmdyn.scoring.lines import Answered


class Graded(Struct, frozen=True):
    """A line with its score by rules and what each judge made of it (None: not asked). `combined`: in [0, 1], None
    without a verdict."""

    line: Answered
    score: Score
    judgements: tuple[Judgement | None, ...]
    combined: float | None


async def grade(lines: Iterable[Answered], cascade: Cascade, *, ahead: int = 64) -> AsyncGenerator[Graded, None]:
    """Each line graded, in order; at most `ahead` are under way. When it is closed, or fails, the judges are asked no
    further, and what is in flight is given DRAIN_SECONDS, so that answers that may be paid for are in the cache. When
    it is cancelled it ends at once: who cancels it decides how long to wait before.

    Raises UserError for a sample that a metric cannot score, and as Judge.judge does; for one that the judges' rubric
    is not for before anything is asked.
    """
    if any(judge.chosen for judge in cascade.judges):
        lines = list(lines)
        for line in lines:
            cascade.check(line.sample)
    under_way, at_once = deque[asyncio.Task[Graded]](), False
    try:
        for line in lines:
            under_way.append(asyncio.create_task(_graded(line, cascade)))
            if len(under_way) >= ahead:
                yield await under_way.popleft()
        while under_way:
            yield await under_way.popleft()
    except asyncio.CancelledError:
        at_once = True
        raise
    finally:
        if cascade.judges and under_way and not at_once:
            for judge in cascade.judges:
                judge.asker.stop(Stopped("interrupted"))
            await asyncio.wait(under_way, timeout=DRAIN_SECONDS)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def output(graded: Graded, labels: Sequence[str]) -> JsonRow:
    """The line's own keys with `score` and `needs_judge`, by the rules; where there are judges, with these labels,
    `judgement` (of the last one that was asked, null where none was) and `combined` too; of several judges also
    `judgements`, by label."""
    row = graded.line.row | {"score": graded.score.value, "needs_judge": graded.score.needs_judge}
    if not labels:
        return row
    judgements = [msgspec.to_builtins(judgement) for judgement in graded.judgements]
    row["judgement"] = next((judgement for judgement in reversed(judgements) if judgement), None)
    by_label = {"judgements": dict(zip(labels, judgements, strict=True))} if len(labels) > 1 else {}
    return row | by_label | {"combined": graded.combined}


async def _graded(line: Answered, cascade: Cascade) -> Graded:
    if not cascade.judges:
        score = cascade.scorer.score(line.sample, line.reply)
        return Graded(line, score, (), score.value)
    # in a thread, as the judges' answers are taken meanwhile
    score = await asyncio.to_thread(cascade.scorer.score, line.sample, line.reply)
    judgements: list[Judgement | None] = [None] * len(cascade.judges)
    while pending := cascade.pending(line.reply, score, judgements):
        asked = (cascade.judges[place].judge(line.sample, line.reply) for place in pending)
        found = await asyncio.gather(*asked, return_exceptions=True)
        for place, judgement in zip(pending, found, strict=True):
            if isinstance(judgement, BaseException):
                raise judgement
            judgements[place] = judgement
    combined = cascade.combined(line.reply, score, judgements)
    return Graded(line, score, tuple(judgements), combined.value if combined else None)
