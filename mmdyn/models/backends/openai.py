"""`openai:NAME`: any server that speaks OpenAI's chat completions (vLLM, SGLang, LMDeploy, Ollama, gateways)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import msgspec

from mmdyn.errors import ModelError
from mmdyn.keys import Json
from mmdyn.models.backends._data_urls import DataUrls
from mmdyn.models.backends._openai_errors import Server
from mmdyn.models.backends._openai_reply import read_reply
from mmdyn.models.backends._openai_setup import PARAMETERS, Options, chat_url, credentials, proxy_for, secrets
from mmdyn.models.message import Message, TextPart
from mmdyn.models.model import Limits, Spec, TransientError, read_options
from mmdyn.record import Reply

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

CONNECT_SECONDS = 30.0
LONGEST_REPLY = 64 * 1024 * 1024
LONGEST_RAW_BODY = 512 * 1024


class OpenAI:
    """A model behind POST {base_url}/chat/completions.

    Options, after the name:
    base_url: where the API is (its `…/v1`).
    api_key_env: the environment variable that holds the key; a server of one's own (base_url given) needs none. A key is
        never written anywhere.
    header.NAME=VALUE, or headers=JSON: more headers; a value `$NAME` is read from the environment.
    label: how reports name the model; `openai:NAME` by default.
    timeout: seconds for one try, after which it is cut off and asked again.
    concurrency, max_tries: go before what the command says.
    system: a system message before every request that has none.
    temperature (0 by default), top_p, seed, max_tokens, and max_completion_tokens (which newer servers take in its place):
        sent as they are; `none` sends nothing.

    Pictures are sent as data URLs in the bytes that the files hold. Raises UserError for bad options, ModelError where a
    needed key is not set.
    """

    cached = True
    varied: ClassVar[Mapping[str, str]] = {"temperature": "0.7"}

    def __init__(self, spec: Spec) -> None:
        extra = {key.removeprefix("header."): value for key, value in spec.options.items() if key.startswith("header.")}
        plain = {key: value for key, value in spec.options.items() if not key.startswith("header.")}
        options = read_options(spec, Options, plain)
        self._url, endpoint = chat_url(options.base_url)
        self._headers, sent = credentials(options, spec.name, extra, own_server="base_url" in plain)
        self._server = Server(endpoint, spec.name, options.api_key_env, sent, secrets(self._headers))
        self._proxy = proxy_for(self._url)
        self._system, self._timeout = options.system, options.timeout
        self._connect_seconds = min(CONNECT_SECONDS, options.timeout)
        parameters = {name: getattr(options, name) for name in PARAMETERS}
        self._parameters: dict[str, Json] = {key: value for key, value in parameters.items() if value is not None}
        self._pictures = DataUrls()
        self._session: ClientSession | None = None
        self._reached = False
        self.label = options.label or f"openai:{spec.name}"
        self.varies = options.temperature != 0 and options.seed is None
        self.limits = Limits(options.concurrency, options.max_tries)
        self.identity: dict[str, Json] = {
            "backend": "openai",
            "endpoint": endpoint,
            "model": spec.name,
            "system": options.system,
            "parameters": self._parameters,
        }

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """One request. Raises TransientError, RejectedError, ModelError, and InputError for a picture that cannot be read."""
        import aiohttp

        body = self._body(messages)
        data = io.BytesIO(body) if len(body) > LONGEST_RAW_BODY else body
        try:
            async with self._opened().post(self._url, data=data, proxy=self._proxy, allow_redirects=False) as response:
                text = await _read(response)
        except aiohttp.ClientConnectorError as error:
            raise self._unreachable(
                error.strerror or str(error), may_pass=not isinstance(error, aiohttp.ClientSSLError)
            ) from None
        except aiohttp.ConnectionTimeoutError:
            raise self._unreachable(f"no connection within {self._connect_seconds:g} s") from None
        except TimeoutError:
            raise TransientError(f"no answer within {self._timeout:g} s") from None
        except (aiohttp.ClientError, ConnectionError) as error:
            raise TransientError(
                f"the connection broke ({self._server.clean(str(error) or type(error).__name__)})"
            ) from None
        self._reached = True
        if response.status != 200:
            raise self._server.error(response.status, response.headers, text)
        return read_reply(response.content_type, text, self._server)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _body(self, messages: tuple[Message, ...]) -> bytes:
        turns: list[Json] = [{"role": message.role, "content": self._content(message)} for message in messages]
        if self._system is not None and not any(message.role == "system" for message in messages):
            turns.insert(0, {"role": "system", "content": self._system})
        return msgspec.json.encode({"model": self._server.model, "messages": turns, **self._parameters})

    def _content(self, message: Message) -> Json:
        if all(isinstance(part, TextPart) for part in message.parts):
            return message.text
        return [
            {"type": "text", "text": part.text}
            if isinstance(part, TextPart)
            else {"type": "image_url", "image_url": {"url": self._pictures.get(part)}}
            for part in message.parts
        ]

    def _opened(self) -> ClientSession:
        if self._session is None:
            from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

            self._session = ClientSession(
                connector=TCPConnector(limit=0),
                timeout=ClientTimeout(total=self._timeout, sock_connect=self._connect_seconds),
                headers=self._headers,
                cookie_jar=DummyCookieJar(),
            )
        return self._session

    def _unreachable(self, reason: str, *, may_pass: bool = True) -> Exception:
        reason = self._server.clean(reason)
        if self._reached and may_pass:
            return TransientError(f"no connection ({reason})")
        return ModelError(f"cannot reach {self._server.endpoint} ({reason}): start the server or mend base_url")


async def _read(response: ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > LONGEST_REPLY:
            raise TransientError(f"an answer of more than {LONGEST_REPLY:,} bytes")
    return bytes(body)
