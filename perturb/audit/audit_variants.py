"""A sheet of variants beside their parents; what people mark on it calibrates a judge, or leaves the set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mmdyn.data import SampleSet
from mmdyn.sheets import Card, Form, Side, draw_cards, write_sheet
from perturb.audit.pairs import find_parent, pairs

_FORM = Form("Does each variant (right) still ask the same and have the same answer?")


def audit_variants(
    dynamic: SampleSet, out: Path, parent: str | Path | None = None, count: int = 60, seed: int = 0
) -> int:
    """Write a sheet of at most `count` variants, as many of each chain and outcome as there are; how many it holds.

    Raises UserError where the parent is not found, the file cannot be written or a picture is missing.
    """
    source = find_parent(dynamic, parent)
    cards = draw_cards(_cards(dynamic, source), count, seed)
    write_sheet(dynamic, source, cards, _FORM, out)
    return len(cards)


def _cards(dynamic: SampleSet, parent: SampleSet) -> Iterator[Card]:
    for pair in pairs(dynamic, parent):
        trail = pair.trail
        attempt = f", attempt {trail.attempt}" if trail.attempt else ""
        told = f"{trail.chain}, draw {trail.draw}{attempt}, seed {trail.seed}"
        sides = Side(pair.after, dynamic.images), Side(pair.before, parent.images)
        yield Card(*sides, (trail.chain, pair.outcome), told)
