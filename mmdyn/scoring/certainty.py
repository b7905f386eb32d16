"""Where rules alone do not settle what an answer is worth, so that it needs a judge."""

from __future__ import annotations

import re
from itertools import zip_longest

from mmdyn.sample import Sample
from mmdyn.scoring.extract import Extraction
from mmdyn.text import read_number

UNSURE = 0.9
"""A reading of less confidence needs a judge, whether it is right or wrong. Confidences are by rule (docs/scoring.md):
below it lie the rules by which a reply's last words, or all of it, are taken for its answer. What was not read has
none."""

WITHHELD = "withheld"
"""The rule of a reply that was declined or held back, as its finish reason says."""

_SETTLED = ("empty", WITHHELD)
"""Rules by which there is nothing that a judge could look at: such an answer is worth 0."""
_COMMAND = re.compile(r"\\[A-Za-z]+")
_SIGN = re.compile(r"[\d=<>≤≥+*/^√π∞∈∪→_]")
_HAN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_HAN}]|[^\W\d_A-Z{_HAN}]{{3,}}")
_AMONG_SIGNS = 3
"""So many words make a text with digits or signs words: `1 和 3` and `x > 1 and x < 2` are none."""


def is_lower_bound(sample: Sample, extraction: Extraction, value: float, parts: tuple[float, ...]) -> bool:
    """Whether a judge may find more than `value` (in [0, 1]), because it takes one to tell whether two answers say the
    same.

    That is so for an open answer, and for a blank that is filled in words, which do not equal the sample's by rule.
    parts: what each blank earned, empty where none was read.
    """
    if value >= 1 or extraction.rule in _SETTLED:
        return False
    if sample.task_type == "fill_in_the_blank" and isinstance(sample.answer, tuple):
        return any(not part and in_words(blank) for blank, part in zip_longest(sample.answer, parts, fillvalue=0.0))
    return sample.task_type == "open_ended"


def needs_judge(extraction: Extraction, *, lower_bound: bool) -> bool:
    """Whether a judge is to be asked: the rules' value is a lower bound, or nothing was read, or not surely."""
    return extraction.rule not in _SETTLED and (lower_bound or extraction.confidence < UNSURE)


def in_words(accepted: object) -> bool:
    """Whether all accepted texts of a blank are words: no number, with a unit or without, no formula, no letter."""
    return isinstance(accepted, tuple) and all(map(_is_words, accepted))


def _is_words(text: str) -> bool:
    if read_number(text) is not None:
        return False
    return len(_WORD.findall(_COMMAND.sub(" ", text))) >= (_AMONG_SIGNS if _SIGN.search(text) else 1)
