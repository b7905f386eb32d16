"""Writes the viewer's pages as files: every page that the first page links to, directly or not."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from html import escape, unescape
from importlib.metadata import version
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
UNFINISHED = ".unfinished"
"""The file in an exported folder that goes when all pages are there."""


class Exported(NamedTuple):
    """The numbers of pages and pictures that were written."""

    pages: int
    pictures: int


def export(path: Path, folder: Path, *, quiet: bool = False) -> Exported:
    """Write the viewer's pages of a run, a set, or a folder of them into a folder; index.html is the first page.

    Searching and filtering need the viewer, but every list that a number links to is there. Pages are written as they
    are made: what a killed export left can be looked at, and the same call goes on with it.

    Raises:
        InputError: There is nothing to show in `path`.
        UserError: `folder` holds anything else than an unfinished export of what lies in `path` now, or lies in `path`.
    """
    catalog, answers = Catalog(path), 0
    if folder.resolve().is_relative_to(catalog.root):
        raise UserError(f"{folder} lies in {path}, in which nothing is written: name a folder elsewhere")
    shown: dict[str, str] = {"mmdyn": version("mmdyn"), "path": str(catalog.root)}
    for name in catalog.runs():
        with suppress(Exception):  # the run's pages say what is wrong with it
            index = catalog.index(name)
            index.refresh(None)
            shown[name] = index.edition
            with index.reading() as db:
                answers += db.execute("SELECT count(*) FROM answers").fetchone()[0]
    for name in catalog.sets():
        with suppress(Exception):
            shown[name] = catalog.set(name).manifest.digest
    with ProgressBar("exporting", answers, quiet=quiet) as progress, _Journal(folder, shown) as journal:
        if answers:
            progress.say(f"more than {answers:,} pages: each answer has one")
        shutil.copytree(STATIC, folder / "static", dirs_exist_ok=True)
        return _Crawl(catalog, folder, progress, journal).run()


class _Journal:
    """Which address became which file of an unfinished export, a line each, behind a line that says of what; goes when
    all is written.

    Raises UserError where a folder is there that is no unfinished export of the same.
    """

    def __init__(self, folder: Path, shown: Mapping[str, str]) -> None:
        self._file, self.known = folder / UNFINISHED, dict[str, str]()
        head = json.dumps(shown, sort_keys=True)
        if folder.exists():
            lines = self._file.read_text("utf-8").split("\n") if self._file.is_file() else [""]
            if lines[0] != head:
                raise UserError(f"{folder} is there already: name a new folder")
            for line in lines[1:]:
                with suppress(ValueError):  # the last line of a killed one
                    address, name = json.loads(line)
                    self.known[address] = name
        folder.mkdir(parents=True, exist_ok=True)
        self._lines = self._file.open("a", encoding="utf-8")
        self._lines.write("\n" if self.known else f"{head}\n")

    def add(self, address: str, name: str) -> None:
        """Note a file, written or due."""
        self.known[address] = name
        self._lines.write(json.dumps([address, name]) + "\n")

    def save(self) -> None:
        """Have all lines on disk, before the page that links to these files."""
        self._lines.flush()

    def __enter__(self) -> _Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._lines.close()
        if kind is None:
            self._file.unlink()


class _Crawl:
    """Writes a page, and then those that it leads to: lists, then the answers, whose number they tell, and at last the
    comparisons, which take longest."""

    def __init__(self, catalog: Catalog, folder: Path, progress: ProgressBar, journal: _Journal) -> None:
        self._routes, self._folder, self._progress, self._journal = page_routes(catalog), folder, progress, journal
        self._queues, self._pages = (deque[str](), deque[str](), deque[str]()), 0
        self._links = dict[str, str]()
        self._note = render("copied.html", when=time.time())

    def run(self) -> Exported:
        """Begin with the first page, or with those that an earlier export did not write."""
        for address, name in self._journal.known.items():
            if not address.startswith("/picture/"):
                self._due(address, name)
        self._file("/")
        while queue := next(filter(None, self._queues), None):
            address = queue.popleft()
            page = self._bound(bytes(self._answer(address).body).decode(), address)
            self._journal.save()
            self._write(self._journal.known[address], page.encode())
            self._advance()
        return Exported(self._pages, len(self._journal.known) - self._pages)

    def _due(self, address: str, name: str) -> None:
        if (self._folder / name).is_file():
            self._advance(there=True)
        else:
            self._queues[2 if address.startswith("/compare") else "/sample/" in address].append(address)

    def _advance(self, *, there: bool = False) -> None:
        self._pages += 1
        known = self._pages + sum(map(len, self._queues))
        self._progress.total = max(self._progress.total or 0, known)
        self._progress.advance(there=there)

    def _write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all."""
        file = self._folder / name
        file.parent.mkdir(exist_ok=True)
        part = file.with_name(f".{file.name}.part")
        part.write_bytes(data)
        part.replace(file)

    def _bound(self, page: str, address: str) -> str:
        """A page whose links lead to files."""

        def link(found: re.Match[str]) -> str:
            if found[1] == "data-live":
                return 'class="copied"'
            target = unescape(found[2])
            target = target if target.startswith("/") else urljoin(address, target)
            if target not in self._links:
                self._links[target] = escape(target[1:] if target.startswith("/static/") else self._file(target))
            return f'{found[1]}="{self._links[target]}"'

        page = page.replace("<body>", '<body class="copied">', 1)
        page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">{_policy()}', 1)
        return LINK.sub(link, page).replace('<main id="main">', f'<main id="main">{self._note}', 1)

    def _file(self, target: str) -> str:
        """The file that an address becomes; it is due to be written where it is met for the first time."""
        address = _canonical(target)
        if address not in self._journal.known:
            name = _name(address)
            if address.startswith("/picture/"):
                answer = self._answer(address)
                name = f"{address[1:]}{guess_extension(answer.media_type or '') or ''}"
                self._write(name, bytes(answer.body))
            self._journal.add(address, name)
            if not address.startswith("/picture/"):
                self._due(address, name)
        return self._journal.known[address]

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
