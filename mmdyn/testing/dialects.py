"""The APIs that the fake server speaks, batches among them: how each writes a request, an answer and an error.

Each says how a key comes (`key_header`, `key_form`), what it answers for the faults `empty` and `blank`, and has

- `read`: the request in a body; `media` is the folder below which file URLs are read. Raises ValueError.
- `answer`: a whole answer; `tokens` are those that were read and written.
- `error`: the body of an error.
"""

from __future__ import annotations

import base64
import binascii
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from mmdyn.data import IMAGE_MEDIA_TYPES, IMAGE_SUFFIXES, open_image
from mmdyn.keys import Json, sha256, stream
from mmdyn.models import Message, TextPart


class FakeRequest(Struct, frozen=True):
    """A request as every API means it. `pictures` holds their SHA-256; `logprobs` says that they were asked for."""

    model: str
    messages: tuple[Message, ...]
    pictures: tuple[str, ...] = ()
    logprobs: bool = False


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
    logprobs: bool | None = None


class ChatCompletions:
    """POST …/chat/completions, as OpenAI has it."""

    key_header, key_form = "Authorization", "Bearer {}"
    empty = b'{"choices": []}'
    blank = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": null}]}'
    _decode = msgspec.json.Decoder(_Chat).decode

    def read(self, path: str, body: bytes, media: Path | None) -> FakeRequest:
        chat = self._decode(body)
        pictures = [
            _picture(piece.image_url.url, media)
            for turn in chat.messages
            if not isinstance(turn.content, str)
            for piece in turn.content
            if piece.image_url
        ]
        return FakeRequest(chat.model, tuple(map(_message, chat.messages)), tuple(pictures), bool(chat.logprobs))

    def answer(self, asked: FakeRequest, text: str, tokens: tuple[int, int]) -> Json:
        choice: dict[str, Json] = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        if asked.logprobs:
            choice["logprobs"] = {"content": [{"token": word, "logprob": -0.5} for word in text.split()]}
        read, written = tokens
        usage: Json = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        return {"object": "chat.completion", "model": asked.model, "choices": [choice], "usage": usage}

    def error(self, status: int, message: str) -> Json:
        return {"error": {"message": message, "type": "fake", "code": None}}


class _Prompt(Struct, frozen=True):
    model: str
    prompt: str


class TextCompletions(ChatCompletions):
    """POST …/completions, as OpenAI had it before chats."""

    blank = b'{"choices": [{"index": 0, "text": "", "finish_reason": null}]}'
    _decode_prompt = msgspec.json.Decoder(_Prompt).decode

    def read(self, path: str, body: bytes, media: Path | None) -> FakeRequest:
        asked = self._decode_prompt(body)
        return FakeRequest(asked.model, (Message("user", (TextPart(asked.prompt),)),))

    def answer(self, asked: FakeRequest, text: str, tokens: tuple[int, int]) -> Json:
        usage: Json = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
        return {"choices": [{"index": 0, "text": text, "finish_reason": "stop"}], "usage": usage}


class _Source(Struct, frozen=True):
    media_type: str
    data: str
    type: Literal["base64"] = "base64"


class _Block(Struct, frozen=True):
    type: Literal["text", "image"]
    text: str = ""
    source: _Source | None = None


class _Said(Struct, frozen=True):
    role: Literal["user", "assistant"]
    content: str | list[_Block]


class _Ask(Struct, frozen=True):
    model: str
    messages: list[_Said]
    max_tokens: int
    system: str = ""


_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}


