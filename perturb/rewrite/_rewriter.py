"""The contract of a rewriter."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct
from numpy.random import Generator

from mmdyn.sample import Sample
from perturb.item import NotApplicable, OpenedTool

SEVERITIES = ("mild", "strong")


class Standalone(Struct, frozen=True, forbid_unknown_fields=True):
    """A choice question that needs no options any more, and the ways to write its one short answer."""

    question: str
    answers: tuple[str, ...]


class Changed(Struct, frozen=True, forbid_unknown_fields=True):
    """A question of which a condition was changed, and its new answer."""

    question: str
    answer: str


class Rewriter(OpenedTool, Protocol):
    """Puts a sample's question into other words without changing what is asked. Used from several threads at a time.

    How much of a question changes goes by the `severity`: "", one of SEVERITIES, or for words one of LEVELS.
    """

    def substitute(self, sample: Sample, stream: Generator, severity: str = "") -> str | NotApplicable:
        """The question with some keywords replaced by synonyms: about a quarter of those that have any, or all, or as
        many fifths as the level says.

        Raises ValueError where a model did not answer.
        """

    def paraphrase(self, sample: Sample, stream: Generator, severity: str = "") -> str | NotApplicable:
        """The question with whole sentences rephrased: exactly one, or all that can be.

        Raises ValueError where a model did not answer.
        """

    def distractors(
        self, sample: Sample, answer: str, count: int, stream: Generator
    ) -> tuple[str, ...] | NotApplicable:
        """`count` wrong answers that look like the right one, `answer`. Raises ValueError where a model did not
        answer."""
        return NotApplicable("the rewriter writes no wrong answers")

    def standalone(self, sample: Sample, stream: Generator) -> Standalone | NotApplicable:
        """A single_choice as a question that is answered without its options. Raises ValueError where a model did not
        answer."""
        return NotApplicable("the rewriter writes no stems that stand alone")

    def counterfactual(self, sample: Sample, answer: str, stream: Generator) -> Changed | NotApplicable:
        """The question with one condition changed, so that another answer than `answer` is right: of a choice another
        option's label, of a statement true or false. Raises ValueError where a model did not answer."""
        return NotApplicable("the rewriter changes no conditions: give a model with --rewriter MODEL")

    def solve(self, sample: Sample, stream: Generator) -> str | NotApplicable:
        """The answer of a question, in the form of `counterfactual`. Raises ValueError where a model did not answer."""
        return NotApplicable("the rewriter answers no questions: give a model with --rewriter MODEL")
