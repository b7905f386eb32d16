"""A chat completion's body -> a Reply."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from mmdyn.models.backends._http_errors import Server
from mmdyn.models.backends._thinking import split_thinking
from mmdyn.models.backends._usage import consistent, count
from mmdyn.models.model import TransientError
from mmdyn.record import Reply, Usage

COMPLETE = {"stop", "length", "content_filter", "eos", "end_turn", "stop_sequence", "max_tokens"}
"""Finish reasons with which an empty text is what the model had to say."""

CUT_OFF = {"error", "abort"}
"""Finish reasons with which even a text is only a part of one."""


class _Piece(Struct, frozen=True):
    type: str = "text"
    text: str | None = None


class _Message(Struct, frozen=True):
    content: str | list[_Piece] | None = None
    refusal: str | None = None
    reasoning_content: object = None
    reasoning: object = None


class _Token(Struct, frozen=True):
    logprob: float | None = None


class _Logprobs(Struct, frozen=True):
    content: list[_Token] | None = None


class _Choice(Struct, frozen=True):
    message: _Message = _Message()
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Completion(Struct, frozen=True):
    choices: list[_Choice] | None = None
    usage: object = None
    error: object = None


_decoder = msgspec.json.Decoder(_Completion)


def read_reply(body: bytes, server: Server, *, keep_thinking: bool = False) -> Reply:
    """The first choice of a completion. Raises TransientError where there is none, and what Server.error makes of an
    error that comes in a completion's place.

    An empty text is an answer where the server says that the completion is complete (finish reason stop, length, …):
    asking again would give the same and cost the same, and scoring counts it as unparsed. Without a finish reason it is
    a body that was cut off, and asked for again. A refusal of its own field is the text, with the finish reason
    `refusal`. What was thought aloud (a field of its own, or a leading `<think>…</think>`) is the reply's reasoning;
    with `keep_thinking` the text stays as it came.
    """
    try:
        completion = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TransientError(f"an answer that is no completion ({server.clean(str(error))})") from None
    if completion.error and not completion.choices:
        raise server.error(_status(completion.error), {}, body)
    if not completion.choices:
        raise TransientError("an answer without choices")
    choice = completion.choices[0]
    message, finish = choice.message, choice.finish_reason or ""
    thought, text = ("", _text(message)) if keep_thinking else split_thinking(_text(message))
    if not text and message.refusal:
        text, finish = message.refusal, "refusal"
    if finish in CUT_OFF or not (text or finish in COMPLETE):
        raise TransientError(f"an empty or unfinished answer (finish reason {server.clean(finish) or 'none'})")
    fields = (field for field in (message.reasoning_content, message.reasoning) if isinstance(field, str))
    reasoning = "\n".join(filter(None, [next(fields, ""), thought]))
    return Reply(text, finish, _usage(completion.usage), reasoning=reasoning, logprobs=_logprobs(choice.logprobs))


def _text(message: _Message) -> str:
    if isinstance(message.content, list):
        return "".join(piece.text or "" for piece in message.content)
    return message.content or ""


def _usage(given: object) -> Usage:
    return consistent(
        count(given, "prompt_tokens"),
        count(given, "completion_tokens"),
        count(given, "completion_tokens_details", "reasoning_tokens"),
        count(given, "prompt_tokens_details", "cached_tokens") or count(given, "prompt_cache_hit_tokens"),
    )


def _logprobs(given: _Logprobs | None) -> tuple[float, ...]:
    tokens = (given.content if given else None) or ()
    return tuple(token.logprob for token in tokens if token.logprob is not None)


def _status(error: object) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 502
