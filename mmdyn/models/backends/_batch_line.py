"""Requests that go out together in batches of a vendor's API, and are waited for: up to a day, and across kills."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.keys import sha256
from mmdyn.models.backends._batch_apis import CLOCKS, BatchApi, Outcome, Sends, Standing
from mmdyn.models.model import TransientError
from mmdyn.work import LOG, user_cache

if TYPE_CHECKING:
    from yarl import URL

AT_A_TIME = 10_000
"""Requests under way unless the option concurrency says otherwise: so many make a batch, as far as the API takes it."""
QUIET = 3.0
"""Seconds without a further request after which those that wait are submitted."""
SUBMISSIONS, TRIES = 7, 3
"""Tries of a submission; and batches that a request goes with where it expires, or fails in a way that may pass."""
POLLS = (2.0, 60.0)
"""Seconds between looking how far a batch is: at first, and at most."""
KEPT_SECONDS = 30 * 86_400.0
"""How long the vendors keep what a batch answered, at most."""

T = TypeVar("T")


class Submitted(Struct):
    """What a file keeps of a batch, from before it is submitted: its id, where that is known, and its requests'
    digests in order."""

    token: str
    endpoint: str
    created: float
    digests: list[str]
    id: str = ""


@dataclass
class _Batch:
    """One that is under way. free: places of requests that nobody waits for here, by digest."""

    saved: Submitted
    free: dict[str, list[int]] = field(default_factory=dict)
    waiting: dict[int, asyncio.Future[bytes]] = field(default_factory=dict)
    outcomes: dict[str, Outcome] | None = None
    watch: asyncio.Task[None] | None = None
    done: int = 0


class BatchLine:
    """In the place of a Line: `post` waits until the request's batch has ended.

    A batch is in a file of the user's cache before it is submitted, and until all of its requests were answered and the
    line is closed. A request that one of those holds is not submitted again: after a kill it is waited for further,
    also where the id of its batch did not come back in time; the account's batches are then looked through.
    """

    def __init__(self, line: Sends, api: BatchApi, endpoint: str) -> None:
        self._line, self._api, self._endpoint = line, api, endpoint
        self._batches: list[_Batch] | None = None
        self._pending, self._size = list[tuple[bytes, asyncio.Future[bytes]]](), 0
        self._timer: asyncio.TimerHandle | None = None
        self._opening = asyncio.Lock()
        self.url = line.url

    @property
    def progress(self) -> str:
        """How far the batches are that are waited for; empty where there are none."""
        open_ones = [one for one in self._batches or () if one.waiting]
        done, whole = sum(one.done for one in open_ones), sum(len(one.saved.digests) for one in open_ones)
        return f"{done:,} of {whole:,} requests done" if open_ones else ""

    async def post(self, body: bytes, url: URL | None = None) -> bytes:
        """The JSON that comes back, from another address at once. Raises TransientError, RejectedError, ModelError."""
        if url is not None:
            return await self._line.post(body, url)
        async with self._opening:
            self._batches = await self._opened() if self._batches is None else self._batches
        for tried in range(1, TRIES + 1):
            try:
                return await self._enter(body)
            except TransientError:
                if tried == TRIES:
                    raise
        raise AssertionError

    async def close(self) -> None:
        """Wait no longer. What was not answered is found again."""
        if self._timer:
            self._timer.cancel()
        watches = [batch.watch for batch in self._batches or () if batch.watch]
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
        for batch in self._batches or ():
            if batch.outcomes is not None and not (batch.free or batch.waiting):
                self._file(batch.saved).unlink(missing_ok=True)
        await self._line.close()

    def _enter(self, body: bytes) -> asyncio.Future[bytes]:
        """What a request is answered with: in a batch that holds it, or in the next one."""
        future, digest = asyncio.get_running_loop().create_future(), sha256(body)
        for batch in self._batches or ():
            if places := batch.free.get(digest):
                batch.waiting[places.pop()] = future
                if not places:
                    del batch.free[digest]
                if batch.outcomes is not None:
                    self._deliver(batch)
                elif batch.watch is None:
                    self._begin(batch)
                return future
        if len(self._pending) >= self._api.most_requests or self._size + len(body) > self._api.most_bytes:
            self._submit_pending()
        self._pending.append((body, future))
        self._size += len(body)
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(QUIET, self._submit_pending)
        return future

    def _submit_pending(self) -> None:
        pending, self._pending, self._size = self._pending, [], 0
        asked = [(body, future) for body, future in pending if not future.done()]
        if asked:
            digests = [sha256(body) for body, _ in asked]
            saved = Submitted(secrets.token_hex(12), self._endpoint, time.time(), digests)
            batch = _Batch(saved, waiting=dict(enumerate(future for _, future in asked)))
            self._batches = [*(self._batches or ()), batch]
            self._begin(batch, [body for body, _ in asked])

    def _begin(self, batch: _Batch, bodies: Sequence[bytes] = ()) -> None:
        batch.watch = asyncio.create_task(self._watch(batch, bodies))

    async def _watch(self, batch: _Batch, bodies: Sequence[bytes]) -> None:
        """Submit a batch, unless it is, wait until it has ended, and hand out its answers. What goes wrong, each of its
        requests raises."""
        try:
            if bodies:
                self._keep(batch.saved)
                batch.saved.id = await self._submitted(batch.saved, bodies)
                self._keep(batch.saved)
                LOG.info("batch %s with %d requests was submitted", batch.saved.id, len(bodies))
            standing = await self._ended(batch)
            batch.outcomes = await self._patiently(lambda: self._api.outcomes(standing))
            LOG.info("batch %s has ended", batch.saved.id)
        except Exception as error:  # whoever waits would do so for ever
            if not batch.saved.id:
                self._drop(batch)
            elif "HTTP 404" in str(error):
                self._drop(batch)
                error = TransientError("the batch is not there any more")
            batch.watch = None
            for future in batch.waiting.values():
                if not future.done():
                    future.set_exception(error)
            batch.waiting.clear()
        else:
            self._deliver(batch)

    def _drop(self, batch: _Batch) -> None:
        """Forget a batch of which nothing will come."""
        self._file(batch.saved).unlink(missing_ok=True)
        self._batches = [one for one in self._batches or () if one is not batch]

    def _deliver(self, batch: _Batch) -> None:
        lost = TransientError("the batch has no answer to this")
        for place, future in batch.waiting.items():
            outcome = (batch.outcomes or {}).get(f"{batch.saved.token}-{place}", lost)
            if future.done():
                continue
            if isinstance(outcome, bytes):
                future.set_result(outcome)
            else:
                future.set_exception(outcome)
        batch.waiting.clear()

    async def _submitted(self, saved: Submitted, bodies: Sequence[bytes]) -> str:
        """The id of the batch, which is submitted once: where it is not known whether it was, it is looked for."""
        for tried in range(SUBMISSIONS):
            try:
                return await self._api.submit(saved.token, bodies)
            except TransientError as error:
                LOG.warning("a batch of %d requests was perhaps not submitted (%s)", len(bodies), error)
            await asyncio.sleep(POLLS[0] * 2**tried)
            if id := await self._patiently(partial(self._api.find, saved.token, saved.created, len(saved.digests))):
                return id
        raise ModelError(f"no batch can be submitted to {self._endpoint}: run the same command again later")

    async def _ended(self, batch: _Batch) -> Standing:
        pause, most = POLLS
        while True:
            standing = await self._patiently(lambda: self._api.standing(batch.saved.id))
            batch.done = standing.done
            if standing.ended:
                return standing
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, most)

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What is paid for already is asked for as long as it takes."""
        while True:
            try:
                return await ask()
            except TransientError as error:
                LOG.info("batches: %s, again in %g s", error, POLLS[1])
                await asyncio.sleep(POLLS[1])

    async def _opened(self) -> list[_Batch]:
        """The batches of earlier calls whose answers are not all known to be kept."""
        found = list[_Batch]()
        for file in sorted((user_cache() / "batches").glob("*.json")):
            with suppress(msgspec.DecodeError, OSError):
                saved = msgspec.json.decode(file.read_bytes(), type=Submitted)
                if time.time() - saved.created > KEPT_SECONDS:
                    file.unlink(missing_ok=True)
                elif saved.endpoint == self._endpoint:
                    found.append(_Batch(saved))
        for batch in found:
            saved = batch.saved
            found_by = partial(self._api.find, saved.token, saved.created, len(saved.digests))
            saved.id = saved.id or await self._patiently(found_by)
            if not saved.id and time.time() - saved.created > CLOCKS:  # else perhaps another process submits it now
                self._file(saved).unlink(missing_ok=True)
            for place, digest in enumerate(saved.digests if saved.id else ()):
                batch.free.setdefault(digest, []).append(place)
        return [batch for batch in found if batch.saved.id]

    def _file(self, saved: Submitted) -> Path:
        return user_cache() / "batches" / f"{saved.token}.json"

    def _keep(self, saved: Submitted) -> None:
        """Write the file, so that a kill leaves the one before or the one after. Raises ModelError."""
        file = self._file(saved)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with (part := file.with_suffix(".part")).open("wb") as out:
                out.write(msgspec.json.encode(saved))
                out.flush()
                os.fsync(out.fileno())
            part.replace(file)
        except OSError as error:
            raise ModelError(
                f"{file} cannot be written ({error.strerror}): set MMDYN_CACHE to another folder"
            ) from None
