"""Answers that stand in a file, a JSON object each: the object as a sample and a reply, and what rules read out of
it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import Struct

from mmdyn.data import JsonRow, read_json_rows
from mmdyn.errors import InputError
from mmdyn.keys import Json
from mmdyn.record import Reply
from mmdyn.sample import IMAGE_MARK, Option, Sample, from_dict
from mmdyn.scoring.scorer import Scorer
from mmdyn.tables import mark_of

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
    any_answer: JsonRow = {"true_false": True, "open_ended": "-", "fill_in_the_blank": [["-"]] * line.blanks}
    first: Json = [option["label"] for option in _labelled(line.options)[:1]]
    return {"question": "", "answer": any_answer.get(str(row.get("task_type")), first)}
