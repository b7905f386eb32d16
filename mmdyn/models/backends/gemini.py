"""`gemini:NAME`: Google's Gemini API (generateContent)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from mmdyn.keys import Json
from mmdyn.models.backends._http_model import HttpModel
from mmdyn.models.backends._http_options import Api, HttpOptions
from mmdyn.models.backends._pictures import SentPicture
from mmdyn.models.backends._replies import consistent, count, name_of
from mmdyn.models.model import ImagePart, Message, Spec
from mmdyn.record import Reply, Usage

_FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
"""Finish reasons in the words of the other backends; with these an empty text is what the model had to say."""

_DECLINED = {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
"""Finish reasons of an answer that was held back."""


_NAMES = {
    "temperature": "temperature",
    "topP": "top_p",
    "maxOutputTokens": "max_tokens",
    "seed": "seed",
    "thinkingBudget": "thinking_budget",
}
"""The options by the names that the API has for them."""


class _Options(HttpOptions, frozen=True, kw_only=True):
    base_url: str = "https://generativelanguage.googleapis.com"
    api_key_env: str | None = "GEMINI_API_KEY"
    seed: int | None = None
    thinking_budget: Annotated[int, Meta(ge=-1)] | None = None


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
    model_version: object = None


_DECODER = msgspec.json.Decoder(_Answer)


class Gemini(HttpModel[_Options]):
    """A model behind POST {base_url}/v1beta/models/NAME:generateContent. The key goes into a header, never into the
    address.

    Options, after the name, beside those of HttpOptions:
    max_tokens: The most tokens of an answer; tokens of thinking count towards it.
    seed: Passed on to the server.
    thinking_budget: The most tokens of thinking (0 for none, -1 for no limit); the answer then includes the thoughts.
        Models that take a level instead: extra_body={"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}}}.
    """

    names = _NAMES
    defaults = _Options()
    api = Api(
        path="/v1beta/models/{model}:generateContent",
        endings=("/v1beta", "/v1"),
        models="/v1beta/models",
        key_header="x-goog-api-key",
        key_form="{}",
        reserved=("model", "contents", "systemInstruction"),
    )

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, _Options)

    def _parameters(self, values: dict[str, Json]) -> dict[str, Json]:
        if (budget := values.pop("thinkingBudget", None)) is not None:
            values["thinkingConfig"] = {"thinkingBudget": budget, "includeThoughts": budget != 0}
        return {"generationConfig": values}

    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, SentPicture]) -> dict[str, Json]:
        system, turns = self._turns(messages)
        apart: dict[str, Json] = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
        said: list[Json] = [
            {"role": "model" if turn.role == "assistant" else "user", "parts": _parts(turn, pictures)} for turn in turns
        ]
        return {**apart, "contents": said, **self._sent}

    def _read(self, body: bytes) -> Reply:
        """The first candidate: its parts as the text, its thoughts as the reasoning. What the server declined has the
        finish reason `refusal: …`; an error in an answer's place is what Server.error makes of it."""
        answer = self._decoded(_DECODER, body, "answer of the API")
        usage = _usage(answer.usage_metadata)
        if answer.prompt_feedback.block_reason:
            return Reply("", f"refusal: {self._server.clean(answer.prompt_feedback.block_reason)}", usage)
        if not answer.candidates:
            raise self._server.error_within(body, "an answer without candidates")
        parts, reason = answer.candidates[0].content.parts, answer.candidates[0].finish_reason
        text = "".join(part.text for part in parts if not part.thought)
        reasoning = "\n".join(part.text for part in parts if part.thought)
        if reason in _DECLINED:
            return Reply(text, f"refusal: {reason}", usage, reasoning=reasoning)
        if not text and reason not in _FINISH:
            raise self._unfinished(reason)
        finish, model = _FINISH.get(reason, reason), name_of(answer.model_version)
        return Reply(text, finish, usage, reasoning=reasoning, answered_by=model)


def _parts(message: Message, pictures: Mapping[str, SentPicture]) -> list[Json]:
    parts: list[Json] = []
    for part in message.shown:
        if isinstance(part, ImagePart):
            picture = pictures[part.digest]
            parts.append({"inlineData": {"mimeType": picture.media_type, "data": picture.base64}})
        else:
            parts.append({"text": part.text})
    return parts


def _usage(given: object) -> Usage:
    """`candidatesTokenCount` leaves the thoughts out; what was cached is among `promptTokenCount`."""
    thought = count(given, "thoughtsTokenCount")
    written = count(given, "candidatesTokenCount") + thought
    return consistent(count(given, "promptTokenCount"), written, thought, count(given, "cachedContentTokenCount"))
