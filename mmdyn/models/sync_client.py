"""A model for code that is not async: asks from many threads go through one event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any, TypeVar

from mmdyn.errors import ModelError
from mmdyn.models.asker import Asker
from mmdyn.models.budget import Budget
from mmdyn.models.cache import Caches
from mmdyn.models.message import Message
from mmdyn.models.model import open_model
from mmdyn.models.structured_retry import text_of
from mmdyn.work import wait_for

T = TypeVar("T")


class SyncModelClient:
    """One model for threads: `ask` blocks its thread until there is an answer. Replies are kept in the model's cache.

    Args:
        model: A MODEL such as openai:NAME.
        concurrency: Requests in flight at most.
        varied: It is to answer differently each time it is asked the same, as far as its options leave that open.
        budget: What may be asked, and what was spent.
        out: The folder of what is made, for a cache of its own (`Caches`).

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
        out: Path | None = None,
    ) -> None:
        self._caches, budget = Caches(out=out), budget or Budget()
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