class AnthropicMessages:
    """POST …/v1/messages, as Anthropic has it."""

    key_header, key_form = "x-api-key", "{}"
    empty = b'{"type": "message", "role": "assistant", "content": [], "stop_reason": null}'
    blank = b'{"type": "message", "role": "assistant", "content": [{"type": "text", "text": ""}], "stop_reason": null}'
    _decode = msgspec.json.Decoder(_Ask).decode

    def read(self, path: str, body: bytes, media: Path | None) -> FakeRequest:
        ask = self._decode(body)
        messages = [Message("system", (TextPart(ask.system),))] if ask.system else []
        pictures = []
        for said in ask.messages:
            blocks = [_Block("text", said.content)] if isinstance(said.content, str) else said.content
            messages.append(Message(said.role, tuple(TextPart(block.text) for block in blocks)))
            pictures += [_digest(block.source.media_type, block.source.data) for block in blocks if block.source]
        return FakeRequest(ask.model, tuple(messages), tuple(pictures))

    def answer(self, asked: FakeRequest, text: str, tokens: tuple[int, int]) -> Json:
        return {
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
        }

    def error(self, status: int, message: str) -> Json:
        kind = _TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


class _Blob(Struct, frozen=True, rename="camel"):
    mime_type: str
    data: str


class _Part(Struct, frozen=True, rename="camel"):
    text: str = ""
    inline_data: _Blob | None = None


class _Content(Struct, frozen=True):
    parts: list[_Part]
    role: Literal["user", "model"] = "user"


class _Generate(Struct, frozen=True, rename="camel"):
    contents: list[_Content]
    system_instruction: _Content | None = None


_STATUSES = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}


class GeminiContent:
    """POST …/v1beta/models/NAME:generateContent, as Gemini has it."""

    key_header, key_form = "x-goog-api-key", "{}"
    empty = b'{"candidates": []}'
    blank = b'{"candidates": [{"content": {"parts": [], "role": "model"}, "index": 0}]}'
    _decode = msgspec.json.Decoder(_Generate).decode

    def read(self, path: str, body: bytes, media: Path | None) -> FakeRequest:
        ask = self._decode(body)
        system = ask.system_instruction
        messages = [Message("system", tuple(TextPart(part.text) for part in system.parts))] if system else []
        pictures = []
        for turn in ask.contents:
            role: Literal["user", "assistant"] = "user" if turn.role == "user" else "assistant"
            messages.append(Message(role, tuple(TextPart(part.text) for part in turn.parts)))
            blobs = [part.inline_data for part in turn.parts if part.inline_data]
            pictures += [_digest(blob.mime_type, blob.data) for blob in blobs]
        model = path.rpartition("/models/")[2].removesuffix(":generateContent")
        return FakeRequest(model, tuple(messages), tuple(pictures))

    def answer(self, asked: FakeRequest, text: str, tokens: tuple[int, int]) -> Json:
        content: Json = {"role": "model", "parts": [{"text": text}]}
        return {
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "modelVersion": asked.model,
            "usageMetadata": {
                "promptTokenCount": tokens[0],
                "candidatesTokenCount": tokens[1],
                "totalTokenCount": sum(tokens),
            },
        }

    def error(self, status: int, message: str) -> Json:
        return {"error": {"code": status, "message": message, "status": _STATUSES.get(status, "INVALID_ARGUMENT")}}


Dialect: TypeAlias = ChatCompletions | AnthropicMessages | GeminiContent

_DIALECTS: dict[str, Dialect] = {
    "/chat/completions": ChatCompletions(),
    "/completions": TextCompletions(),
    "/messages": AnthropicMessages(),
    ":generateContent": GeminiContent(),
}


def dialect_of(path: str) -> Dialect | None:
    """The API that is spoken at a path; None where none is."""
    return next((dialect for ending, dialect in _DIALECTS.items() if path.endswith(ending)), None)


def _message(turn: _Turn) -> Message:
    role = "system" if turn.role == "developer" else turn.role
    if isinstance(turn.content, str):
        return Message(role, (TextPart(turn.content),))
    return Message(role, tuple(TextPart(piece.text) for piece in turn.content))


def _picture(url: str, media: Path | None) -> str:
    if url.startswith("file:"):
        return _file_digest(url, media)
    found = re.match(r"data:(image/\w+);base64,", url)
    if not found:
        raise ValueError("a picture must be a data URL of an image in base64")
    return _digest(found[1], url[found.end() :])


