"""The viewer: addresses to pages, on 127.0.0.1 alone."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from mmdyn.errors import UserError, sentence_of
from mmdyn.view import compare, run, runs, sample, samples, set, why
from mmdyn.view._page import render
from mmdyn.view.catalog import Catalog
from mmdyn.view.filters import Filter
from mmdyn.view.security import Guard

HOST = "127.0.0.1"
STATIC = Path(str(files("mmdyn.view"))) / "static"
KEPT = {"Cache-Control": "private, max-age=86400, immutable"}
"""Of pictures, whose names change with their bytes."""


def serve(path: Path, port: int, tell: Callable[[str], None]) -> None:
    """Show a run, a set, or a folder of them until it is interrupted; `tell` is told the address, once it is listened
    on.

    port: 0 takes any free one. Raises InputError where there is nothing to show, UserError for a port that is taken.
    """
    catalog, listening = Catalog(path), socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise UserError(f"port {port} cannot be had ({error.strerror}): name another one, or 0 for any") from None
    port, token = listening.getsockname()[1], secrets.token_urlsafe(32)
    tell(f"http://{HOST}:{port}/?token={token}")
    app = open_viewer(catalog, token, port)
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, lifespan="off"
    )
    uvicorn.Server(settings).run(sockets=[listening])


def open_viewer(catalog: Catalog, token: str, port: int) -> Guard:
    """The application, for whoever has the token."""
    routes: list[Route | Mount] = [*page_routes(catalog), Route("/run/{name}/state", _state(catalog))]
    routes.append(Mount("/static", StaticFiles(directory=str(STATIC))))
    return Guard(Starlette(routes=routes), token, port)


def page_routes(catalog: Catalog) -> list[Route]:
    """Where each page and each picture is."""

    def shown(build: Callable[[Request], str]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            try:
                return HTMLResponse(build(request))
            except KeyError:
                return _problem("There is no such page here.", 404)
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
            catalog, given(request, "a"), given(request, "b"), given(request, "which"), asked(request).page
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


def _problem(text: str, status: int) -> Response:
    return HTMLResponse(render("problem.html", title="Not to be shown", problem=text, live=""), status)
