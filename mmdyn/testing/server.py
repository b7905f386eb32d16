"""A fake model server: it answers and judges without a model, and fails on request.

Faults are drawn from the seed, the request's bytes and the number of times that it came, so equal runs meet equal
faults.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec
from aiohttp import web
from msgspec import Struct

from mmdyn.errors import ModelError, UserError, did_you_mean
from mmdyn.keys import Json, canonical, stream
from mmdyn.models import Baseline, Scripted, Spec, TransientError
from mmdyn.testing.dialects import BATCH_PATH, ChatCompletions, Dialect, FakeBatches, FakeRequest, dialect_of
from mmdyn.text import estimate_tokens

FAULTS = {
    "drop": "closes the connection without an answer",
    "hang": "never answers",
    "truncate": "sends half of the JSON",
    "cut": "closes the connection in the middle of the body",
    "empty": "sends a completion without choices",
    "blank": "sends a completion without text and finish reason",
    "html": "sends a page of HTML",
}
"""Kinds of faults beside HTTP statuses."""


class Fault(Struct, frozen=True):
    """A kind of fault and the share of requests that meet it. `status` is 0 for the kinds in FAULTS."""

    kind: str
    rate: float
    status: int = 0
    retry_after: str = ""


def parse_faults(text: str) -> tuple[Fault, ...]:
    """Read `429=0.1,503@2=0.05,drop=0.01`: an HTTP status (`@` adds a Retry-After in seconds) or a kind in FAULTS, and
    its rate in [0, 1].

    Raises:
        UserError: A fault or a rate is none, or the rates add up to more than 1.

    >>> parse_faults("503@2=0.05")
    (Fault(kind='503', rate=0.05, status=503, retry_after='2'),)
    """
    faults = []
    for item in filter(None, text.split(",")):
        found = re.fullmatch(r"\s*(?:([3-5]\d\d)(?:@(\d+(?:\.\d+)?))?|(\w+))\s*=\s*(\d*\.?\d+)\s*", item)
        if not found:
            raise UserError(f"the fault {item!r} is not kind=rate, such as 429=0.1, 503@2=0.05 or drop=0.01")
        status, after, kind, rate = found.groups()
        if kind and kind not in FAULTS:
            raise UserError(f"there is no fault {kind!r}{did_you_mean(kind, FAULTS)}: a status or {', '.join(FAULTS)}")
        faults.append(Fault(kind or status, float(rate), int(status or 0), after or ""))
    if sum(fault.rate for fault in faults) > 1:
        raise UserError("the faults' rates add up to more than 1: lower them")
    return tuple(faults)


async def misbehave(kind: str, request: web.BaseRequest, answer: bytes) -> web.StreamResponse:
    """The response for a fault that is no status. `answer` is the regular answer, or what replaces it (`empty` and
    `blank`)."""
    if kind == "hang":
        await asyncio.Event().wait()
    if kind == "truncate":
        answer = answer[: len(answer) // 2]
    if kind in ("truncate", "empty", "blank"):
        return web.Response(body=answer, content_type="application/json")
    if kind == "html":
        return web.Response(text="<html><body>Bad gateway</body></html>", content_type="text/html")
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(answer))})
    if kind == "cut":
        await response.prepare(request)
        await response.write(answer[: len(answer) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


WHY = "a fake verdict"

VERDICT_CODE = re.compile(r"^=== ([0-9a-f]{24}) ", re.MULTILINE)
"""Matches the lines around the material in a judge's prompt: see scoring/rubrics/_rubric.py."""
_KIND = re.compile(r"^- (\w+)[:：]", re.MULTILINE | re.ASCII)
_KEY = re.compile(r'"(\w+)": ')


def verdict_code(prompt: str) -> str:
    """The code of a judge's prompt, from its first such line; empty where the prompt is no judge's.

    >>> verdict_code("=== 0123456789abcdef01234567 question")
    '0123456789abcdef01234567'
    """
    found = VERDICT_CODE.search(prompt)
    return found[1] if found else ""


