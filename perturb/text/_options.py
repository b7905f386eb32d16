"""A question as a choice between options."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from mmdyn.sample import Match, Option, Sample
from mmdyn.text import is_named_by_label
from perturb.item import NotApplicable
from perturb.short_answers import answer_of, equal
from perturb.text._wording import TRUE_FALSE, changed

LABELS = "ABCD"


def is_label(text: str) -> bool:
    """Whether a text could be taken for an option's label, so that it is no option's text."""
    return is_named_by_label(text, LABELS)


def as_choice(sample: Sample, right: str, wrong: Sequence[str], place: int) -> Sample | NotApplicable:
    """A question with a short answer as a single_choice in which the right answer stands at `place`, from 0.

    Not applicable where two options say the same.
    """
    texts = [*wrong[:place], right, *wrong[place:]]
    pairs = combinations([answer_of(text) for text in texts], 2)
    if not 0 <= place < len(texts) <= len(LABELS) or any(equal(*pair) for pair in pairs):
        return NotApplicable("two options say the same")
    options = tuple(Option(label, text) for label, text in zip(LABELS, texts, strict=False))
    return changed(sample, task_type="single_choice", options=options, answer=(LABELS[place],), match=Match())


def as_either(sample: Sample, true_first: bool) -> Sample:
    """A true_false as a single_choice between the two words."""
    words = TRUE_FALSE[sample.language]
    truths = (True, False) if true_first else (False, True)
    options = tuple(Option(label, words[0] if truth else words[1]) for label, truth in zip("AB", truths, strict=True))
    answer = "A" if sample.answer is truths[0] else "B"
    return changed(sample, task_type="single_choice", options=options, answer=(answer,), match=Match())
