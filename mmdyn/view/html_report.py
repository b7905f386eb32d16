"""A report as one HTML file; it needs neither a network nor the viewer."""

from __future__ import annotations

import shlex
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from hashlib import sha256
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import open_image
from mmdyn.errors import command_line
from mmdyn.record import Record
from mmdyn.run import Recorded
from mmdyn.tables import EVEN, SURE, TO_WRONG, Key, Report, Row, Why, doubts
from mmdyn.view._page import Filter, Piece, render
from mmdyn.view.index import Catalog, describe
from mmdyn.view.run import filter_of, results, sides_of
from mmdyn.view.sample import Side
from mmdyn.view.server import STATIC
from mmdyn.view.why import answers
from mmdyn.work import RunFolder, scored_records

MOST_FLIPS, ROOM = 500, 5_000_000
"""Flips that are shown, and bytes that their texts may take, and that pictures may."""

PREVIEW = 320
"""Pixels of the longer side of a small picture."""

LONGEST = 4000
"""Characters of a reply; of a longer one the beginning, the end and what was read are shown."""


class _Script(NamedTuple):
    """A script of ours, with the digest by which the page lets it run."""

    text: Markup
    digest: str


def report_page(runs: Sequence[RunFolder], report: Report, *, previews: bool = False) -> str:
    """Make an HTML page of a report: what fell, changes, scores, flips with their pictures, why, doubts and settings.

    It shows up to MOST_FLIPS flips, ROOM bytes of their texts and as many of their pictures. Each question stands there
    once, with the standard answers beside those to its variants, and each picture is kept once.

    Args:
        runs: The report's runs.
        report: A report with the tables of `why_parts` and `Flips`.
        previews: Show small pictures, which the page calls previews, and not those that were sent.
    """
    flips, pictures = report.rows("flips", "b score"), _Pictures(small=previews, room=ROOM)
    blocks, shown, taken = list[Markup](), 0, 0
    by_name = dict(zip((state.name for state in report.runs), runs, strict=True))
    for together, block in _blocks(by_name, _first(flips), pictures):
        taken += len(block.encode())
        if taken > ROOM:
            break
        blocks.append(block)
        shown += together
    ways = Counter(flip.factors["direction"] for flip in flips)
    katex = ["katex/katex.min.js"] if any('class="tex' in block for block in blocks) else []
    scripts = [_script((STATIC / name).read_text("utf-8")) for name in [*katex, "view.js", "report.js"]]
    return render(
        "report.html", **results(report), **_to_send(answers(report, runs)), flips=[],
        title=", ".join(run.name for run in runs), when=time.time(), samples="",
        doubts=list(dict.fromkeys(doubts(report))), settings=list(_settings(runs)), ways=ways, shown=shown,
        blocks=blocks, pictures=pictures, scripts=scripts,
        style=Markup((STATIC / "view.css").read_text("utf-8")),
    )  # fmt: skip


def _to_send(found: dict[str, Any]) -> dict[str, Any]:
    """The pages of `answers` without what the report says elsewhere, and without paths of the machine on which they
    were made."""
    return {name: _to_be_sent(page) if isinstance(page, Why) else page for name, page in found.items()}


def _to_be_sent(page: Why) -> Why:
    sections = [
        replace(section, lines=[replace(line, commands=list(map(_by_names, line.commands))) for line in section.lines])
        for section in page.sections
        if section.title != SURE
    ]
    return replace(page, sections=sections)


def _by_names(command: str) -> str:
    return command_line(*(Path(word).name if Path(word).is_absolute() else word for word in shlex.split(command)))


