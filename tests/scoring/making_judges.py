"""Judges for tests: models whose replies are a function of what they are asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from mmdyn.models import Asker, ImagePart, Message
from mmdyn.models.model import ModelLimits
from mmdyn.record import Reply, Usage
from mmdyn.scoring.judge import Judge
from mmdyn.testing import VERDICT_CODE, verdict_code

CODE, code_of = VERDICT_CODE, verdict_code

OBJECT = re.compile(r"\{.*\}")


def shown(prompt: str) -> list[str]:
    """What stands between the lines with a prompt's code, from the question on."""
    return re.split(rf"^=== {code_of(prompt)} .*\n", prompt, flags=re.MULTILINE)[1:-1]


def outside(prompt: str) -> str:
    """A prompt without what stands between the first line with its code and the first one that says that this is the
    end."""
    code = code_of(prompt)
    return re.sub(rf"^=== {code} .*?^=== {code} (?:end|结束)$", "", prompt, count=1, flags=re.MULTILINE | re.DOTALL)


def marks(code: str, *given: float, why: str = "it says so") -> str:
    """A verdict of the rubric `match`."""
    return json.dumps({"code": code, "grades": [[n, why, mark] for n, mark in enumerate(given, 1)]}, ensure_ascii=False)


def ticks(code: str, golden: bool, *items: bool) -> str:
    """A verdict of the rubric `checklist`."""
    met = [[number, "why", each] for number, each in enumerate(items, 1)]
    return json.dumps({"code": code, "golden": ["why", golden], "items": met})


class Told:
    """A model that replies `say(prompt, number)`, where number counts the requests from 0; each reply takes 100 and 10
    tokens.

    `asked` keeps the messages. A Reply is taken as it is, an exception raised.
    """

    varied: ClassVar[Mapping[str, str]] = {}
    limits, weighs = ModelLimits(max_tries=1), False

    def __init__(self, say: Callable[[str, int], str | Reply | Exception], *, varies: bool = True) -> None:
        self.say, self.varies, self.cached = say, varies, True
        self.label, self.identity = "told:x", {"told": "x"}
        self.asked = list[tuple[Message, ...]]()

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """What it is told to say."""
        self.asked.append(messages)
        said = self.say(messages[0].text, len(self.asked) - 1)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Reply) else Reply(text=said, usage=Usage(100, 10), finish_reason="stop")

    async def close(self) -> None:
        """There is nothing to let go of."""

    @property
    def pictures(self) -> list[ImagePart]:
        """Those of the last request."""
        return [part for message in self.asked[-1] for part in message.parts if isinstance(part, ImagePart)]


def judged_by(
    say: Callable[[str, int], str | Reply | Exception],
    rubric: str = "auto",
    votes: int = 1,
    *,
    varies: bool = True,
    pictures: bool = False,
    **asker: Any,
) -> tuple[Judge, Told]:
    """A judge that says what it is told, and its model."""
    model = Told(say, varies=varies)
    return Judge(Asker(model, **asker), rubric, votes, pictures=pictures), model


def in_turn(*replies: str) -> Callable[[str, int], str]:
    """One reply after the other, CODE standing for the prompt's code."""
    return lambda prompt, number: replies[number % len(replies)].replace("CODE", code_of(prompt))
