"""An answer of Anthropic's Messages API -> a Reply."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from mmdyn.models.backends._http_errors import Server
from mmdyn.models.backends._usage import consistent, count
from mmdyn.models.model import TransientError
from mmdyn.record import Reply, Usage

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
"""Stop reasons in the words of the other backends; with these an empty text is what the model had to say."""


class _Block(Struct, frozen=True):
    type: str
    text: str = ""
    thinking: str = ""


class _Answer(Struct, frozen=True):
    type: str
    content: list[_Block] = []
    stop_reason: str | None = None
    usage: object = None


_decoder = msgspec.json.Decoder(_Answer)


def read_reply(body: bytes, server: Server) -> Reply:
    """The text blocks as the text, the thinking blocks as the reasoning.

    Raises TransientError where the body is no message, or an empty one that does not say why, and what Server.error
    makes of an error that comes in a message's place.
    """
    try:
        answer = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TransientError(f"an answer that is no message ({server.clean(str(error))})") from None
    if answer.type == "error":
        raise server.error(502, {}, body)
    text = "".join(block.text for block in answer.content if block.type == "text")
    reasoning = "\n".join(block.thinking for block in answer.content if block.type == "thinking")
    reason = answer.stop_reason or ""
    if not text and reason not in FINISH:
        raise TransientError(f"an empty or unfinished answer (stop reason {server.clean(reason) or 'none'})")
    return Reply(text, FINISH.get(reason, reason), _usage(answer.usage), reasoning=reasoning)


def _usage(given: object) -> Usage:
    """`input_tokens` are those that were neither read from the cache nor written to it."""
    cached = count(given, "cache_read_input_tokens")
    prompt = count(given, "input_tokens") + count(given, "cache_creation_input_tokens") + cached
    thought = count(given, "output_tokens_details", "thinking_tokens")
    return consistent(prompt, count(given, "output_tokens"), thought, cached)