class _Pictures:
    """The pictures of a page, each once, up to `room` bytes; a script puts them in their places."""

    def __init__(self, *, small: bool, room: int = ROOM) -> None:
        self.small, self.room, self.left_out = small, room, set[str]()
        self._kept = dict[str, tuple[int, str]]()
        self._size = 0

    def put(self, catalog: Catalog, address: str) -> str:
        """Keep a picture of the catalog; gives where it is kept, empty where there is none or no room for it."""
        if address and address not in self._kept:
            data = self._spelt(*catalog.read_picture(address.rpartition("/")[2]))
            if self._size + len(data) > self.room:
                self.left_out.add(address)
                return ""
            self._size += len(data)
            self._kept[address] = len(self._kept), data
        return f"#{self._kept[address][0]}" if address else ""

    def _spelt(self, data: bytes, media: str) -> str:
        """A picture as an address that holds it."""
        if self.small:
            image = open_image(data).convert("RGBA")
            image.thumbnail((PREVIEW, PREVIEW))
            image.save(made := BytesIO(), "WEBP")
            data, media = made.getvalue(), "image/webp"
        return f"data:{media};base64,{b64encode(data).decode()}"

    def json(self) -> Markup:
        """All of them, for the script."""
        return Markup(msgspec.json.encode([data for _, data in self._kept.values()]).decode().replace("<", "\\u003c"))


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
    """The flips that are shown: of the questions that most variants broke, those to wrong first."""
    broke = Counter(_question(flip) for flip in flips if _is_lost(flip))
    return sorted(flips, key=lambda flip: (-broke[_question(flip)], _question(flip), not _is_lost(flip)))[:MOST_FLIPS]


def _question(flip: Row) -> tuple[str, str]:
    return flip.factors["set"], flip.factors["question"]


def _is_lost(flip: Row) -> bool:
    return flip.factors["direction"] == TO_WRONG


class _Shown(NamedTuple):
    """An answer of a model, of a run where there are several; to a variant that flipped, also how many variants of the
    chain did, and the outcomes before and now."""

    who: str
    side: Side
    variants: str = ""
    outcomes: str = ""


def _blocks(runs: dict[str, RunFolder], flips: Sequence[Row], pictures: _Pictures) -> Iterator[tuple[int, Markup]]:
    """Each question with its flips: how many there are, and the standard answers beside those to the variants, the
    first ones that show it."""
    with ExitStack() as opened:
        stores = {
            name: _Answers(run, opened.enter_context(Recorded(run)), {_question(flip) for flip in flips}, pictures)
            for name, run in runs.items()
        }
        for question, together in groupby(flips, _question):
            standard, variants = dict[str, _Shown](), dict[str, list[_Shown]]()
            ways = Counter[str]()
            for flip in together:
                factors, lost = flip.factors, _is_lost(flip)
                store, sides = stores[factors.get("run", next(iter(runs)))], sides_of(factors)
                who = ", ".join(factors[name] for name in ("model", "run") if name in factors)
                before, after = (
                    store.side(sides[0], question, right=lost),
                    store.side(sides[1], question, right=not lost),
                )
                before.compare(after)  # the first variant is open: it marks the standard question
                standard.setdefault(before.record.key, _Shown(who, before))
                outcomes = f"{before.row['outcome']} → {after.row['outcome']}"
                variants.setdefault(_chain_of(flip), []).append(_Shown(who, after, factors["variants"], outcomes))
                ways[factors["direction"]] += 1
            told = {"question": question[1], "ways": ways, "standard": standard.values(), "variants": variants}
            yield ways.total(), Markup(render("flip.html", **told))


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
        return self._pictures.put(self._catalog, address)


def _is(record: Record, *, right: bool) -> bool:
    value = describe(record)["value"]
    return value is not None and (value > EVEN if right else value < EVEN)


def _shortened(reply: list[Piece]) -> Iterator[Piece]:
    for piece in reply:
        cut = len(piece.text) - LONGEST
        middle = f"\n[{cut:,} characters are left out]\n"
        half = LONGEST // 2
        yield piece if cut <= 0 else piece._replace(text=f"{piece.text[:half]}{middle}{piece.text[-half:]}")


def _script(text: str) -> _Script:
    return _Script(Markup(text), b64encode(sha256(text.encode()).digest()).decode())
