"""A sheet of a set that is not of variants: its samples, each beside the one that a step made it of."""

from __future__ import annotations

from pathlib import Path

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.sheets.find_source import find_sources
from mmdyn.sheets.form import form_of, form_of_set
from mmdyn.sheets.sample_cards import beside_sources, review_cards, sample_cards
from mmdyn.sheets.sheet import draw_cards, write_sheet


def audit(
    made: SampleSet,
    out: Path,
    parent: str | Path | None = None,
    count: int = 60,
    seed: int = 0,
    *,
    review: bool = False,
    step: str | None = None,
) -> int:
    """Write a sheet of at most `count` samples; how many it holds.

    Args:
        made: The set.
        out: The HTML file.
        parent: The set that it was made of; without it one that lies beside it.
        count: Drawn by `seed`, as many of each step and outcome as there are.
        seed: Another seed draws others.
        review: Not drawn: the first, those before the others about which a model was unsure, and none that was refused.
        step: Whose question and criteria; without it those of the last step that made the set.

    Raises:
        UserError: The parent is another set, the step asks people nothing, the file cannot be written, or a picture is
            missing.
    """
    sources = list(find_sources(made, parent))
    form = form_of(step) if step else form_of_set(made)
    if form is None:
        raise UserError(f"the step {step} asks people nothing: leave --step out, or name another (`mmdyn list steps`)")
    cards = review_cards(made, count) if review else draw_cards(sample_cards(made, sources), count, seed)
    write_sheet(made, next(iter(sources), None), beside_sources(cards, sources), form, out)
    return len(cards)
