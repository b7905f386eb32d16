"""Writes the viewer's pages as files: every page that the first page links to, directly or not."""

from __future__ import annotations

import re
import shutil
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from html import escape, unescape
from mimetypes import guess_extension
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from mmdyn.errors import UserError
from mmdyn.keys import digest
from mmdyn.view._page import render
from mmdyn.view.index import Catalog
from mmdyn.view.server import STATIC, page_routes
from mmdyn.work import ProgressBar

LINK = re.compile(r'(?<= )(href|src|data-live)="([^"#]*)"')
"""In our own templates: whatever a file or a model said holds no quotation mark there."""
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'"


class Exported(NamedTuple):
    """The numbers of pages and pictures that were written."""

    pages: int
    pictures: int


def export(path: Path, folder: Path, *, quiet: bool = False) -> Exported:
    """Write the viewer's pages of a run, a set, or a folder of them into a new folder; index.html is the first page.

    Searching and filtering need the viewer, but every list that a number links to is there.

    Raises:
        InputError: There is nothing to show in `path`.
        UserError: `folder` exists, or lies in `path`.
    """
    catalog = Catalog(path)
    if folder.exists():
        raise UserError(f"{folder} is there already: name a new folder")
    if folder.resolve().is_relative_to(catalog.root):
        raise UserError(f"{folder} lies in {path}, in which nothing is written: name a folder elsewhere")
    for name in catalog.runs():
        with suppress(Exception):  # the run's pages say what is wrong with it
            catalog.index(name).refresh(None)
    scratch = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(scratch, ignore_errors=True)  # what a killed export left
    scratch.mkdir(parents=True)
    try:
        shutil.copytree(STATIC, scratch / "static")
        with ProgressBar("exporting", quiet=quiet) as progress:
            found = _Crawl(catalog, scratch, progress).run()
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return found


class _Crawl:
    """Writes a page, and then those that it leads to."""

    def __init__(self, catalog: Catalog, folder: Path, progress: ProgressBar) -> None:
        self._routes, self._folder, self._progress = page_routes(catalog), folder, progress
        self._files = dict[str, str]()
        self._due = deque[str]()
        self._pages = 0
        self._note = render("copied.html", when=time.time())

    def run(self) -> Exported:
        """Begin with the first page."""
        self._file("/")
        while self._due:
            address = self._due.popleft()
            page = bytes(self._answer(address).body).decode()
            (self._folder / self._files[address]).write_text(self._bound(page, address), "utf-8")
            self._pages += 1
            self._progress.advance()
        return Exported(self._pages, len(self._files) - self._pages)

    def _bound(self, page: str, address: str) -> str:
        """A page whose links lead to files."""

        def link(found: re.Match[str]) -> str:
            if found[1] == "data-live":
                return 'class="copied"'
            target = urljoin(address, unescape(found[2]))
            return f'{found[1]}="{escape(target[1:] if target.startswith("/static/") else self._file(target))}"'

        page = page.replace("<body>", '<body class="copied">', 1)
        page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">{_policy()}', 1)
        return LINK.sub(link, page).replace('<main id="main">', f'<main id="main">{self._note}', 1)

    def _file(self, target: str) -> str:
        """The file that an address becomes; it is due to be written where it is met for the first time."""
        address = _canonical(target)
        if address in self._files:
            return self._files[address]
        if address.startswith("/picture/"):
            answer = self._answer(address)
            name = f"{address[1:]}{guess_extension(answer.media_type or '') or ''}"
            (self._folder / "picture").mkdir(exist_ok=True)
            (self._folder / name).write_bytes(bytes(answer.body))
        else:
            name = _name(address)
            self._due.append(address)
        return self._files.setdefault(address, name)

    def _answer(self, address: str) -> Response:
        asked = urlsplit(address)
        scope = {
            "type": "http",
            "method": "GET",
            "path": asked.path,
            "query_string": asked.query.encode(),
            "headers": [],
        }
        for route in self._routes:
            fits, found = route.matches(scope)
            if fits == Match.FULL:
                return _endpoint(route)(Request({**scope, **found}))
        raise KeyError(address)


def _endpoint(route: Route) -> Callable[[Request], Response]:
    return cast(Callable[[Request], Response], route.endpoint)


def _canonical(address: str) -> str:
    """One address for a sample and an answer, whatever list led there, and for a list in any order."""
    asked = urlsplit(address)
    given = [
        (name, value)
        for name, value in parse_qsl(asked.query)
        if (name != "sort" if "/sample/" not in asked.path else name == "answer")
    ]
    return f"{asked.path}?{urlencode(sorted(given))}" if given else asked.path


def _name(address: str) -> str:
    path, _, query = address.partition("?")
    stem = path.strip("/").replace("/", "-") or "index"
    return f"{stem}-{digest(query, 5)}.html" if query else f"{stem}.html"


def _policy() -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
