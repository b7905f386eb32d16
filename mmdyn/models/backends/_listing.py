"""What a server that is no vendor's own says of a model in its list of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from mmdyn.keys import Json
from mmdyn.models.backends._http_transport import certificates, proxy_for

if TYPE_CHECKING:
    from yarl import URL

SECONDS = 10.0
LONGEST = 4 * 1024 * 1024
LONGEST_VALUE = 1000


class _Model(Struct, frozen=True):
    """What of a list's entry stays while the same weights answer: vLLM's `created` and `permission` are new each
    time."""

    id: str = ""
    root: Json = None
    parent: Json = None
    max_model_len: Json = None
    owned_by: Json = None


class _Models(Struct, frozen=True):
    data: list[_Model] = []


class Listing:
    """The entry of a model in a server's list, by which one checkpoint is told from another under the same name.

    entry (attribute): its `root` (the path of the weights, say), `parent`, `max_model_len` and `owned_by`, as far as
        they are told. Empty before `read`, and where the server lists nothing. Of a server that has one model and takes
        any name for it, that one's, with its own name as the root.

    url: where the list is; None where there is none.
    """

    def __init__(self, url: URL | None, name: str, headers: Mapping[str, str]) -> None:
        self.entry: dict[str, Json] = {}
        self._url, self._name, self._headers = url, name, headers

    async def read(self) -> None:
        """Ask for the list, once. Where that fails, nothing is known: what is wrong will be told by the requests."""
        import aiohttp

        if self._url is None:
            return
        url, self._url, body = self._url, None, bytearray()
        proxy, timeout = proxy_for(url), aiohttp.ClientTimeout(total=SECONDS)
        secure = "https" in (url.scheme, proxy and proxy.url.scheme)
        connector = aiohttp.TCPConnector(ssl=certificates()[0] if secure else True)
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout, headers=self._headers) as session,
                session.get(url, proxy=proxy and proxy.url, allow_redirects=False) as response,
            ):
                async for piece in response.content.iter_any():
                    body += piece
                    if len(body) > LONGEST:
                        return
                listed = msgspec.json.decode(body, type=_Models).data if response.status == 200 else []
        except (aiohttp.ClientError, OSError, ValueError, RecursionError):
            return
        named = [model for model in listed if model.id == self._name]
        if not named and len(listed) == 1:
            named = [msgspec.structs.replace(listed[0], root=listed[0].root or listed[0].id)]
        said = msgspec.to_builtins(named[0]) if named else {}
        self.entry = {key: value for key, value in said.items() if key != "id" and _is_name(value)}


def _is_name(value: Json) -> bool:
    """Whether a server says something that is fit to be kept and shown."""
    return isinstance(value, str | int) and len(str(value)) <= LONGEST_VALUE
