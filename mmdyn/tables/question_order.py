"""Whether a model finds the published order of a set's questions likelier than random ones, as `mmdyn probe` asked it.

A model that was trained on a file in its order finds that order likely. Where the order is random, it is exchangeable
with any other for a model that never saw the file, so that its rank among random ones is uniform in each block.

Source: Oren et al. 2023 (arXiv:2310.17623), sections 3.1 and 3.2; here the ranks' sum over blocks is tested exactly,
where they test the mean of log-probabilities by Student's t.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from mmdyn.sample import from_json
from mmdyn.stats import detectable_share, mean_score, paired_difference, rank_sum_tail
from mmdyn.table import QuestionOrder
from mmdyn.tables.blocks import Block, Numbered, RowDetails, p_digits
from mmdyn.tables.columns import Columns
from mmdyn.tables.factors import plain_model
from mmdyn.tables.memory import span_of, year_spans
from mmdyn.tables.pairing import difference_row
from mmdyn.tables.probe_designs import NOT_SHOWN, probe_designs
from mmdyn.work import Reader

ORDER_DESIGN = "order design"
"""The store's kind for designs, by time and set."""

BEATEN, WOULD_SHOW, BEYOND_OLDER = "random orders beaten", "would show", "beyond older models"
SORTED = (
    "this cannot tell: exam orders often follow topic and difficulty, and a model that reads with care may find them"
    " likelier"
)


class OrderDesign(Struct, frozen=True, forbid_unknown_fields=True):
    """Which orders of a set's questions are weighed.

    Args:
        set: The set's name.
        id: A digest of the questions' texts in their order, of the blocks, the seed and the prompt.
        chosen: The indices of the blocks that are weighed.
        orders: The number of random orders of each block, beside the published one.
        declared: Whether the user says that the set's maker made the order random.
        no_text: How many questions are left out, because without pictures they are not whole.
    """

    set: str
    id: str
    chosen: tuple[int, ...]
    orders: int
    declared: bool
    no_text: int


class OrderWeight(Struct, frozen=True, forbid_unknown_fields=True):
    """The log-probability, in nats, of a block's questions in one order: 0 is the published one, others are random."""

    model: str
    block: int
    order: int
    logprob: float


def order_kind(design: str) -> str:
    """The store's kind for the weights of a design, given by its id."""
    return f"order:{design}"


def beaten_shares(weights: Mapping[int, Mapping[int, float]], orders: int) -> dict[int, float]:
    """The share of random orders that the published one of each block is likelier than; ties count as not.

    Blocks of which an order is missing are left out.

    Args:
        weights: By block and order the log-probability; order 0 is the published one.

    >>> beaten_shares({0: {0: -5.0, 1: -7.0, 2: -5.0}, 1: {0: -5.0, 1: -7.0}}, orders=2)
    {0: 0.5}
    """
    return {
        block: sum(each[0] > each[order] for order in range(1, orders + 1)) / orders
        for block, each in sorted(weights.items())
        if all(order in each for order in range(orders + 1))
    }


def order_rows(block: Block, part: QuestionOrder) -> Iterator[Numbered]:
    """For each model and set the mean share of random orders that the published one beats over blocks (n). Where its
    order is declared random it is tested, and the share that would show in four of five cases stands beside it; else
    the difference from models whose cut-off lies before every year of the set, where the run has some."""
    for name, run in block.columns.runs.items():
        with run.reading() as reader:
            for of_set in probe_designs(reader, ORDER_DESIGN, OrderDesign).values():
                weights = _weights(reader, of_set[-1])
                shares = {model: beaten_shares(own, of_set[-1].orders) for model, own in weights.items()}
                labels = [entry.label for entry in run.config.models if entry.label in shares]
                older = _older(block.columns, name, of_set[-1].set, labels)
                for model in labels:
                    front = ({"run": name} if name else {}) | {"model": model, "set": of_set[-1].set}
                    here = block._replace(front=front)
                    yield from _of_model(here, of_set, shares[model], [shares[one] for one in older if one != model])


def _of_model(
    block: Block, designs: Sequence[OrderDesign], shares: Mapping[int, float], older: Sequence[Mapping[int, float]]
) -> Iterator[Numbered]:
    design, blocks = designs[-1], len(shares)
    ways = len({(one.id, one.chosen, one.orders) for one in designs})
    notes = {
        SORTED: not design.declared,
        f"the last of {ways} ways in which it was asked: {NOT_SHOWN}": ways > 1,
        f"{design.no_text} questions whose pictures are a part of them are left out": design.no_text,
    }
    values = np.array([*shares.values()])
    note = "; ".join(note for note, holds in notes.items() if holds)
    details = RowDetails(n=blocks, left_out=len(design.chosen) - blocks, note=note, unit="share")
    if not blocks:
        yield block.row((), (), BEATEN, None, **details), None
        return
    found = mean_score(values, np.ones(blocks), np.arange(blocks))
    if design.declared:
        total = round(float(values.sum()) * design.orders)
        details["p"] = p_digits(float(rank_sum_tail(blocks, design.orders)[total]))
        details["method"] = "exact rank sum, one-sided"
    yield block.share_row((), (), BEATEN, found, **details), None
    if design.declared:
        seen = detectable_share(blocks, design.orders)
        yield block.row((), (), WOULD_SHOW, seen, unit="share", n=blocks), None
        return
    shared = [place for place in shares if all(place in other for other in older)]
    if older and shared:
        before = np.array([[other[place] for place in shared] for other in older]).mean(0)
        beyond = np.array([shares[place] for place in shared]) - before
        difference = paired_difference(beyond, np.ones(len(shared)), np.arange(len(shared)))
        yield difference_row(block, (), (), difference, (), BEYOND_OLDER, n=len(shared)), None


def _older(columns: Columns, run: str, set: str, models: Sequence[str]) -> list[str]:
    """Those models whose cut-off lies before the first year of the set's questions."""
    cut_offs, keys = columns.facts.get("cutoff", {}), [key.run == run and key.set == set for key in columns.keys]
    own = np.unique(columns.parents[np.array(keys, np.bool_)[columns.asked]])
    years = year_spans(columns)[own, 0] if cut_offs else np.array([np.nan])
    if not len(years) or np.isnan(years).any():
        return []
    ends = {model: span_of(cut_offs.get(plain_model(model), "")) for model in models}
    return [model for model, span in ends.items() if span and span[1] <= years.min()]


def _weights(reader: Reader, design: OrderDesign) -> dict[str, dict[int, dict[int, float]]]:
    """The log-probabilities by model, block and order."""
    found = dict[str, dict[int, dict[int, float]]]()
    for _, value in reader.items(order_kind(design.id)):
        one = from_json(value, OrderWeight)
        if one.block in design.chosen:
            found.setdefault(one.model, {}).setdefault(one.block, {})[one.order] = one.logprob
    return found