def fake_verdict(prompt: str, *, hashed: bool, pictures: bool = False) -> str:
    """A verdict on a judge's prompt, as JSON with the prompt's code; empty for any other prompt.

    Args:
        prompt: A prompt for marks, items, ratings, the better of two replies, or kinds of errors.
        hashed: Draw a verdict by the prompt's text; otherwise give the best one.
        pictures: Whether the prompt has pictures; without them the kind `visual` is never drawn.
    """
    code = verdict_code(prompt)
    told = prompt[prompt.rfind(f"=== {code} ") :] if code else ""
    _, wanted, form = told.rpartition(f'{{"code": "{code}", ')
    if not wanted:
        return ""
    draws = stream("fake verdict", prompt)

    def draw(choices: Sequence[Json]) -> Json:
        return choices[int(draws.integers(len(choices))) if hashed else 0]

    count = re.search(r"\d+", told.partition("\n")[2])
    kinds = [kind for kind in _KIND.findall(told) if pictures or kind != "visual"]
    said = _FORMS[_KEY.findall(form.partition("\n")[0])[-1]](draw, int(count[0]) if count else 0, kinds)
    return json.dumps({"code": code, **said})


_Draw = Callable[[Sequence[Json]], Json]
_MARKS, _RATINGS, _MET = (1, 0.75, 0.5, 0.25, 0), tuple(range(10, 0, -1)), (True, False)


def _numbered(draw: _Draw, count: int, choices: Sequence[Json]) -> Json:
    return [[number, WHY, draw(choices)] for number in range(1, count + 1)]


_FORMS: dict[str, Callable[[_Draw, int, Sequence[str]], dict[str, Any]]] = {
    "grades": lambda draw, count, _: {"grades": _numbered(draw, count, _MARKS)},
    "items": lambda draw, count, _: {"golden": [WHY, draw(_MET)], "items": _numbered(draw, count, _MET)},
    "ratings": lambda draw, count, _: {"ratings": _numbered(draw, count, _RATINGS)},
    "better": lambda draw, *_: {"why": WHY, "better": draw((1, 2, 0))},
    "kind": lambda draw, _, kinds: {"why": WHY, "kind": draw(kinds)},
}
"""By the last key of the JSON object that the prompt wants; the best verdict comes first."""


def write_script(file: str | Path, *replies: str | Mapping[str, str]) -> Path:
    """Write a file for `scripted:FILE`; the first line that matches a request gives its reply.

    Args:
        replies: A text is the reply to every request. A mapping is a whole line: `{"match": …, "reply": …}` answers
            requests whose text contains `match`, and `{"match": …, "error": "transient"}` (or `"fatal"`) fails them.

    Returns:
        The file. Its path makes a MODEL of the backend `scripted`.

    >>> script = write_script("replies.jsonl", {"match": "hexagon", "reply": "Answer: B"}, "I cannot say.")
    >>> script.read_text()
    '{"match":"hexagon","reply":"Answer: B"}\\n{"reply":"I cannot say."}'
    """
    lines = [canonical({"reply": reply} if isinstance(reply, str) else dict(reply)) for reply in replies]
    Path(file).write_bytes(b"\n".join(lines))
    return Path(file)


PICTURE_TOKENS = 500
"""The tokens that a picture of any size counts as."""
REPLIES = {"first": "majority", "hashed": "random"}


class Stats(Struct):
    """Counts of requests.

    Attributes:
        seconds: From the first request's arrival to the latest one's end.
        in_flight, max_in_flight: Requests being answered, now and at most.
        asked_again: Requests that came again after they had been answered.
        begun_again: Requests that came again while an equal one was in flight, or after the client had cut it off.
        by_outcome: Answers by HTTP status or kind of fault.
        requests: Requests by the BLAKE2b digest of their bodies.
        images: Pictures by SHA-256.
    """

    total: int = 0
    seconds: float = 0.0
    in_flight: int = 0
    max_in_flight: int = 0
    asked_again: int = 0
    begun_again: int = 0
    by_outcome: Counter[str] = msgspec.field(default_factory=Counter)
    requests: Counter[str] = msgspec.field(default_factory=Counter)
    images: Counter[str] = msgspec.field(default_factory=Counter)


