"""A rewriter that asks a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from msgspec import Struct
from numpy.random import Generator

from mmdyn.keys import Json, digest
from mmdyn.models import Message, SyncModelClient, TextPart, ask_and_wait, prompts_digest
from mmdyn.prompts import filled, read_reply
from mmdyn.sample import Sample
from perturb.item import LEVELS, NotApplicable
from perturb.rewrite._rewriter import SEVERITIES, Changed, Rewriter, Standalone
from perturb.short_answers import LONGEST, answer_of, differ

KIND = "rewrite"
_GROWTH, _SPARE = 3, 300
"""A rewording is at most so many times as long as the question, and so many characters more."""


class _Question(Struct, forbid_unknown_fields=True):
    question: str


class _Distractors(Struct, forbid_unknown_fields=True):
    distractors: tuple[str, ...]


class _Solution(Struct, forbid_unknown_fields=True):
    working: str
    answer: str


class _Cannot(Struct, forbid_unknown_fields=True):
    cannot: str


Reworded: TypeAlias = "str | NotApplicable"
S = TypeVar("S", bound=Struct)
T = TypeVar("T")


class ModelRewriter(Rewriter):
    """Asks a model, in the sample's language; the model sees words, never pictures.

    A reply is one JSON object. Where it is not, or breaks what was asked, the model is told so and asked again, at most
    three times in all; after that, or where a request is not answered, ValueError. The model may decline with a reason:
    NotApplicable. A draw's requests carry a number out of its stream, so that another draw asks anew and the same draw
    finds its cached reply.
    """

    waits = 32

    def __init__(self, client: SyncModelClient) -> None:
        self._client = client
        self.label = client.label
        self.identity: Json = {"model": client.identity, "prompts": prompts_digest(KIND)}

    def substitute(self, sample: Sample, stream: Generator, severity: str = "") -> Reworded:
        """Some words replaced. Source: MDK12-Bench, "Evaluation Methods", Word Substitution."""
        return self._reworded("substitute", sample, stream, severity)

    def paraphrase(self, sample: Sample, stream: Generator, severity: str = "") -> Reworded:
        """Sentences rephrased, by structure, order or style, which is drawn. Source: the same, Sentence
        Paraphrasing."""
        manners = filled(KIND, "manners", sample.language).splitlines()
        return self._reworded("paraphrase", sample, stream, severity, manner=manners[stream.integers(len(manners))])

    def distractors(
        self, sample: Sample, answer: str, count: int, stream: Generator
    ) -> tuple[str, ...] | NotApplicable:
        """Wrong answers that differ from the right one and from each other as far as rules can tell."""
        right = answer_of(answer)

        def read(reply: _Distractors) -> tuple[str, ...]:
            texts = tuple(text.strip() for text in reply.distractors)
            if len(texts) != count:
                raise ValueError(f"it holds {len(texts)} wrong answers, not {count}")
            others = [answer_of(text) for text in texts]
            for number, other in enumerate(others):
                if not all(differ(known, other) for known in (right, *others[:number])):
                    raise ValueError(f"the wrong answer {other.text[:40]!r} may be the right one or another wrong one")
            return texts

        data = {"question": sample.question, "answer": answer}
        return self._ask("distractors", sample, stream, data, _Distractors, read, count=str(count))

    def standalone(self, sample: Sample, stream: Generator) -> Standalone | NotApplicable:
        """The stem as a question of its own, with the accepted ways to write the right option."""
        (right,) = (f"{option.label}. {option.text}" for option in sample.options if (option.label,) == sample.answer)

        def read(reply: Standalone) -> Standalone:
            answers = tuple(text.strip() for text in reply.answers)
            if not answers or not all(0 < len(text) <= LONGEST for text in answers):
                raise ValueError("its answers are not short texts")
            return Standalone(_text_of(reply.question, sample), answers)

        data = {"question": sample.question, "options": _options(sample), "answer": right}
        return self._ask("standalone", sample, stream, data, Standalone, read)

    def counterfactual(self, sample: Sample, answer: str, stream: Generator) -> Changed | NotApplicable:
        """The question with one condition changed, and the answer that it then has."""

        def read(reply: Changed) -> Changed:
            return Changed(_text_of(reply.question, sample), _answer_of(reply.answer))

        data = {"question": sample.question, "options": _options(sample), "answer": answer}
        return self._ask("counterfactual", sample, stream, data, Changed, read)

    def solve(self, sample: Sample, stream: Generator) -> str | NotApplicable:
        """The answer that the model works out."""

        def read(reply: _Solution) -> str:
            return _answer_of(reply.answer)

        data = {"question": sample.question, "options": _options(sample)}
        return self._ask("solve", sample, stream, data, _Solution, read)

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _reworded(self, name: str, sample: Sample, stream: Generator, severity: str, **places: str) -> Reworded:
        data = {"question": sample.question, "options": _options(sample)}
        extents = filled(KIND, f"{name}_extents", sample.language).splitlines()
        places["extent"] = extents[("", *SEVERITIES, *LEVELS).index(severity)]

        def read(reply: _Question) -> str:
            return _text_of(reply.question, sample)

        return self._ask(name, sample, stream, data, _Question, read, **places)

    def _ask(
        self,
        name: str,
        sample: Sample,
        stream: Generator,
        data: dict[str, str],
        shape: type[S],
        read: Callable[[S], T],
        **places: str,
    ) -> T | NotApplicable:
        """Ask for a `shape` until `read` takes it. `data` stands between marks that it cannot hold, being digests of
        it."""
        mark = f"=== {digest(data)} ==="
        prompt = filled(KIND, name, sample.language, mark=mark, **data, **places)

        def usable(text: str) -> T | NotApplicable:
            reply = read_reply(text, (_Cannot, shape), "\n".join(data.values()))
            if isinstance(reply, _Cannot):
                return NotApplicable(f"{self.label} declines ({' '.join(reply.cannot.split())[:120]})")
            assert isinstance(reply, shape)
            return read(reply)

        message, nonce = Message("user", (TextPart(prompt),)), int(stream.integers(1 << 62))
        return ask_and_wait(self._client, message, sample.language, usable, nonce)


def _text_of(text: str, sample: Sample) -> str:
    """A rewording that is not empty and not much longer than the question. Raises ValueError."""
    text = text.strip()
    if not 0 < len(text) <= _GROWTH * len(sample.question) + _SPARE:
        raise ValueError("the question is empty or far too long")
    return text


def _answer_of(text: str) -> str:
    """An answer that is not empty. Raises ValueError."""
    if not text.strip():
        raise ValueError("the answer is empty")
    return text.strip()


def _options(sample: Sample) -> str:
    return "\n".join(f"{option.label}. {option.text}" for option in sample.options) or "-"
