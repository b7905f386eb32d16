"""Reviewers' sheets decide which questions stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from msgspec import Struct

from mmdyn.build.agreement import agreement_of
from mmdyn.build.build import Files, listed
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.sheets import marks_of_set, rejection


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose marks, and what they decide.

    marks: Files that reviewers' sheets saved, with commas between.
    reviewers: So many must have marked a question.
    rule: majority: most of them keep a question that stays; all: all of them do.
    """

    marks: Files = Files("")
    reviewers: int = 3
    rule: Literal["majority", "all"] = "majority"


class Validate:
    """Keep the questions that reviewers keep (AcadReason, "Question Answerability Verification": three of them).

    \b
    mmdyn data audit mmdyn-demo/set -o sheet.html --review
    mmdyn build validate mmdyn-demo/set -o kept \\
        --marks labels-a.jsonl,labels-b.jsonl,labels-c.jsonl

    A tie rejects. Questions with fewer marks leave as undecided. set.json says under `made.summary` how well reviewers
    agree: Fleiss' kappa, by criterion too, and Cohen's of each two, with 95 % intervals.
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        if settings.rule not in ("majority", "all"):
            raise UserError(f"--rule {settings.rule}: give majority or all")
        if not listed(settings.marks):
            raise UserError("no marks are named: give the files that reviewers' sheets saved (--marks)")
        self._settings = settings
        self.summary = dict[str, Json]()

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of questions that are rejected or undecided. Raises UserError for marks of another set."""
        settings, given = self._settings, marks_of_set(listed(self._settings.marks), source)
        self.summary = {"agreement": agreement_of(given, source)}
        for sample in source:
            marks = given.get(sample.id, [])
            against = sum(mark.label == "reject" for mark in marks)
            if len(marks) < settings.reviewers:
                yield sample.id, f"undecided: {len(marks)} of {settings.reviewers} reviewers marked it"
            elif against and (settings.rule == "all" or 2 * against >= len(marks)):
                yield sample.id, rejection(marks)
