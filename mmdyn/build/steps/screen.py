"""Unsound questions leave the set, by rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.quality import picture_problem, word_problems
from mmdyn.build.steps.dedup import Dedup
from mmdyn.data import SampleSet
from mmdyn.sample import Sample


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is wanted.

    require: Fields that every question has, with commas between.
    first_year: Of the field `year`.
    last_year: Of the field `year`.
    likeness: As `dedup` has it; 1 keeps what stands twice in other words.
    """

    require: str = ""
    first_year: int = 1950
    last_year: int = 2030
    likeness: float = 0.8


class Screen:
    """Take out questions that cannot be asked: rules read words, pictures, options, blanks, fields and years.

    \b
    mmdyn build screen mmdyn-demo/set -o screened --require discipline

    The first of the three stages by which MDK12-Bench screens raw items (Data Screening): text and picture belong
    together, pictures are large, sharp and whole, the text is complete and readable, fields are there, years are
    possible, the explanation concludes the answer, and nothing stands twice.
    """

    version: ClassVar[int] = 4
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings
        self._required = [name.strip() for name in settings.require.split(",") if name.strip()]

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of unsound questions, each with the first problem."""
        problems = {sample.id: problem for sample in source if (problem := self._problem(sample, source))}
        sound = (sample for sample in source if sample.id not in problems)
        problems |= Dedup(Dedup.Settings(self._settings.likeness)).repeats(sound, source.images)
        yield from ((sample.id, problems[sample.id]) for sample in source if sample.id in problems)

    def _problem(self, sample: Sample, source: SampleSet) -> str:
        for name in self._required:
            if not str(sample.fields.get(name, "")).strip():
                return f"the field {name} is missing"
        year = sample.fields.get("year")
        if year is not None and not (
            isinstance(year, int) and self._settings.first_year <= year <= self._settings.last_year
        ):
            return f"the year {year} is impossible"
        if problem := next(word_problems(sample), ""):
            return problem
        found = (picture_problem(source.images, ref, sample.question) for ref in sample.all_images)
        return next(filter(None, found), "")
