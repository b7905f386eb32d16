"""`anthropic:NAME`: Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models.backends._batches import AnthropicBatches
from mmdyn.models.backends._http_model import HttpModel
from mmdyn.models.backends._http_options import Api, Count, HttpOptions
from mmdyn.models.backends._pictures import SentPicture
from mmdyn.models.backends._replies import consistent, count, name_of
from mmdyn.models.model import ImagePart, Message, Spec
from mmdyn.record import Reply, Usage

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "tool_use": "tool_calls",
    "pause_turn": "length",
}
"""Stop reasons in the words of the other backends; with these an empty text is what the model had to say."""


_NAMES = {name: name for name in ("temperature", "top_p", "max_tokens")} | {"thinking": "thinking_budget"}


class _Options(HttpOptions, frozen=True, kw_only=True):
    base_url: str = "https://api.anthropic.com"
    api_key_env: str | None = "ANTHROPIC_API_KEY"
    max_tokens: Count | None = 4096
    thinking_budget: Annotated[int, Meta(ge=1024)] | None = None


class _Block(Struct, frozen=True):
    type: str
    text: str = ""
    thinking: str = ""


class _Delta(Struct, frozen=True):
    text: str = ""
    thinking: str = ""
    stop_reason: str | None = None


class _Answer(Struct, frozen=True):
    """A message, or one put together from a stream's events, whose texts and stop reason are in `delta`."""

    type: str = ""
    content: str | list[_Block] = []
    stop_reason: str | None = None
    delta: _Delta = _Delta()
    usage: object = None
    model: object = None


_DECODER = msgspec.json.Decoder(_Answer)


class Anthropic(HttpModel[_Options]):
    """A model behind POST {base_url}/v1/messages.

    Options, after the name, beside those of HttpOptions:
    max_tokens: 4096 by default, as the API requires a limit; tokens of thinking count towards it.
    thinking_budget: The most tokens of thinking (1024 or more, below max_tokens); the request then has no temperature,
        as the API requires. Models that choose the budget themselves take
        extra_body={"thinking":{"type":"adaptive"}},temperature=none.

    The API has no seed: with a temperature above 0 two answers may differ.
    """

    names = _NAMES
    batches = AnthropicBatches
    defaults = _Options()
    api = Api(
        path="/v1/messages",
        endings=("/v1/messages", "/v1"),
        models="/v1/models",
        key_header="x-api-key",
        key_form="{}",
        reserved=("model", "messages", "system", "stream"),
        headers={"anthropic-version": "2023-06-01"},
    )

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, _Options)

    def _parameters(self, values: dict[str, Json]) -> dict[str, Json]:
        most, budget = self._options.max_tokens, self._options.thinking_budget
        if most is None:
            raise UserError("anthropic wants max_tokens: give a number")
        if budget is None:
            return values
        if budget >= most:
            raise UserError(f"thinking_budget={budget} is not below max_tokens={most}: raise max_tokens")
        values.pop("temperature", None)
        return {**values, "thinking": {"type": "enabled", "budget_tokens": budget}}

    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, SentPicture]) -> dict[str, Json]:
        system, turns = self._turns(messages)
        apart: dict[str, Json] = {"system": system} if system else {}
        said: list[Json] = [{"role": turn.role, "content": _content(turn, pictures)} for turn in turns]
        return {"model": self._server.model, **apart, "messages": said, **self._sent}

    def _read(self, body: bytes) -> Reply:
        """The text blocks as the text, the thinking blocks as the reasoning; an error in a message's place is what
        Server.error makes of it."""
        answer = self._decoded(_DECODER, body, "message")
        delta, blocks = answer.delta, answer.content
        if answer.type != "message" and not blocks and delta == _Delta():
            raise self._server.error_within(body, "an answer without content")
        blocks = [_Block("text", blocks)] if isinstance(blocks, str) else blocks
        text = "".join(block.text for block in blocks if block.type == "text") or delta.text
        reasoning = "\n".join(block.thinking for block in blocks if block.type == "thinking") or delta.thinking
        reason = answer.stop_reason or delta.stop_reason or ""
        if not text and reason not in _FINISH:
            raise self._unfinished(reason)
        usage, model = _usage(answer.usage), name_of(answer.model)
        return Reply(text, _FINISH.get(reason, reason), usage, reasoning=reasoning, answered_by=model)


def _content(message: Message, pictures: Mapping[str, SentPicture]) -> list[Json]:
    """The parts as blocks, without empty texts, which the API refuses."""
    blocks: list[Json] = []
    for part in message.shown:
        if isinstance(part, ImagePart):
            picture = pictures[part.digest]
            source: Json = {"type": "base64", "media_type": picture.media_type, "data": picture.base64}
            blocks.append({"type": "image", "source": source})
        elif part.text:
            blocks.append({"type": "text", "text": part.text})
    return blocks


def _usage(given: object) -> Usage:
    """`input_tokens` are those that were neither read from the cache nor written to it."""
    cached = count(given, "cache_read_input_tokens")
    prompt = count(given, "input_tokens") + count(given, "cache_creation_input_tokens") + cached
    thought = count(given, "thinking_tokens", within="output_tokens_details")
    return consistent(prompt, count(given, "output_tokens"), thought, cached)
