"""Answers out of responses that stand in a file: one object in, the same object with what was read out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from mmdyn.keys import Json
from mmdyn.sample import Option, Sample, TaskType, from_dict
from mmdyn.scoring.extract import extract
from mmdyn.scoring.scorer import Scorer

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Line(msgspec.Struct, frozen=True):
    """What is read of an object; other keys are passed through. `options` are texts (A, B, C, …) or have a label each.

    `blanks` is how many blanks there are where no `answer` says so.
    """

    task_type: TaskType
    response: str
    question: str = ""
    options: tuple[str | Option, ...] = ()
    language: str = "en"
    blanks: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1


def read_line(row: dict[str, Json], scorer: Scorer) -> dict[str, Json]:
    """The object with `extracted`, `status`, `rule`, `span` and `confidence` and, given an `answer`, its `score`.

    Raises ValueError with a sentence for the user where the object is not one of these.
    """
    line = from_dict(row, Line)
    sample = _sample(line, row)
    extraction = extract(
        line.task_type,
        line.response,
        question=line.question,
        labels=sample.labels,
        option_texts=tuple(option.text for option in sample.options),
        language=sample.language,
        blanks=len(sample.answer) if isinstance(sample.answer, tuple) and "answer" in row else line.blanks,
    )
    extraction = scorer.widened(sample, extraction, line.response)
    read: dict[str, Json] = {
        "extracted": msgspec.to_builtins(extraction.found),
        "status": extraction.status,
        "rule": extraction.rule,
        "span": list(extraction.span) if extraction.span else None,
        "confidence": extraction.confidence,
    }
    if "answer" in row:
        read["score"] = scorer.credit(sample, extraction).value
    return row | read


def labelled(options: Sequence[str | Option]) -> list[dict[str, str]]:
    """Options as a sample has them: those that are only texts are called A, B, C, ... Raises ValueError beyond Z."""
    if any(isinstance(option, str) for option in options[len(LETTERS) :]):
        raise ValueError(f'more than {len(LETTERS)} options have no label: give each as {{"label": "…", "text": "…"}}')
    return [
        {"label": LETTERS[at], "text": option} if isinstance(option, str) else msgspec.to_builtins(option)
        for at, option in enumerate(options)
    ]


def _sample(line: Line, row: dict[str, Json]) -> Sample:
    """The object as a sample, so that its options and answer are checked as a set's are."""
    options = labelled(line.options)
    any_answer = {"true_false": True, "open_ended": "-", "fill_in_the_blank": [["-"]]}
    first = [option["label"] for option in options[:1]]
    return from_dict(
        {
            "id": "line",
            "question": "-",
            "task_type": line.task_type,
            "language": line.language,
            "options": options,
            "options_in_image": True,
            "answer": row.get("answer", any_answer.get(line.task_type, first)),
        },
        Sample,
    )
