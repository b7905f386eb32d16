"""A model of known ability, for `tests/knowing.py:Knowing,…`: it knows a share of the statements, reads a composed
question as it is shown, and answers what fits that; and what such a model scores, computed out of a sample."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import json

from mmdyn.keys import stream
from mmdyn.models import Message
from mmdyn.record import Reply, Usage
from mmdyn.sample import Sample

_LISTED = re.compile(r"^([ivxl]+)\. (.*?)(?=\n[ivxl]+\. |\n\n)", re.MULTILINE | re.DOTALL)
_NAMED = r"[ivxl]+(?:(?:, |、)[ivxl]+)*"
_TOGETHER = re.compile(r"^([A-Z])\. (.*)$", re.MULTILINE)
_OPTION = re.compile(rf"^([A-J])\. ({_NAMED})$", re.MULTILINE)
_CLAIM = re.compile(rf"^(?:Claim: exactly|论断：)(.*?)[:是] ?({_NAMED})[.。]", re.MULTILINE)
_INCORRECT = re.compile(r"\b(?:incorrect|false|wrong|inaccurate|mistaken)\b|错误|有误|不准确|不成立")


class Knowing:
    """Knows each statement of a bank with a chance of its own, keyed by the statement's id, whatever else is asked.

    Where what it knows leaves several answers, it takes any of them, each as likely.

    Args:
        bank: JSON Lines of statements.
        knows: The chance that it knows one.
        name: Its label, by which its knowledge is drawn, too.
        first: The share of choices to which it says A without reading.
        tokens: Of each response.
    """

    concurrency = 8

    def __init__(self, bank: str, knows: float, name: str, first: float = 0.0, tokens: int = 10) -> None:
        lines = map(json.decode, Path(bank).read_bytes().splitlines())
        self.label, self.identity = name, [bank, knows, name, first, tokens]
        self._truth = {line["text"]: bool(line["label"]) for line in lines if _known(name, line["id"], knows)}
        self._first, self._tokens = first, tokens

    def ask(self, messages: tuple[Message, ...]) -> Reply:
        """The answer."""
        shown = "\n".join(message.text for message in messages)
        draws = stream("knowing", self.label, shown)
        return Reply(f"Answer: {self._answer(shown, draws)}", "stop", Usage(len(shown) // 4, self._tokens))

    def _answer(self, shown: str, draws: np.random.Generator) -> str:
        statements = dict(_LISTED.findall(shown))
        if not statements and (judged := dict(_TOGETHER.findall(shown))):
            said = {one: self._truth.get(text, bool(draws.random() < 0.5)) for one, text in judged.items()}
            correct = not _INCORRECT.search(shown.partition("\nA. ")[0])
            return "".join(one for one, truth in said.items() if truth is correct) or "A"
        if not statements:
            guess = bool(draws.random() < 0.5)
            return str(next((truth for text, truth in self._truth.items() if text in shown), guess))
        if claim := _CLAIM.search(shown):
            fits = self._fitting(statements, {"claim": claim[2]}, correct=not _INCORRECT.search(claim[1]))
            everything = all(text in self._truth for text in statements.values())
            return str(bool(fits) and (everything or bool(draws.random() < 0.5)))
        if draws.random() < self._first:
            return "A"
        correct = not _INCORRECT.search(shown.partition("\ni. ")[0])
        return str(draws.choice(self._fitting(statements, dict(_OPTION.findall(shown)), correct=correct)))

    def _fitting(self, statements: dict[str, str], named: dict[str, str], *, correct: bool) -> list[str]:
        """What names all statements that it knows to be asked for, and none that it knows not to be."""
        asked = {place: self._truth[text] == correct for place, text in statements.items() if text in self._truth}
        sets = {one: set(re.split(", |、", places)) for one, places in named.items()}
        return [
            one for one, places in sets.items() if all((place in places) == is_so for place, is_so in asked.items())
        ]


def _known(name: str, statement: str, knows: float) -> bool:
    return float(stream("knows", name, statement).random()) < knows


@cache
def _subsets(count: int) -> tuple[np.ndarray, np.ndarray]:
    """All subsets of so many places as bits, and how many places each has."""
    known = np.arange(1 << count)
    return known, np.array([int(each).bit_count() for each in known])


def expected(sample: Sample, knows: float, first: float = 0.0) -> float:
    """The chance that such a model answers a composed choice: the sum over all statements that it may know."""
    meta: Any = sample.meta
    sets, right = [sum(1 << place for place in one) for one in meta["sets"]], ord(str(sample.answer[0])) - ord("A")  # type: ignore[index]
    count = len(meta["statements"])
    known, sizes = _subsets(count)
    fitting = sum(((known & (sets[right] ^ one)) == 0).astype(float) for one in sets)
    reads = float((knows**sizes * (1 - knows) ** (count - sizes) / fitting).sum())
    return first * (right == 0) + (1 - first) * reads
