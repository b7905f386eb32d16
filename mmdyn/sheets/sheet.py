"""A sheet: one HTML file in which people mark samples keep or reject, and the lines of marks that it saves."""

from __future__ import annotations

import base64
import hashlib
import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn import plugins
from mmdyn.data import (
    IMAGE_MEDIA_TYPES,
    IMAGE_SUFFIXES,
    ImageFolder,
    JsonRow,
    SampleSet,
    describe_sample,
    numbered_lines,
    open_image,
    read_json_rows,
    stages,
)
from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json, digest, sha256
from mmdyn.sample import ImageRef, Sample, Variant, from_dict


class Form(Struct, frozen=True, forbid_unknown_fields=True):
    """A question about each sample, and criteria by which people answer it: what a file NAME.toml beside a step's says.

    question: What keep and reject decide.
    criteria: By a word that marks name it by: what holds of a sample that is kept. 19 have keys.
    refused: Whether people also see what the step refused, as it was before: for steps that change nothing.
    """

    question: str = "Should each question stay in the set?"
    criteria: dict[str, str] = {}
    refused: bool = False


def form_of(step: str) -> Form | None:
    """What a step asks people; None where it asks nothing, or is not installed. Raises InputError."""
    spec = find_spec(plugins.names("steps")[step].partition(":")[0]) if step in plugins.names("steps") else None
    file = Path(spec.origin).with_suffix(".toml") if spec and spec.origin else Path()
    try:
        return msgspec.toml.decode(file.read_bytes(), type=Form) if file.is_file() else None
    except msgspec.DecodeError as error:
        raise InputError(file, None, f"is no form of a sheet ({error})") from None


VARIANTS = Form("Does each variant (right) still ask the same and have the same answer?")


def form_of_set(made: SampleSet) -> Form:
    """Of variants whether they ask the same; else what the last step asks that asks people, of those that made a set,
    and keep or reject alone where none does."""
    if made.manifest.parent:
        return VARIANTS
    return next(filter(None, (form_of(stage.step) for stage in reversed(stages(made)))), Form())


_LABELS: dict[Json, bool] = {"keep": True, "reject": False}


class Seen(Struct, frozen=True):
    """What was marked: a sample of a set, or one that it dropped, and the set that it was made of ("" for none).

    `digest` is of the sample as people saw it; a line without one is taken at its word.
    """

    set: str
    parent_set: str
    id: str
    attempt: int = 0
    digest: str = ""


class Mark(Seen, frozen=True, kw_only=True):
    """A line of a file that a sheet saved.

    `by`: who marked. `failed`: the names of criteria that do not hold, in the sheet's order. `note`: in people's words.
    """

    label: Literal["keep", "reject"]
    by: str = ""
    failed: tuple[str, ...] = ()
    note: str = ""


Marks = dict[tuple[str, int], dict[str, Mark]]
"""By a sample's id and attempt, in the order of the first mark: the mark of each reviewer, who is the file's path as it
was given where the mark does not say `by`."""


def digest_shown(sample: Sample) -> str:
    """A digest of what people see of a sample: words and pictures, and neither a variant's trail nor its verdict."""
    return replace(sample, variant=None).digest


def label_of(row: JsonRow) -> bool:
    """Whether a labelled line says that the sample is to be kept. Raises ValueError."""
    label = row.get("label")
    if isinstance(label, bool):
        return label
    if isinstance(label, str) and label in _LABELS:
        return _LABELS[label]
    raise ValueError('"label" must be true (keep) or false (reject)')


def is_mark(row: JsonRow) -> bool:
    """Whether a line is of a sheet."""
    return "a" not in row and all(isinstance(row.get(key), str) for key in ("set", "parent_set", "id"))


