"""An OpenAI-compatible server that answers without a model and misbehaves on request: for tests and dry runs.

Every fault is drawn from the seed, the request's bytes and how often it came, so the same run meets the same faults.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import re
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Literal

import msgspec
from aiohttp import web
from msgspec import Struct

from mmdyn.data.images import MEDIA_TYPES, SUFFIXES, open_image
from mmdyn.errors import ModelError, UserError, did_you_mean
from mmdyn.keys import sha256, stream
from mmdyn.models.backends.baseline import Baseline
from mmdyn.models.backends.scripted import Scripted
from mmdyn.models.message import Message, TextPart
from mmdyn.models.model import Spec, TransientError

REPLIES = {"first": "majority", "hashed": "random"}

FAULTS = {
    "drop": "closes the connection without an answer",
    "hang": "never answers",
    "truncate": "sends half of the JSON",
    "cut": "closes the connection in the middle of the body",
    "empty": "sends a completion without choices",
    "blank": "sends a completion without text and finish reason",
    "html": "sends a page of HTML",
}
"""What a fault may be, besides an HTTP status."""


class Fault(Struct, frozen=True):
    """One kind of misbehaviour and the share of requests that meet it. `status` is 0 for the kinds in FAULTS."""

    kind: str
    rate: float
    status: int = 0
    retry_after: str = ""


def parse_faults(text: str) -> tuple[Fault, ...]:
    """Read `429=0.1,503@2=0.05,drop=0.01`: a kind or an HTTP status (`@` adds a Retry-After in seconds), and its rate in [0, 1].

    Raises UserError.
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


class Stats(Struct):
    """What came in. `by_outcome` counts HTTP statuses and the faults that are none; `requests` how often each request came.

    `asked_again` counts requests that came though they had been answered; `images` how often each picture came, by SHA-256.
    """

    total: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    asked_again: int = 0
    by_outcome: Counter[str] = msgspec.field(default_factory=Counter)
    requests: Counter[str] = msgspec.field(default_factory=Counter)
    images: Counter[str] = msgspec.field(default_factory=Counter)


class _Url(Struct, frozen=True):
    url: str


class _Piece(Struct, frozen=True):
    type: Literal["text", "image_url"]
    text: str = ""
    image_url: _Url | None = None


class _Turn(Struct, frozen=True):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[_Piece]


class _Chat(Struct, frozen=True):
    model: str
    messages: list[_Turn]


_chat = msgspec.json.Decoder(_Chat)


class FakeServer:
    """The server, as an async context manager; `url` is its base_url while it runs.

    latency: seconds before each answer. reply: `first` (the first option), `hashed` (drawn from the options by the prompt's
    text) or a file as the `scripted` backend reads it. faults: as parse_faults reads them. key: what it wants as the bearer
    token. port 0 takes any free one. Raises UserError.
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
    ) -> None:
        self.stats = Stats()
        self.url = ""
        self._host, self._port, self._latency, self._seed, self._key = host, port, latency, seed, key
        self._faults = parse_faults(faults)
        self._model = _replies(reply)
        self._answered = set[str]()

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
        if request.method == "POST" and request.path.endswith("/chat/completions"):
            self.stats.total += 1
            self.stats.in_flight += 1
            self.stats.max_in_flight = max(self.stats.max_in_flight, self.stats.in_flight)
            try:
                return await self._complete(request)
            finally:
                self.stats.in_flight -= 1
        if request.path.endswith("/models"):
            return _json({"object": "list", "data": [{"id": "fake", "object": "model"}]})
        if request.path == "/stats":
            return _json(msgspec.to_builtins(self.stats))
        return self._error(404, f"there is nothing at {request.path}")

    async def _complete(self, request: web.BaseRequest) -> web.StreamResponse:
        if self._key and request.headers.get("Authorization") != f"Bearer {self._key}":
            return self._error(401, "the key is wrong")
        body = await request.content.read()
        name = hashlib.blake2b(body, digest_size=16).hexdigest()
        self.stats.requests[name] += 1
        self.stats.asked_again += name in self._answered
        await asyncio.sleep(self._latency)
        fault = self._draw(name)
        if fault and fault.status:
            after = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            return self._error(fault.status, "a fault that was asked for", after)
        try:
            answer = self._answer(body)
        except (msgspec.DecodeError, ValueError, ModelError) as error:
            return self._error(400, str(error))
        except TransientError as error:
            return self._error(503, str(error))
        if fault:
            self.stats.by_outcome[fault.kind] += 1
            return await _misbehave(fault.kind, request, answer)
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

    def _answer(self, body: bytes) -> bytes:
        chat = _chat.decode(body)
        text = self._model.reply(tuple(self._message(turn) for turn in chat.messages))
        tokens = {"prompt_tokens": len(body) // 4, "completion_tokens": len(text) // 4 + 1}
        message = {"role": "assistant", "content": text}
        return msgspec.json.encode(
            {
                "object": "chat.completion",
                "model": chat.model,
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": tokens | {"total_tokens": sum(tokens.values())},
            }
        )

    def _message(self, turn: _Turn) -> Message:
        pieces = [_Piece("text", turn.content)] if isinstance(turn.content, str) else turn.content
        for piece in pieces:
            if piece.image_url:
                self.stats.images[_image_digest(piece.image_url.url)] += 1
        role = "system" if turn.role == "developer" else turn.role
        return Message(role, tuple(TextPart(piece.text) for piece in pieces))

    def _error(self, status: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
        self.stats.by_outcome[str(status)] += 1
        return _json({"error": {"message": message, "type": "fake", "code": None}}, status, headers)


def _replies(reply: str) -> Baseline | Scripted:
    if reply in REPLIES:
        return Baseline(Spec(f"baseline:{REPLIES[reply]}", "baseline", REPLIES[reply], {}))
    if not Path(reply).is_file():
        raise UserError(
            f"{reply!r} is neither {' nor '.join(REPLIES)} nor a file of replies{did_you_mean(reply, REPLIES)}"
        )
    return Scripted(Spec(f"scripted:{reply}", "scripted", reply, {}))


def _image_digest(url: str) -> str:
    found = re.match(r"data:(image/\w+);base64,", url)
    if not found:
        raise ValueError("a picture must be a data URL of an image in base64")
    try:
        data = base64.b64decode(url[found.end() :], validate=True)
    except binascii.Error:
        raise ValueError("a picture is not valid base64") from None
    if MEDIA_TYPES[SUFFIXES[open_image(data).format or ""]] != found[1]:
        raise ValueError(f"a picture is not the {found[1]} that it is said to be")
    return sha256(data)


async def _misbehave(kind: str, request: web.BaseRequest, answer: bytes) -> web.StreamResponse:
    if kind == "hang":
        await asyncio.Event().wait()
    if kind == "truncate":
        return web.Response(body=answer[: len(answer) // 2], content_type="application/json")
    if kind == "empty":
        return _json({"choices": []})
    if kind == "blank":
        return _json(
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": None}]}
        )
    if kind == "html":
        return web.Response(text="<html><body>Bad gateway</body></html>", content_type="text/html")
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(answer))})
    if kind == "cut":
        await response.prepare(request)
        await response.write(answer[: len(answer) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


def _json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(value), status=status, content_type="application/json", headers=headers
    )
