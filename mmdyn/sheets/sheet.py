"""A sheet: one HTML file in which people mark samples keep or reject, and say what is wrong with them."""

from __future__ import annotations

import base64
import hashlib
import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from operator import itemgetter
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import IMAGE_MEDIA_TYPES, IMAGE_SUFFIXES, ImageFolder, SampleSet, describe_sample, open_image, stages
from mmdyn.errors import UserError
from mmdyn.keys import digest, sha256
from mmdyn.sample import ImageRef, Sample
from mmdyn.sheets.form import Form
from mmdyn.sheets.marks import Seen, digest_shown


class Side(Struct, frozen=True):
    """A sample, and where its pictures lie."""

    sample: Sample
    images: ImageFolder


class Card(Struct, frozen=True):
    """What people mark: a sample, beside the one that it was made of where there is one.

    `stratum`: a sheet holds as many of each as there are. `told`: a line under the sample, which does not say what
    became of it.
    """

    marked: Side
    before: Side | None = None
    stratum: tuple[str, ...] = ()
    told: str = ""

    @property
    def place(self) -> tuple[str, int]:
        """The sample's id and attempt."""
        trail = self.marked.sample.variant
        return self.marked.sample.id, trail.attempt if trail else 0


def draw_cards(cards: Iterable[Card], count: int, seed: int = 0) -> list[Card]:
    """At most `count`: round robin over the strata; in each those of the smallest digests, whatever their order."""
    strata = defaultdict[tuple[str, ...], list[tuple[tuple[str, str, int], Card]]](list)
    for card in cards:
        stratum = strata[card.stratum]
        stratum.append(((digest([seed, *card.place]), *card.place), card))
        if len(stratum) > 2 * count:
            stratum[:] = heapq.nsmallest(count, stratum, key=itemgetter(0))
    rounds = list[tuple[tuple[int, int], Card]]()
    for number, stratum in enumerate(strata.values()):
        stratum.sort(key=itemgetter(0))
        rounds += (((place, number), card) for place, (_, card) in enumerate(stratum))
    return [card for _, card in sorted(rounds, key=itemgetter(0))[:count]]


def write_sheet(source: SampleSet, parent: SampleSet | None, cards: Sequence[Card], form: Form, out: Path) -> None:
    """Write a sheet of a set's cards, in their order; `parent` is the set that it was made of.

    Raises UserError where the file cannot be written or a picture is missing.
    """
    folders = str(source.folder.resolve()), str(parent.folder.resolve()) if parent is not None else ""
    seen = [Seen(*folders, *card.place, digest_shown(card.marked.sample)) for card in cards]
    pictures = dict[str, str]()
    sides = [[_side(side, pictures) for side in (card.before, card.marked) if side] for card in cards]
    shown = {"form": form, "funnel": stages(source), "sides": sides, "told": [card.told for card in cards]}
    page = files(__package__).joinpath("sheet.html").read_text("utf-8")
    places = {
        "script": _hash_of_script(page),
        "key": _key(source, seen),
        "title": escape(f"Audit of {source.name}"),
        "data": _data(seen),
        "shown": _data(shown | {"pictures": pictures}),
    }
    try:
        out.write_text(re.sub(r"\{(\w+)\}", lambda found: places.get(found[1], found[0]), page), "utf-8")
    except OSError as error:
        raise UserError(f"{out} cannot be written ({error.strerror}): choose another file") from None


def _hash_of_script(page: str) -> str:
    """What the page's policy knows its own script by, so that a browser runs nothing else, whatever came in with a
    sample."""
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _key(source: SampleSet, seen: list[Seen]) -> str:
    """What a browser keeps the marks under: the same for the same samples, wherever the set lies."""
    return digest([source.manifest.digest, [(mark.id, mark.attempt, mark.digest) for mark in seen]])


def _data(data: object) -> str:
    """JSON that a page may hold: nothing in it ends the element."""
    return msgspec.json.encode(data).decode().replace("<", "\\u003c")


def _side(side: Side, pictures: dict[str, str]) -> dict[str, object]:
    """A sample without its trail, as whoever marks should not know what the judge said; its pictures go into
    `pictures`."""
    words = describe_sample(replace(side.sample, variant=None), side.images)
    return {"words": words, "pictures": [_picture(ref, side.images, pictures) for ref in side.sample.all_images]}


def _picture(ref: ImageRef, images: ImageFolder, pictures: dict[str, str]) -> str:
    """A picture within the page, once; what it is its bytes say, whatever its name."""
    try:
        data = images.read(ref)
        kind = IMAGE_MEDIA_TYPES[IMAGE_SUFFIXES[open_image(data).format or ""]]
    except ValueError as error:
        raise UserError(f"{images.path(ref)} cannot be shown: {error}") from None
    pictures[name := sha256(data)] = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return name