def read_marks(files: Sequence[Path]) -> Marks:
    """The marks in files that sheets saved. What a reviewer marked twice counts as it was marked last.

    Raises InputError for a line that is no mark, and where a sample was marked in two versions.
    """
    found: Marks = {}
    for file in files:
        for number, row in read_json_rows((line for _, line in numbered_lines(file)), str(file)):
            try:
                mark = _mark(row, file)
            except ValueError as error:
                raise InputError(file, number, str(error)) from None
            of_sample = found.setdefault((mark.id, mark.attempt), {})
            if any(other.digest != mark.digest for other in of_sample.values()):
                raise InputError(file, number, f"{mark.id} was marked in two versions: give the marks of one")
            of_sample[mark.by] = mark
    return found


def _mark(row: JsonRow, file: Path) -> Mark:
    if not is_mark(row):
        raise ValueError("is no mark of an audit sheet: give the file that the sheet saved")
    mark = from_dict({**row, "label": "keep" if label_of(row) else "reject"}, Mark)
    return replace(mark, by=mark.by.strip() or str(file))


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
    folder, parent_folder = str(source.folder.resolve()), str(parent.folder.resolve()) if parent is not None else ""
    seen = list[Seen]()
    for card in cards:
        id, attempt = card.place
        seen.append(Seen(folder, parent_folder, id, attempt, digest_shown(card.marked.sample)))
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


_UNSURE = "unsure"


def sample_cards(made: SampleSet, sources: Sequence[SampleSet]) -> Iterator[Card]:
    """A card for every sample, for every dropped variant that can be shown, and for what was refused by steps whose
    forms say so, where a source still holds it."""
    variants = made.manifest.parent is not None
    for sample in chain(made, (item.sample for item in made.dropped() if item.sample and variants)):
        trail = sample.variant if variants else None
        drawn = (trail.chain, trail.verdict.status) if trail else (_UNSURE if _is_unsure(sample) else "kept",)
        yield Card(Side(sample, made.images), stratum=drawn, told=_place_of(trail) if trail else "")
    steps = {item.chain for item in made.dropped()}
    shown = {step for step in steps if (form := form_of(step)) and form.refused}
    wanted = {item.parent: (item.chain, item.status) for item in made.dropped() if item.chain in shown}
    for source in sources if wanted else ():
        for sample in source:
            if stratum := wanted.pop(sample.id, None):
                yield Card(Side(sample, source.images), stratum=stratum)


def _place_of(trail: Variant) -> str:
    attempt = f", attempt {trail.attempt}" if trail.attempt else ""
    return f"{trail.chain}, draw {trail.draw}{attempt}, seed {trail.seed}"


def review_cards(made: SampleSet, count: int) -> list[Card]:
    """The first `count` samples of a set, those before the others about which a model was unsure (a field
    NAME_unsure)."""
    cards = (Card(Side(sample, made.images)) for sample in made)
    return nsmallest(count, cards, key=lambda card: not _is_unsure(card.marked.sample))


def beside_sources(made: SampleSet, cards: Sequence[Card], sources: Sequence[SampleSet]) -> list[Card]:
    """The cards of a set, each beside its parent, or beside the sample that a step made it of, where a source holds
    that and it asks other words."""
    variants = made.manifest.parent is not None
    made_of = {card.place: card.marked.sample.parent if variants else _built_of(card.marked.sample) for card in cards}
    wanted, found = {*made_of.values()} - {""}, dict[str, Side]()
    for source in sources:
        for sample in source if wanted - found.keys() else ():
            if (name := sample.id if variants else sample.digest) in wanted:
                found.setdefault(name, Side(sample, source.images))
    return [_beside(card, found.get(made_of[card.place])) for card in cards]


def _beside(card: Card, before: Side | None) -> Card:
    sample = card.marked.sample
    if before is None or replace(before.sample, id=sample.id, meta=sample.meta, fields=sample.fields) == sample:
        return card
    return replace(card, before=before)


def _built_of(sample: Sample) -> str:
    """The digest of the sample that the last step took."""
    trail = sample.meta.get("built")
    last = trail[-1] if isinstance(trail, list) and trail else None
    return str(last.get("of", "")) if isinstance(last, dict) else ""


def _is_unsure(sample: Sample) -> bool:
    return any(name.endswith(f"_{_UNSURE}") and value for name, value in sample.fields.items())
