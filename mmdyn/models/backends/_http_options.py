"""What is settled before the first request to a model's HTTP API: options, address and headers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct

from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json, digest
from mmdyn.models.backends._http_transport import proxy_for
from mmdyn.models.backends._secrets import SECRET
from mmdyn.models.model import Spec, read_options
from mmdyn.models.vendors import ALLOW, key_variables, may_receive

if TYPE_CHECKING:
    from yarl import URL

Count = Annotated[int, Meta(ge=1)]
SHORTEST_SECRET, SHORTEST_KEY = 6, 16
"""Characters of a value that is cut out of what is shown, and of a key that is out of a reply; a shorter one would take
other words with it."""


class HttpOptions(Struct, frozen=True, kw_only=True):
    """The options that every HTTP backend takes; `none` leaves a parameter to the server.

    base_url: where the API is, with its query, if it has one. api_key_env: the environment variable that holds the key,
        `none` to send none; a server of one's own (base_url given) needs none. A key is never written anywhere.
    header.NAME=VALUE, or headers=JSON: more headers; a value `$NAME` is read from the environment.
    label: how reports name the model; `backend:NAME` by default.
    timeout: seconds for one try, after which it is cut off and asked again.
    concurrency, max_tries: go before what the command says.
    system: a system message before every request that has none.
    temperature (0 by default), top_p, max_tokens: sent as they are.
    extra_body: a JSON object that is merged into the body of every request and goes before the options.
    max_pixels, max_side: a picture with more pixels, or with a longer side, is made smaller before it is sent; without
        them a picture is sent in the bytes that its file holds.
    batch=true: requests go out together, at half the price, and are answered within a day (openai:, anthropic:).
    """

    base_url: str = ""
    api_key_env: str | None = None
    label: str = ""
    timeout: Annotated[float, Meta(gt=0)] = 300.0
    concurrency: Count | None = None
    max_tries: Count | None = None
    headers: str = "{}"
    system: str | None = None
    temperature: Annotated[float, Meta(ge=0)] | None = 0.0
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    max_tokens: Count | None = None
    extra_body: str = "{}"
    max_pixels: Count | None = None
    max_side: Count | None = None
    batch: bool = False


class Api(Struct, frozen=True):
    """What is the same for all models of an API.

    `path`: what is posted to, after the base_url, `{model}` standing for the model's name. `endings`: what a base_url
        may end in though it is no part of it. `models`: where the models are listed. `key_header` and `key_form`: how a
        key is sent.
    `reserved`: keys of the body that extra_body may not set.
    """

    path: str
    endings: tuple[str, ...]
    models: str
    key_header: str
    key_form: str
    reserved: tuple[str, ...]
    headers: dict[str, str] = {}


OptionsT = TypeVar("OptionsT", bound=HttpOptions)


def read_http_options(spec: Spec, kind: type[OptionsT]) -> tuple[OptionsT, dict[str, str]]:
    """A Spec's options, and the headers among them as they are written. Raises UserError."""
    extra = {key.removeprefix("header."): value for key, value in spec.options.items() if key.startswith("header.")}
    plain = {key: value for key, value in spec.options.items() if not key.startswith("header.")}
    options = read_options(spec, kind, plain)
    variable = options.api_key_env
    if variable is not None and not re.fullmatch(r"[A-Za-z_]\w*", variable, re.ASCII):  # perhaps the key itself
        raise UserError("api_key_env is not the name of a variable: put the key into one, and give api_key_env=NAME")
    return options, {**_json_object("headers", options.headers, dict[str, str], "of strings"), **extra}


def without_secrets(spec: Spec, api: Api, kind: type[HttpOptions]) -> tuple[str, str]:
    """A MODEL out of a file as `Model` says."""
    options, headers = read_http_options(spec, kind)
    url, endpoint = address(options.base_url, "", api.endings)
    implied, who = options.api_key_env, f"{spec.backend}:{spec.name}"
    held = "" if any(name.lower() == "host" for name in headers) else str(url)  # many hosts may share an address
    named = {value[1:] for value in headers.values() if value.startswith("$")}
    named |= {implied} if implied and "api_key_env" in spec.options else set()
    if astray := sorted(variable for variable in named if not may_receive(held, variable)):
        raise UserError(f"the model {who} would send ${astray[0]} to {endpoint}: {ALLOW}")
    if not implied or may_receive(held, implied):
        return spec.text, ""
    own = f", and api_key_env={known[0]} what is that host's own" if (known := key_variables(held)) else ""
    told = f"no key is sent to {endpoint} for {who}, as a file names it: --allow-secrets sends ${implied}{own}"
    return f"{spec.text},api_key_env=none", told if os.environ.get(implied) else ""


def address(base_url: str, path: str, endings: tuple[str, ...]) -> tuple[URL, str]:
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
    start = base.path.rstrip("/")
    start = next((start.removesuffix(ending) for ending in endings if start.endswith(ending)), start)
    bare = base.with_query(None).with_fragment(None)
    endpoint = str(bare.with_path(start or "/")).rstrip("/")
    return bare.with_path(f"{start}{path}").with_query(base.query), endpoint


