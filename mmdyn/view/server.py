"""The viewer's server, and its access control.

The server answers whoever has the token, on this machine, under a name of this machine. The token in the first address
becomes a cookie, so it stays in no history and no Referer. Another site's page in the same browser cannot use it: the
cookie is SameSite=Strict, and a name bound to 127.0.0.1 by its owner (DNS rebinding) is refused.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Sequence
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, ExceptionHandler, Message, Receive, Scope, Send

from mmdyn.errors import UserError, sentence_of
from mmdyn.view import compare, run, runs, sample, samples, set, why
from mmdyn.view._page import Filter, render
from mmdyn.view.index import Catalog

HOSTS = ("127.0.0.1", "localhost")
"""The names that requests may use, on any port: a tunnel (`ssh -L`) has its own port."""

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
"""The headers of every response. A response without Cache-Control is not cached."""


class Guard:
    """Wraps an application, and refuses requests without the right to an answer.

    The port is a part of the cookie's name, so that viewers on several ports do not replace each other's cookies.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token, self._cookie = app, token, f"mmdyn-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; only HTTP is served."""
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


HOST = "127.0.0.1"
STATIC = Path(str(files("mmdyn.view"))) / "static"
KEPT = {"Cache-Control": "private, max-age=86400, immutable"}
"""The headers of pictures, whose names change with their bytes."""


def serve(path: Path, port: int, tell: Callable[[str], None], host: str = HOST) -> None:
    """Show a run, a set, or a folder of them in a browser until interrupted.

    Args:
        port: The port to listen on; 0 for any free one.
        tell: Called with the address once the server listens: always one of 127.0.0.1, by which alone it answers.
        host: The IPv4 address to listen on. Another than 127.0.0.1 serves where a port is forwarded from outside, as
            out of a container.

    Raises:
        InputError: There is nothing to show in `path`.
        UserError: The port is taken, or `host` is no address of this machine.
    """
    catalog, listening = Catalog(path), socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host or HOST, port))  # Python takes an empty one for any address
        listening.listen()
    except OSError as error:
        listening.close()
        mend = "name another port, 0 for any, or an IPv4 address of this machine"
        raise UserError(f"port {port} cannot be had on {host} ({error.strerror}): {mend}") from None
    port, token = listening.getsockname()[1], secrets.token_urlsafe(32)
    tell(f"http://{HOST}:{port}/?token={token}")
    app = open_viewer(catalog, token, port)
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, lifespan="off"
    )
    uvicorn.Server(settings).run(sockets=[listening])


def open_viewer(catalog: Catalog, token: str, port: int) -> Guard:
    """The viewer as an ASGI application, for requests with the token."""
    routes: list[Route | Mount] = [*page_routes(catalog), Route("/run/{name}/state", _state(catalog))]
    routes.append(Mount("/static", StaticFiles(directory=str(STATIC))))
    missing: dict[Any, ExceptionHandler] = {404: lambda request, _: _no_page(catalog, request)}
    return Guard(Starlette(routes=routes, exception_handlers=missing), token, port)


def page_routes(catalog: Catalog) -> list[Route]:
    """The routes of pages and pictures."""

    def shown(build: Callable[[Request], str]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            try:
                return HTMLResponse(build(request))
            except KeyError:
                return _no_page(catalog, request)
            except Exception as error:  # whatever lies in a folder costs the pages on it alone
                return _problem(sentence_of(error), 500)

        return answer

    def asked(request: Request) -> Filter:
        return Filter.of(request.query_params, request.query_params.getlist("which"))

    def place(request: Request) -> str:
        return str(request.path_params["name"])

    def given(request: Request, name: str) -> str:
        return str(request.query_params.get(name, ""))

    def picture(request: Request) -> Response:
        try:
            data, media = catalog.read_picture(place(request))
        except (KeyError, ValueError):
            return PlainTextResponse("no such picture\n", 404)
        return Response(data, media_type=media, headers=KEPT)

    pages: dict[str, Callable[[Request], str]] = {
        "/": lambda request: runs.page(catalog, given(request, "text")),
        "/run/{name}": lambda request: run.page(catalog, place(request)),
        "/run/{name}/why": lambda request: why.page(catalog, place(request)),
        "/run/{name}/samples": lambda request: samples.page(catalog, place(request), asked(request)),
        "/run/{name}/sample/{token}": lambda request: sample.page(
            catalog, place(request), request.path_params["token"], given(request, "answer"), asked(request)
        ),
        "/set/{name}": lambda request: set.page(
            catalog, place(request), asked(request).page, given(request, "chain")
        ),
        "/compare": lambda request: compare.page(
            catalog, given(request, "a"), given(request, "b"), given(request, "which"), given(request, "under"),
            asked(request).page,
        ),
    }  # fmt: skip
    return [*(Route(path, shown(build)) for path, build in pages.items()), Route("/picture/{name}", picture)]


def _state(catalog: Catalog) -> Callable[[Request], Response]:
    """How far the index of a run is, and whether pages differ from those of an `edition`."""

    def state(request: Request) -> Response:
        try:
            index = catalog.index(str(request.path_params["name"]))
        except Exception:
            return JSONResponse({}, 404)
        changed = index.edition != request.query_params.get("edition")
        return JSONResponse({"changed": changed, "read": index.read})

    return state


def _no_page(catalog: Catalog, request: Request) -> Response:
    """Says that there is no such page, and leads back to the run, where there is one of that name."""
    name, folders = request.url.path.split("/")[2:3], catalog.runs()
    back = [(f"/run/{one}", f"The run {catalog.place(folders[one])}") for one in name if one in folders]
    gone = (
        "Nothing has this address: what it led to was moved, renamed or deleted, or is not in the folder that is shown."
    )
    return _problem(gone, 404, "There is no such page", back)


def _problem(text: str, status: int, title: str = "Not to be shown", back: Sequence[tuple[str, str]] = ()) -> Response:
    return HTMLResponse(render("problem.html", title=title, problem=text, back=back, live=""), status)
