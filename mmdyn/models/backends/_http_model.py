"""What the backends behind an HTTP API share: their options, their identity, their pictures, and one try of a request.

They are files of ours over one aiohttp client rather than the vendors' SDKs. Two SDKs bring some hundred modules, and
retry in loops of their own, whose attempts neither a record nor the pace of the asking would see; what is used of the
APIs here is one request, which has not changed in years.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Generic

import msgspec

from mmdyn.keys import Json
from mmdyn.models.backends._http_errors import Server
from mmdyn.models.backends._http_line import Line
from mmdyn.models.backends._http_pictures import Picture, Pictures
from mmdyn.models.backends._http_setup import (
    Api,
    OptionsT,
    address,
    credentials,
    deployment,
    read_http_options,
    secrets,
    with_extra_body,
)
from mmdyn.models.message import Message
from mmdyn.models.model import Limits, Spec
from mmdyn.record import Reply


class HttpModel(ABC, Generic[OptionsT]):
    """A model behind an API: a subclass says how its parameters, its body and its answer are written.

    Raises UserError for bad options, ModelError where a needed key is not set.
    """

    cached, weighs = True, False
    varied: ClassVar[Mapping[str, str]] = {"temperature": "0.7"}

    def __init__(self, spec: Spec, api: Api, kind: type[OptionsT]) -> None:
        self._options, given = read_http_options(spec, kind)
        options = self._options
        url, endpoint = address(options.base_url, api.path.replace("{model}", spec.name), api.endings)
        headers, sent = credentials(spec, options, api, given)
        plain, names = self._parameters()
        self._sent = with_extra_body(plain, options, api)
        hidden = secrets(headers, api, url)
        self._server = Server(endpoint, spec.name, options.api_key_env, sent, hidden, api.models, names)
        self._line = Line(url, self._server, headers, options.timeout)
        self._pictures = self._open_pictures()
        self.label = options.label or f"{spec.backend}:{spec.name}"
        self.varies = self._may_vary()
        self.limits = Limits(options.concurrency, options.max_tries)
        self.identity: dict[str, Json] = {
            "backend": spec.backend,
            "endpoint": endpoint,
            "model": spec.name,
            "system": options.system,
            "parameters": self._sent,
        }
        limits: dict[str, Json] = {"max_pixels": options.max_pixels, "max_side": options.max_side}
        self.identity |= {name: limit for name, limit in limits.items() if limit is not None}
        self.identity |= deployment(url, given)

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """One request. Raises TransientError, RejectedError, ModelError, and InputError for a picture that cannot be
        read."""
        pictures = await self._pictures.of(messages)
        answer = await self._line.post(msgspec.json.encode(self._body(messages, pictures)))
        reply = self._read(answer)
        changed = "; ".join(picture.changed for picture in pictures.values() if picture.changed)
        return msgspec.structs.replace(reply, changed=changed) if changed else reply

    async def close(self) -> None:
        """Close the connections."""
        await self._line.close()

    def _open_pictures(self) -> Pictures:
        return Pictures(max_pixels=self._options.max_pixels, max_side=self._options.max_side)

    @abstractmethod
    def _parameters(self) -> tuple[dict[str, Json], dict[str, str]]:
        """What the options add to every body, and the options by the names under which they are sent."""

    @abstractmethod
    def _may_vary(self) -> bool:
        """Whether equal requests may be answered differently."""

    @abstractmethod
    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, Picture]) -> dict[str, Json]:
        """The body of a request; `pictures` are those of the messages, by digest."""

    @abstractmethod
    def _read(self, body: bytes) -> Reply:
        """The reply in an answer's body. Raises TransientError where there is none."""


def system_text(messages: tuple[Message, ...], default: str | None) -> str:
    """The system messages as one text, or the default where there are none, for APIs that take them apart from the
    turns."""
    texts = [message.text for message in messages if message.role == "system"]
    return "\n\n".join(texts) if texts else default or ""
