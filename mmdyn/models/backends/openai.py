"""`openai:NAME`: any server that speaks OpenAI's chat completions (vLLM, SGLang, LMDeploy, Ollama, gateways)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import msgspec
from msgspec import Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models.backends._batches import BatchApi, OpenAIBatches
from mmdyn.models.backends._http_model import HttpModel
from mmdyn.models.backends._http_options import Api, Count, HttpOptions
from mmdyn.models.backends._pictures import Pictures, SentPicture
from mmdyn.models.backends._replies import consistent, count, name_of
from mmdyn.models.model import Message, Spec, TextPart
from mmdyn.record import Reply, Usage
from mmdyn.text import split_thinking

_PARAMETERS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "reasoning_effort", "logprobs")
_NAMES = dict(zip(_PARAMETERS, _PARAMETERS, strict=True))

_COMPLETE = {"stop", "length", "content_filter", "eos", "end_turn", "stop_sequence", "max_tokens"}
_COMPLETE |= {"tool_calls", "function_call"}
"""Finish reasons with which an empty text is what the model had to say."""

_CUT_OFF = {"error", "abort"}
"""Finish reasons with which even a text is only a part of one."""


class _Options(HttpOptions, frozen=True, kw_only=True):
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str | None = "OPENAI_API_KEY"
    max_completion_tokens: Count | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    logprobs: bool | None = None
    images: Literal["data", "file"] = "data"
    think: Literal["split", "keep"] = "split"


_TEXTS, _THOUGHTS = ("text", "output_text"), ("reasoning", "reasoning.text", "thinking", "thought")
"""Types of a content's parts."""


class _Message(Struct, frozen=True):
    content: object = None
    refusal: str | None = None
    reasoning_content: object = None
    reasoning: object = None
    tool_calls: object = None


class _Token(Struct, frozen=True):
    logprob: float | None = None


class _Logprobs(Struct, frozen=True):
    content: list[_Token] | None = None


class _Choice(Struct, frozen=True):
    message: _Message = _Message()
    delta: _Message = _Message()
    text: str | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None
    error: object = None


class _Completion(Struct, frozen=True):
    choices: list[_Choice] | None = None
    usage: object = None
    model: object = None
    system_fingerprint: object = None


_DECODER = msgspec.json.Decoder(_Completion)


class OpenAI(HttpModel[_Options]):
    """A model behind POST {base_url}/chat/completions; base_url ends in `/v1` on most servers.

    Options, after the name, beside those of HttpOptions:
    max_completion_tokens: what newer servers take in the place of max_tokens.
    seed: sent as it is.
    reasoning_effort: how long a reasoning model thinks (minimal, low, medium, high, …); where `none` itself is to be
        sent, extra_body={"reasoning_effort":"none"} does it.
    logprobs=true: the log-probabilities of the tokens are asked for and kept; a server counts thinking among them.
    images: `data` sends pictures as data URLs, `file` the file URLs of where they lie, for a server that reads the same
        disk.
    think: `split` parts a leading `<think>…</think>` from the answer, `keep` leaves the text as it is.
    """

    names = _NAMES
    batches: ClassVar[type[BatchApi] | None] = OpenAIBatches
    defaults = _Options()
    api = Api(
        path="/chat/completions",
        endings=("/chat/completions",),
        models="/models",
        key_header="Authorization",
        key_form="Bearer {}",
        reserved=("model", "messages", "stream"),
    )

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, _Options)
        if {"max_tokens", "max_completion_tokens"} <= self._sent.keys():
            raise UserError("max_tokens and max_completion_tokens are one limit by two names: leave out one of them")
        if self._options.think == "keep":
            self.identity["think"] = "keep"

    def _open_pictures(self) -> Pictures:
        options = self._options
        as_files = options.images == "file"
        if as_files and (options.max_pixels or options.max_side):
            raise UserError("images=file sends pictures as they lie: leave max_pixels and max_side out")
        return Pictures(max_pixels=options.max_pixels, max_side=options.max_side, as_files=as_files)

    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, SentPicture]) -> dict[str, Json]:
        turns: list[Json] = [{"role": message.role, "content": _content(message, pictures)} for message in messages]
        if self._options.system is not None and not any(message.role == "system" for message in messages):
            turns.insert(0, {"role": "system", "content": self._options.system})
        return {"model": self._server.model, "messages": turns, **self._sent}

    def _read(self, body: bytes) -> Reply:
        """The first choice. An error in a completion's place is what Server.error makes of it.

        An empty text is an answer where the server says that the completion is complete (finish reason stop, length,
        …): asking again would give the same and cost the same, and scoring counts it as unparsed. Without a finish
        reason it is a body that was cut off, and asked for again. A refusal of its own field is the text, with the
        finish reason `refusal`. What was thought aloud (a field of its own, or a leading `<think>…</think>`) is the
        reply's reasoning.
        """
        completion = self._decoded(_DECODER, body, "completion")
        if not completion.choices:
            raise self._server.error_within(body, "an answer without choices")
        choice = completion.choices[0]
        if choice.error:
            raise self._server.error_within(msgspec.json.encode({"error": choice.error}), "an answer with an error")
        message = choice.message if choice.message != _Message() else choice.delta
        finish = choice.finish_reason or ""
        content = message.content or choice.text or ""
        text, thoughts = _texts(content, _TEXTS), _texts(content, _THOUGHTS)
        thought, text = ("", text) if self._options.think == "keep" else split_thinking(text)
        if not text and (refusal := message.refusal or _texts(content, ("refusal",))):
            text, finish = refusal, "refusal"
        if finish in _CUT_OFF or not (text or finish in _COMPLETE or message.tool_calls):
            raise self._unfinished(finish)
        field = message.reasoning_content if isinstance(message.reasoning_content, str) else message.reasoning
        thought = "\n".join(filter(None, (field if isinstance(field, str) else "", thoughts, thought)))
        logprobs = _logprobs(choice.logprobs) if choice.logprobs else ()
        return Reply(
            text,
            finish,
            _usage(completion.usage),
            reasoning=thought,
            logprobs=logprobs,
            answered_by=name_of(completion.model),
            fingerprint=name_of(completion.system_fingerprint),
        )


def _content(message: Message, pictures: Mapping[str, SentPicture]) -> Json:
    parts = message.shown
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    if len(texts) == len(parts):
        return "".join(texts)
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "image_url", "image_url": {"url": pictures[part.digest].url}}
        for part in parts
    ]


def _usage(given: object) -> Usage:
    return consistent(
        count(given, "prompt_tokens"),
        count(given, "completion_tokens"),
        count(given, "reasoning_tokens", within="completion_tokens_details") or count(given, "reasoning_tokens"),
        count(given, "cached_tokens", within="prompt_tokens_details")
        or count(given, "prompt_cache_hit_tokens")
        or count(given, "cached_tokens"),
        count(given, "total_tokens"),
    )


def _logprobs(given: _Logprobs) -> tuple[float, ...]:
    return tuple(token.logprob for token in given.content or () if token.logprob is not None)


def _texts(content: object, types: tuple[str, ...]) -> str:
    """The texts of a content's parts of some types. A text alone is a part of type text, and so is one that names no
    type."""
    if isinstance(content, str):
        return content if "text" in types else ""
    if isinstance(content, list):
        return "".join([_texts(part, types) for part in content])
    if not isinstance(content, dict) or (kind := content.get("type", "text")) not in types:
        return ""
    return _texts(content.get("text") or content.get(kind), _TEXTS)
