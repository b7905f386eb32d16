"""Answers that stand in a file: read, scored by rules and judges in the file's order, and set against people's
marks.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from typing import Annotated

import msgspec
from msgspec import Struct

from mmdyn.data import JsonRow, read_json_rows
from mmdyn.errors import InputError, Stopped
from mmdyn.keys import Json
from mmdyn.models import DRAIN_SECONDS
from mmdyn.record import Judgement, Reply, Score
from mmdyn.sample import IMAGE_MARK, Option, Sample, from_dict
from mmdyn.scoring.cascade import Cascade
from mmdyn.scoring.scorer import Scorer, declined
from mmdyn.tables import Grading, mark_of, measure
from mmdyn.task_types import Form, kind_of

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PARTS = ("question", "task_type", "language", "answer", "checklist", "match")
"""What a line has of a sample beside its options; other keys are passed through."""


class _Line(Struct, frozen=True):
    """What of a line is not a sample's as it stands.

    `options` are texts (A, B, C, …) or have a label each. `finish_reason`: why the response ended, as a record has it.
    `blanks` is how many blanks there are where no `answer` says so.
    """

    response: str
    question: str = ""
    options: tuple[str | Option, ...] = ()
    finish_reason: str | None = None
    blanks: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1


class Answered(Struct, frozen=True):
    """A line's row, its sample and its reply, and people's mark in [0, 1] where one was looked for and is there."""

    row: JsonRow
    sample: Sample
    reply: Reply
    human: float | None = None

    @property
    def about(self) -> str:
        """What tells its question apart: its set with its group, else its parent, else the question's words."""
        for name in ("group", "parent"):
            if self.row.get(name):
                return f"{self.row.get('set', '')} {name} {self.row[name]}"
        return self.sample.question


def answered_lines(lines: Iterable[bytes], where: str, *, keyed: bool = True) -> Iterator[Answered]:
    """The lines of a file. Where they are not `keyed`, question and answer may be missing, and nobody's mark is looked
    for.

    Raises InputError, naming `where` and the line, for one that is no answered question, and for a file without a line.
    """
    number = 0
    for number, row in read_json_rows(lines, where):
        try:
            line = from_dict(row, _Line)
            sample = _sample(line, f"line {number}", row if keyed else _unkeyed(line, row) | row)
            human = mark_of(row) if keyed and "human" in row else None
        except (ValueError, RecursionError) as error:
            raise InputError(where, number, str(error)) from None
        yield Answered(row, sample, Reply(line.response, line.finish_reason or ""), human)
    if not number:
        raise InputError(where, None, "it is empty: give a JSON object a line")


def read_out(line: Answered, scorer: Scorer) -> JsonRow:
    """The line's row with `extracted`, `status`, `rule`, `span` and `confidence` and, given an `answer`, its `score`
    and `needs_judge`.

    Raises UserError for a sample that a metric cannot score.
    """
    extraction = scorer.extract(line.sample, line.reply)
    read: dict[str, Json] = {
        "extracted": msgspec.to_builtins(extraction.found),
        "status": extraction.status,
        "rule": extraction.rule,
        "span": list(extraction.span) if extraction.span else None,
        "confidence": extraction.confidence,
    }
    if "answer" in line.row:
        score = scorer.credit(line.sample, extraction)
        read |= {"score": score.value, "needs_judge": score.needs_judge}
    return line.row | read


def _sample(line: _Line, name: str, row: JsonRow) -> Sample:
    """The row as a sample, so that its options and answer are checked as a set's are. Pictures that it marks are not at
    hand."""
    options = _labelled(line.options)
    texts = [line.question, *(option["text"] for option in options if "text" in option)]
    marked = [int(number) for text in texts for number in IMAGE_MARK.findall(text)]
    pictures = {"images": [str(number) for number in range(1, max(marked, default=0) + 1)], "options_in_image": True}
    given = {part: row[part] for part in PARTS if part in row}
    return from_dict({"id": name, "options": options, **pictures, **given}, Sample)


def _labelled(options: Sequence[str | Option]) -> list[dict[str, str]]:
    """Options as a sample has them: those that are only texts are called A, B, C, ... Raises ValueError beyond Z."""
    if any(isinstance(option, str) for option in options[len(LETTERS) :]):
        raise ValueError(f'more than {len(LETTERS)} options have no label: give each as {{"label": "…", "text": "…"}}')
    return [
        {"label": LETTERS[at], "text": option} if isinstance(option, str) else msgspec.to_builtins(option)
        for at, option in enumerate(options)
    ]


def _unkeyed(line: _Line, row: JsonRow) -> JsonRow:
    """A question and an answer for a row that may lack them. Of the answer only the number of blanks is ever looked
    at."""
    first: list[Json] = [option["label"] for option in _labelled(line.options)[:1]]
    any_answer: dict[Form, Json] = {
        "choice": first,
        "claim": True,
        "blank": [first or ["-"]] * line.blanks,
        "open": "-",
        "rules": ["punctuation:no_comma"],
    }
    with suppress(ValueError):  # an unknown type is told where the sample is made
        return {"question": "", "answer": any_answer[kind_of(str(row.get("task_type"))).form]}
    return {"question": "", "answer": first}


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


def graders(cascade: Cascade) -> dict[str, tuple[str, Json]]:
    """What is measured: the label and the identity of each. Those that a run's scores may be by have its scorer's name
    for one.

    A judge among several is called judge.LABEL; all together are combined.MODE.
    """
    rules, judges = cascade.scorer.name, cascade.judges
    if not judges:
        return {"rules": (rules, rules)}
    names = [f"judge.{judge.label}" if len(judges) > 1 else "judge" for judge in judges]
    by_name = {name: (judge.label, judge.identity) for name, judge in zip(names, judges, strict=True)}
    both = {f"combined.{one.mode}": (one.name, one.name) for one in _combined(cascade)}
    return {"rules": (rules, rules), **by_name, **both}


def _combined(cascade: Cascade) -> list[Cascade]:
    """The same judges in the modes that give other scores than each other."""
    modes = ("wrong",) if cascade.scorer.compares else ("unsure", "wrong")
    return [Cascade(cascade.scorer, cascade.judges, mode) for mode in modes]


async def calibrate(lines: Iterable[Answered], cascade: Cascade, threshold: float, ahead: int) -> dict[str, Grading]:
    """Each of the graders measured on the lines that have a mark, about all of which a cascade in the mode `all` asks
    every judge.

    A line without a verdict of each counts as failed for all of them, so that they are measured on the same lines. One
    that was withheld, as its finish reason says, is worth what it is to the rules, 0, to a judge, too. Raises UserError
    where no line has a mark, and as `grade` does.
    """
    marked = (line for line in lines if line.human is not None)
    who, together = graders(cascade), _combined(cascade)
    values: dict[str, list[tuple[float, float | None]]] = {name: [] for name in who}
    about = list[str]()
    async with aclosing(grade(marked, cascade, ahead=ahead)) as all_graded:
        async for graded in all_graded:
            rules, human = graded.score.value, graded.line.human
            assert human is not None
            about.append(graded.line.about)
            if declined(graded.line.reply):
                found = [rules] * len(who)
            elif cascade.judges:
                scores = [one.combined(graded.line.reply, graded.score, graded.judgements) for one in together]
                found = [rules, *(judged.value if judged else None for judged in (*graded.judgements, *scores))]
            else:
                found = [rules]
            for pairs, value in zip(values.values(), found, strict=True):
                pairs.append((human, None if None in found else value))
    return {name: measure(grader, identity, values[name], threshold, about) for name, (grader, identity) in who.items()}
