"""The batch APIs of OpenAI and Anthropic: requests submitted together, waited for up to a day, across kills."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.keys import sha256
from mmdyn.models.backends._http_errors import Server
from mmdyn.models.model import RejectedError, TransientError
from mmdyn.work import LOG, user_cache

if TYPE_CHECKING:
    from yarl import URL

CLOCKS = 300.0
"""Seconds by which two machines' clocks may differ."""

Outcome: TypeAlias = bytes | Exception
"""An answer's body, or why there is none."""


class Sends(Protocol):
    """What sends requests to a server: a Line."""

    url: URL

    async def post(self, body: bytes, url: URL | None = None) -> bytes:
        """The JSON that comes back."""

    async def send(self, method: str, url: URL, data: bytes | None = None, content_type: str = "") -> bytes:
        """The body of any kind that comes back."""

    async def close(self) -> None:
        """Close the connections."""


class Standing(Struct, frozen=True):
    """How far a batch is: so many of its requests are done. `raw` is what the API says, for `outcomes`."""

    ended: bool
    done: int
    raw: dict[str, Any]


class BatchApi(ABC):
    """One API. A request's custom id is `TOKEN-NUMBER`, where the token is its batch's."""

    most_requests: ClassVar[int]
    most_bytes: ClassVar[int]
    path: ClassVar[str]
    """Where batches are, after what stands before the path to which a single request is posted."""

    def __init__(self, line: Sends, server: Server, single: str) -> None:
        self._line, self._server, self._single = line, server, single

    @abstractmethod
    async def submit(self, token: str, bodies: Sequence[bytes]) -> str:
        """The id of a new batch of these requests."""

    @abstractmethod
    async def standing(self, id: str) -> Standing:
        """How far a batch is."""

    @abstractmethod
    async def outcomes(self, standing: Standing) -> dict[str, Outcome]:
        """The outcomes of the requests of a batch that has ended, by custom id. TransientError: to be asked again."""

    @abstractmethod
    def is_it(self, batch: dict[str, Any], token: str, created: float, size: int) -> bool:
        """Whether a batch of the account may be the one of this token, which was submitted about then."""

    async def find(self, token: str, created: float, size: int) -> str:
        """The id of a batch that may have been submitted, the empty string where it was not."""
        found = await self._get(self.path, limit="100")
        return next((batch["id"] for batch in found.get("data") or () if self.is_it(batch, token, created, size)), "")

    async def _get(self, path: str, **query: str) -> dict[str, Any]:
        return _object(await self._line.send("GET", self._at(path).with_query(query)))

    async def _post(self, path: str, data: bytes, content_type: str = "application/json") -> str:
        answer = _object(await self._line.send("POST", self._at(path), data, content_type))
        if not isinstance(answer.get("id"), str):
            raise TransientError("an answer without an id")
        return str(answer["id"])

    def _at(self, path: str) -> URL:
        return self._line.url.with_path(self._line.url.path.removesuffix(self._single) + path)

    async def _lines(self, path: str) -> list[dict[str, Any]]:
        lines = (await self._line.send("GET", self._at(path))).splitlines()
        return [_object(line) for line in lines if line.strip()]


