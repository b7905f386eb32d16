"""text.shuffle: the options in another order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from msgspec.structs import replace
from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.text import (
    is_named_by_label,
    lists_options,
    option_refers_to_option,
    refers_to_all,
    refers_to_option,
    refers_to_pair,
)
from perturb.item import Item, NotApplicable
from perturb.services import Operator
from perturb.text._other_forms import alike, changed, right_labels


class Shuffle(Operator):
    """Put the options of a choice question into another order, never the one they had; the gold answer moves along.

    Labels stay in order (A, B, C, …), texts and pictures move. Options at the end that speak of all others ("none of
    the above", "以上都对") stay at the end. Not applicable where letters mean something beyond their place: options
    in the picture, options that name each other, a stem that names or lists them. The explanation, and hints and
    checklist items that name a letter, are left out of the variant: they would speak of the old order.

    Every other order is drawn with equal chance; `mild`: two options trade places, any two with equal chance; `strong`:
    no option that may move stays at its place, every such order with equal chance. Where two may move these are the
    same.
    """

    random = True
    severities = ("mild", "strong")

    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """`order`: for each place the place, from 0, that its option had."""
        if reason := _problem(sample):
            return NotApplicable(reason)
        free = _free(sample)
        order = _trade(stream, free) if self._severity == "mild" else _permutation(stream, free, self._severity)
        return {"order": [*order, *range(free, len(sample.options))]}

    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """The item with its options in the new order."""
        sample, order = item.sample, cast("list[int]", params["order"])
        labels, right = sample.labels, right_labels(sample)
        options = tuple(replace(sample.options[old], label=labels[new]) for new, old in enumerate(order))
        answer = tuple(labels[new] for new, old in enumerate(order) if labels[old] in right)
        return item.rewrite(changed(sample, options=options, answer=answer))


def _trade(stream: Generator, size: int) -> list[int]:
    """The places from 0 to below `size`, two of them swapped."""
    order = list(range(size))
    one, other = (int(place) for place in stream.permutation(size)[:2])
    order[one], order[other] = other, one
    return order


def _permutation(stream: Generator, size: int, severity: str) -> list[int]:
    """The places in another order; with `strong`, none where it was. Drawn anew until it is one, so all are equally
    likely."""
    most_stay = 0 if severity == "strong" else size - 1
    while True:
        order = [int(place) for place in stream.permutation(size)]
        if sum(new == old for new, old in enumerate(order)) <= most_stay:
            return order


def _free(sample: Sample) -> int:
    """How many options, from the first, may move."""
    free = len(sample.options)
    while free and refers_to_all(sample.options[free - 1].text):
        free -= 1
    return free


def _problem(sample: Sample) -> str:
    """Why the options must stay where they are, or the empty string."""
    if sample.kind.form != "choice":
        return f"there are no options to shuffle ({sample.task_type})"
    if sample.options_in_image:
        return "the options are in the picture"
    if alike(sample.options):
        return "two options are the same"
    if lists_options(sample.question, sample.labels):
        return "the stem lists the options"
    if found := refers_to_option(sample.question, sample.labels):
        return f"the stem refers to an option ({found})"
    return _problem_of_options(sample)


def _problem_of_options(sample: Sample) -> str:
    free, labels = _free(sample), sample.labels
    for number, option in enumerate(sample.options):
        if found := option_refers_to_option(option.text, labels, sample.question):
            return f"an option refers to another ({option.label}: {found})"
        if is_named_by_label(option.text, labels):
            return f"an option is named by a letter ({option.label}: {option.text.strip()})"
        if refers_to_all(option.text) and (number < free or (refers_to_pair(option.text) and free != 2)):
            return f"an option refers to some of the others ({option.label}: {option.text.strip()[:40]})"
    return "" if free >= 2 else "fewer than two options can move"
