"""A model whose replicas are actors of Ray: asked like any other model, through lost actors and nodes."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from mmdyn.errors import MmdynError, ModelError, UserError
from mmdyn.keys import Json
from mmdyn.models import Message, Model, RejectedError, TransientError, open_model
from mmdyn.record import Reply

Request = tuple[Message, ...]


class RemoteAnswer(Struct, frozen=True, omit_defaults=True):
    """The outcome of one request: a reply, or how it failed, with all that the error says."""

    reply: Reply | None = None
    failed: Literal["", "transient", "rejected", "fatal"] = ""
    reason: str = ""
    retry_after: float | None = None
    slow_down: bool = False
    unanswered: bool = False
    perhaps_all: bool = False
    for_all: str = ""

    def take(self) -> Reply:
        """The reply. Raises what the model raised."""
        if self.failed == "transient":
            raise TransientError(self.reason, self.retry_after, slow_down=self.slow_down, unanswered=self.unanswered)
        if self.failed == "rejected":
            raise RejectedError(self.reason, perhaps_all=self.perhaps_all, for_all=self.for_all)
        if self.reply is None:
            raise ModelError(self.reason)
        return self.reply


class Opened(Struct, frozen=True):
    """Whether a replica could open its model, and which one that is."""

    identity: dict[str, Json] = {}
    error: str = ""


class Replica:
    """Hosts the model that a MODEL names. `folder`: where relative paths in it begin, if this machine has it."""

    def __init__(self, text: str, folder: str) -> None:
        self._text = text
        if Path(folder).is_dir():
            os.chdir(folder)
        self._model: Model | None = None

    async def open(self) -> bytes:
        """An `Opened`."""
        try:
            self._model = open_model(self._text)
        except MmdynError as error:
            return msgspec.msgpack.encode(Opened(error=str(error)))
        return msgspec.msgpack.encode(Opened(self._model.identity))

    async def ask(self, requests: bytes) -> bytes:
        """An answer to each request, all asked at once."""
        assert self._model is not None
        batch = unpack(requests)
        return msgspec.msgpack.encode(await asyncio.gather(*(_answer(self._model, request) for request in batch)))


def pack(requests: Sequence[Request]) -> bytes:
    """Requests as they travel. Pictures travel as paths: the sets lie at the same place on every machine."""
    return msgspec.msgpack.encode(requests, enc_hook=str)


def unpack(data: bytes) -> list[Request]:
    """Requests out of their bytes."""
    return msgspec.msgpack.decode(data, type=list[Request], dec_hook=_path)


def answers(data: bytes) -> list[RemoteAnswer]:
    """Answers out of their bytes."""
    return msgspec.msgpack.decode(data, type=list[RemoteAnswer])


async def _answer(model: Model, request: Request) -> RemoteAnswer:
    try:
        return RemoteAnswer(await model.ask(request))
    except TransientError as error:
        return RemoteAnswer(None, "transient", str(error), error.retry_after, error.slow_down, error.unanswered)
    except RejectedError as error:
        return RemoteAnswer(failed="rejected", reason=str(error), perhaps_all=error.perhaps_all, for_all=error.for_all)
    except MmdynError as error:
        return RemoteAnswer(failed="fatal", reason=str(error))


def _path(kind: type[Any], value: str) -> Any:
    return kind(value)


BATCH = 8
"""Requests that travel together at most."""
PAUSE_SECONDS = 1.0
"""Before a lost replica is started anew."""
LOSSES = 3
"""Replicas that a request may have been lost with, alone, before it counts as one that kills them; and, times the
number of replicas, that may be lost in a row with no answer in between."""
LOSS_ERRORS = ("RayActorError", "ObjectLostError", "OutOfMemoryError", "NodeDiedError", "WorkerCrashedError")
"""Errors of Ray's that say that a replica is gone, and not that it cannot be had."""
NOTE_SECONDS, WAIT_SECONDS = 20.0, 600.0
"""How long no replica may be there before this is said, and before it ends the run."""


