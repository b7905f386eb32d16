"""The APIs that the fake server speaks: how each writes a request, an answer and an error.

Each says how a key comes (`key_header`, `key_form`), what it answers for the faults `empty` and `blank`, and has

- `read`: the request in a body; `media` is the folder below which file URLs are read. Raises ValueError.
- `answer`: a whole answer; `tokens` are those that were read and written.
- `error`: the body of an error.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from mmdyn.data import IMAGE_MEDIA_TYPES, IMAGE_SUFFIXES, open_image
from mmdyn.keys import Json, sha256
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
