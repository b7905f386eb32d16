"""What models say of a hidden part of a question, with the set named and not named, as `mmdyn probe` asked it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.keys import digest
from mmdyn.sample import Language, from_json
from mmdyn.stats import mean_score, paired_difference
from mmdyn.tables.blocks import Block, Numbered, RowDetails
from mmdyn.tables.pairing import difference_row
from mmdyn.tables.probe_designs import NOT_SHOWN, probe_designs

DIFFERENCE, NAMED, NOT_NAMED = "difference", "set named", "set not named"


class RecallItem(Struct, frozen=True, forbid_unknown_fields=True):
    """A question of which a part is hidden.

    Args:
        sample: Its id.
        parent: The id of the published question.
        cluster: The group that it belongs to, or the published question's id.
        language: Its language.
        called: The set's name, and the question's source and split where it has them.
        shown: The text that the model is shown.
        hidden: The text that it is asked for.
        by: Of a question in other words, who wrote these; empty for the published one.
    """

    sample: str
    parent: str
    cluster: str
    language: Language
    called: str
    shown: str
    hidden: str
    by: str = ""

    @property
    def key(self) -> str:
        """What tells it apart."""
        return digest([self.sample, self.called, self.shown], 8)


class RecallDesign(Struct, frozen=True, forbid_unknown_fields=True):
    """Which questions of a set are asked about.

    Args:
        set: The set's name.
        id: A digest of the set, the seed and the prompts.
        items: The questions.
        left_out: How many questions that were looked at were left out, by the reason.
    """

    set: str
    id: str
    items: tuple[RecallItem, ...]
    left_out: dict[str, int]


class Recalled(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model said of an item, given by its key, with the set named or not."""

    model: str
    item: str
    named: bool
    text: str
    status: Literal["said", "refused", "empty"]


Asked: TypeAlias = tuple[RecallItem, bool]
"""An item, and whether the set was named."""
Said: TypeAlias = Mapping[tuple[str, bool], Recalled]
"""What a model said, by an item's key and whether the set was named."""


def recall_kind(evidence: str, design: str) -> str:
    """The store's kind for what models say on a design, given by its id."""
    return f"{evidence}:{design}"


def recalled(block: Block, evidence: str) -> Iterator[tuple[Block, Sequence[RecallDesign], Said]]:
    """For each set and model of the runs its block, the designs, and what the model said on the last one."""
    for name, run in block.columns.runs.items():
        with run.reading() as reader:
            for designs in probe_designs(reader, f"{evidence} design", RecallDesign).values():
                said = dict[str, dict[tuple[str, bool], Recalled]]()
                for _, value in reader.items(recall_kind(evidence, designs[-1].id)):
                    one = from_json(value, Recalled)
                    said.setdefault(one.model, {})[one.item, one.named] = one
                for label in (entry.label for entry in run.config.models if entry.label in said):
                    front = ({"run": name} if name else {}) | {"model": label, "set": designs[-1].set}
                    yield block._replace(front=front), designs, said[label]


def answered(said: Said, pairs: Sequence[tuple[Asked, Asked]]) -> list[tuple[Asked, Asked]]:
    """Those pairs of which both sides were answered."""
    keys = {key for key, one in said.items() if one.status == "said"}
    return [pair for pair in pairs if all((item.key, named) in keys for item, named in pair)]


def recall_rows(
    block: Block,
    designs: Sequence[RecallDesign],
    said: Said,
    pairs: Sequence[tuple[Asked, Asked]],
    value: Callable[[RecallItem, str], float],
    names: tuple[str, str],
    *,
    least: float,
    untested: str = "",
) -> Iterator[Numbered]:
    """The mean of each side over the pairs that were answered, and their difference.

    Args:
        value: What a reply is worth, from `least` to 1.
        untested: Why the difference is not tested.
    """
    whole = answered(said, pairs)
    note = "; ".join(filter(None, (untested, *_notes(designs, said, pairs))))
    details = RowDetails(n=len(whole), left_out=len(pairs) - len(whole), note=note, unit="points")
    if not whole:
        yield block.row((), (), DIFFERENCE, None, **details), None
        return
    values = np.array([[value(item, said[item.key, named].text) for item, named in pair] for pair in whole])
    clusters = np.unique([pair[0][0].cluster for pair in whole], return_inverse=True)[1]
    ones = np.ones(len(whole))
    for name, side in zip(names, values.T, strict=True):
        found = mean_score(side, ones, clusters, least)
        yield block.share_row((), (), name, found, n=len(whole), method=found.method), None
    beyond = paired_difference(values[:, 0] - values[:, 1], ones, clusters, 1 - least)
    row = difference_row(block, (), (), beyond, (), DIFFERENCE, **details)
    yield replace(row, p=None) if untested else row, None


def _notes(designs: Sequence[RecallDesign], said: Said, pairs: Sequence[tuple[Asked, Asked]]) -> Iterator[str]:
    """In how many ways it was asked, which questions are left out, and what came of replies that are no answers."""
    last = designs[-1]
    if (ways := len({(one.id, *(item.key for item in one.items if not item.by)) for one in designs})) > 1:
        yield f"the last of {ways} ways in which it was asked: {NOT_SHOWN}"
    if last.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in last.left_out.items())
        looked_at = sum(last.left_out.values()) + sum(not item.by for item in last.items)
        yield f"of {looked_at} questions that were looked at, these are left out: {reasons}"
    if lacking := sum(not item.by for item in last.items) - len(pairs):
        yield f"{lacking} more have no other wording of their second half"
    replies = [said.get((item.key, named)) for pair in pairs for item, named in pair]
    counts = Counter(one.status if one else "lacking" for one in replies)
    told = {"refused": "refuse", "empty": "are empty", "lacking": "are lacking (ask again)"}
    if other := ", ".join(f"{counts[status]} {words}" for status, words in told.items() if counts[status]):
        yield f"of {len(replies)} replies {other}: their pairs are left out"
