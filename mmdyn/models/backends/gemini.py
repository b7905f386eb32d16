"""`gemini:NAME`: Google's Gemini API (generateContent)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from mmdyn.keys import Json
from mmdyn.models.backends._gemini_reply import read_reply
from mmdyn.models.backends._http_model import HttpModel, system_text
from mmdyn.models.backends._http_pictures import Picture
from mmdyn.models.backends._http_setup import Api, HttpOptions
from mmdyn.models.message import ImagePart, Message
from mmdyn.models.model import Spec
from mmdyn.record import Reply

_API = Api(
    path="/v1beta/models/{model}:generateContent",
    endings=("/v1beta", "/v1"),
    models="/v1beta/models",
    key_header="x-goog-api-key",
    key_form="{}",
    reserved=("model", "contents", "systemInstruction"),
)

_NAMES = {"temperature": "temperature", "topP": "top_p", "maxOutputTokens": "max_tokens", "seed": "seed"}
"""The options by the names that the API has for them."""


class _Options(HttpOptions, frozen=True, kw_only=True):
    base_url: str = "https://generativelanguage.googleapis.com"
    api_key_env: str = "GEMINI_API_KEY"
    seed: int | None = None
    thinking_budget: Annotated[int, Meta(ge=-1)] | None = None


class Gemini(HttpModel[_Options]):
    """A model behind POST {base_url}/v1beta/models/NAME:generateContent. The key goes in a header, never in the
    address.

    Options, after the name, beside those of HttpOptions:
    max_tokens: thinking counts.
    seed: sent as it is.
    thinking_budget: tokens that the model may think for (0 for none, -1 for as many as it likes); its thoughts are
        asked for. Models that take a level instead:
        extra_body={"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}}}.
    """

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, _API, _Options)

    def _parameters(self) -> tuple[dict[str, Json], dict[str, str]]:
        config: dict[str, Json] = {name: getattr(self._options, option) for name, option in _NAMES.items()}
        budget = self._options.thinking_budget
        if budget is not None:
            config["thinkingConfig"] = {"thinkingBudget": budget, "includeThoughts": budget != 0}
        config = {name: value for name, value in config.items() if value is not None}
        return {"generationConfig": config}, _NAMES | {"thinkingBudget": "thinking_budget"}

    def _may_vary(self) -> bool:
        config = self._sent["generationConfig"]
        return not isinstance(config, dict) or (config.get("temperature") != 0 and config.get("seed") is None)

    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, Picture]) -> dict[str, Json]:
        system = system_text(messages, self._options.system)
        turns: list[Json] = [
            {"role": "model" if message.role == "assistant" else "user", "parts": _parts(message, pictures)}
            for message in messages
            if message.role != "system"
        ]
        apart: dict[str, Json] = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
        return {**apart, "contents": turns, **self._sent}

    def _read(self, body: bytes) -> Reply:
        return read_reply(body, self._server)


def _parts(message: Message, pictures: Mapping[str, Picture]) -> list[Json]:
    parts: list[Json] = []
    for part in message.shown:
        if isinstance(part, ImagePart):
            picture = pictures[part.digest]
            parts.append({"inlineData": {"mimeType": picture.media_type, "data": picture.base64}})
        else:
            parts.append({"text": part.text})
    return parts
