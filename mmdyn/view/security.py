"""Who may ask the viewer for anything: whoever has the token, on this machine, by a name of this machine.

The token in the first address becomes a cookie, so that it stays in no history and no Referer. A page of another site
that a browser shows cannot ask in the user's name: the cookie is SameSite=Strict, and a name that was bound to
127.0.0.1 by its owner (DNS rebinding) is no name of this machine.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost")
"""By these names alone, on any port: a tunnel (`ssh -L`) has a port of its own."""

METHODS = ("GET", "HEAD")
REFUSED = "Open the address that mmdyn view printed: it holds the token without which nothing is shown.\n"

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Of every response. Where it sets no Cache-Control of its own, nothing is kept."""


class Guard:
    """Wraps an application: what has no right to be answered is answered with one sentence, whatever it asks for.

    port: names the cookie, so that viewers on several ports do not take each other's.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token, self._cookie = app, token, f"mmdyn-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; nothing but HTTP is spoken."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await (self._refusal(scope) or self._app)(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        """What a request gets in place of what it asks for; None where it may have that."""
        headers = Headers(scope=scope)
        if not _is_this_machine(headers.getlist("host")):
            return PlainTextResponse("The viewer answers by the names 127.0.0.1 and localhost alone.\n", 403)
        given = parse_qsl(scope["query_string"].decode("latin-1"))
        if self._is_token(dict(given).get("token", "")):
            rest = urlencode([(name, value) for name, value in given if name != "token"])
            path = "/" + scope["path"].lstrip("/\\")  # two slashes would name a host
            answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
            answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
            return answer
        if not self._is_token(_cookie(headers.get("cookie", ""), self._cookie)):
            return PlainTextResponse(REFUSED, 403)
        if scope["method"] not in METHODS:
            return PlainTextResponse("The viewer only shows: ask with GET.\n", 405, {"Allow": ", ".join(METHODS)})
        return None

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def _is_this_machine(hosts: list[str]) -> bool:
    if len(hosts) != 1:
        return False
    name, colon, port = hosts[0].partition(":")
    return name.lower() in HOSTS and (not colon or (port.isascii() and port.isdigit()))


def _cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending
