"""Variants beside their parents, as cards of a sheet."""

from __future__ import annotations

from collections.abc import Iterator

from mmdyn.data import SampleSet
from mmdyn.sheets import Card, Form, Side
from perturb.audit.pairs import pairs

VARIANT_FORM = Form("Does each variant (right) still ask the same and have the same answer?")


def variant_cards(dynamic: SampleSet, parent: SampleSet) -> Iterator[Card]:
    """A card for every variant, those that were dropped too, by chain and outcome."""
    for pair in pairs(dynamic, parent):
        trail = pair.trail
        attempt = f", attempt {trail.attempt}" if trail.attempt else ""
        told = f"{trail.chain}, draw {trail.draw}{attempt}, seed {trail.seed}"
        sides = Side(pair.after, dynamic.images), Side(pair.before, parent.images)
        yield Card(*sides, (trail.chain, pair.outcome), told)
