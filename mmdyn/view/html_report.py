"""A report as one HTML file to send around: it asks no host for anything, and needs no viewer."""

from __future__ import annotations

import sqlite3
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from mmdyn.data import new_file
from mmdyn.run import Recorded
from mmdyn.tables import Summary, doubts, explain
from mmdyn.view._page import Piece, render
from mmdyn.view.catalog import Catalog
from mmdyn.view.filters import Filter
from mmdyn.view.index import Index
from mmdyn.view.run import flip_matrix, results
from mmdyn.view.sample import Side, pair_of
from mmdyn.view.server import STATIC
from mmdyn.view.why import answers
from mmdyn.work import RunFolder

ROOM = 5_000_000
"""Bytes of flips; what follows is counted."""

LONGEST = 4000
"""Characters of a reply; of a longer one the beginning, the end and what was read are shown."""


class _Script(NamedTuple):
    """A script of ours, with the digest by which the page lets it run."""

    text: Markup
    digest: str


def write_report(runs: Sequence[RunFolder], summary: Summary, file: Path) -> None:
    """Write what a summary says of runs into a file: scores, contrasts and plots, settings, what to distrust, and flips
    with their pictures, as far as `ROOM` goes."""
    catalogs = [Catalog(run.folder) for run in runs]
    indexes = [_index(catalog) for catalog in catalogs]
    matrix, shown, every, taken = list[dict[str, Any]](), list[Markup](), 0, 0
    for index in indexes:
        with index.reading() as db:
            matrix += flip_matrix(db)
            every += int(db.execute("SELECT count(*) FROM answers WHERE flip").fetchone()[0])
    for flip in chain(*(_flips(*one) for one in zip(catalogs, indexes, strict=True))):
        taken += len(flip.encode())
        if taken > ROOM:
            break
        shown.append(flip)
    scripts = [_script((STATIC / name).read_text("utf-8")) for name in ("katex/katex.min.js", "view.js")]
    page = render(
        "report.html", **results(summary), **answers(explain(runs)),
        title=", ".join(run.name for run in runs), when=time.time(), samples="",
        flips=matrix, doubts=list(dict.fromkeys(doubts(summary))), settings=list(_settings(runs)),
        several=len(runs) > 1,
        shown=len(shown), every=every, room=ROOM, flips_shown=shown, scripts=scripts,
        style=Markup((STATIC / "view.css").read_text("utf-8")),
    )  # fmt: skip
    with new_file(file) as written:
        written.write(page.encode())


def _index(catalog: Catalog) -> Index:
    """The index of a catalog's one run, with all of its records."""
    index = catalog.index(next(iter(catalog.runs())))
    index.refresh(None)
    return index


def _settings(runs: Sequence[RunFolder]) -> Iterator[tuple[str, str, str]]:
    """Of what the numbers are, by run: a name and a text."""
    for run in runs:
        config = run.config
        for entry in config.sets:
            yield run.name, "set", f"{entry.name}, digest {entry.digest}"
        for model in config.models:
            yield run.name, "model", model.label
        yield run.name, "conditions", ", ".join(dict.fromkeys(str(one.mode) for one in config.conditions))
        told = {
            "operators": config.ops,
            "epochs": config.epochs,
            "first samples": config.limit,
            "scores": config.scorer,
        }
        for name, value in told.items():
            if value:
                yield run.name, name, str(value)
        yield run.name, "versions", ", ".join(f"{name} {value}" for name, value in config.versions.items())


def _flips(catalog: Catalog, index: Index) -> Iterator[Markup]:
    """The answers that flipped beside those that they flipped from: to wrong first, by how many variants broke the
    question."""
    images = catalog.images(index.run)
    with index.reading() as db, Recorded(index.run) as recorded:
        for which in ("lost", "gained"):
            asked = Filter(which=(which,))
            for parent in asked.parents(db):
                every = Filter().answers(db, [parent["id"]])[parent["id"]]
                for row in asked.answers(db, [parent["id"]])[parent["id"]]:
                    pictures = images.get(parent["set_name"])
                    sides = [Side(catalog, index, recorded, one, pictures) for one in pair_of(every, row) if one]
                    yield _flip(catalog, parent, sides, lost=which == "lost")


def _flip(catalog: Catalog, parent: sqlite3.Row, sides: list[Side], *, lost: bool) -> Markup:
    if len(sides) == 2:
        sides[0].compare(sides[1])
    for side in sides:
        side.reply = list(_shortened(side.reply))
        side.pictures = [(ref, _data(catalog, address)) for ref, address in side.pictures]
        side.option_pictures = {label: _data(catalog, one) for label, one in side.option_pictures.items()}
    return Markup(render("flip.html", parent=parent, sides=sides, lost=lost))


def _data(catalog: Catalog, address: str) -> str:
    """A picture as an address that holds it; empty where there is none."""
    if not address:
        return ""
    data, media = catalog.read_picture(address.rpartition("/")[2])
    return f"data:{media};base64,{b64encode(data).decode()}"


def _shortened(reply: list[Piece]) -> Iterator[Piece]:
    for piece in reply:
        cut = len(piece.text) - LONGEST
        middle = f"\n[{cut:,} characters are left out]\n"
        half = LONGEST // 2
        yield piece if cut <= 0 else piece._replace(text=f"{piece.text[:half]}{middle}{piece.text[-half:]}")


def _script(text: str) -> _Script:
    return _Script(Markup(text), b64encode(sha256(text.encode()).digest()).decode())
