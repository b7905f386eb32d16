"""Sends requests to a model: many at a time, with retries, and no request twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from weakref import WeakValueDictionary

from msgspec.structs import replace

from mmdyn.errors import MmdynError, ModelError, Stopped
from mmdyn.keys import digest
from mmdyn.models.budget import Budget
from mmdyn.models.cache import Caches, cache_key, keep, recall
from mmdyn.models.model import ImagePart, Message, Model, RefusedError, RejectedError, TransientError, identity
from mmdyn.models.pace import Outages, Pace, Place, Retry, StallDetection, Turn
from mmdyn.record import Reply, Usage
from mmdyn.text import estimate_tokens
from mmdyn.work import LOG, Reader, ReplyTally, Store

DRAIN_SECONDS = 10.0
"""Seconds to wait for requests in flight when no further one is sent."""
REFUSALS = 10
"""So many refused requests, or questions that failed at every try, make a model unusable that never answered."""
PICTURE_TOKENS, ANSWER_TOKENS = 1600, 800
"""Tokens assumed for a picture and an answer when a batch is priced before it is submitted."""
_RETRY = Retry()


class Asker:
    """Asks one model. Start more asks than `concurrency`: one that waits for a retry leaves its place to another.

    Args:
        concurrency: The most requests in flight (one that seems to hang lends its place, see `StallDetection`); the
            model's own option overrides it.
        retry: When a request that failed is sent again.
        caches: The model's one is read first and filled. The caller closes them.
        budget: Checked before every try and charged after it; without one there is no limit, and no cost is known.

    Attributes:
        answers: Whether the model is known to answer; a caller with earlier answers may set it. A cached reply counts:
            a model with these options did answer, so refusals are not due to them. It does not vouch for the API key:
            several refusals in a row always end the asking (`Outages`).
        tally: What replies tell of the server, cached ones excluded.
    """

    def __init__(
        self,
        model: Model,
        *,
        concurrency: int = 32,
        retry: Retry = _RETRY,
        caches: Caches | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.model = model
        self.concurrency = model.limits.concurrency or concurrency
        self._retry = replace(retry, max_tries=model.limits.max_tries or retry.max_tries)
        self.asked = self.cached = self.retried = 0
        self.tally = ReplyTally()
        self.answers, self._refusals, self._failures = False, 0, 0
        self._last_answer = -retry.patience
        self._caches = caches
        self.budget = budget or Budget()
        self._price = self.budget.prices.of(model)
        self._pace = Pace(self.concurrency)
        if self.budget.unsure(model):
            self._pace.limit = 1.0
        self._stalls = StallDetection(self._pace, model.limits.hangs)
        self._outages = Outages(model.label, self._pace, self._stalls, retry.patience)
        self._one_at_a_time = WeakValueDictionary[str, asyncio.Lock]()
        self._listing, self._listed = asyncio.Lock(), False
        self._fatal: MmdynError | None = None
        self._deadline = 0.0

    @property
    def in_flight(self) -> int:
        """How many requests are in flight now, those that seem to hang among them."""
        return self._pace.in_flight + self._pace.lent

    @property
    def batches(self) -> str:
        """The progress of batches in flight, for a model that uses batches."""
        return str(getattr(self.model, "progress", ""))

    @property
    def is_broken(self) -> bool:
        """Whether the model turned out to be one that cannot be asked at all."""
        return self._fatal is not None

    def stop(self, why: Stopped) -> None:
        """Send no further request: every ask that is not in flight raises `why`, and so do later ones that need a
        request."""
        self._pace.close(why)

    def request_key(self, messages: tuple[Message, ...], epoch: int = 0) -> str:
        """The key of a request to this model."""
        return request_key(self.model, messages, epoch)

    async def ask(self, messages: tuple[Message, ...], epoch: int = 0, *, key: str = "") -> Reply:
        """One answer, out of the cache or from the model. On failure a Reply with `error` set, which is not kept.
        Raises as `fetch` does."""
        return (await self.fetch(messages, epoch, key=key))[0]

    async def fetch(self, messages: tuple[Message, ...], epoch: int = 0, *, key: str = "") -> tuple[Reply, bool]:
        """As `ask`, and whether the reply was in the cache.

        An error is raised only when requests in flight had time to end, as the caller may drop them for it.

        Args:
            key: the `request_key`, where it is known already.

        Raises:
            ModelError: the model is unusable (another UserError: a picture cannot be read). Then every other ask, under
                way or later, raises ModelError too: at once if the model has answered none, else when those in flight
                have ended, after DRAIN_SECONDS at most; their answers are kept.
            Stopped: the budget allows no further request.
        """
        try:
            return await self._fetch(messages, key or self.request_key(messages, epoch))
        except Stopped:
            raise
        except MmdynError as error:
            self._stop(error)
            await self._drain()
            raise

    async def _fetch(self, messages: tuple[Message, ...], key: str) -> tuple[Reply, bool]:
        if self._cache is None:
            return await self.put(messages, key), False
        if not self._listed:
            async with self._listing:
                if (listing := getattr(self.model, "listing", None)) is not None:
                    await listing.read()
            self._listed = True
        kept_under = cache_key(self.model, key)
        async with self._one_at_a_time.setdefault(key, asyncio.Lock()):
            if (known := recall(self._cache, kept_under)) is not None:
                self.answers = True
                self.cached += 1
                return self._unpaid(known), True
            reply = await self.put(messages, key)
            if not reply.error:
                keep(self._cache, kept_under, reply)
            return reply, False

    async def put(self, messages: tuple[Message, ...], key: str) -> Reply:
        """Ask the model, whatever is in the cache, until there is an answer or no use in going on. Raises as `fetch`
        does."""
        self.asked += 1
        tried, uncounted, spent, unanswered, refused, turn = 0, 0, 0.0, False, False, Turn.FIRST
        while True:
            tried += 1
            place = await self._pace.enter(turn)
            began = _now()
            try:
                reply = await self._try(messages, place, tried)
            except TransientError as error:
                failure, unanswered, turn = error, error.unanswered, Turn.AGAIN
                pause = self._retry.pause(key, tried - uncounted, failure.retry_after)
                waits, alone = pause if pause <= self._retry.max_seconds else 0.0, self.in_flight == 1
                if self._outages.failed(failure, place, waits, answers=self.answers, alone=alone):
                    uncounted, pause = uncounted + 1, 0.0
            except RefusedError as error:
                self._outages.refused(error, place, answers=self.answers, alone=self.in_flight == 1)
                if refused:
                    return _failed(error, tried, began)
                failure, refused, turn = TransientError(str(error)), True, Turn.REFUSED
                pause = self._retry.pause(key, 1, None)
            except RejectedError as error:
                self._count_refusal(error)
                return _failed(error, tried, began)
            else:
                seconds = self._answered(began, unanswered)
                return self._paid(messages, reply, tried, seconds)
            finally:
                place.leave()
            spent += _now() - began + pause
            answers_others = _now() - self._last_answer < self._retry.patience
            if self._retry.gives_up(failure, tried - uncounted, spent, answers_others=answers_others):
                self._count_failure(failure)
                return _failed(failure, tried, began)
            self.retried += 1
            LOG.info("%s: try %d failed (%s), again in %.1f s", self.model.label, tried, failure, pause)
            await self._pace.pause(pause)

    async def close(self) -> None:
        """Save what is in the caches and close the model."""
        self._stalls.close()
        try:
            if self._caches:
                self._caches.flush()
        finally:
            await self.model.close()

    @cached_property
    def _cache(self) -> Store | Reader | None:
        """The model's cache, opened with the first request, when the command is known to be right."""
        return self._caches.of(self.model) if self._caches else None

    async def _try(self, messages: tuple[Message, ...], place: Place, tried: int) -> Reply:
        """Send a request; cancel it if it seems to hang, or if the model turns out to be unusable."""
        expected = self._expected(messages)
        self._take(expected)
        scope = asyncio.timeout(None)
        one = self._stalls.begin(place, scope, tried, may_cut=tried < self._retry.max_tries)
        try:
            async with scope:
                return await self.model.ask(messages)
        except TimeoutError:
            if one.cut:
                raise one.error() from None
            if self._fatal is not None:
                raise ModelError(str(self._fatal)) from None
            raise
        finally:
            self._stalls.end(one)
            self.budget.ended(self.model, expected)

    def _expected(self, messages: tuple[Message, ...]) -> float:
        """The estimated cost of a request in a batch, from its prompt and ANSWER_TOKENS; 0 for others."""
        if not self.model.limits.batched or self._price is None:
            return 0.0
        images, text = _images(messages), sum(estimate_tokens(message.text) for message in messages)
        return self._price.cost(Usage(round(text) + images * PICTURE_TOKENS, ANSWER_TOKENS), images) or 0.0

    def _take(self, expected: float) -> None:
        try:
            self.budget.take(self.model, expected)
        except Stopped as limit:
            self.stop(limit)
            raise

    def _answered(self, began: float, unanswered: bool) -> float:
        """How many seconds the answer took."""
        self.answers = True
        self._pace.answered()
        self._outages.answered(began)
        self._last_answer = _now()
        seconds = self._last_answer - began
        self._stalls.answered(seconds, at_last=unanswered)
        return seconds

    def _paid(self, messages: tuple[Message, ...], reply: Reply, tried: int, seconds: float) -> Reply:
        unsure, made = self.budget.unsure(self.model), int(time.time())
        estimate = round(estimate_tokens("".join([message.text for message in messages])))
        counted = replace(
            reply, attempts=tried, seconds=seconds, made=made, image_count=_images(messages), estimate=estimate
        )
        paid = self.budget.paid(self.model, self._price, counted)
        self.tally.add(paid)
        if unsure:
            self._pace.limit = float(self.concurrency)
        return paid

    def _unpaid(self, reply: Reply) -> Reply:
        """A reply out of the cache, which costs nothing where costs are known."""
        if self._price is None and reply.cost is None:
            return reply
        cost, currency = (0.0, self._price.currency) if self._price else (None, "")
        return replace(reply, cost=cost, currency=currency)

    def _count_refusal(self, refusal: RejectedError) -> None:
        """Stop if a model that never answered refuses one request after the other, or names an option."""
        self._outages.is_there()
        if self.answers:
            return
        if refusal.for_all:
            raise ModelError(refusal.for_all)
        self._refusals += refusal.perhaps_all
        if self._refusals >= REFUSALS:
            raise ModelError(f"{refusal}, and so {REFUSALS} times with no answer to any: mend the model's options")

    def _count_failure(self, failure: TransientError) -> None:
        """Stop if a model that never answered failed one question after the other at every try."""
        if self.answers:
            return
        self._failures += 1
        if self._failures >= REFUSALS:
            raise ModelError(
                f"{self.model.label} has answered none of {REFUSALS} questions ({failure}), each of which was put until"
                " trying again had no use: look into the server's log, and check the model's name, key and options"
            )

    def _stop(self, error: MmdynError) -> None:
        """Stop sending. Requests in flight may finish if the model has answered any."""
        if self._fatal is None:
            self._fatal = error
            self._deadline = _now() + DRAIN_SECONDS if self.answers else 0.0
            self._pace.close(ModelError(str(error)))
            self._stalls.cut_all(self._deadline)

    async def _drain(self) -> None:
        while self.in_flight and _now() < self._deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@asynccontextmanager
async def open_asker(model: Model, concurrency: int, budget: Budget, caches: Caches) -> AsyncIterator[Asker]:
    """An Asker with its caches; model and caches are closed at the end."""
    with caches:
        asker = Asker(model, concurrency=concurrency, caches=caches, budget=budget)
        try:
            yield asker
        finally:
            await asker.close()


def request_key(model: Model, messages: tuple[Message, ...], epoch: int = 0) -> str:
    """Digest of the model's identity, the messages with their pictures' bytes, and the epoch; never of a path."""
    return digest([model.identity, identity(messages), epoch])


def _images(messages: tuple[Message, ...]) -> int:
    return sum(isinstance(part, ImagePart) for message in messages for part in message.parts)


def _failed(failure: Exception, tried: int, began: float) -> Reply:
    final = isinstance(failure, RejectedError | RefusedError)
    return Reply(error=str(failure), final=final, attempts=tried, seconds=_now() - began)


def _now() -> float:
    """Seconds on the running loop's clock, which the timers of `pace` use, too."""
    return asyncio.get_running_loop().time()
