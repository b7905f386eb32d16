"""The statements of composed questions, each asked alone, and all of a question together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build.compose import listed_statements
from mmdyn.data import OPTION_LETTERS, ImageFolder, Row, SampleSet
from mmdyn.prompts import filled
from mmdyn.sample import ALONE, SETTING, Match, Option, Sample

OF_STATEMENTS = ("statements", "origins", "true")
"""What `meta` holds of each statement of a composed question."""
SIZES = range(2, len(OPTION_LETTERS) + 1)


class _Settings(Struct, frozen=True):
    """There is nothing to set."""


class Judgments:
    """Ask for the statements of composed questions: each once on its own, and all of a question in one prompt.

    \b
    mmdyn compose statements.jsonl -o composed --questions 20
    mmdyn build judgments composed -o judgments

    A question's score is then the share of its statements that are judged right. Alone (the field `setting` is `alone`)
    a statement is asked once, however many questions it stands in; reports let these weigh the same. Together
    (`together`) a question keeps its id, and its statements are the options, of which the correct ones are to be
    picked; where none is correct, the incorrect ones.

    Source: Encyclo-K, appendix D, which leaves open how statements are judged.
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._alone = dict[str, Sample]()

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of questions that were not composed as choices."""
        for sample in source:
            count = len(listed_statements(sample.question)) if sample.options else 0
            told = (sample.meta.get(name) for name in OF_STATEMENTS)
            if count not in SIZES or not all(isinstance(one, list) and len(one) == count for one in told):
                yield sample.id, f"it is no choice of `mmdyn compose` with {SIZES[-1]} statements at most"

    def become(self, rows: Iterable[Row], images: ImageFolder) -> Iterator[Row]:
        """In place of the questions: each with its statements together, then every statement alone."""
        for row in rows:
            yield replace(row, sample=row.sample and self._together(row.sample))
        yield from (Row("", None, sample) for sample in self._alone.values())

    def _together(self, sample: Sample) -> Sample:
        """The statements of a question as its options; each is added to those that are asked alone."""
        meta: Any = sample.meta
        texts = listed_statements(sample.question)
        fields = {name: value for name, value in sample.fields.items() if name not in ("asked", "combination")}
        for place, text in enumerate(texts):
            one = self._alone.setdefault(meta["statements"][place], _alone(sample, fields, place, text))
            one.meta["questions"][sample.id] = len(texts)  # type: ignore[index, call-overload]
        correct = any(meta["true"])
        word = filled("compose", "correct" if correct else "incorrect", sample.language).split("\n")[0]
        options = tuple(Option(letter, text) for letter, text in zip(OPTION_LETTERS, texts, strict=False))
        return replace(
            sample,
            question=filled("compose", "together", sample.language, word=word),
            task_type="multi_select",
            options=options,
            answer=tuple(option.label for option, true in zip(options, meta["true"], strict=True) if true is correct),
            match=Match(each=True),
            fields=fields | {SETTING: "together"},
        )


def _alone(sample: Sample, fields: dict[str, str | int | float], place: int, text: str) -> Sample:
    """A statement by its place. Its id tells no more than the question does; those of one origin are one group."""
    meta: Any = sample.meta
    return Sample(
        id=f"{sample.id}-{place + 1}",
        question=filled("compose", "statement", sample.language, statement=text),
        task_type="true_false",
        answer=meta["true"][place],
        language=sample.language,
        group=str(meta["origins"][place]),
        fields=fields | {"statements": 1, SETTING: ALONE},
        meta={name: [meta[name][place]] for name in OF_STATEMENTS} | {"questions": {}},
    )