class FakeServer:
    """A fake model server. It runs within a `with` block, in a thread of its own, or within an `async with` block.

    `url` is its base_url for all three APIs, `stats` counts requests, `batches` holds those of the batch APIs.

    Args:
        port: 0 takes any free one; a port that is taken raises UserError.
        latency: Seconds before each answer.
        reply: `first` (the prompt's first option), `hashed` (an option drawn by the prompt's text), or a file of
            `write_script`. Without a file, a judge's prompt gets a `fake_verdict`.
        faults, seed: Faults and their rates, as `parse_faults` reads them; the seed that draws them.
        key, models: The key that requests must have; the names of its models, any name if empty.
        context, blind: The most characters of text in a request; whether it refuses pictures.
        media: The folder from which it reads pictures given by file URLs.
        batch_seconds, batch_expires, batch_lost: How long a batch takes; the share of requests that expire in their
            first batch; the number of batches that are accepted without a response.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        latency: float = 0.0,
        reply: str | Path = "first",
        faults: str = "",
        seed: int = 0,
        key: str = "",
        models: tuple[str, ...] = (),
        context: int | None = None,
        blind: bool = False,
        media: Path | None = None,
        batch_seconds: float = 0.0,
        batch_expires: float = 0.0,
        batch_lost: int = 0,
    ) -> None:
        self.stats = Stats()
        self.url = ""
        self._host, self._port, self._latency, self._seed, self._key = host, port, latency, seed, key
        self._models, self._context, self._blind, self._media = models, context, blind, media
        self._faults = parse_faults(faults)
        self._model = _replies(str(reply))
        self._answered, self._unended = set[str](), set[str]()
        self._began = 0.0
        self.batches = FakeBatches(batch_seconds, batch_expires, seed, self._batched)
        self._batch_lost = batch_lost

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            return asyncio.run_coroutine_threadsafe(self.__aenter__(), self._loop).result()
        except BaseException:
            self._end_thread()
            raise

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.__aexit__(), self._loop).result()
        self._end_thread()

    async def __aenter__(self) -> Self:
        server = web.Server(self._handle, access_log=None, handler_cancellation=True)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port, backlog=1024).start()
        except OSError as error:
            await self._runner.cleanup()
            where = f"{self._host}:{self._port}"
            raise UserError(f"cannot listen on {where} ({error.strerror}): choose another --port") from None
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        dialect = dialect_of(request.path)
        if request.method == "POST" and dialect:
            self._began = self._began or time.monotonic()
            self.stats.total += 1
            self.stats.in_flight += 1
            self.stats.max_in_flight = max(self.stats.max_in_flight, self.stats.in_flight)
            try:
                return await self._complete(request, dialect)
            finally:
                self.stats.in_flight -= 1
                self.stats.seconds = time.monotonic() - self._began
        if BATCH_PATH.search(request.path):
            return await self._batch(request)
        if request.path.endswith("/models"):
            names = self._models or ("fake",)
            lists: Json = {
                "object": "list",
                "data": [{"id": name, "object": "model"} for name in names],
                "models": [{"name": f"models/{name}"} for name in names],
            }
            return _json(lists)
        if request.path == "/stats":
            return _json(msgspec.to_builtins(self.stats))
        return self._error(dialect or ChatCompletions(), 404, f"there is nothing at {request.path}")

    async def _batch(self, request: web.BaseRequest) -> web.StreamResponse:
        """What a request to a batch API gets."""
        dialect = dialect_of("/messages" if "/messages/" in request.path else "/chat/completions") or ChatCompletions()
        if self._key and request.headers.get(dialect.key_header) != dialect.key_form.format(self._key):
            return self._error(dialect, 401, "the key is wrong")
        body = await request.content.read()
        status, answer = self.batches.respond(request.method, request.path, request.headers, body)
        if request.method == "POST" and request.path.endswith("/batches") and self._batch_lost:
            self._batch_lost -= 1
            return await misbehave("drop", request, b"")
        if isinstance(answer, bytes):
            return web.Response(body=answer, content_type="application/octet-stream")
        return _json(answer, status)

    def _batched(self, path: str, body: bytes) -> tuple[int, Json]:
        """The status and the answer of a request in a batch."""
        dialect = dialect_of(path) or ChatCompletions()
        try:
            return 200, msgspec.json.decode(self._answer(dialect, path, body))
        except LookupError as error:
            return 404, dialect.error(404, str(error.args[0]))
        except (msgspec.DecodeError, ValueError, ModelError) as error:
            return 400, dialect.error(400, str(error))

    async def _complete(self, request: web.BaseRequest, dialect: Dialect) -> web.StreamResponse:
        if self._key and request.headers.get(dialect.key_header) != dialect.key_form.format(self._key):
            return self._error(dialect, 401, "the key is wrong")
        body = await request.content.read()
        name = hashlib.blake2b(body, digest_size=16).hexdigest()
        self.stats.requests[name] += 1
        self.stats.asked_again += name in self._answered
        self.stats.begun_again += name in self._unended
        self._unended.add(name)
        response = await self._respond(request, dialect, body, name)
        self._unended.discard(name)  # not where the handler was cancelled, as nobody listens any more
        return response

    async def _respond(self, request: web.BaseRequest, dialect: Dialect, body: bytes, name: str) -> web.StreamResponse:
        await asyncio.sleep(self._latency)
        fault = self._draw(name)
        if fault and fault.status:
            after = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            return self._error(dialect, fault.status, "a fault that was asked for", after)
        try:
            answer = self._answer(dialect, request.path, body)
        except LookupError as error:
            return self._error(dialect, 404, str(error.args[0]))
        except (msgspec.DecodeError, ValueError, ModelError) as error:
            return self._error(dialect, 400, str(error))
        except TransientError as error:
            return self._error(dialect, 503, str(error))
        if fault:
            self.stats.by_outcome[fault.kind] += 1
            instead = {"empty": dialect.empty, "blank": dialect.blank}
            return await misbehave(fault.kind, request, instead.get(fault.kind, answer))
        self._answered.add(name)
        self.stats.by_outcome["200"] += 1
        return web.Response(body=answer, content_type="application/json")

    def _draw(self, name: str) -> Fault | None:
        if not self._faults:
            return None
        drawn = float(stream("fault", self._seed, name, self.stats.requests[name]).random())
        for fault in self._faults:
            drawn -= fault.rate
            if drawn < 0:
                return fault
        return None

    def _answer(self, dialect: Dialect, path: str, body: bytes) -> bytes:
        """Raises ValueError for a request that it does not take, LookupError for a model that it does not know."""
        asked = dialect.read(path, body, self._media)
        if self._models and asked.model not in self._models:
            raise LookupError(f"the model {asked.model!r} does not exist")
        if self._blind and asked.pictures:
            raise ValueError("this model does not support image input")
        length = sum(len(message.text) for message in asked.messages) if self._context else 0
        if self._context and length > self._context:
            raise ValueError(f"prompt is too long: {length} characters, {self._context} are the model's context length")
        self.stats.images.update(asked.pictures)
        text = self._say(asked)
        said = "".join(message.text for message in asked.messages)
        read = round(estimate_tokens(said)) + PICTURE_TOKENS * len(asked.pictures)
        return msgspec.json.encode(dialect.answer(asked, text, (read, math.ceil(estimate_tokens(text)))))

    def _say(self, asked: FakeRequest) -> str:
        """A verdict where one is asked for and no script says otherwise, else the model's reply."""
        if isinstance(self._model, Scripted):
            return self._model.reply(asked.messages)
        prompt = "\n".join(message.text for message in asked.messages)
        hashed = self._model.label == "baseline:random"
        return fake_verdict(prompt, hashed=hashed, pictures=bool(asked.pictures)) or self._model.reply(asked.messages)

    def _error(
        self, dialect: Dialect, status: int, message: str, headers: dict[str, str] | None = None
    ) -> web.Response:
        self.stats.by_outcome[str(status)] += 1
        return _json(dialect.error(status, message), status, headers)


def _replies(reply: str) -> Baseline | Scripted:
    if reply in REPLIES:
        return Baseline(Spec(f"baseline:{REPLIES[reply]}", "baseline", REPLIES[reply], {}))
    if not Path(reply).is_file():
        raise UserError(
            f"{reply!r} is neither {' nor '.join(REPLIES)} nor a file of replies{did_you_mean(reply, REPLIES)}"
        )
    return Scripted(Spec(f"scripted:{reply}", "scripted", reply, {}))


def _json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(value), status=status, content_type="application/json", headers=headers
    )
