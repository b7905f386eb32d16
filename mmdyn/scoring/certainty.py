"""Where rules alone do not settle what an answer is worth, so that it needs a judge."""

from __future__ import annotations

from mmdyn.scoring.extract import Extraction

UNSURE = 0.9
"""A reading of less confidence needs a judge, whether it is right or wrong. Confidences are by rule (docs/scoring.md):
below it lie the rules by which a reply's last words, or all of it, are taken for its answer. What was not read has
none."""

WITHHELD = "withheld"
"""The rule of a reply that was declined or held back, as its finish reason says."""

SETTLED = ("empty", WITHHELD)
"""Rules by which there is nothing that a judge could look at: such an answer is worth 0."""


def needs_judge(extraction: Extraction, *, lower_bound: bool) -> bool:
    """Whether a judge is to be asked: the rules' value is a lower bound, or nothing was read, or not surely."""
    return extraction.rule not in SETTLED and (lower_bound or extraction.confidence < UNSURE)
