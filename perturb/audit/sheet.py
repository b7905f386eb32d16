"""An audit sheet: one HTML file in which people mark variants keep or reject; what they mark calibrates a judge."""

from __future__ import annotations

import base64
import hashlib
import heapq
import re
from collections import defaultdict
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from operator import itemgetter
from pathlib import Path

import msgspec

from mmdyn.data import IMAGE_MEDIA_TYPES, IMAGE_SUFFIXES, ImageFolder, SampleSet, describe_sample, open_image
from mmdyn.errors import UserError
from mmdyn.keys import digest
from mmdyn.sample import ImageRef, Sample
from perturb.audit.judge_calibration import Mark, digest_shown
from perturb.audit.pairs import VariantPair, pairs

_Ranked = tuple[tuple[str, str, int], VariantPair]
"""A pair under what its place among the others hangs on."""


def write_sheet(dynamic: SampleSet, parent: SampleSet, out: Path, count: int, seed: int = 0) -> int:
    """Write a sheet of at most `count` variants, as many of each chain and outcome as there are; how many it holds.

    Raises UserError where the file cannot be written or a picture is missing.
    """
    chosen = _stratified(pairs(dynamic, parent), count, seed)
    folders = str(dynamic.folder.resolve()), str(parent.folder.resolve())
    marks = [Mark(*folders, pair.after.id, pair.trail.attempt, digest_shown(pair.after)) for pair in chosen]
    page = files(__package__).joinpath("sheet.html").read_text("utf-8")
    places = {
        "script": _hash_of_script(page),
        "key": _key(dynamic, marks),
        "title": escape(f"Audit of {dynamic.name}"),
        "count": str(len(chosen)),
        "cards": "\n".join(_card(number, pair, parent.images, dynamic.images) for number, pair in enumerate(chosen)),
        "data": msgspec.json.encode(marks).decode().replace("<", "\\u003c"),
    }
    try:
        out.write_text(_filled(page, places), "utf-8")
    except OSError as error:
        raise UserError(f"{out} cannot be written ({error.strerror}): choose another file") from None
    return len(chosen)


def _hash_of_script(page: str) -> str:
    """What the page's policy knows its own script by, so that a browser runs nothing else, whatever came in with a
    sample."""
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _key(dynamic: SampleSet, marks: list[Mark]) -> str:
    """What a browser keeps the marks under: the same for the same variants, wherever the set lies."""
    return digest([dynamic.manifest.digest, [(mark.id, mark.attempt, mark.digest) for mark in marks]])


def _filled(page: str, places: dict[str, str]) -> str:
    """One pass, so that what is put in is never read as a place."""
    return re.sub(r"\{(script|key|title|count|cards|data)\}", lambda found: places[found[1]], page)


def _stratified(found: Iterable[VariantPair], count: int, seed: int) -> list[VariantPair]:
    """Round robin over the strata; in each the variants of the smallest digests, so that order does not matter."""
    strata = defaultdict[tuple[str, str], list[_Ranked]](list)
    for pair in found:
        id, attempt = pair.after.id, pair.trail.attempt
        stratum = strata[pair.trail.chain, pair.outcome]
        stratum.append(((digest([seed, id, attempt]), id, attempt), pair))
        if len(stratum) > 2 * count:
            stratum[:] = heapq.nsmallest(count, stratum, key=itemgetter(0))
    rounds = list[tuple[tuple[int, int], VariantPair]]()
    for number, stratum in enumerate(strata.values()):
        stratum.sort(key=itemgetter(0))
        rounds += (((place, number), pair) for place, (_, pair) in enumerate(stratum))
    return [pair for _, pair in sorted(rounds, key=itemgetter(0))[:count]]


def _card(number: int, pair: VariantPair, source: ImageFolder, images: ImageFolder) -> str:
    choice = '<label><input type="radio" name="label{0}" value="{1}"> {1}</label> '
    choices = "".join(choice.format(number, label) for label in ("keep", "reject"))
    sides = "".join(
        f"<div>{_pictures(sample, folder)}<pre>{escape(_words(sample, folder))}</pre></div>"
        for sample, folder in ((pair.before, source), (pair.after, images))
    )
    trail = escape(_trail(pair))
    return f'<article><div class="pair">{sides}</div><p class="trail">{trail}</p>{choices}</article>'


def _words(sample: Sample, images: ImageFolder) -> str:
    """A sample without its trail: whoever marks should not know what the judge said."""
    return describe_sample(msgspec.structs.replace(sample, variant=None), images)


def _trail(pair: VariantPair) -> str:
    trail = pair.trail
    attempt = f", attempt {trail.attempt}" if trail.attempt else ""
    return f"{trail.chain}, draw {trail.draw}{attempt}, seed {trail.seed}"


def _pictures(sample: Sample, images: ImageFolder) -> str:
    return "".join(_picture(ref, images) for ref in sample.all_images)


def _picture(ref: ImageRef, images: ImageFolder) -> str:
    """A picture within the page; what it is its bytes say, whatever its name."""
    try:
        data = images.read(ref)
        kind = IMAGE_MEDIA_TYPES[IMAGE_SUFFIXES[open_image(data).format or ""]]
    except ValueError as error:
        raise UserError(f"{images.path(ref)} cannot be shown: {error}") from None
    return f'<img alt="" src="data:{kind};base64,{base64.b64encode(data).decode()}">'
