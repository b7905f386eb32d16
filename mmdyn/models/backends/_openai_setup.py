"""What is settled before the first request to an OpenAI-compatible server: options, address, headers and proxy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, Struct

from mmdyn.errors import ModelError, UserError

if TYPE_CHECKING:
    from yarl import URL

_Count = Annotated[int, Meta(ge=1)]


class Options(Struct, frozen=True):
    """The options as they are typed; `none` leaves a parameter to the server. Backend OpenAI says what each one does."""

    base_url: str = "https://api.openai.com/v1"
    api_key_env: str = "OPENAI_API_KEY"
    label: str = ""
    timeout: Annotated[float, Meta(gt=0)] = 300.0
    concurrency: _Count | None = None
    max_tries: _Count | None = None
    headers: str = "{}"
    system: str | None = None
    temperature: Annotated[float, Meta(ge=0)] | None = 0.0
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    max_tokens: _Count | None = None
    max_completion_tokens: _Count | None = None
    seed: int | None = None


PARAMETERS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed")
"""The options that are sent with every request."""


def chat_url(base_url: str) -> tuple[URL, str]:
    """The address to post to, and the endpoint as it may be shown: without its query. Raises UserError."""
    from yarl import URL

    try:
        base = URL(base_url)
        fits = base.scheme in ("http", "https") and bool(base.host)
    except ValueError:
        fits = False
    if not fits:
        raise UserError("base_url is not an address such as http://127.0.0.1:8000/v1: mend it")
    if base.user or base.password:
        raise UserError(
            "base_url holds a name or password: put it into a variable and give header.Authorization=$VARIABLE"
        )
    path = base.path.rstrip("/").removesuffix("/chat/completions")
    bare = base.with_query(None).with_fragment(None)
    endpoint = str(bare.with_path(path or "/")).rstrip("/")
    return bare.with_path(f"{path}/chat/completions").with_query(base.query), endpoint


def credentials(
    options: Options, model: str, extra: Mapping[str, str], *, own_server: bool
) -> tuple[dict[str, str], str]:
    """The headers of every request, and what credential is among them in words ("" for none).

    Raises UserError for headers that cannot be sent, ModelError where a key is needed and its variable is not set.
    """
    given = {name: _value(name, value) for name, value in {**_parsed(options.headers), **extra}.items()}
    sent = f"the headers {', '.join(given)}" if given else ""
    key = os.environ.get(options.api_key_env, "").strip()
    if key and not any(name.lower() == "authorization" for name in given):
        if not (key.isascii() and key.isprintable()):
            raise UserError(f"${options.api_key_env} holds characters that no key has: set it anew")
        given["Authorization"] = f"Bearer {key}"
        sent = f"the key in ${options.api_key_env}"
    elif not key and not sent and (not own_server or options.api_key_env != Options().api_key_env):
        raise ModelError(
            f"openai:{model} needs a key: put it into ${options.api_key_env}, or give base_url=… for a server of your own"
        )
    return {"Content-Type": "application/json", **given}, sent


def secrets(headers: Mapping[str, str]) -> tuple[str, ...]:
    """What must never be shown: the headers' values, and the key without its `Bearer`."""
    values = [value for name, value in headers.items() if name != "Content-Type"]
    return tuple(dict.fromkeys([*values, *(value.rpartition(" ")[2] for value in values)]))


def proxy_for(url: URL) -> str | None:
    """The proxy that the environment names for an address (http_proxy, https_proxy, no_proxy)."""
    from urllib.request import getproxies, proxy_bypass

    proxy = None if proxy_bypass(url.host or "") else getproxies().get(url.scheme)
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _parsed(text: str) -> dict[str, str]:
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except msgspec.DecodeError:
        raise UserError('headers is not a JSON object of strings, such as {"X-Team": "evaluation"}: mend it') from None


def _value(name: str, value: str) -> str:
    if value.startswith("$"):
        if value[1:] not in os.environ:
            raise UserError(f"the header {name} is to hold {value}, which is not set: set it")
        value = os.environ[value[1:]].strip()
    if not (name.isascii() and name.isprintable() and " " not in name and value.isprintable()):
        raise UserError(f"the header {name!r} holds characters that a header cannot: mend it")
    return value
