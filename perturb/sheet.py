"""An audit sheet: one HTML file in which people mark variants keep or reject; what they mark calibrates a judge."""

from __future__ import annotations

import base64
import heapq
import re
from collections import defaultdict
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.data.images import MEDIA_TYPES, ImageFolder
from mmdyn.data.set_folder import SampleSet
from mmdyn.data.show import describe
from mmdyn.errors import UserError
from mmdyn.keys import digest
from mmdyn.sample import ImageRef, Sample
from perturb.pairs import Pair, pairs


class Mark(Struct, frozen=True):
    """What a label line says beside its `label`: a variant of a dynamic set, and the set that it was made of."""

    set: str
    parent_set: str
    id: str


def write_sheet(dynamic: SampleSet, parent: SampleSet, out: Path, count: int, seed: int = 0) -> int:
    """Write a sheet of at most `count` variants, as many of each chain and outcome as there are; how many it holds.

    Raises UserError where the file cannot be written or a picture is missing.
    """
    chosen = _stratified(pairs(dynamic, parent), count, seed)
    folders = str(dynamic.folder.resolve()), str(parent.folder.resolve())
    marks = [Mark(*folders, pair.after.id) for pair in chosen]
    places = {
        "title": escape(f"Audit of {dynamic.name}"),
        "count": str(len(chosen)),
        "cards": "\n".join(_card(number, pair, parent.images, dynamic.images) for number, pair in enumerate(chosen)),
        "data": msgspec.json.encode(marks).decode().replace("<", "\\u003c"),
    }
    page = files("perturb").joinpath("sheet.html").read_text("utf-8")
    try:
        out.write_text(_filled(page, places), "utf-8")
    except OSError as error:
        raise UserError(f"{out} cannot be written ({error.strerror}): choose another file") from None
    return len(chosen)


def _filled(page: str, places: dict[str, str]) -> str:
    """One pass, so that what is put in is never read as a place."""
    return re.sub(r"\{(title|count|cards|data)\}", lambda found: places[found[1]], page)


def _stratified(found: Iterable[Pair], count: int, seed: int) -> list[Pair]:
    """Round robin over the strata; in each the variants of the smallest digests, so that order does not matter."""
    strata = defaultdict[tuple[str, str], list[tuple[str, str, Pair]]](list)
    for pair in found:
        assert pair.after.variant is not None
        stratum = strata[pair.after.variant.chain, pair.outcome]
        stratum.append((digest([seed, pair.after.id]), pair.after.id, pair))
        if len(stratum) > 2 * count:
            stratum[:] = heapq.nsmallest(count, stratum)
    ranked = (sorted(stratum) for stratum in strata.values())
    rounds = [
        (place, number, pair) for number, stratum in enumerate(ranked) for place, (_, _, pair) in enumerate(stratum)
    ]
    return [pair for _, _, pair in sorted(rounds, key=lambda entry: entry[:2])[:count]]


def _card(number: int, pair: Pair, source: ImageFolder, images: ImageFolder) -> str:
    choices = "".join(
        f'<label><input type="radio" name="label{number}" value="{label}"> {label}</label> '
        for label in ("keep", "reject")
    )
    sides = "".join(
        f"<div>{_pictures(sample, folder)}<pre>{escape(_words(sample, folder))}</pre></div>"
        for sample, folder in ((pair.before, source), (pair.after, images))
    )
    trail = escape(_trail(pair))
    return f'<article><div class="pair">{sides}</div><p class="trail">{trail}</p>{choices}</article>'


def _words(sample: Sample, images: ImageFolder) -> str:
    """A sample without its trail: whoever marks should not know what the judge said."""
    return describe(msgspec.structs.replace(sample, variant=None), images)


def _trail(pair: Pair) -> str:
    variant = pair.after.variant
    assert variant is not None
    return f"{variant.chain}, draw {variant.draw}, seed {variant.seed}"


def _pictures(sample: Sample, images: ImageFolder) -> str:
    return "".join(_picture(ref, images) for ref in sample.all_images)


def _picture(ref: ImageRef, images: ImageFolder) -> str:
    try:
        data = base64.b64encode(images.read(ref)).decode()
    except ValueError as error:
        raise UserError(str(error)) from None
    return f'<img alt="" src="data:{MEDIA_TYPES[ref.rpartition(".")[2]]};base64,{data}">'
