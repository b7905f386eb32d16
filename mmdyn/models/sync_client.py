"""A model for code that is not async: asked from threads, until its reply can be used."""

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


class Asking(Protocol):
    """Who is asked; `ask` blocks its thread, as SyncModelClient's does."""

    label: str

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        """The text of one answer."""
        ...


def ask_and_wait(client: Asking, prompt: Message, language: str, read: Callable[[str], T], nonce: int = 0) -> T:
    """The same as `ask_until_usable` for a thread, which waits. Raises what `SyncModelClient.ask` raises,
    too."""

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
    """One model for threads: `ask` blocks its thread until there is an answer. Replies are kept in the model's cache.

    Args:
        model: A MODEL such as openai:NAME.
        concurrency: Requests in flight at most.
        varied: It is to answer differently each time it is asked the same, as far as its options leave that open.
        budget: What may be asked, and what was spent.
        caches: Where replies are kept; without them those of vendors in the shared cache (`Caches`).

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
        """The text of one answer.

        Args:
            messages: What is asked.
            nonce: Equal messages with another one are asked anew rather than taken from the cache, where the model may
                answer them differently.

        Raises:
            NotNow: This request was not answered (a ValueError).
            ValueError: It cannot be answered.
            ModelError: The model cannot be asked at all.
        """
        asking = self._submit(self._asker.ask(messages, nonce if self.varies else 0))
        try:
            reply = wait_for(asking)
        except CancelledError:
            raise ModelError(f"{self.label} was closed") from None
        return text_of(self.label, reply)

    def close(self) -> None:
        """Break off what is being asked, save the cache and close the model; other and later asks raise ModelError."""
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