def _object(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise TransientError("an answer that is no JSON object") from None


class OpenAIBatches(BatchApi):
    """Each batch is a file of requests, and its metadata hold the token."""

    most_requests, most_bytes, path = 50_000, 190_000_000, "/batches"

    async def submit(self, token: str, bodies: Sequence[bytes]) -> str:
        """A file and a batch of it."""
        line = f'","method":"POST","url":"/v1{self._single}","body":'.encode()
        rows = [b'{"custom_id":"%s-%d%s%s}\n' % (token.encode(), n, line, body) for n, body in enumerate(bodies)]
        fields = {'name="purpose"': b"batch", f'name="file"; filename="{token}.jsonl"': b"".join(rows)}
        head = f"--{token}\r\nContent-Disposition: form-data; "
        parts = [f"{head}{name}\r\n\r\n".encode() + value + b"\r\n" for name, value in fields.items()]
        form = b"".join(parts) + f"--{token}--\r\n".encode()
        file = await self._post("/files", form, f"multipart/form-data; boundary={token}")
        batch = {"input_file_id": file, "endpoint": f"/v1{self._single}", "completion_window": "24h"}
        return await self._post(self.path, msgspec.json.encode({**batch, "metadata": {"mmdyn": token}}))

    def is_it(self, batch: dict[str, Any], token: str, created: float, size: int) -> bool:
        """By the metadata."""
        return bool((batch.get("metadata") or {}).get("mmdyn") == token)

    async def standing(self, id: str) -> Standing:
        """By its status; a batch that was not taken has failed."""
        batch = await self._get(f"{self.path}/{id}")
        counts = batch.get("request_counts") or {}
        ended = batch.get("status") in ("completed", "expired", "cancelled", "failed")
        return Standing(ended, counts.get("completed", 0) + counts.get("failed", 0), batch)

    async def outcomes(self, standing: Standing) -> dict[str, Outcome]:
        """Out of the file of answers and the one of errors. Raises ModelError where the batch was not taken."""
        batch, found = standing.raw, dict[str, Outcome]()
        if batch["status"] == "failed":
            says = [error.get("message") or "" for error in (batch.get("errors") or {}).get("data") or ()]
            told = self._server.clean("; ".join(says[:3]))
            raise ModelError(f"the server at {self._server.endpoint} takes no such batch ({told}): mend the options")
        for name in filter(None, (batch.get("output_file_id"), batch.get("error_file_id"))):
            for row in await self._lines(f"/files/{name}/content"):
                found[row["custom_id"]] = self._outcome(row)
        return found

    def _outcome(self, row: dict[str, Any]) -> Outcome:
        error, response = row.get("error") or {}, row.get("response") or {}
        if error or not response:
            return TransientError(self._server.clean(error.get("message") or "no answer in the batch"))
        body = msgspec.json.encode(response.get("body"))
        return body if response["status_code"] == 200 else self._server.error(response["status_code"], {}, body)


_STATUSES = {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404}
_STATUSES |= {"request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529}


class AnthropicBatches(BatchApi):
    """A batch is one request that holds the others. It has no metadata: it is found by its time and size."""

    most_requests, most_bytes, path = 100_000, 240_000_000, "/v1/messages/batches"

    async def submit(self, token: str, bodies: Sequence[bytes]) -> str:
        """A batch."""
        rows = [b'{"custom_id":"%s-%d","params":%s}' % (token.encode(), n, body) for n, body in enumerate(bodies)]
        return await self._post(self.path, b'{"requests":[%s]}' % b",".join(rows))

    def is_it(self, batch: dict[str, Any], token: str, created: float, size: int) -> bool:
        """One as large that was created then; whether it is it, the custom ids of its results say."""
        began = datetime.fromisoformat(batch["created_at"]).timestamp()
        return sum(batch["request_counts"].values()) == size and -CLOCKS < began - created < 2 * CLOCKS

    async def standing(self, id: str) -> Standing:
        """By its processing status."""
        batch = await self._get(f"{self.path}/{id}")
        counts = batch.get("request_counts") or {}
        return Standing(
            batch.get("processing_status") == "ended", sum(counts.values()) - counts.get("processing", 0), batch
        )

    async def outcomes(self, standing: Standing) -> dict[str, Outcome]:
        """Out of its results."""
        rows = await self._lines(f"{self.path}/{standing.raw['id']}/results")
        return {row["custom_id"]: self._outcome(row["result"]) for row in rows}

    def _outcome(self, result: dict[str, Any]) -> Outcome:
        error = result.get("error") or {}
        match result["type"]:
            case "succeeded":
                return msgspec.json.encode(result["message"])
            case "errored":
                status = _STATUSES.get(str((error.get("error") or {}).get("type")), 500)
                return self._server.error(status, {}, msgspec.json.encode(error))
            case "canceled":
                return RejectedError("the batch was cancelled before this was answered")
        return TransientError("the batch expired before this was answered")


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
