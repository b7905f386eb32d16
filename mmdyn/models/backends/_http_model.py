"""What the backends behind an HTTP API share: their options, their identity, their pictures, and one try of a request.

They are files of ours over one aiohttp client rather than the vendors' SDKs. Two SDKs bring some hundred modules, and
retry in loops of their own, whose attempts neither a record nor the pace of the asking would see; what is used of the
APIs here is one request, which has not changed in years.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json
from mmdyn.models.backends._batches import AT_A_TIME, BatchApi, BatchLine
from mmdyn.models.backends._http_errors import GONE, Server
from mmdyn.models.backends._http_options import (
    Api,
    HttpOptions,
    OptionsT,
    address,
    credentials,
    deployment,
    header_value,
    keys,
    read_http_options,
    secrets,
    with_extra_body,
    without_secrets,
)
from mmdyn.models.backends._http_transport import Listing, certificates, holds_answer, joined, mended, proxy_for
from mmdyn.models.backends._pictures import Pictures, SentPicture
from mmdyn.models.model import (
    Message,
    ModelLimits,
    RefusedError,
    ServerGone,
    Spec,
    TransientError,
    may_pass,
    typed_model,
)
from mmdyn.models.vendors import key_variables, may_receive, tell
from mmdyn.record import Reply

if TYPE_CHECKING:
    from aiohttp import BaseConnector, ClientResponse, ClientSession, ClientSSLError
    from yarl import URL

CONNECT_SECONDS = 30.0
LONGEST_REPLY = 64 * 1024 * 1024
LONGEST_RAW_BODY = 512 * 1024
PAGES = 64
"""Answers of status 200 that are no JSON, with none that is, after which the address is taken to be the wrong one. A
gateway sends a page now and then, so that one of them is asked again."""

AnswerT = TypeVar("AnswerT", bound=Struct)


class HttpModel(ABC, Generic[OptionsT]):
    """A model behind an API: a subclass says how its parameters, its body and its answer are written.

    Raises UserError for bad options, ModelError where a needed key is not set.
    """

    cached, weighs = True, False
    varied: ClassVar[Mapping[str, str]] = {"temperature": "0.7"}
    api: ClassVar[Api]
    defaults: ClassVar[HttpOptions]
    names: ClassVar[Mapping[str, str]]
    """The options that are sent, by the names under which the API has them."""
    server: ClassVar[type[Server]] = Server
    batches: ClassVar[type[BatchApi] | None] = None

    def __init__(self, spec: Spec, kind: type[OptionsT]) -> None:
        api, spec = self.api, self._placed(spec)
        self._options, written = read_http_options(spec, kind)
        options, given = self._options, {name: header_value(name, value) for name, value in written.items()}
        url, endpoint = address(options.base_url, api.path.replace("{model}", spec.name), api.endings)
        headers, sent = credentials(spec, options, api, given)
        plain = {name: getattr(options, option) for name, option in self.names.items()}
        self._sent = with_extra_body(self._parameters({k: v for k, v in plain.items() if v is not None}), options, api)
        hidden = secrets(headers, api, url)
        key_env = options.api_key_env or ""
        parameters = dict(self.names) | dict.fromkeys(msgspec.json.decode(options.extra_body), "extra_body")
        self._server = self.server(endpoint, spec.name, key_env, sent, hidden, api.models, parameters)
        self._keys = keys(headers, written)
        self._line: Line | BatchLine = Line(url, self._server, headers, options.timeout)
        if options.batch:
            self._line = BatchLine(self._line, self._open_batches(spec, self._line), endpoint)
        models = address(options.base_url, api.models, api.endings)[0] if api.models else None
        self.listing = None if key_variables(endpoint) else Listing(models, spec.name, headers)
        self._pictures = self._open_pictures()
        self.label = options.label or f"{spec.backend}:{spec.name}"
        config = self._sent.get("generationConfig", self._sent)
        self.varies = not isinstance(config, dict) or (config.get("temperature") != 0 and config.get("seed") is None)
        at_a_time = options.concurrency or (AT_A_TIME if options.batch else None)
        self.limits = ModelLimits(at_a_time, options.max_tries, hangs=not options.batch, batched=options.batch)
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

    @classmethod
    def without_secrets(cls, spec: Spec) -> tuple[str, str]:
        """As `Model` says. Raises UserError."""
        return without_secrets(cls._placed(spec), cls.api, type(cls.defaults))

    @classmethod
    def _placed(cls, spec: Spec) -> Spec:
        """The Spec with its address as the option base_url, where it gives any. Raises UserError."""
        return spec

    @classmethod
    def typed(cls, label: str, identity: Mapping[str, Any]) -> tuple[str, bool]:
        """The MODEL with the options that are none of the defaults; what of a body no option stands for is its
        extra_body. Of headers and of an address's query no more than a digest is known."""
        sent = identity["parameters"]
        config = sent.get("generationConfig", sent)
        plain = {name: value for name, value in config.items() if name in cls.names and _is_typed(value)}
        rest = {name: value for name, value in config.items() if name not in plain}
        if config is not sent:
            others = {name: value for name, value in sent.items() if name != "generationConfig"}
            rest = others | ({"generationConfig": rest} if rest else {})
        options = {"base_url": identity["endpoint"]} if cls.defaults.base_url else {}
        options |= {option: plain.get(name) for name, option in cls.names.items()}
        options |= {name: identity.get(name) for name in ("system", "max_pixels", "max_side")}
        options |= {"think": identity["think"]} if "think" in identity else {}
        given = {name: value for name, value in options.items() if value != getattr(cls.defaults, name)}
        given |= {"extra_body": rest} if rest else {}
        server = identity["endpoint"] if cls.defaults.base_url else identity["model"]
        if not may_receive(server, cls.defaults.api_key_env or ""):
            given["api_key_env"] = None  # the run may be somebody else's, and so may the server
        text, whole = typed_model(label, identity["backend"], identity["model"], given)
        return text, whole and not {"query", "headers"} & identity.keys()

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """One request. Raises TransientError, RejectedError, ModelError, and InputError for a picture that cannot be
        read."""
        pictures = await self._pictures.of(messages)
        answer = await self._line.post(msgspec.json.encode(self._body(messages, pictures)))
        whole = {} if answer.startswith(b"{") else joined(answer)
        reply = self._read(self._without_keys(msgspec.json.encode(whole) if whole else answer))
        if whole and not reply.finish_reason and "done" not in whole:
            raise self._unfinished("")
        if pictures and (changed := "; ".join(picture.changed for picture in pictures.values() if picture.changed)):
            return msgspec.structs.replace(reply, changed=changed)
        return reply

    async def close(self) -> None:
        """Close the connections."""
        await self._line.close()

    @property
    def progress(self) -> str:
        """How far its batches are."""
        return self._line.progress if isinstance(self._line, BatchLine) else ""

    def _open_batches(self, spec: Spec, line: Line) -> BatchApi:
        if self.batches is None:
            raise UserError(f"{spec.backend}:{spec.name} has no batches: leave batch out, or ask openai: or anthropic:")
        return self.batches(line, self._server, self.api.path)

    def _open_pictures(self) -> Pictures:
        return Pictures(max_pixels=self._options.max_pixels, max_side=self._options.max_side)

    def _parameters(self, values: dict[str, Json]) -> dict[str, Json]:
        """What the options add to every body; `values` are those that were given, by the names under `names`."""
        return values

    @abstractmethod
    def _body(self, messages: tuple[Message, ...], pictures: Mapping[str, SentPicture]) -> dict[str, Json]:
        """The body of a request; `pictures` are those of the messages, by digest."""

    @abstractmethod
    def _read(self, body: bytes) -> Reply:
        """The reply in an answer's body. Raises TransientError where there is none."""

    def _decoded(self, decoder: msgspec.json.Decoder[AnswerT], body: bytes, kind: str) -> AnswerT:
        """An answer's body, of its `kind`. Raises TransientError where it is none."""
        try:
            return decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            with suppress(msgspec.DecodeError, ValueError, RecursionError):
                return decoder.decode(mended(body))
            came = f"an answer that is no {kind} ({self._server.clean(str(error))})"
            is_object = isinstance(error, msgspec.ValidationError) and body.lstrip().startswith(b"{")
            raise (self._server.error_within(body, came) if is_object else TransientError(came)) from None

    def _unfinished(self, reason: str) -> TransientError:
        """What an answer without a text is, whose reason to end is none with which one is complete."""
        return TransientError(f"an empty or unfinished answer (finish reason {self._server.clean(reason) or 'none'})")

    def _without_keys(self, answer: bytes) -> bytes:
        """An answer's body with *** in the place of a key that was sent; the user is told of a server that repeats
        one."""
        for key in self._keys:
            if key in answer:
                answer = answer.replace(key, b"***")
                tell(f"the server at {self._server.endpoint} repeats the key that it is sent: *** stands for it")
        return answer

    def _turns(self, messages: tuple[Message, ...]) -> tuple[str, list[Message]]:
        """The system messages as one text, or the option where there are none, and the others, for APIs that take them
        apart."""
        texts = [message.text for message in messages if message.role == "system"]
        system = "\n\n".join(texts) if texts else self._options.system or ""
        return system, [message for message in messages if message.role != "system"]


