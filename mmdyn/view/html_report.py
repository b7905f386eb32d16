"""A report as one HTML file; it needs neither a network nor the viewer."""

from __future__ import annotations

import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from hashlib import sha256
from typing import NamedTuple

import msgspec
from markupsafe import Markup
from msgspec import Struct

from mmdyn.record import Record
from mmdyn.run import Recorded
from mmdyn.tables import EVEN, TO_WRONG, Key, Report, Row, doubts, explain
from mmdyn.view._page import Filter, Piece, render
from mmdyn.view.index import Catalog, describe
from mmdyn.view.run import filter_of, results, sides_of
from mmdyn.view.sample import Side
from mmdyn.view.server import STATIC
from mmdyn.view.why import answers
from mmdyn.work import RunFolder, scored_records

MOST_FLIPS, ROOM = 100, 5_000_000
"""Flips that are shown, and bytes that they may take."""

LONGEST = 4000
"""Characters of a reply; of a longer one the beginning, the end and what was read are shown."""


class _Script(NamedTuple):
    """A script of ours, with the digest by which the page lets it run."""

    text: Markup
    digest: str


def report_page(runs: Sequence[RunFolder], report: Report) -> str:
    """Make an HTML page of a report: scores, changes, plots, why, settings, doubts, and flips with their pictures, up
    to MOST_FLIPS flips and ROOM bytes.

    Args:
        runs: The report's runs.
        report: A report with the tables of `why_parts` and `Flips`.
    """
    flips = report.rows("flips", "b score")
    shown, taken = list[Markup](), 0
    for card in _cards(dict(zip((state.name for state in report.runs), runs, strict=True)), _first(flips)):
        taken += len(card.encode())
        if taken > ROOM:
            break
        shown.append(card)
    ways = Counter(flip.factors["direction"] for flip in flips)
    scripts = [_script((STATIC / name).read_text("utf-8")) for name in ("katex/katex.min.js", "view.js")]
    return render(
        "report.html", **results(report), **answers(explain(report, runs)), flips=[],
        title=", ".join(run.name for run in runs), when=time.time(), samples="",
        doubts=list(dict.fromkeys(doubts(report))), settings=list(_settings(runs)), ways=ways, shown=shown,
        scripts=scripts, style=Markup((STATIC / "view.css").read_text("utf-8")),
    )  # fmt: skip


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
            "scores": ", ".join(config.scorers),
        }
        for name, value in told.items():
            if value:
                yield run.name, name, str(value)
        yield run.name, "versions", ", ".join(f"{name} {value}" for name, value in config.versions.items())


def _first(flips: Sequence[Row]) -> list[Row]:
    """The flips that are shown: those to wrong first, by how many variants broke the question."""
    broke = Counter(_question(flip) for flip in flips if _is_lost(flip))
    return sorted(flips, key=lambda flip: (not _is_lost(flip), -broke[_question(flip)], _question(flip)))[:MOST_FLIPS]


def _question(flip: Row) -> tuple[str, str]:
    return flip.factors["set"], flip.factors["question"]


def _is_lost(flip: Row) -> bool:
    return flip.factors["direction"] == TO_WRONG


def _cards(runs: dict[str, RunFolder], flips: Sequence[Row]) -> Iterator[Markup]:
    """Each flip: an answer to the standard question beside one to a variant, the first ones that show it."""
    with ExitStack() as opened:
        stores = {
            name: _Answers(run, opened.enter_context(Recorded(run)), {_question(flip) for flip in flips})
            for name, run in runs.items()
        }
        for flip in flips:
            store, lost = stores[flip.factors.get("run", next(iter(runs)))], _is_lost(flip)
            before, after = sides_of(flip.factors)
            sides = [
                store.side(before, _question(flip), right=lost),
                store.side(after, _question(flip), right=not lost),
            ]
            sides[0].compare(sides[1])
            yield Markup(render("flip.html", flip=flip.factors, sides=sides, lost=lost))


class _Asked(Struct):
    set: str
    parent: str


class _Answers:
    """The answers of a run to some questions."""

    def __init__(self, run: RunFolder, recorded: Recorded, questions: set[tuple[str, str]]) -> None:
        self._run, self._recorded, self._catalog = run, recorded, Catalog(run.folder)
        self._images = self._catalog.images(run)
        self._found = dict[tuple[str, str], list[Record]]()
        for key, value in scored_records(recorded.reader, run.config.sets):
            asked = msgspec.json.decode(value, type=_Asked)
            if (question := (asked.set, asked.parent)) in questions:
                self._found.setdefault(question, []).append(recorded.answer(key))

    def side(self, condition: Filter, question: tuple[str, str], *, right: bool) -> Side:
        """The first answer under a condition that is right, or wrong, as a card shows it."""
        here = [one for one in self._found[question] if filter_of(Key.of("", one).place) == condition]
        here.sort(key=lambda one: (not _is(one, right=right), one.sample, one.epoch))
        row = {"key": here[0].key, "chain": condition.chain, "context": condition.context, **describe(here[0])}
        side = Side(self._catalog, self._run, self._recorded, row, self._images.get(condition.set_name))
        side.reply = list(_shortened(side.reply))
        side.pictures = [(ref, _data(self._catalog, address)) for ref, address in side.pictures]
        side.option_pictures = {label: _data(self._catalog, one) for label, one in side.option_pictures.items()}
        return side


def _is(record: Record, *, right: bool) -> bool:
    value = describe(record)["value"]
    return value is not None and (value > EVEN if right else value < EVEN)


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
