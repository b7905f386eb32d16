"""A server that answers without a model and misbehaves on request, in the APIs of OpenAI, Anthropic and Gemini.

For tests and dry runs. Every fault is drawn from the seed, the request's bytes and how often it came, so the same run
meets the same faults.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from pathlib import Path
from types import TracebackType

import msgspec
from aiohttp import web
from msgspec import Struct

from mmdyn.errors import ModelError, UserError, did_you_mean
from mmdyn.keys import Json, stream
from mmdyn.models import Baseline, Scripted, Spec, TransientError
from mmdyn.testing.fake_server_dialects import Asked, ChatCompletions, Dialect, dialect_of
from mmdyn.testing.fake_server_faults import Fault, misbehave, parse_faults
from mmdyn.testing.fake_server_verdicts import verdict

REPLIES = {"first": "majority", "hashed": "random"}


class Stats(Struct):
    """What came in. `by_outcome` counts HTTP statuses and the faults that are none; `requests` how often each request
    came.

    `asked_again` counts requests that came though they had been answered, `begun_again` those that came though an
    earlier one was in flight, or cut off by who asked before its end; `images` how often each picture came, by SHA-256.
    `seconds` go from the first request's coming in to the latest one's end.
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
    """The server, as an async context manager; `url` is its base_url while it runs, for all three APIs.

    latency: seconds before each answer. reply: `first` (the first option), `hashed` (drawn from the options by the
        prompt's text) or a file as the `scripted` backend reads it; without a file, a prompt that asks for a verdict on
        an answer gets the best one, or one drawn by its text. faults: as parse_faults reads them. key: what it wants as
        the key.
    models: the names that it knows (any, where none is given). context: characters of text that it takes for one
        request.
    blind: it takes no pictures. media: the folder below which it reads pictures that come as file URLs. port 0 takes
        any free one. Raises UserError.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        latency: float = 0.0,
        reply: str = "first",
        faults: str = "",
        seed: int = 0,
        key: str = "",
        models: tuple[str, ...] = (),
        context: int | None = None,
        blind: bool = False,
        media: Path | None = None,
    ) -> None:
        self.stats = Stats()
        self.url = ""
        self._host, self._port, self._latency, self._seed, self._key = host, port, latency, seed, key
        self._models, self._context, self._blind, self._media = models, context, blind, media
        self._faults = parse_faults(faults)
        self._model = _replies(reply)
        self._answered, self._unended = set[str](), set[str]()
        self._began = 0.0

    async def __aenter__(self) -> FakeServer:
        server = web.Server(self._handle, access_log=None, handler_cancellation=True)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port, backlog=1024).start()
        except OSError as error:
            await self._runner.cleanup()
            raise UserError(
                f"cannot listen on {self._host}:{self._port} ({error.strerror}): choose another --port"
            ) from None
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

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
        return msgspec.json.encode(dialect.answer(asked, text, (len(body) // 4, len(text) // 4 + 1)))

    def _say(self, asked: Asked) -> str:
        """A verdict where one is asked for and no script says otherwise, else the model's reply."""
        if isinstance(self._model, Scripted):
            return self._model.reply(asked.messages)
        prompt = "\n".join(message.text for message in asked.messages)
        hashed = self._model.label == "baseline:random"
        return verdict(prompt, hashed=hashed, pictures=bool(asked.pictures)) or self._model.reply(asked.messages)

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
