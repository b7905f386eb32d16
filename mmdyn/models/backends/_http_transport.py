"""The way to a server: the proxy and the certificates that the environment names, as other clients read them."""

from __future__ import annotations

import os
from contextlib import suppress
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mmdyn.errors import ModelError

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
