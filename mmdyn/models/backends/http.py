"""`http:URL`: an endpoint of your own that takes a question as JSON and gives a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models.backends._http_errors import Server
from mmdyn.models.backends._http_model import HttpModel
from mmdyn.models.backends._http_options import Api, HttpOptions
from mmdyn.models.backends._pictures import SentPicture, plain_request
from mmdyn.models.backends._replies import consistent, count
from mmdyn.models.model import Message, RefusedError, Spec
from mmdyn.record import Reply
from mmdyn.text import split_thinking


class _Options(HttpOptions, frozen=True, kw_only=True):
    api_key_env: str | None = "MMDYN_HTTP_KEY"
    temperature: Annotated[float, Meta(ge=0)] | None = None


class _Answer(Struct, frozen=True):
    text: str
    reasoning: str = ""
    finish_reason: str = "stop"
    usage: object = None


_DECODER = msgspec.json.Decoder(_Answer)


class _Endpoint(Server, frozen=True):
    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
        if 300 <= status < 400 or status in (404, 405):
            return RefusedError(f"{self.endpoint} takes no questions (HTTP {status}): mend the address")
        return super().error(status, headers, body)


class Http(HttpModel[_Options]):
    """An endpoint that gets {question, messages, pictures} by POST and answers {text, reasoning?, usage?,
    finish_reason?}: docs/programs.md. Written `http:URL`, or as the URL alone.

    Options, after the URL: those of HttpOptions but base_url. A key, where the endpoint needs one, is in
    $MMDYN_HTTP_KEY, or in the variable that api_key_env names. Only parameters that are given are sent.
    """

    varied: ClassVar[Mapping[str, str]] = {}
    names: ClassVar[Mapping[str, str]] = {name: name for name in ("temperature", "top_p", "max_tokens", "system")}
    defaults = _Options()
    api = Api("", (), "", "Authorization", "Bearer {}", ("question", "messages", "pictures"))
    server = _Endpoint

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, _Options)

    @classmethod
    def _placed(cls, spec: Spec) -> Spec:
        if "base_url" in spec.options:
            raise UserError("an http: model has its address in its name: write http:URL without base_url")
        return replace(spec, name=spec.name.partition("?")[0], options={**spec.options, "base_url": spec.name})

    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, SentPicture]) -> dict[str, Json]:
        request, named = plain_request(messages, pictures)
        shown: list[Json] = [
            {"name": name, "media_type": picture.media_type, "base64": picture.base64}
            for name, picture in named.items()
        ]
        return {**request, "pictures": shown, **self._sent}

    def _read(self, body: bytes) -> Reply:
        answer = self._decoded(_DECODER, body, "reply")
        thought, text = split_thinking(answer.text)
        usage = consistent(
            prompt=count(answer.usage, "prompt_tokens"),
            completion=count(answer.usage, "completion_tokens"),
            reasoning=count(answer.usage, "reasoning_tokens"),
            cached=count(answer.usage, "cached_tokens"),
        )
        return Reply(text, answer.finish_reason, usage, reasoning=answer.reasoning or thought)
