"""A single choice as a question that stands alone, in a rewriter model's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import cast

from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text import count_blanks, fold, lists_options, refers_to_all, refers_to_option
from perturb.item import NotApplicable
from perturb.rewrite._rewriter import Rewriter
from perturb.short_answers import answer_of, differ
from perturb.text._other_forms import as_filled, right_labels
from perturb.text._reworded import controls, kept, shown
from perturb.text._stem import GAP


def ask_alone(sample: Sample, stream: Generator, rewriter: Rewriter) -> dict[str, Json] | NotApplicable:
    """The parameters `stem`, `accepted` (the right option's text first) and `by`, where the model's stem passes the
    checks.

    Not applicable where the right option is no short text, where the new stem lost or gained a formula or a number,
    brought in control characters, gives the answer away or speaks of options, and where an accepted answer may mean
    another option.
    """
    texts = {option.label: option.text.strip() for option in sample.options}
    (label,) = right_labels(sample)
    gold = texts[label]
    if sample.options_in_image or any(option.image for option in sample.options):
        return NotApplicable("options are pictures")
    if not answer_of(gold).kind or refers_to_all(gold):
        return NotApplicable("the right option is no short answer")
    reply = rewriter.standalone(sample, stream)
    if isinstance(reply, NotApplicable):
        return reply
    accepted = {answer_of(gold).folded: gold}
    for text in reply.answers:
        accepted.setdefault(answer_of(text).folded, text)
    others = [text for other, text in texts.items() if other != label]
    if controls("".join([reply.question, *reply.answers])) - controls(sample.question + gold):
        return NotApplicable("the rewriter added control characters")
    if reason := _fault(sample, reply.question, gold) or _doubt([*accepted.values()], others):
        return NotApplicable(reason)
    return {"stem": reply.question, "accepted": [*accepted.values()], "by": rewriter.label}


def as_alone(sample: Sample, params: Mapping[str, Json]) -> Sample | NotApplicable:
    """The fill_in_the_blank that the parameters tell of; not applicable where the right option is not what they
    accept."""
    accepted = tuple(cast("list[str]", params["accepted"]))
    gold = {option.label: option.text.strip() for option in sample.options}[right_labels(sample)[0]]
    if accepted[:1] != (gold,):
        return NotApplicable("the right option is not the accepted answer")
    return as_filled(sample, f"{params['stem']} {GAP}", (accepted,))


def _fault(sample: Sample, stem: str, gold: str) -> str:
    """What is wrong with a stem that should stand alone, or the empty string."""
    labels, old = sample.labels, sample.question
    if count_blanks(stem) or lists_options(stem, labels) or refers_to_option(stem, labels):
        return "the rewritten stem speaks of options or blanks"
    if sorted(IMAGE_MARK.findall(stem)) != sorted(IMAGE_MARK.findall(old)):
        return "the rewritten stem has other image marks"
    before, after = _kept_but_blanks(old), _kept_but_blanks(stem)
    if changes := (before - after) + (after - before):
        return f"the rewritten stem changed {shown(changes)}"
    if fold(gold) in fold(stem) and fold(gold) not in fold(old):
        return "the rewritten stem gives the answer away"
    return ""


def _doubt(accepted: list[str], others: list[str]) -> str:
    """What is wrong with accepted answers, the right option first, or the empty string."""
    right, *more = (answer_of(text) for text in accepted)
    if right.value is not None and any(differ(right, other) for other in more):
        return "an accepted answer has another value"
    if not all(differ(answer, answer_of(other)) for answer in (right, *more) for other in others):
        return "an accepted answer may mean another option"
    return ""


def _kept_but_blanks(text: str) -> Counter[str]:
    return Counter({span: count for span, count in kept(text).items() if not count_blanks(span)})