class _Waiting:
    """A request that waits for its answer. Made in the loop that asks.

    suspect: a replica was lost with it, and perhaps with others; `losses` counts those that had nothing but it.
    """

    def __init__(self, request: Request) -> None:
        self.request, self.suspect, self.losses = request, False, 0
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()


class Fleet:
    """`count` replicas of a model, each with `gpus`; a Model, made of the driver's own, which is never asked.

    Each replica is handed batches as it gets through with them, so many at a time that it has its share of
    `concurrency` requests; a model's own limit on that holds for each replica. A replica that is lost is started anew,
    wherever the cluster has room, and what it was asked is put to others.
    """

    varied: ClassVar[Mapping[str, str]] = {}

    def __init__(self, ray: Any, text: str, model: Model, count: int, gpus: float, concurrency: int) -> None:
        self.label, self.identity, self.cached, self.varies = model.label, model.identity, model.cached, model.varies
        self.weighs, self.listing = model.weighs, getattr(model, "listing", None)
        own = model.limits.concurrency
        most = own * count if own else concurrency
        self.limits = msgspec.structs.replace(model.limits, concurrency=most)
        self._ray, self._model, self._text, self._count = ray, model, text, count
        self._batch = min(BATCH, -(-most // count))
        self._batches = max(1, most // (count * self._batch))
        options = {"num_cpus": 0, "num_gpus": gpus, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
        self._kind = ray.remote(**options)(Replica)
        self._failures = ray.exceptions.RayError
        self._losses = tuple(getattr(ray.exceptions, name) for name in LOSS_ERRORS)
        self._queue: asyncio.Queue[_Waiting] | None = None
        self._lives: list[asyncio.Task[None]] = []
        self._there = self._lost_in_a_row = 0
        self._went = 0.0
        self._fatal: BaseException | None = None

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """One try, by some replica. Raises as a Model does."""
        if self._fatal:
            raise self._fatal
        if self._queue is None:
            self._queue = asyncio.Queue()
            self._lives = [asyncio.create_task(self._live(self._queue)) for _ in range(self._count)]
            for life in self._lives:
                life.add_done_callback(self._ended)
        waiting = _Waiting(messages)
        self._queue.put_nowait(waiting)
        return await waiting.reply

    async def close(self) -> None:
        """End the replicas."""
        for life in self._lives:
            life.cancel()
        await asyncio.gather(*self._lives, return_exceptions=True)
        await self._model.close()

    async def _live(self, queue: asyncio.Queue[_Waiting]) -> None:
        """One replica after the other."""
        while True:
            replica = self._kind.remote(self._text, str(Path.cwd()))
            try:
                await self._open(replica)
                self._there += 1
                try:
                    await self._feed(replica, queue)
                finally:
                    self._there -= 1
                    self._went = time.monotonic()
            except* self._losses as lost:
                self._count_loss(lost)
            except* self._failures as failed:
                raise ModelError(f"Ray cannot run a replica of {self.label}: {_first_line(failed)}") from None
            finally:
                self._ray.kill(replica)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _open(self, replica: Any) -> None:
        opening = asyncio.ensure_future(replica.open.remote())
        try:
            await self._wait(opening)
        finally:
            opening.cancel()
        opened = msgspec.msgpack.decode(opening.result(), type=Opened)
        if opened.error:
            raise ModelError(f"a replica cannot be opened: {opened.error}")
        if differing := [key for key, value in self.identity.items() if opened.identity.get(key) != value]:
            raise ModelError(
                f"a replica of {self.label} differs from the one here in its {' and '.join(differing)}: set what"
                " differs as options of the model, and give all machines the same files"
            )

    async def _wait(self, opening: asyncio.Future[bytes]) -> None:
        """Wait for a replica, as long as it takes while others are there."""
        began, noted = time.monotonic(), False
        while not (await asyncio.wait([opening], timeout=1))[0]:
            waited = 0.0 if self._there else time.monotonic() - max(began, self._went)
            if waited > WAIT_SECONDS:
                raise UserError(
                    f"the cluster has had no room for a replica of {self.label}: lower the gpus of --executor ray"
                )
            if waited > NOTE_SECONDS and not noted:
                noted = True
                print(f"waiting for room for a replica of {self.label} on the cluster", file=sys.stderr)

    async def _feed(self, replica: Any, queue: asyncio.Queue[_Waiting]) -> None:
        """Hand over batches, at most so many at a time, until the replica is lost."""
        slots = asyncio.Semaphore(self._batches)
        async with asyncio.TaskGroup() as tasks:
            while True:
                await slots.acquire()
                batch = await self._next(queue)
                suspect = batch[0].suspect
                putting = tasks.create_task(
                    self._put_alone(replica, batch, slots) if suspect else self._put(replica, batch)
                )
                putting.add_done_callback(lambda _: slots.release())
                alone = suspect or len(batch) == self._batches == 1
                putting.add_done_callback(partial(self._put_ended, batch, queue, alone))
                if suspect:
                    await asyncio.wait([putting])

    async def _next(self, queue: asyncio.Queue[_Waiting]) -> list[_Waiting]:
        """What travels together: a suspect goes alone, so that it takes nobody with it."""
        batch = [await queue.get()]
        while len(batch) < self._batch and not queue.empty() and not batch[0].suspect:
            one = queue.get_nowait()
            if one.suspect:
                queue.put_nowait(one)
                break
            batch.append(one)
        return batch

    async def _put_alone(self, replica: Any, batch: list[_Waiting], slots: asyncio.Semaphore) -> None:
        """Put a batch when the replica has got through with all others, and others when it has with this one."""
        for _ in range(self._batches - 1):
            await slots.acquire()
        await self._put(replica, batch)
        for _ in range(self._batches - 1):
            slots.release()

    async def _put(self, replica: Any, batch: list[_Waiting]) -> None:
        found = answers(await replica.ask.remote(pack([one.request for one in batch])))
        self._lost_in_a_row = 0
        for one, answer in zip(batch, found, strict=True):
            if one.reply.done():  # it was given up meanwhile
                continue
            try:
                one.reply.set_result(answer.take())
            except (TransientError, RejectedError, ModelError) as error:
                one.reply.set_exception(error)

    def _put_ended(
        self, batch: list[_Waiting], queue: asyncio.Queue[_Waiting], alone: bool, putting: asyncio.Task[None]
    ) -> None:
        """Put what was lost with its replica to another one."""
        for one in batch:
            if one.reply.done():
                continue
            one.suspect = True
            one.losses += alone and not putting.cancelled()
            if one.losses < LOSSES:
                queue.put_nowait(one)
            else:
                one.reply.set_exception(RejectedError(f"the replica that was asked was lost, {LOSSES} times in a row"))

    def _count_loss(self, lost: BaseExceptionGroup[Any]) -> None:
        self._lost_in_a_row += 1
        if self._lost_in_a_row > LOSSES * self._count:
            raise ModelError(
                f"replicas of {self.label} were lost {self._lost_in_a_row} times and none answered"
                f" ({_first_line(lost)}): see that every machine has this version of mmdyn, and memory enough for the"
                " model"
            )

    def _ended(self, life: asyncio.Task[None]) -> None:
        """Nobody may wait for an answer that will not come."""
        if life.cancelled() or not (error := life.exception()):
            return
        self._fatal = error = _first_of(error)
        while self._queue and not self._queue.empty():
            one = self._queue.get_nowait()
            if not one.reply.done():
                one.reply.set_exception(error)


def _first_line(errors: BaseExceptionGroup[Any]) -> str:
    error = _first_of(errors)
    return str(error).partition("\n")[0] or type(error).__name__


def _first_of(error: BaseException) -> BaseException:
    """The first error of a group, of groups perhaps; any other error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
