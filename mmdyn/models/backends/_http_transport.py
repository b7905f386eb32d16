"""The way to a server and back: proxy, certificates, what it lists of a model, and the bodies of its answers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.keys import Json, digest

if TYPE_CHECKING:
    from ssl import SSLContext

    from yarl import URL

BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Variables that name a file or folder of certificates in the place of the system's, the first before the others."""


class Proxy(NamedTuple):
    """A proxy and the variable that names it, such as https_proxy (or HTTPS_PROXY)."""

    url: URL
    variable: str

    def __str__(self) -> str:
        return f"{self.url.host}:{self.url.port}"


def proxy_for(url: URL) -> Proxy | None:
    """The proxy that the environment names for an address (http_proxy, https_proxy, else all_proxy; no_proxy).

    Raises ModelError where it names none that can be used.
    """
    from urllib.request import getproxies

    from yarl import URL

    named = getproxies()
    kind = url.scheme if named.get(url.scheme) else "all"
    address = named.get(kind)
    if not address or _goes_past(url, named.get("no", "")):
        return None
    with suppress(ValueError):
        proxy = URL(address if "://" in address else f"http://{address}")
        if proxy.scheme in ("http", "https") and proxy.host:
            return Proxy(proxy, f"{kind}_proxy")
    shown = f"{address.partition('://')[0]}://…" if "://" in address else "what is no address"
    raise ModelError(
        f"{kind}_proxy names {shown}, and a proxy must be http://HOST:PORT: mend it, or name {url.host} in no_proxy"
    )


def _goes_past(url: URL, no_proxy: str) -> bool:
    """Whether no_proxy names the host, with or without its port, or a network of it."""
    from urllib.request import proxy_bypass

    if proxy_bypass(url.host or "") or proxy_bypass(f"{url.host}:{url.port}"):
        return True
    for part in filter(None, map(str.strip, no_proxy.split(","))):
        with suppress(ValueError):
            if ip_address(url.host or "") in ip_network(part, strict=False):
                return True
    return False


def certificates() -> tuple[SSLContext | bool, str]:
    """What a server's certificate is checked against, and in words: the first of BUNDLES, else the system's (True).

    Raises ModelError where it cannot be read.
    """
    name = next(filter(os.environ.get, BUNDLES), "")
    if not name:
        return True, "the system's certificates"
    import ssl

    place = os.environ[name]
    file, folder = (None, place) if Path(place).is_dir() else (place, None)
    try:
        return ssl.create_default_context(cafile=file, capath=folder), f"what ${name} names"
    except OSError as error:
        raise ModelError(
            f"${name} names {place}, from which no certificates can be read ({error.strerror or error}): mend it"
        ) from None


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
    digest (attribute): of the entry; empty where the entry is.

    url: where the list is; None where there is none.
    """

    def __init__(self, url: URL | None, name: str, headers: Mapping[str, str]) -> None:
        self.entry: dict[str, Json] = {}
        self.digest = ""
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
        self.digest = digest(self.entry, size=8) if self.entry else ""


def _is_name(value: Json) -> bool:
    """Whether a server says something that is fit to be kept and shown."""
    return isinstance(value, str | int) and len(str(value)) <= LONGEST_VALUE


_BOM = b"\xef\xbb\xbf"
_GROWING = {"content", "text", "thinking", "reasoning", "reasoning_content", "refusal"}
"""Texts that a stream goes on with; all others are told again whole."""


def holds_answer(body: bytes) -> bool:
    """Whether a body may hold JSON or events, by its first letters."""
    return body.removeprefix(_BOM).lstrip().startswith((b"{", b"[", b"data:", b"event:", b"id:", b":"))


def joined(body: bytes) -> dict[str, Any]:
    """One object out of a stream of events, or of a list, in which an answer comes in pieces; an error among them
    stands alone. Empty where the body is neither."""
    text = body.removeprefix(_BOM).lstrip()
    lines = [text] if text.startswith(b"[") else text.splitlines()
    whole = dict[str, Any]()
    for event in [line.removeprefix(b"data:").strip() for line in lines if line.startswith((b"[", b"data:"))]:
        with suppress(ValueError, AttributeError, RecursionError):
            value = {"done": True} if event == b"[DONE]" else msgspec.json.decode(mended(event))
            for piece in value if isinstance(value, list) else [value]:
                begun = piece.get("message")
                _append(whole, {**begun, **piece} if isinstance(begun, dict) else piece)
    return {"error": whole["error"]} if "error" in whole else whole


def _append(whole: dict[str, Any], piece: dict[str, Any]) -> None:
    """Add a piece to what came before it: texts grow, lists go on, and the first of several answers counts."""
    for name, value in piece.items():
        before: Any = whole.get(name)
        if name in ("choices", "candidates") and value and before:
            _append(before[0], value[0])
        elif isinstance(value, dict) and isinstance(before, dict):
            _append(before, value)
        elif type(value) is type(before) and (isinstance(value, list) or name in _GROWING):
            whole[name] = before + value
        else:
            whole[name] = value


def mended(body: bytes) -> bytes:
    """JSON as the standard has it, out of what is nearly so: without a byte order mark, letters that are none, NaN and
    nulls, for which the defaults stand. Raises ValueError."""
    text = body.decode("utf-8-sig", errors="replace")
    value = _without_nulls(json.loads(text, strict=False, parse_constant=lambda _: None))
    whole = json.dumps(value, ensure_ascii=False)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_nulls(part) for part in value if part is not None]
    return value