def _is_typed(value: Json) -> bool:
    """Whether an option can have a value, which `none` would leave out."""
    return isinstance(value, str | int | float) and value != "none"


class Line:
    """Posts JSON to one address, many at a time, and says in the words of the contract what went wrong on the way.

    A redirect is not followed: it might lead a key elsewhere.
    """

    def __init__(self, url: URL, server: Server, headers: Mapping[str, str], timeout: float) -> None:
        self.url, self._server, self._headers, self._timeout = url, server, headers, timeout
        self._connect_seconds = min(CONNECT_SECONDS, timeout)
        self._proxy = proxy_for(url)
        self._via = self._proxy and self._proxy.url
        self._first: ClientSession | None = None
        self._further: ClientSession | None = None
        self._pages = 0

    async def post(self, body: bytes, url: URL | None = None) -> bytes:
        """The JSON that comes back, from another address of the server if one is given. Raises TransientError,
        RejectedError, ModelError."""
        answer, kind = await self._sent("POST", url or self.url, body)
        if "json" not in kind.lower() and not holds_answer(answer):
            raise self._no_json(kind)
        self._pages = -1
        return answer

    async def send(self, method: str, url: URL, data: bytes | None = None, content_type: str = "") -> bytes:
        """The body of any kind that comes back for a request of any kind. Raises as `post` does."""
        return (await self._sent(method, url, data, content_type))[0]

    async def _sent(self, method: str, url: URL, data: bytes | None, content_type: str = "") -> tuple[bytes, str]:
        """The body of an answer and its type."""
        import aiohttp

        body = io.BytesIO(data) if data and len(data) > LONGEST_RAW_BODY else data
        headers = {"Content-Type": content_type} if content_type else None
        session = self._further or self._opened()
        try:
            async with session.request(
                method, url, data=body, headers=headers, proxy=self._via, allow_redirects=False
            ) as response:
                answer = await _read(response)
        except aiohttp.ClientHttpProxyError as error:
            raise self._proxy_error(error.status) from None
        except aiohttp.ClientSSLError as error:
            raise self._untrusted(error) from None
        except aiohttp.ClientConnectorError as error:
            raise self._unreachable(error.strerror or str(error), error.host) from None
        except aiohttp.ConnectionTimeoutError:
            raise self._unreachable(f"no connection within {self._connect_seconds:g} s") from None
        except TimeoutError:
            raise TransientError(f"no answer within {self._timeout:g} s", unanswered=True) from None
        except (aiohttp.ClientError, ConnectionError) as error:
            says = self._server.clean(str(error) or type(error).__name__)
            raise TransientError(f"the connection broke ({says})") from None
        if not 200 <= response.status < 300:
            raise self._server.error(response.status, response.headers, answer)
        return answer, response.headers.get("Content-Type", "")

    async def close(self) -> None:
        """Close the connections."""
        for session in (self._further, self._first):
            if session is not None:
                await session.close()
        self._first = self._further = None

    def _opened(self) -> ClientSession:
        """The session of the first requests, which watches for a connection; further ones share its connections."""
        if self._first is None:
            from aiohttp import TCPConnector, TraceConfig

            trace = TraceConfig()
            trace.on_connection_create_end.append(self._connected)
            secure = "https" in (self.url.scheme, self._via and self._via.scheme)
            connector = TCPConnector(limit=0, ssl=certificates()[0] if secure else True)
            self._first = self._session(connector, trace_configs=[trace])
        return self._first

    def _session(self, connector: BaseConnector | None, **settings: Any) -> ClientSession:
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar

        timeout = ClientTimeout(total=self._timeout, sock_connect=self._connect_seconds)
        return ClientSession(
            connector=connector, timeout=timeout, headers=self._headers, cookie_jar=DummyCookieJar(), **settings
        )

    async def _connected(self, session: ClientSession, *_: object) -> None:
        """A connection stands, whose answer may take minutes: from now on one that is refused may pass."""
        self._further = self._further or self._session(session.connector, connector_owner=False)

    def _proxy_error(self, status: int) -> Exception:
        told = f"the proxy {self._proxy} answered HTTP {status}"
        if may_pass(status):
            return (ServerGone if status in GONE else TransientError)(told)
        return RefusedError(f"{told}: mend {self._proxy and self._proxy.variable}")

    def _unreachable(self, reason: str, host: str | None = None) -> Exception:
        reason = self._server.clean(reason)
        proxy = self._proxy if self._proxy and host in (self._proxy.url.host, None) else None
        if self._further:
            return ServerGone(f"no connection{f' to the proxy {proxy}' if proxy else ''} ({reason})")
        if proxy:
            mend = f"mend {proxy.variable}, or name {self.url.host} in no_proxy"
            return ModelError(f"cannot reach {self._server.endpoint} by the proxy {proxy} ({reason}): {mend}")
        return ModelError(f"cannot reach {self._server.endpoint} ({reason}): start the server or mend base_url")

    def _untrusted(self, error: ClientSSLError) -> Exception:
        certificate = getattr(error, "certificate_error", None)
        reason = self._server.clean(getattr(certificate, "verify_message", "") or error.strerror or str(error))
        where = f"{self._server.endpoint}{f', reached by the proxy {self._proxy},' if self._proxy else ''}"
        if certificate is None:
            return RefusedError(f"cannot speak TLS with {where} ({reason}): mend base_url")
        failed = f"the certificate of {where} fails the check against {certificates()[1]} ({reason})"
        return RefusedError(f"{failed}: put the file of who signed it into $SSL_CERT_FILE, or mend base_url")

    def _no_json(self, content_type: str) -> Exception:
        kind = content_type.partition(";")[0].strip() or "application/octet-stream"
        came = f"an answer of type {self._server.clean(kind)}, not JSON"
        if self._pages >= 0:
            self._pages += 1
        if self._pages >= PAGES:
            return ModelError(f"{self._server.endpoint} gives {came}, and nothing else: mend base_url")
        return TransientError(f"{came}: is base_url right?")


async def _read(response: ClientResponse) -> bytes:
    content = response.content
    first = await content.readany()
    if content.at_eof():
        return first
    body = bytearray(first)
    while not content.at_eof():
        body += await content.readany()
        if len(body) > LONGEST_REPLY:
            raise TransientError(f"an answer of more than {LONGEST_REPLY:,} bytes")
    return bytes(body)
