"""Statements out of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.step import Asked, Draws, Refused
from mmdyn.sample import Language, Sample


class _Stated(Struct, forbid_unknown_fields=True):
    title: str
    statement: str


class _Statements(Struct, forbid_unknown_fields=True):
    statements: tuple[_Stated, ...]


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is taken.

    language: Of the pages and the statements: en or zh.
    most: So many statements of a page.
    """

    language: Language = "en"
    most: int = 20


class Statements:
    """Have a vision model write down the titled statements of pages, as true statements.

    \b
    mmdyn build pages books -o pages
    mmdyn build statements pages -o statements -m openai:gpt-4o

    Its words are the page's; a statement stands on its own. Source: Encyclo-K, section 3.1.1.
    """

    version: ClassVar[int] = 1
    asks: ClassVar[tuple[str, ...]] = ("statements",)
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._settings, self._asked = settings, asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The statements of a page. Raises Refused for one without any, ValueError as `ask`."""
        if not sample.images:
            raise Refused("it is no page: it has no picture")
        most, language = self._settings.most, self._settings.language

        def read(reply: _Statements) -> tuple[_Stated, ...]:
            if len(reply.statements) > most:
                raise ValueError(f"it holds {len(reply.statements)} statements, at most {most} are wanted")
            if not all(one.title.strip() and one.statement.strip() for one in reply.statements):
                raise ValueError("a title or a statement is empty")
            return reply.statements

        found = self._asked.ask(
            "statements", language, draws, {}, _Statements, read, pictures=sample.images, most=str(most)
        )
        if not found:
            raise Refused("the page holds no statement")
        for number, one in enumerate(found, 1):
            yield Sample(
                id=f"{sample.id}-{number}",
                question=f"{one.title.strip()}: {one.statement.strip()}",
                task_type="true_false",
                answer=True,
                language=language,
                fields=dict(sample.fields),
                meta={"source": sample.id},
            )
