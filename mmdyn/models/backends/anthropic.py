"""`anthropic:NAME`: Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models.backends._anthropic_reply import read_reply
from mmdyn.models.backends._http_model import HttpModel, system_text
from mmdyn.models.backends._http_pictures import Picture
from mmdyn.models.backends._http_setup import Api, Count, HttpOptions
from mmdyn.models.message import ImagePart, Message
from mmdyn.models.model import Spec
from mmdyn.record import Reply

_API = Api(
    path="/v1/messages",
    endings=("/v1/messages", "/v1"),
    models="/v1/models",
    key_header="x-api-key",
    key_form="{}",
    reserved=("model", "messages", "system", "stream"),
    headers={"anthropic-version": "2023-06-01"},
)


class _Options(HttpOptions, frozen=True, kw_only=True):
    base_url: str = "https://api.anthropic.com"
    api_key_env: str = "ANTHROPIC_API_KEY"
    max_tokens: Count | None = 4096
    thinking_budget: Annotated[int, Meta(ge=1024)] | None = None


class Anthropic(HttpModel[_Options]):
    """A model behind POST {base_url}/v1/messages.

    Options, after the name, beside those of HttpOptions:
    max_tokens: 4096 by default; the API wants it. Thinking counts.
    thinking_budget: tokens that the model may think for (1024 or more, below max_tokens); the request then goes without
        a temperature, as the API wants it. Models that choose for themselves take
        extra_body={"thinking":{"type":"adaptive"}},temperature=none.

    There is no seed: with a temperature above 0 two answers may differ.
    """

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, _API, _Options)

    def _parameters(self) -> tuple[dict[str, Json], dict[str, str]]:
        options, budget = self._options, self._options.thinking_budget
        if options.max_tokens is None:
            raise UserError("anthropic wants max_tokens: give a number")
        if budget is not None and budget >= options.max_tokens:
            raise UserError(f"thinking_budget={budget} is not below max_tokens={options.max_tokens}: raise max_tokens")
        values: dict[str, Json] = {
            "max_tokens": options.max_tokens,
            "temperature": options.temperature if budget is None else None,
            "top_p": options.top_p,
            "thinking": None if budget is None else {"type": "enabled", "budget_tokens": budget},
        }
        names = {name: name for name in ("temperature", "top_p", "max_tokens")} | {"thinking": "thinking_budget"}
        return {name: value for name, value in values.items() if value is not None}, names

    def _may_vary(self) -> bool:
        return self._sent.get("temperature") != 0

    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, Picture]) -> dict[str, Json]:
        system = system_text(messages, self._options.system)
        turns: list[Json] = [
            {"role": message.role, "content": _content(message, pictures)}
            for message in messages
            if message.role != "system"
        ]
        apart: dict[str, Json] = {"system": system} if system else {}
        return {"model": self._server.model, **apart, "messages": turns, **self._sent}

    def _read(self, body: bytes) -> Reply:
        return read_reply(body, self._server)


def _content(message: Message, pictures: Mapping[str, Picture]) -> list[Json]:
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
