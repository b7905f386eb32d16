"""`openai:NAME`: any server that speaks OpenAI's chat completions (vLLM, SGLang, LMDeploy, Ollama, gateways)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models.backends._http_model import HttpModel
from mmdyn.models.backends._http_pictures import Picture, Pictures
from mmdyn.models.backends._http_setup import Api, Count, HttpOptions
from mmdyn.models.backends._openai_reply import read_reply
from mmdyn.models.message import Message, TextPart
from mmdyn.models.model import Spec
from mmdyn.record import Reply

_API = Api(
    path="/chat/completions",
    endings=("/chat/completions",),
    models="/models",
    key_header="Authorization",
    key_form="Bearer {}",
    reserved=("model", "messages", "stream"),
)

_PARAMETERS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "reasoning_effort", "logprobs")


class _Options(HttpOptions, frozen=True, kw_only=True):
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str = "OPENAI_API_KEY"
    max_completion_tokens: Count | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    logprobs: bool | None = None
    images: Literal["data", "file"] = "data"
    think: Literal["split", "keep"] = "split"


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

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, _API, _Options)
        if self._options.think == "keep":
            self.identity["think"] = "keep"

    def _open_pictures(self) -> Pictures:
        as_files = self._options.images == "file"
        if as_files and (self._options.max_pixels or self._options.max_side):
            raise UserError("images=file sends pictures as they lie: leave max_pixels and max_side out")
        return Pictures(max_pixels=self._options.max_pixels, max_side=self._options.max_side, as_files=as_files)

    def _parameters(self) -> tuple[dict[str, Json], dict[str, str]]:
        values = {name: getattr(self._options, name) for name in _PARAMETERS}
        return {name: value for name, value in values.items() if value is not None}, {
            name: name for name in _PARAMETERS
        }

    def _may_vary(self) -> bool:
        return self._sent.get("temperature") != 0 and self._sent.get("seed") is None

    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, Picture]) -> dict[str, Json]:
        turns: list[Json] = [{"role": message.role, "content": _content(message, pictures)} for message in messages]
        if self._options.system is not None and not any(message.role == "system" for message in messages):
            turns.insert(0, {"role": "system", "content": self._options.system})
        return {"model": self._server.model, "messages": turns, **self._sent}

    def _read(self, body: bytes) -> Reply:
        return read_reply(body, self._server, keep_thinking=self._options.think == "keep")


def _content(message: Message, pictures: Mapping[str, Picture]) -> Json:
    parts = message.shown
    if all(isinstance(part, TextPart) for part in parts):
        return message.text
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "image_url", "image_url": {"url": pictures[part.digest].url}}
        for part in parts
    ]
