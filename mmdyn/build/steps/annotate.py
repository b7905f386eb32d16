"""Research questions with golden answers, hints and checklists, drafted out of papers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.step import Asked, Draws
from mmdyn.sample import Sample
from mmdyn.text import fold


class _Hints(Struct, forbid_unknown_fields=True):
    background: str
    definition: str
    methodology: str


class _Draft(Struct, forbid_unknown_fields=True):
    title: str
    question: str
    answer: str
    hints: _Hints
    checklist: tuple[str, ...]


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """How long a checklist is.

    least: Items at least.
    most: Items at most.
    """

    least: int = 3
    most: int = 15


class Annotate:
    """Draft a research question out of a paper's text, with its golden answer, three hints and a checklist.

    \b
    mmdyn build texts papers -o texts
    mmdyn build annotate texts -o drafts -m openai:gpt-4o

    As AcadReason annotates papers (figures 8 to 10); people decide on every draft. The checklist's items are single and
    verifiable, none stands twice, and no hint gives the answer word for word.
    """

    version: ClassVar[int] = 1
    asks: ClassVar[tuple[str, ...]] = ("annotate",)
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._settings, self._asked = settings, asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The draft. Raises Refused where the model finds no such question, ValueError as `ask` does."""
        least, most = self._settings.least, self._settings.most
        places = {"least": str(least), "most": str(most)}
        draft = self._asked.ask(
            "annotate", sample.language, draws, {"text": sample.question}, _Draft, self._checked, **places
        )
        yield Sample(
            id=f"{sample.id}-question",
            question=draft.question.strip(),
            task_type="open_ended",
            answer=draft.answer.strip(),
            language=sample.language,
            fields=dict(sample.fields),
            hints={name: getattr(draft.hints, name).strip() for name in _Hints.__struct_fields__},
            checklist=tuple(item.strip() for item in draft.checklist),
            meta={"title": draft.title.strip(), "source": sample.id},
        )

    def _checked(self, draft: _Draft) -> _Draft:
        """The draft. Raises ValueError with what is wrong with it."""
        items = [item.strip() for item in draft.checklist]
        texts = {"question": draft.question, "answer": draft.answer} | {
            f"hint {name}": getattr(draft.hints, name) for name in _Hints.__struct_fields__
        }
        if empty := [name for name, text in texts.items() if not text.strip()]:
            raise ValueError(f"the {empty[0]} is empty")
        if not self._settings.least <= len(items) <= self._settings.most or not all(items):
            raise ValueError(
                f"the checklist has {len(items)} items, {self._settings.least} to {self._settings.most} are wanted"
            )
        if len({fold(item).casefold() for item in items}) < len(items):
            raise ValueError("an item of the checklist stands twice")
        answer = fold(draft.answer).casefold()
        if any(answer in fold(text).casefold() for name, text in texts.items() if name not in ("question", "answer")):
            raise ValueError("a hint holds the whole answer")
        return draft
