"""Responses that stand in a file, scored by rules and by a judge, in the file's order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator

import msgspec
from msgspec import Struct

from mmdyn.data.json_lines import Row, read_rows
from mmdyn.errors import InputError, Stopped
from mmdyn.models.asker import DRAIN_SECONDS
from mmdyn.record import Judgement, Reply, Score
from mmdyn.reporting.labels import mark_of
from mmdyn.sample import Option, Sample, from_dict
from mmdyn.scoring.cascade import Cascade
from mmdyn.scoring.judge import Judge
from mmdyn.scoring.lines import labelled
from mmdyn.scoring.scorer import Scorer

PARTS = ("question", "task_type", "language", "answer", "checklist", "match")
"""What a line has of a sample beside its options; other keys are passed through."""


class _Line(Struct, frozen=True):
    """What a line has beside its sample. `options` are texts (A, B, C, …) or have a label each."""

    response: str
    options: tuple[str | Option, ...] = ()


class Answered(Struct, frozen=True):
    """A line's row, its sample and its response, and people's mark in [0, 1] where the line has one."""

    row: Row
    sample: Sample
    reply: Reply
    human: float | None


class Graded(Struct, frozen=True):
    """A line with its score by rules and, where a judge was asked, the judgement. `combined`: in [0, 1], None without a verdict."""

    line: Answered
    score: Score
    judgement: Judgement | None
    combined: float | None


def answered_lines(lines: Iterable[bytes], where: str) -> Iterator[Answered]:
    """The lines of a file. Raises InputError, naming `where` and the line, for one that is no answered question."""
    for number, row in read_rows(lines, where):
        try:
            line = from_dict(row, _Line)
            given = {name: row[name] for name in PARTS if name in row}
            sample = from_dict({"id": f"line {number}", "options": labelled(line.options), **given}, Sample)
            human = mark_of(row) if "human" in row else None
        except ValueError as error:
            raise InputError(where, number, str(error)) from None
        yield Answered(row, sample, Reply(line.response), human)


async def grade(
    lines: Iterable[Answered], scorer: Scorer, judge: Judge | None = None, *, all_judged: bool = False, ahead: int = 64
) -> AsyncGenerator[Graded, None]:
    """Each line graded, in order; at most `ahead` are under way. When it is closed, or fails, the judge is asked no further, and
    what is in flight is given DRAIN_SECONDS, so that answers that may be paid for are in the cache.

    The judge is asked about answers that the rules do not call right, or about all. Raises UserError for a sample that a
    metric cannot score, and as Judge.judge does; for one that the judge's rubric is not for before anything is asked.
    """
    if judge and judge.chosen:
        lines = list(lines)
        for line in lines:
            judge.check(line.sample)
    cascade = Cascade(scorer, [judge] if judge else [], "parallel" if all_judged else "cascade")
    under_way = deque[asyncio.Task[Graded]]()
    try:
        for line in lines:
            under_way.append(asyncio.create_task(_graded(line, cascade)))
            if len(under_way) >= ahead:
                yield await under_way.popleft()
        while under_way:
            yield await under_way.popleft()
    finally:
        if judge and under_way:
            judge.asker.stop(Stopped("interrupted"))
            await asyncio.wait(under_way, timeout=DRAIN_SECONDS)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def output(graded: Graded, *, judged: bool) -> Row:
    """The line's own keys with `score`; where there is a judge, `judgement` (null where it was not asked) and `combined` too."""
    row = graded.line.row | {"score": graded.score.value}
    return row | {"judgement": msgspec.to_builtins(graded.judgement), "combined": graded.combined} if judged else row


async def _graded(line: Answered, cascade: Cascade) -> Graded:
    if not cascade.judges:
        score = cascade.scorer.score(line.sample, line.reply)
        return Graded(line, score, None, score.value)
    # in a thread, as the judge's answers are taken meanwhile
    score = await asyncio.to_thread(cascade.scorer.score, line.sample, line.reply)
    wanted = cascade.pending(line.reply, score, (None,))
    judgement = await cascade.judges[0].judge(line.sample, line.reply) if wanted else None
    combined = cascade.combined(line.reply, score, (judgement,))
    return Graded(line, score, judgement, combined.value if combined else None)
