"""An answer of Gemini's generateContent -> a Reply."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from mmdyn.models.backends._http_errors import Server
from mmdyn.models.backends._usage import consistent, count
from mmdyn.models.model import TransientError
from mmdyn.record import Reply, Usage

FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
"""Finish reasons in the words of the other backends; with these an empty text is what the model had to say."""

DECLINED = {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
"""Finish reasons of an answer that was held back."""


class _Part(Struct, frozen=True):
    text: str = ""
    thought: bool = False


class _Content(Struct, frozen=True):
    parts: list[_Part] = []


class _Candidate(Struct, frozen=True, rename="camel"):
    content: _Content = _Content()
    finish_reason: str = ""


class _Feedback(Struct, frozen=True, rename="camel"):
    block_reason: str = ""


class _Answer(Struct, frozen=True, rename="camel"):
    candidates: list[_Candidate] = []
    prompt_feedback: _Feedback = _Feedback()
    usage_metadata: object = None
    error: object = None


_decoder = msgspec.json.Decoder(_Answer)


def read_reply(body: bytes, server: Server) -> Reply:
    """The first candidate: its parts as the text, its thoughts as the reasoning.

    A prompt that was blocked, or an answer that was held back, is a refusal: its finish reason is `refusal: REASON`.
    Raises TransientError where there is no candidate, or an empty one that does not say why, and what Server.error
    makes of an error that comes in an answer's place.
    """
    try:
        answer = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TransientError(f"an answer that cannot be read ({server.clean(str(error))})") from None
    if answer.error and not answer.candidates:
        raise server.error(502, {}, body)
    usage = _usage(answer.usage_metadata)
    if answer.prompt_feedback.block_reason:
        return Reply("", f"refusal: {server.clean(answer.prompt_feedback.block_reason)}", usage)
    if not answer.candidates:
        raise TransientError("an answer without candidates")
    candidate = answer.candidates[0]
    text = "".join(part.text for part in candidate.content.parts if not part.thought)
    reasoning = "\n".join(part.text for part in candidate.content.parts if part.thought)
    reason = candidate.finish_reason
    if reason in DECLINED:
        return Reply(text, f"refusal: {reason}", usage, reasoning=reasoning)
    if not text and reason not in FINISH:
        raise TransientError(f"an empty or unfinished answer (finish reason {server.clean(reason) or 'none'})")
    return Reply(text, FINISH.get(reason, reason), usage, reasoning=reasoning)


def _usage(given: object) -> Usage:
    """`candidatesTokenCount` leaves the thoughts out; what was cached is among `promptTokenCount`."""
    thought = count(given, "thoughtsTokenCount")
    written = count(given, "candidatesTokenCount") + thought
    return consistent(count(given, "promptTokenCount"), written, thought, count(given, "cachedContentTokenCount"))