def _file_digest(url: str, media: Path | None) -> str:
    path = Path(unquote(urlsplit(url).path)).resolve()
    if media is None or not path.is_relative_to(media.resolve()):
        raise ValueError("local files are not read: start the server with --media and a folder that holds them")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"a picture's file cannot be read ({error.strerror})") from None
    open_image(data)
    return sha256(data)


def _digest(media_type: str, encoded: str) -> str:
    try:
        data = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise ValueError("a picture is not valid base64") from None
    if IMAGE_MEDIA_TYPES[IMAGE_SUFFIXES[open_image(data).format or ""]] != media_type:
        raise ValueError(f"a picture is not the {media_type} that it is said to be")
    return sha256(data)


BATCH_PATH = re.compile(r"/(files|messages/batches|batches)(?:/([\w-]+))?(/content|/results)?$")
"""Paths of the batch APIs: the kind of thing, its id, and what of it."""

_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")

Answer = Callable[[str, bytes], tuple[int, Any]]
"""The status and the answer of a request to a path."""


@dataclass
class _Batch:
    """results: the request's custom id, its status (0 where it expired) and its answer."""

    id: str
    created: float
    seconds: float
    results: list[tuple[str, int, Any]]
    told: dict[str, Any] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """How far it is, in [0, 1]."""
        return min((time.time() - self.created) / self.seconds, 1.0) if self.seconds else 1.0

    @property
    def ways(self) -> Counter[str]:
        """How its requests end."""
        return Counter(
            "succeeded" if status == 200 else "errored" if status else "expired" for _, status, _ in self.results
        )


