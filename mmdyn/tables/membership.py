"""Whether a model finds published questions likelier than held-out ones of the same set, as `mmdyn probe` asked it.

The score of a question is the mean over its least likely tokens: of their log-probabilities (Min-K%, Shi et al. 2023,
arXiv:2310.16789), or of these in standard deviations of what the model itself would draw (Min-K%++, Zhang et al. 2024,
arXiv:2404.02936). Parts that differ in anything but membership differ in these scores, too (Das, Zhang and Tramèr 2024,
arXiv:2406.16201), so that only a part that was held out at random tells, and only where the words alone do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from mmdyn.sample import from_json
from mmdyn.stats import detectable_auc, greater_p, roc_auc
from mmdyn.table import Membership
from mmdyn.tables.blocks import Block, Numbered, RowDetails, p_digits
from mmdyn.tables.probe_designs import NOT_SHOWN, probe_designs
from mmdyn.work import Reader

MEMBERSHIP_DESIGN, MEMBERSHIP_SCORES = "membership design", "membership"
"""The store's kinds: designs by time and set, and scores."""

LEAST_OF_PART = 10
"""The least number of questions of a part."""

AUC, AUC_WOULD_SHOW = "AUC, published over held-out", "AUC that would show"
BLIND, BLIND_WOULD_SHOW = "AUC of the words alone", "AUC of the words alone that would show"
MEANS = ("mean score, published", "mean score, held-out")
NOT_DRAWN = (
    "this cannot tell: nobody says that the held-out questions were drawn at random from the same set"
    " (`mmdyn probe members --drawn-at-random`), and parts that differ in anything else may differ in these scores, too"
)
SEEN_BLIND = (
    "this cannot tell: the words alone tell the published questions from the held-out ones, so that a model which never"
    " saw either may, too"
)
TWO_SIDED = 2.8
"""The effect that a two-sided test at 5 % shows in four of five cases, in standard deviations."""


class MembershipDesign(Struct, frozen=True, forbid_unknown_fields=True):
    """Which questions of a set are published, and what their words alone tell.

    Args:
        set: The set's name.
        field, value: The questions are published whose field has this value.
        declared: Whether the user says that the others were drawn at random from the same set.
        published, held_out: Digests of the questions' texts (`MembershipScore.text`).
        groups: The group of near-duplicates of each, the published ones first.
        blind: The AUC of a classifier that sees the words alone, with the ends of its interval, and its standard
            deviation where the parts do not differ.
        no_text: How many questions are left out, because without pictures they are not whole.
    """

    set: str
    field: str
    value: str
    declared: bool
    published: tuple[str, ...]
    held_out: tuple[str, ...]
    groups: tuple[int, ...]
    blind: tuple[float, float, float, float]
    no_text: int


class MembershipScore(Struct, frozen=True, forbid_unknown_fields=True):
    """A model's scores of a question, by the digest of its text.

    Args:
        tokens: How many tokens were weighed.
        mean: The mean of their log-probabilities, in nats.
        min_k, min_k_plus: Min-K% in nats; Min-K%++ in standard deviations, None where the model tells nothing of other
            tokens.
    """

    model: str
    text: str
    tokens: int
    mean: float
    min_k: float
    min_k_plus: float | None


def membership_rows(block: Block, part: Membership) -> Iterator[Numbered]:
    """For each model and set the chance that a published question scores above a held-out one (AUC), beside that of a
    classifier that sees the words alone; tested where the held-out part was drawn at random and the words tell
    nothing."""
    for name, run in block.columns.runs.items():
        with run.reading() as reader:
            designs, scores = probe_designs(reader, MEMBERSHIP_DESIGN, MembershipDesign), _scores(reader)
        for of_set in designs.values():
            for model in (entry.label for entry in run.config.models if entry.label in scores):
                front = ({"run": name} if name else {}) | {"model": model, "set": of_set[-1].set}
                yield from _of_model(block._replace(front=front), of_set, scores[model])


def _of_model(
    block: Block, designs: Sequence[MembershipDesign], scores: Mapping[str, MembershipScore]
) -> Iterator[Numbered]:
    design, named = designs[-1], [*designs[-1].published, *designs[-1].held_out]
    known = np.array([text in scores for text in named], np.bool_)
    if not known.any():
        return
    is_published = np.arange(len(named)) < len(design.published)
    own = [scores[text] for text in named if text in scores]
    plus = [one.min_k_plus for one in own if one.min_k_plus is not None]
    values = np.array(plus if len(plus) == len(own) else [one.min_k for one in own])
    positive, groups = is_published[known].astype(np.int64), np.array(design.groups)[known]
    sizes = int(positive.sum()), int((1 - positive).sum())
    auc, low, high, spread = (round(number, 6) for number in design.blind)
    enough, alike = min(sizes) >= LEAST_OF_PART, low <= 0.5 <= high
    ways = len({(one.field, one.value) for one in designs})
    notes = {
        SEEN_BLIND: not alike,
        NOT_DRAWN: not design.declared,
        f"this cannot tell: a part has fewer than {LEAST_OF_PART} questions with a score": not enough,
        f"the last of {ways} fields and values that were tried: {NOT_SHOWN}": ways > 1,
        f"{design.no_text} questions whose pictures are a part of them are left out": design.no_text,
    }
    details = RowDetails(
        n=len(own),
        left_out=len(named) - len(own),
        note="; ".join(note for note, holds in notes.items() if holds),
        method="Min-K%++" if len(plus) == len(own) else "Min-K%",
        unit="auc",
    )
    for title, kind, count in zip(MEANS, (1, 0), sizes, strict=True):
        mean = round(float(values[positive == kind].mean()), 6) if count else None
        yield block.row((), (), title, mean, n=count, unit="score"), None
    if min(sizes):
        if tested := design.declared and alike and enough:
            details["p"] = p_digits(greater_p(values[positive == 1], values[positive == 0]))
            details["method"] += "; Mann-Whitney, one-sided"
        yield block.share_row((), (), AUC, roc_auc(values, positive, groups), **details), None
        if tested:
            seen = detectable_auc(*sizes)
            yield block.row((), (), AUC_WOULD_SHOW, seen and round(seen, 6), unit="auc", n=len(own)), None
    else:
        yield block.row((), (), AUC, None, **details), None
    yield block.row((), (), BLIND, auc, ci95=(low, high), n=len(named), unit="auc"), None
    shown = round(0.5 + TWO_SIDED * spread, 6)
    yield block.row((), (), BLIND_WOULD_SHOW, shown if shown <= 1 else None, n=len(named), unit="auc"), None


def _scores(reader: Reader) -> dict[str, dict[str, MembershipScore]]:
    """The scores by model and text."""
    found = dict[str, dict[str, MembershipScore]]()
    for _, value in reader.items(MEMBERSHIP_SCORES):
        one = from_json(value, MembershipScore)
        found.setdefault(one.model, {})[one.text] = one
    return found