def deployment(url: URL, headers: Mapping[str, str]) -> dict[str, Json]:
    """What an identity holds of an address's query and of the user's headers, which may name a deployment: a digest of
    each.

    What is a credential by its name is left out, so that a model stays the same one under another key. Empty where
    nothing is left.
    """
    found = {
        "query": sorted([name, value] for name, value in url.query.items() if not SECRET.search(name)),
        "headers": sorted([name.lower(), value] for name, value in headers.items() if not SECRET.search(name)),
    }
    return {name: digest(pairs) for name, pairs in found.items() if pairs}


def credentials(spec: Spec, options: HttpOptions, api: Api, given: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The headers of every request, and what credential is among them in words ("" for none).

    Raises UserError for a key that cannot be sent, ModelError where one is needed and its variable is not set.
    """
    headers = {**api.headers, **given}
    sent = f"the headers {', '.join(given)}" if given else ""
    variable = options.api_key_env
    key = "" if variable is None else os.environ.get(variable, "").strip()
    own_server = variable is None or ("base_url" in spec.options and variable == type(options)().api_key_env)
    if key and not any(name.lower() in ("authorization", api.key_header.lower()) for name in given):
        if not (key.isascii() and key.isprintable()):
            raise UserError(f"${variable} holds characters that no key has: set it anew")
        headers[api.key_header] = api.key_form.format(key)
        sent = f"the key in ${variable}"
    elif not key and not sent and not own_server:
        raise ModelError(
            f"{spec.backend}:{spec.name} needs a key: put it into ${variable}, "
            "or give base_url=… for a server of your own"
        )
    return {"Content-Type": "application/json", **headers}, sent


def secrets(headers: Mapping[str, str], api: Api, url: URL) -> tuple[str, ...]:
    """What must never be shown, the longest first: the headers' values, the values of the address's query, and the name
    and password of the proxy; both of these also as they are written in an address.
    """
    from urllib.parse import quote, unquote

    open_to_all = {"Content-Type", *api.headers}
    values = [value for name, value in headers.items() if name not in open_to_all]
    values += [pair.partition("=")[2] for pair in url.raw_query_string.split("&")]
    values += [form for value in url.query.values() for form in (value, quote(value, safe=""))]
    proxy = proxy_for(url)
    userinfo = proxy.url.raw_authority.rpartition("@")[0] if proxy else ""
    password = userinfo.partition(":")[2]
    return forms([*values, userinfo, password, unquote(password)], SHORTEST_SECRET)


def keys(headers: Mapping[str, str], written: Mapping[str, str]) -> tuple[bytes, ...]:
    """What no reply has a reason to hold: the values of headers that are credentials by their name or were `written` as
    a variable's."""
    held = [value for name, value in headers.items() if SECRET.search(name) or written.get(name, "").startswith("$")]
    return tuple(form.encode() for form in forms(held, SHORTEST_KEY))


def forms(values: Iterable[str], shortest: int) -> tuple[str, ...]:
    """Every form in which a secret may come back, the longest first: as it is, without its `Bearer`, in base64."""
    whole = {part for value in values for part in (value, value.rpartition(" ")[2]) if len(part) >= shortest}
    return tuple(sorted({form for value in whole for form in (value, *_encoded(value))}, key=len, reverse=True))


def _encoded(value: str) -> Iterator[str]:
    """What a value becomes within base64, whatever stands before and behind it."""
    from base64 import b64encode, urlsafe_b64encode

    data = value.encode()
    for before, mixed in enumerate((0, 2, 3)):
        known = slice(mixed, (before + len(data)) * 8 // 6)
        yield from {encode(bytes(before) + data).decode()[known] for encode in (b64encode, urlsafe_b64encode)}


def with_extra_body(parameters: dict[str, Json], options: HttpOptions, api: Api) -> dict[str, Json]:
    """The parameters with those of extra_body, objects merged key by key. Raises UserError."""
    extra = _json_object("extra_body", options.extra_body, dict[str, Json], "")
    for key in api.reserved:
        if key in extra:
            raise UserError(f"extra_body sets {key!r}, which belongs to the requests themselves: leave it out")
    inner = extra.get("generationConfig")
    for name, asked in {**extra, **(inner if isinstance(inner, dict) else {})}.items():
        if name in ("n", "candidateCount") and asked not in (1, None):
            raise UserError(
                f"extra_body asks for {name}={asked} answers, and one is read: `mmdyn eval --epochs {asked}` asks again"
            )
    return _merged(parameters, extra)


def _merged(base: dict[str, Json], extra: Mapping[str, Json]) -> dict[str, Json]:
    merged = dict(base)
    for key, value in extra.items():
        known = merged.get(key)
        merged[key] = _merged(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


T = TypeVar("T")


def _json_object(option: str, text: str, kind: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError):
        example = '{"X-Team": "evaluation"}' if option == "headers" else '{"top_k": 20}'
        raise UserError(
            f"{option} is not {' '.join(['a JSON object', what]).strip()}, such as {example}: mend it"
        ) from None


def header_value(name: str, value: str) -> str:
    """What a header is sent with: a variable's value for `$NAME`. Raises UserError."""
    if value.startswith("$"):
        if value[1:] not in os.environ:
            raise UserError(f"the header {name} is to hold {value}, which is not set: set it")
        value = os.environ[value[1:]].strip()
    if not (name.isascii() and name.isprintable() and " " not in name and value.isprintable()):
        raise UserError(f"the header {name!r} holds characters that a header cannot: mend it")
    return value