class FakeBatches:
    """Batches that take `seconds`, and leave a share of the requests that come for the first time expired.

    `submitted` counts how often each request came in a batch, by the digest of its body.
    """

    def __init__(self, seconds: float, expires: float, seed: int, answer: Answer) -> None:
        self.submitted = Counter[str]()
        self._seconds, self._expires, self._seed, self._answer = seconds, expires, seed, answer
        self._files, self._batches = dict[str, bytes](), dict[str, _Batch]()

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        """The status and the answer, JSON or bytes, of a request to a BATCH_PATH."""
        found = BATCH_PATH.search(path)
        assert found
        kind, id, more = found.groups("")
        if method == "POST" and not id:
            return {"files": self._upload, "batches": self._create, "messages/batches": self._create_messages}[kind](
                headers, body
            )
        if kind == "files" and more == "/content" and id in self._files:
            return 200, self._files[id]
        if kind != "files" and not id:
            listed = sorted(self._batches.values(), key=lambda batch: -batch.created)
            return 200, {"object": "list", "has_more": False, "data": [self._told(kind, batch) for batch in listed]}
        if kind != "files" and id in self._batches:
            batch = self._batches[id]
            return 200, self._results(batch) if more == "/results" else self._told(kind, batch)
        return 404, {"error": {"type": "not_found_error", "message": f"there is no {kind} {id}"}}

    def _upload(self, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        form = message_from_bytes(b"Content-Type: " + headers.get("Content-Type", "").encode() + b"\r\n\r\n" + body)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.walk()}
        if not {"purpose", "file"} <= parts.keys() or parts["purpose"].get_payload(decode=True) != b"batch":
            return 400, {"error": {"message": "a file and the purpose 'batch' are required", "code": None}}
        self._files[id := f"file-{len(self._files)}"] = bytes(parts["file"].get_payload(decode=True))
        return 200, {"id": id, "object": "file", "purpose": "batch"}

    def _create(self, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        asked = msgspec.json.decode(body)
        if asked.get("input_file_id") not in self._files or asked.get("completion_window") != "24h":
            return 400, {"error": {"message": "no such input_file_id, or no completion_window of 24h", "code": None}}
        lines = [msgspec.json.decode(line) for line in self._files[asked["input_file_id"]].splitlines()]
        models = {line["body"]["model"] for line in lines}
        says = "All requests in a batch need the same model." if len(models) > 1 else ""
        says = says or "" if {line["url"] for line in lines} == {asked["endpoint"]} else "The URL is not the batch's."
        bad = [{"code": "invalid", "message": says, "line": 1}] if says else []
        requests = {line["custom_id"]: msgspec.json.encode(line["body"]) for line in lines}
        batch = self._begin("batch", asked["endpoint"], {} if bad else requests)
        batch.told, batch.errors = {"metadata": asked.get("metadata"), "endpoint": asked["endpoint"]}, bad
        return 200, self._told("batches", batch)

    def _create_messages(self, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        asked = msgspec.json.decode(body)["requests"]
        requests = {each["custom_id"]: msgspec.json.encode(each["params"]) for each in asked}
        if len(requests) < len(asked) or not all(map(_CUSTOM_ID.fullmatch, requests)):
            error = {"type": "invalid_request_error", "message": "custom_id must be unique and match a pattern"}
            return 400, {"type": "error", "error": error}
        return 200, self._told("messages/batches", self._begin("msgbatch", "/v1/messages", requests))

    def _begin(self, kind: str, path: str, requests: Mapping[str, bytes]) -> _Batch:
        results = list[tuple[str, int, Any]]()
        for custom_id, body in requests.items():
            name = sha256(body)
            self.submitted[name] += 1
            drawn = float(stream("expired", self._seed, name).random())
            late = drawn < self._expires and self.submitted[name] == 1
            results.append((custom_id, *((0, None) if late else self._answer(path, body))))
        batch = _Batch(f"{kind}_{len(self._batches)}", time.time(), self._seconds, results)
        self._batches[batch.id] = batch
        return batch

    def _told(self, kind: str, batch: _Batch) -> dict[str, Any]:
        return self._message_batch(batch) if kind == "messages/batches" else self._batch(batch)

    def _message_batch(self, batch: _Batch) -> dict[str, Any]:
        ended = batch.share == 1.0
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts | (batch.ways if ended else {"processing": len(batch.results)}),
            "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat(),
            "results_url": f"https://elsewhere.invalid/v1/messages/batches/{batch.id}/results" if ended else None,
        }

    def _batch(self, batch: _Batch) -> dict[str, Any]:
        ended, files = batch.share == 1.0 and not batch.errors, dict[str, str]()
        for name, good in {"output_file_id": True, "error_file_id": False}.items() if ended else ():
            if lines := [_line(id, code, answer) for id, code, answer in batch.results if (code == 200) is good]:
                files[name] = f"file-{batch.id}-{name[:5]}"
                self._files[files[name]] = b"\n".join(lines)
        status = "expired" if batch.ways["expired"] else "completed"
        status = status if ended else "in_progress" if batch.share > 0.1 else "validating"
        done = {name: round(batch.share * batch.ways[way]) for name, way in _COUNTED.items()}
        return {
            "id": batch.id,
            "object": "batch",
            "status": "failed" if batch.errors else status,
            "request_counts": {"total": len(batch.results), **done},
            "created_at": int(batch.created),
            "errors": {"object": "list", "data": batch.errors} if batch.errors else None,
            **files,
            **batch.told,
        }

    def _results(self, batch: _Batch) -> bytes:
        rows = list[bytes]()
        for custom_id, status, answer in reversed(batch.results):
            result = {"type": "succeeded", "message": answer} if status == 200 else {"type": "errored", "error": answer}
            rows.append(msgspec.json.encode({"custom_id": custom_id, "result": result if status else _EXPIRED}))
        return b"\n".join(rows)


_COUNTED = {"completed": "succeeded", "failed": "errored"}
_EXPIRED = {"type": "expired"}
_LATE = {"code": "batch_expired", "message": "This request could not be executed before the window expired."}


def _line(custom_id: str, status: int, answer: Any) -> bytes:
    response = {"status_code": status, "request_id": "r", "body": answer} if status else None
    error = None if status else _LATE
    return msgspec.json.encode({"id": "r", "custom_id": custom_id, "response": response, "error": error})
