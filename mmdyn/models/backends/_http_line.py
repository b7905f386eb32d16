"""The line to an HTTP API: posts bodies, many at a time, and says in the words of the contract what went wrong on the
way."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mmdyn.errors import ModelError
from mmdyn.models.backends._http_errors import PASSING, Server
from mmdyn.models.backends._http_setup import proxy_for
from mmdyn.models.model import TransientError

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from yarl import URL

CONNECT_SECONDS = 30.0
LONGEST_REPLY = 64 * 1024 * 1024
LONGEST_RAW_BODY = 512 * 1024
PAGES = 64
"""Answers of status 200 that are no JSON, with none that is, after which the address is taken to be the wrong one. A
gateway sends a page now and then, so that one of them is asked again."""


class Line:
    """Posts JSON to one address. A redirect is not followed: it might lead a key elsewhere."""

    def __init__(self, url: URL, server: Server, headers: Mapping[str, str], timeout: float) -> None:
        self._url, self._server, self._headers, self._timeout = url, server, headers, timeout
        self._connect_seconds = min(CONNECT_SECONDS, timeout)
        self._proxy = proxy_for(url)
        self._session: ClientSession | None = None
        self._reached, self._pages = False, 0

    async def post(self, body: bytes) -> bytes:
        """The JSON that comes back. Raises TransientError, RejectedError, ModelError."""
        import aiohttp

        data = io.BytesIO(body) if len(body) > LONGEST_RAW_BODY else body
        try:
            async with self._opened().post(self._url, data=data, proxy=self._proxy, allow_redirects=False) as response:
                answer = await _read(response)
        except aiohttp.ClientHttpProxyError as error:
            raise self._proxy_error(error.status) from None
        except aiohttp.ClientConnectorError as error:
            raise self._unreachable(
                error.strerror or str(error), may_pass=not isinstance(error, aiohttp.ClientSSLError)
            ) from None
        except aiohttp.ConnectionTimeoutError:
            raise self._unreachable(f"no connection within {self._connect_seconds:g} s") from None
        except TimeoutError:
            raise TransientError(f"no answer within {self._timeout:g} s", unanswered=True) from None
        except (aiohttp.ClientError, ConnectionError) as error:
            raise TransientError(
                f"the connection broke ({self._server.clean(str(error) or type(error).__name__)})"
            ) from None
        if response.status != 200:
            raise self._server.error(response.status, response.headers, answer)
        if "json" not in response.content_type:
            raise self._no_json(response.content_type)
        self._pages = -1
        return answer

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _opened(self) -> ClientSession:
        if self._session is None:
            from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, TraceConfig

            trace = TraceConfig()
            trace.on_connection_create_end.append(self._connected)
            self._session = ClientSession(
                connector=TCPConnector(limit=0),
                timeout=ClientTimeout(total=self._timeout, sock_connect=self._connect_seconds),
                headers=self._headers,
                cookie_jar=DummyCookieJar(),
                trace_configs=[trace],
            )
        return self._session

    async def _connected(self, *_: object) -> None:
        """A connection stands, whose answer may take minutes: from now on one that is refused may pass."""
        self._reached = True

    def _proxy_error(self, status: int) -> Exception:
        from yarl import URL

        proxy = URL(self._proxy or "")
        told = f"the proxy {proxy.host}:{proxy.port} answered HTTP {status}"
        if status in PASSING or status >= 500:
            return TransientError(told)
        return ModelError(f"{told}: mend {self._url.scheme}_proxy")

    def _unreachable(self, reason: str, *, may_pass: bool = True) -> Exception:
        reason = self._server.clean(reason)
        if self._reached and may_pass:
            return TransientError(f"no connection ({reason})")
        return ModelError(f"cannot reach {self._server.endpoint} ({reason}): start the server or mend base_url")

    def _no_json(self, content_type: str) -> Exception:
        came = f"an answer of type {self._server.clean(content_type)}, not JSON"
        if self._pages >= 0:
            self._pages += 1
        if self._pages >= PAGES:
            return ModelError(f"{self._server.endpoint} gives {came}, and nothing else: mend base_url")
        return TransientError(f"{came}: is base_url right?")


async def _read(response: ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > LONGEST_REPLY:
            raise TransientError(f"an answer of more than {LONGEST_REPLY:,} bytes")
    return bytes(body)
