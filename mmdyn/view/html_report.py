"""A report as one HTML file; it needs neither a network nor the viewer."""

from __future__ import annotations

import shlex
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from copy import copy
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.errors import command_line
from mmdyn.record import Record
from mmdyn.run import Recorded
from mmdyn.tables import EVEN, SURE, TO_WRONG, Key, Report, Row, Why, doubts, explain
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
    """Make an HTML page of a report: what fell, changes, scores, flips with their pictures, why, doubts and settings.

    It shows up to MOST_FLIPS flips and ROOM bytes of them. Each question stands there once, with the standard answer
    beside those to its variants, and each picture is kept once.

    Args:
        runs: The report's runs.
        report: A report with the tables of `why_parts` and `Flips`.
    """
    flips, pictures = report.rows("flips", "b score"), _Pictures()
    blocks, shown, taken = list[Markup](), 0, 0
    by_name = dict(zip((state.name for state in report.runs), runs, strict=True))
    for together, block in _blocks(by_name, _first(flips), pictures):
        taken += len(block.encode())
        if taken + pictures.size > ROOM:
            break
        blocks.append(block)
        shown += together
    ways = Counter(flip.factors["direction"] for flip in flips)
    scripts = [_script((STATIC / name).read_text("utf-8")) for name in ("katex/katex.min.js", "view.js")]
    return render(
        "report.html", **results(report), **answers(_to_send(explain(report, runs))), flips=[],
        title=", ".join(run.name for run in runs), when=time.time(), samples="",
        doubts=list(dict.fromkeys(doubts(report))), settings=list(_settings(runs)), ways=ways, shown=shown,
        blocks=blocks, pictures=pictures.json(), scripts=scripts,
        style=Markup((STATIC / "view.css").read_text("utf-8")),
    )  # fmt: skip


def _to_send(found: Why) -> Why:
    """The page on why without what the report says elsewhere, and without paths of the machine on which it was made."""
    sections = [
        replace(section, lines=[replace(line, commands=list(map(_by_names, line.commands))) for line in section.lines])
        for section in found.sections
        if section.title != SURE
    ]
    return replace(found, sections=sections)


def _by_names(command: str) -> str:
    return command_line(*(Path(word).name if Path(word).is_absolute() else word for word in shlex.split(command)))


class _Pictures:
    """The pictures of a page, each once; a script puts them in their places."""

    def __init__(self) -> None:
        self._places = dict[str, int]()

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(map(len, self._places))

    def put(self, address: str) -> str:
        """Keep a picture; gives where it is kept, empty where there is none."""
        return f"#{self._places.setdefault(address, len(self._places))}" if address else ""

    def json(self) -> Markup:
        """All of them, for the script."""
        return Markup(msgspec.json.encode(list(self._places)).decode().replace("<", "\\u003c"))


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


def _blocks(runs: dict[str, RunFolder], flips: Sequence[Row], pictures: _Pictures) -> Iterator[tuple[int, Markup]]:
    """The flips of each question by one model under one condition: how many there are, and the answer to the standard
    question beside those to the variants, the first ones that show it."""
    blocks = dict[tuple[object, ...], list[Row]]()
    for flip in flips:
        who = flip.factors["model"], flip.factors.get("run", ""), sides_of(flip.factors)[0], flip.factors["direction"]
        blocks.setdefault((_question(flip), *who), []).append(flip)
    with ExitStack() as opened:
        stores = {
            name: _Answers(run, opened.enter_context(Recorded(run)), {_question(flip) for flip in flips}, pictures)
            for name, run in runs.items()
        }
        for together in blocks.values():
            first, lost = together[0].factors, _is_lost(together[0])
            store, question = stores[first.get("run", next(iter(runs)))], _question(together[0])
            standard = store.side(sides_of(first)[0], question, right=lost)
            sides = [
                (
                    _chain_of(flip),
                    flip.factors["variants"],
                    store.side(sides_of(flip.factors)[1], question, right=not lost),
                )
                for flip in together
            ]
            for place, (*_, side) in enumerate(sides):
                (copy(standard) if place else standard).compare(
                    side
                )  # the first variant is open: it marks the standard
            told = {"question": first["question"], "model": first["model"], "direction": first["direction"]}
            yield len(together), Markup(
                render(
                    "flip.html", **told, chains=[chain for chain, _, _ in sides],
                    standard=standard, sides=sides, lost=lost,
                )
            )  # fmt: skip


def _chain_of(flip: Row) -> str:
    context = flip.factors["context"]
    return flip.factors["chain"] if context == "none" else f"{flip.factors['chain']}, {context}"


class _Asked(Struct):
    set: str
    parent: str


class _Answers:
    """The answers of a run to some questions."""

    def __init__(
        self, run: RunFolder, recorded: Recorded, questions: set[tuple[str, str]], pictures: _Pictures
    ) -> None:
        self._pictures = pictures
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
        side.pictures = [(ref, self._kept(address)) for ref, address in side.pictures]
        side.option_pictures = {label: self._kept(one) for label, one in side.option_pictures.items()}
        return side

    def _kept(self, address: str) -> str:
        return self._pictures.put(_data(self._catalog, address))


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
