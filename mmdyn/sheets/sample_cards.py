"""The samples of a set that is not of variants, as cards: each beside the one that a step made it of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nsmallest

from msgspec.structs import replace

from mmdyn.data import SampleSet
from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.sheets.form import form_of
from mmdyn.sheets.sheet import Card, Side

_UNSURE = "unsure"


def sample_cards(made: SampleSet, sources: Sequence[SampleSet]) -> Iterator[Card]:
    """A card for every sample, and for what was refused by steps whose forms say so, where a source still holds it."""
    for sample in made:
        yield Card(Side(sample, made.images), stratum=(_UNSURE if _is_unsure(sample) else "kept",))
    steps = {item.chain for item in made.dropped()}
    shown = {step for step in steps if (form := form_of(step)) and form.refused}
    wanted = {item.parent: (item.chain, item.status) for item in made.dropped() if item.chain in shown}
    for source in sources if wanted else ():
        for sample in source:
            if stratum := wanted.pop(sample.id, None):
                yield Card(Side(sample, source.images), stratum=stratum)


def review_cards(made: SampleSet, count: int) -> list[Card]:
    """The first `count` samples of a set, those before the others about which a model was unsure (a field
    NAME_unsure)."""
    cards = (Card(Side(sample, made.images)) for sample in made)
    return nsmallest(count, cards, key=lambda card: not _is_unsure(card.marked.sample))


def beside_sources(cards: Sequence[Card], sources: Sequence[SampleSet]) -> list[Card]:
    """The cards, each beside the sample that it was made of where a source holds that and it asks other words."""
    made_of = {card.place: _made_of(card.marked.sample.meta.get("built")) for card in cards}
    wanted, found = {*made_of.values()} - {""}, dict[str, Side]()
    for source in sources:
        for sample in source if wanted - found.keys() else ():
            if (digest := sample.digest) in wanted:
                found.setdefault(digest, Side(sample, source.images))
    return [_beside(card, found.get(made_of[card.place])) for card in cards]


def _beside(card: Card, before: Side | None) -> Card:
    sample = card.marked.sample
    if before is None or replace(before.sample, id=sample.id, meta=sample.meta, fields=sample.fields) == sample:
        return card
    return replace(card, before=before)


def _made_of(trail: Json) -> str:
    """The digest of the sample that the last step took."""
    last = trail[-1] if isinstance(trail, list) and trail else None
    return str(last.get("of", "")) if isinstance(last, dict) else ""


def _is_unsure(sample: Sample) -> bool:
    return any(name.endswith(f"_{_UNSURE}") and value for name, value in sample.fields.items())
