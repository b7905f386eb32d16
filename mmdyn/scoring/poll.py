"""Several votes of one model on one question, and what they took."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from mmdyn.models import TRIES, Asker, Message, ask_until_usable, nonces, text_of
from mmdyn.record import Reply, Usage

T = TypeVar("T")


class Paid(Protocol):
    """What took tokens, and cost something."""

    @property
    def usage(self) -> Usage: ...
    @property
    def cost(self) -> float | None: ...
    @property
    def currency(self) -> str: ...


class CountedRequests(Paid, Protocol):
    """The same for what several requests may have gone into."""

    @property
    def requests(self) -> int: ...


class Poll(Struct, Generic[T], frozen=True):
    """As many `verdicts` as votes were asked for, or none and an `error`. The rest is as a Judgement has it."""

    verdicts: tuple[T, ...]
    error: str
    requests: int
    cached: int
    usage: Usage
    cost: float | None
    currency: str


async def poll(asker: Asker, prompt: Message, language: str, read: Callable[[str], T], votes: int = 1) -> Poll[T]:
    """Ask for some votes, all at once, each until `read` can use it (it raises ValueError where not, which the model is
    told).

    A vote that cannot be had leaves no verdict at all: fewer votes than were asked for would be another judge. Replies
    that could not be used before, and lie in the cache, are passed over: the same is asked in a later epoch. Raises
    UserError as `nonces` does, ModelError where the model cannot be asked at all, Stopped where it may not be.
    """
    model = asker.model
    sent, cached = list[Reply](), list[list[Reply]]()

    async def vote(start: int) -> T:
        turn, anew, recalled = 0, False, list[Reply]()
        cached.append(recalled)

        async def ask(messages: tuple[Message, ...], nonce: int) -> str:
            nonlocal anew
            epoch = nonce + turn * votes * TRIES if model.varies else turn
            reply, known = await asker.fetch(messages, epoch)
            (recalled if known else sent).append(reply)
            anew = anew or not known
            return text_of(model.label, reply)

        asking = partial(ask_until_usable, ask, model.label, prompt, language, read, start)
        while True:
            try:
                return await asking(shown=False, varies=model.varies)
            except ValueError:
                if anew:
                    raise
            turn += 1
            recalled.clear()

    asking = [vote(start) for start in nonces(votes, model.label, varies=model.varies)]
    verdicts, error = list[T](), ""
    for found in await asyncio.gather(*asking, return_exceptions=True):
        if isinstance(found, ValueError):
            error = error or str(found)
        elif isinstance(found, BaseException):
            raise found
        else:
            verdicts.append(found)
    requests, (cost, currency) = sum(reply.attempts for reply in sent), _cost(sent)
    known = list(chain.from_iterable(cached))
    currency = currency or next((reply.currency for reply in known if reply.currency), "")
    return Poll(() if error else tuple(verdicts), error, requests, len(known), _usage(sent), cost, currency)


def total(asked: Sequence[CountedRequests]) -> dict[str, Any]:
    """What several polls, or what was made of them, took, by its names in a Judgement."""
    cost, currency = _cost(asked)
    requests = sum(found.requests for found in asked)
    return {"requests": requests, "usage": _usage(asked), "cost": cost, "currency": currency}


def _usage(replies: Iterable[Paid]) -> Usage:
    fields = Usage.__struct_fields__
    return Usage(**{name: sum(getattr(reply.usage, name) for reply in replies) for name in fields})


def _cost(replies: Sequence[Paid]) -> tuple[float | None, str]:
    """The sum, which is not known where one is not; nothing costs nothing."""
    costs = [reply.cost for reply in replies if reply.cost is not None]
    currency = next((reply.currency for reply in replies if reply.currency), "")
    return (sum(costs), currency) if len(costs) == len(replies) else (None, currency)
