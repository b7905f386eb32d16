"""`baseline:random`, `baseline:majority`, `baseline:lexical`: embedded, deterministic, without weights.

They see the rendered messages and nothing else, so whatever they get right, the prompt gave away. `random` is the floor
of guessing, `majority` the floor of always giving one answer, `lexical` that of matching words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec import Struct

from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import Json, digest, stream
from mmdyn.models.backends._baseline_prompt import TRUE_FALSE, ReadPrompt, read_prompt
from mmdyn.models.model import Message, ModelLimits, Spec, read_options
from mmdyn.record import Reply

VERSION = 1

UNSEEN_OPTIONS = ("A", "B", "C", "D")
"""The labels to choose from where the options stand in a picture."""

NEAREST, MOST_SPANS = 3, 50
"""A blank is filled from so many sentences, and so many of their words and numbers."""

_WORD = re.compile(r"-?\d+(?:\.\d+)?|[^\W\d_一-鿿]{3,}|[一-鿿]+")
_SPAN = re.compile(r"-?\d+(?:\.\d+)?%?|[^\W\d_一-鿿]{3,}|[一-鿿]{2,4}")
_SENTENCE = re.compile(r"[^.!?。！？；\n]+(?:\.\d+[^.!?。！？；\n]*)*")
_SWEEPING = re.compile(r"\b(?:all|always|every|must|never|no|none|not|only)\b|不|没有|无|都|一定|只|任何", re.I)


class _Options(Struct, frozen=True):
    """None."""


class Baseline:
    """A baseline by its name.

    random: Draws from the options (each with probability 1/2 in a multi-select), or from the words of the prompt; keyed
        by the prompt's text.
    majority: The first option, True, and 1 wherever a value is asked for.
    lexical: The options whose words occur most in the question and its context (in a multi-select all above the mean).
        A statement is true where the context holds half of its words; without such a context, where it has no sweeping
        word. A blank gets a value, an open question a sentence, from the sentence nearest to the question. Words are
        words in English and pairs of characters in Chinese; a hash of the text breaks ties.

    A baseline that is asked for knowledge points repeats those of the prompt.

    Raises:
        UserError: There is no such baseline, or an option was given; it takes none.
    """

    cached = False
    varied: ClassVar[Mapping[str, str]] = {}
    varies = weighs = False
    limits = ModelLimits()

    def __init__(self, spec: Spec) -> None:
        read_options(spec, _Options)
        if spec.name not in _ANSWERS:
            hint = did_you_mean(spec.name, _ANSWERS)
            raise UserError(f"there is no baseline {spec.name!r}{hint}: {', '.join(_ANSWERS)} are")
        self._answer = _ANSWERS[spec.name]
        self.label = f"baseline:{spec.name}"
        self.identity: dict[str, Json] = {"backend": "baseline", "model": spec.name, "version": VERSION}

    @classmethod
    def typed(cls, label: str, identity: Mapping[str, Any]) -> tuple[str, bool]:
        """The MODEL, which is the label."""
        return label, True

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """Return the one answer to these messages."""
        return Reply(text=self.reply(messages), finish_reason="stop")

    def reply(self, messages: tuple[Message, ...]) -> str:
        r"""Return the answer as plain text.

        >>> from mmdyn.models import TextPart
        >>> Baseline(Spec.parse("baseline:majority")).reply((Message("user", (TextPart("Which?\nA. 3\nB. 4"),)),))
        'Answer: A'
        """
        prompt = read_prompt(messages)
        if prompt.elaborates:
            return prompt.knowledge
        return prompt.answer(*self._answer(prompt))

    async def close(self) -> None:
        """Nothing to close."""


def _random(prompt: ReadPrompt) -> list[str]:
    draws = stream("baseline", "random", VERSION, prompt.text)
    labels = list(prompt.options) or list(UNSEEN_OPTIONS)
    if prompt.kind.options:
        drawn = [label for label in labels if draws.random() < 0.5] if prompt.kind.several else []
        return drawn or [labels[int(draws.integers(len(labels)))] for _ in range(_wanted(prompt))]
    if prompt.kind.form == "claim":
        return [TRUE_FALSE[prompt.language][int(draws.integers(2))]]
    spans = _SPAN.findall(f"{prompt.knowledge}\n{prompt.question}") or ["1"]
    return [spans[int(place)] for place in draws.integers(len(spans), size=_wanted(prompt))]


def _majority(prompt: ReadPrompt) -> list[str]:
    if prompt.kind.options:
        return [next(iter(prompt.options), UNSEEN_OPTIONS[0])] * _wanted(prompt)
    if prompt.kind.form == "claim":
        return [TRUE_FALSE[prompt.language][0]]
    return ["1"] * _wanted(prompt)


def _lexical(prompt: ReadPrompt) -> list[str]:
    if prompt.kind.options:
        return _nearest_options(prompt)
    if prompt.kind.form == "claim":
        supported = _overlap(prompt.question, _words(prompt.knowledge)) >= 0.5
        true = supported or not _SWEEPING.search(prompt.question)
        return [TRUE_FALSE[prompt.language][0 if true else 1]]
    asked = _words(prompt.question)
    sentences = [found.strip(" -*\t") for found in _SENTENCE.findall(prompt.knowledge or prompt.question)]
    ranked = sorted(filter(None, sentences), key=lambda sentence: len(asked & _words(sentence)), reverse=True)
    if prompt.kind.form == "open":
        return ranked[:1] or ["1"]
    spans = [span for sentence in ranked[:NEAREST] for span in _SPAN.findall(sentence)][:MOST_SPANS]
    news = list(dict.fromkeys(span for span in spans if span not in prompt.question)) or spans or ["1"]
    return [news[number % len(news)] for number in range(prompt.blanks)]


_ANSWERS: dict[str, Callable[[ReadPrompt], list[str]]] = {"random": _random, "majority": _majority, "lexical": _lexical}


def _nearest_options(prompt: ReadPrompt) -> list[str]:
    options = prompt.options or dict.fromkeys(UNSEEN_OPTIONS, "")
    rest = _words(f"{prompt.knowledge}\n{prompt.question}")
    overlaps = {label: _overlap(text, rest) for label, text in options.items()}
    best = max(overlaps, key=lambda label: (overlaps[label], digest([prompt.text, label])))
    if not prompt.kind.several:
        return [best] * _wanted(prompt)
    mean = sum(overlaps.values()) / len(overlaps)
    return [label for label, overlap in overlaps.items() if overlap > mean] or [best]


def _overlap(text: str, others: set[str]) -> float:
    """The share of a text's words that are among the others, in [0, 1]."""
    words = _words(text)
    return len(words & others) / len(words) if words else 0.0


def _words(text: str) -> set[str]:
    words = set[str]()
    for word in _WORD.findall(text.lower()):
        chinese = "一" <= word[0] <= "鿿" and len(word) > 1
        words.update((word[place : place + 2] for place in range(len(word) - 1)) if chinese else (word,))
    return words


def _wanted(prompt: ReadPrompt) -> int:
    return prompt.blanks if prompt.kind.form == "blank" else 1
