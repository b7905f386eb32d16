"""A model is asked for an object, and shown what was wrong with its reply where that cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mmdyn.keys import Json
from mmdyn.models.desk import Desk
from mmdyn.models.message import Message, TextPart
from mmdyn.prompts.asking import asking_digest, filled

TRIES = 3
"""How often a model is asked for one thing, where its replies cannot be used."""

_AGAIN = "again"
_LONGEST_PROBLEM, _LONGEST_REPLY = 160, 4000

T = TypeVar("T")


def ask_until_usable(desk: Desk, prompt: Message, language: str, read: Callable[[str], T], nonce: int = 0) -> T:
    """What `read` makes of the reply to a prompt.

    Where it raises ValueError, the model is shown its reply with the problem and asked again, three times in all; `nonce`
    goes up each time. Raises ValueError where no reply could be used, and what `Desk.ask` raises.
    """
    messages: tuple[Message, ...] = (prompt,)
    problem = ""
    for attempt in range(TRIES):
        reply = desk.ask(messages, nonce + attempt)
        try:
            return read(reply)
        except ValueError as error:
            problem = " ".join(str(error).split())[:_LONGEST_PROBLEM]
        again = filled(_AGAIN, _AGAIN, language, problem=problem)
        said = reply[:_LONGEST_REPLY].strip() or "-"
        messages = (prompt, Message("assistant", (TextPart(said),)), Message("user", (TextPart(again),)))
    raise ValueError(f"{desk.label} gave nothing usable in {TRIES} tries ({problem})")


def prompts_digest(kind: str) -> Json:
    """What of the prompts of a kind, and of those for asking again, decides a model's replies."""
    return [asking_digest(kind), asking_digest(_AGAIN)]
