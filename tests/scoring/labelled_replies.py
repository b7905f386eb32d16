"""Replies with what a person, or a benchmark's own extraction, reads in them, and how a reading of ours compares with
that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from real_outputs import LETTERS, Output

from mmdyn.equal import same
from mmdyn.sample import Language, Option, Sample


@dataclass(frozen=True)
class LabelledReply:
    """`read` is the label, as JSON has a reading (letters, a bool, one text a blank, a text; None: no answer).

    `answer` is the golden answer as a sample has it; None where it is not known.
    """

    set: str
    id: str
    task_type: str
    language: Language
    question: str
    options: tuple[str, ...]
    response: str
    read: Any
    answer: Any = None
    blanks: int = 1

    @staticmethod
    def of_output(name: str, output: Output) -> LabelledReply:
        """A stored reply with the stored extraction."""
        read = list(output.theirs) if output.theirs is not None else None
        given = name, output.id, output.task, output.language, output.question, output.options, output.reply, read
        return LabelledReply(*given, blanks=len(output.gold))

    def asked(self) -> dict[str, Any]:
        """The arguments of `extract`."""
        same = {name: getattr(self, name) for name in ("task_type", "response", "question", "language", "blanks")}
        texts = self.options if any(self.options) else ()
        return {**same, "labels": tuple(LETTERS[: len(self.options)]), "option_texts": texts}

    def equal(self, one: Any, other: Any) -> bool:
        """Whether two readings are one answer: the same letters, or the same texts."""
        if one is None or other is None or isinstance(other, bool):
            return one is other
        if self.options:
            return list(one) == list(other)
        texts, wanted = ([part] if isinstance(part, str) else part for part in (one, other))
        return len(texts) == len(wanted) and all(a == b or same(a, b) for a, b in zip(texts, wanted, strict=True))

    def verdicts(self, found: Any) -> tuple[str, ...]:
        """`n`, and what is to be counted of a reading."""
        kind = "agree" if self.equal(found, self.read) else "unread" if found is None else "otherwise"
        undeserved = self.answer is not None and found is not None and self.credit(found) > self.credit(self.read)
        return ("n", kind, "undeserved") if undeserved else ("n", kind)

    def credit(self, read: Any) -> float:
        """What a reading earns by the policy mdk12, in [0, 1]."""
        from mmdyn.scoring import Scorer
        from mmdyn.scoring.extract import Extraction

        if read is None:
            return 0.0
        found = tuple(read) if isinstance(read, list) else read
        return float(Scorer().credit(self.sample, Extraction(found, "ok", "label")).value or 0.0)

    @property
    def sample(self) -> Sample:
        """The question as a sample."""
        options = tuple(Option(label, text) for label, text in zip(LETTERS, self.options, strict=False))
        answer = self.answer
        if isinstance(answer, list):
            answer = tuple(tuple(part) if isinstance(part, list) else part for part in answer)
        return Sample(self.id, self.question, self.task_type, answer, language=self.language, options=options)


def labelled_replies(file: Path) -> Iterator[LabelledReply]:
    """The rows of a file, a JSON object a line."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        known = {name: row[name] for name in ("task_type", "language", "question", "response", "read", "answer")}
        blanks = len(row["answer"]) if row["task_type"] == "fill_in_the_blank" else 1
        options = tuple(row.get("options", ()))
        yield LabelledReply(file.stem, str(row.get("id", number)), options=options, blanks=blanks, **known)
