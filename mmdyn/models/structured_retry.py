"""A model is asked for an object, and shown what was wrong with its reply where that cannot be used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from mmdyn.errors import NotNow, UserError
from mmdyn.keys import Json
from mmdyn.models.message import Message, TextPart
from mmdyn.prompts import asking_digest, filled
from mmdyn.record import Reply

TRIES = 3
"""How often a model is asked for one thing, where its replies cannot be used."""

_AGAIN = "again"
_LONGEST_PROBLEM, _LONGEST_REPLY = 160, 4000

Ask: TypeAlias = Callable[[tuple[Message, ...], int], Awaitable[str]]
"""Messages and a nonce -> the reply's text; another nonce asks anew. It may raise what it will."""

T = TypeVar("T")


async def ask_until_usable(
    ask: Ask,
    label: str,
    prompt: Message,
    language: str,
    read: Callable[[str], T],
    nonce: int = 0,
    *,
    shown: bool = True,
    varies: bool = True,
) -> T:
    """What `read` makes of the reply to a prompt; a model whose reply cannot be used is shown the problem and asked
    again, TRIES times in all.

    Args:
        ask: Puts messages to the model.
        label: How errors name the model.
        prompt: What it is asked first.
        language: In which it is told what was wrong.
        read: Makes something of a reply; raises ValueError where it cannot.
        nonce: Of the first try; it goes up with each.
        shown: It sees its reply again. Not where that may quote words which must stay between delimiters, and which it
            would find there as its own.
        varies: It may answer the same differently; one that does not is never asked the same twice.

    Raises:
        ValueError: No reply could be used; and what `ask` raises.
    """
    messages: tuple[Message, ...] = (prompt,)
    problem, tries = "", 0
    for attempt in range(TRIES):
        tries += 1
        reply = await ask(messages, nonce + attempt)
        try:
            return read(reply)
        except ValueError as error:
            problem = " ".join(str(error).split())[:_LONGEST_PROBLEM]
        again = filled(_AGAIN, _AGAIN, language, problem=problem)
        said = (reply[:_LONGEST_REPLY].strip() if shown else "") or "-"
        asked = messages
        messages = (prompt, Message("assistant", (TextPart(said),)), Message("user", (TextPart(again),)))
        if messages == asked and not varies:
            break
    raise ValueError(f"{label} gave nothing usable in {tries} tries ({problem})")


def text_of(label: str, reply: Reply) -> str:
    """The text of a model's reply.

    Raises:
        NotNow: It did not answer.
        ValueError: It never will.
    """
    if reply.final:
        raise ValueError(f"{label} refused ({reply.error})")
    if reply.error:
        raise NotNow(f"{label} did not answer ({reply.error})")
    return reply.text


def nonces(votes: int, label: str, *, varies: bool) -> range:
    """The first nonce of each of some votes, which leave room for asking again.

    Raises:
        UserError: The number of votes is even, or there are several of a model whose answers are the same each time.
    """
    if votes < 1 or votes % 2 == 0:
        raise UserError(f"{votes} votes can tie: give an odd number, such as 3")
    if votes > 1 and not varies:
        raise UserError(
            f"{label} would vote alike each time: give it a temperature above 0 and no seed, or ask for one vote"
        )
    return range(0, votes * TRIES, TRIES)


def prompts_digest(kind: str, *names: str) -> Json:
    """What of the prompts of a kind (those of some names), and of those for asking again, decides a model's replies."""
    return [asking_digest(kind, *names), asking_digest(_AGAIN)]
