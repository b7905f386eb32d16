"""A model for threads, and requests that are repeated until the reply is usable."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, Protocol, TypeAlias, TypeVar

from mmdyn.errors import ModelError, NotNow, UserError
from mmdyn.keys import Json
from mmdyn.models.asker import Asker
from mmdyn.models.budget import Budget
from mmdyn.models.cache import Caches
from mmdyn.models.model import Message, TextPart, open_model
from mmdyn.prompts import asking_digest, filled
from mmdyn.record import Reply
from mmdyn.work import wait_for

TRIES = 3
"""The most requests for one thing while the replies are not usable."""

_AGAIN = "again"
_LONGEST_PROBLEM, _LONGEST_REPLY = 160, 4000

Ask: TypeAlias = Callable[[tuple[Message, ...], int], Awaitable[str]]
"""Takes messages and a nonce; gives the reply's text. Another nonce gets another reply. May raise any error."""

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
    """Send a prompt until the reply is usable; after an unusable reply the model is told what is wrong with it.

    Args:
        ask: Sends messages to the model.
        label: The model's name in errors.
        language: The language of the message about an unusable reply.
        read: Turns a reply into the result; raises ValueError for an unusable reply.
        nonce: The nonce of the first request; it goes up by 1 with each.
        shown: Show the model its unusable reply. False where the reply may quote words that must stay between
            delimiters.
        varies: Equal requests may get different replies; if not, no request is sent twice.

    Raises:
        ValueError: None of TRIES replies was usable. Errors of `ask` pass through.
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
    """Return the text of a reply.

    Raises:
        NotNow: The request failed, and may succeed later (a ValueError).
        ValueError: The model refused the request for good.

    >>> text_of("openai:x", Reply(text="B"))
    'B'
    """
    if reply.final:
        raise ValueError(f"{label} refused ({reply.error})")
    if reply.error:
        raise NotNow(f"{label} did not answer ({reply.error})")
    return reply.text


def nonces(votes: int, label: str, *, varies: bool) -> range:
    """The nonce of the first request of each vote; the numbers between leave room to repeat a request TRIES times.

    Args:
        votes: The number of votes, odd.
        label: The model's name in errors.
        varies: Whether equal requests to the model may get different replies.

    Raises:
        UserError: The number is even or below 1, or above 1 for a model that always votes alike.

    >>> list(nonces(3, "openai:x", varies=True))
    [0, 3, 6]
    """
    if votes < 1 or votes % 2 == 0:
        raise UserError(f"{votes} votes can tie: give an odd number, such as 3")
    if votes > 1 and not varies:
        raise UserError(
            f"{label} would vote alike each time: give it a temperature above 0 and no seed, or ask for one vote"
        )
    return range(0, votes * TRIES, TRIES)


def prompts_digest(kind: str, *names: str) -> Json:
    """A digest of the prompts of a kind with these names, and of the prompt for repeated requests, for request keys."""
    return [asking_digest(kind, *names), asking_digest(_AGAIN)]


class Asking(Protocol):
    """A client whose `ask` blocks its thread, as SyncModelClient's does."""

    label: str

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """Return the text of one reply."""
        ...


def ask_and_wait(client: Asking, prompt: Message, language: str, read: Callable[[str], T], nonce: int = 0) -> T:
    """Do what `ask_until_usable` does, in a thread that blocks meanwhile. Errors of `SyncModelClient.ask` pass
    through."""

    async def ask(messages: tuple[Message, ...], nonce: int) -> str:
        return client.ask(messages, nonce)

    asking = ask_until_usable(ask, client.label, prompt, language, read, nonce)
    try:
        asking.send(None)  # runs to its end: the client blocks this thread, so nothing in it waits for an event loop
    except StopIteration as end:
        answer: T = end.value
        return answer
    raise AssertionError("a blocking client does not wait for an event loop")


class SyncModelClient:
    """A model for threads: `ask` blocks its thread until the reply is there. Replies are cached.

    Args:
        model: A MODEL such as openai:NAME.
        concurrency: The most requests in flight.
        varied: Let answers to equal requests vary, except where the MODEL's options say otherwise.
        budget: Limits on requests and cost; no limits by default.
        caches: Where replies are cached; by default as `Caches()`, which caches those of vendors in the shared folder.

    Raises:
        UserError: There is no such backend or option, or a limit on cost cannot be kept.
    """

    def __init__(
        self,
        model: str,
        concurrency: int = 32,
        *,
        varied: bool = False,
        budget: Budget | None = None,
        caches: Caches | None = None,
    ) -> None:
        self._caches, budget = caches or Caches(), budget or Budget()
        opened = open_model(model, varied=varied)
        budget.check([opened])
        self._asker = Asker(opened, concurrency=concurrency, caches=self._caches, budget=budget)
        self.label, self.identity = self._asker.model.label, self._asker.model.identity
        self.varies = self._asker.model.varies
        self._gate, self._closing = threading.Lock(), False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"mmdyn {self.label}", daemon=True)
        self._thread.start()

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """Return the text of one reply.

        Args:
            nonce: Equal messages with another nonce are sent anew instead of read from the cache, if the model
                `varies`.

        Raises:
            NotNow: The request failed, and may succeed later (a ValueError).
            ValueError: The model refused this request for good.
            ModelError: The model answers no request, or the client is closed.
        """
        asking = self._submit(self._asker.ask(messages, nonce if self.varies else 0))
        try:
            reply = wait_for(asking)
        except CancelledError:
            raise ModelError(f"{self.label} was closed") from None
        return text_of(self.label, reply)

    def close(self) -> None:
        """Cancel running requests, save the cache and close the model; running and later calls of `ask` raise
        ModelError."""
        try:
            stopping = self._submit(self._stop(), last=True)
        except ModelError:
            return
        stopping.result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._caches.close()

    async def _stop(self) -> None:
        """Comes after every ask that was handed in, so that none is left for which nobody would answer."""
        asks = asyncio.all_tasks() - {asyncio.current_task()}
        for ask in asks:
            ask.cancel()
        await asyncio.gather(*asks, return_exceptions=True)
        await self._asker.close()

    def _submit(self, what: Coroutine[Any, Any, T], *, last: bool = False) -> Future[T]:
        with self._gate:
            if self._closing:
                what.close()
                raise ModelError(f"{self.label} was closed")
            self._closing = last
            return asyncio.run_coroutine_threadsafe(what, self._loop)
