"""Who asks what, where several processes share a plan: over single requests, by numbers alone.

The requests are dealt out in rounds, of which each share gets one; who gets which of a round is drawn by a seed. So
shares are even, and when a run goes on after one process was lost, another seed spreads what that one left over all.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mmdyn.context import Context
from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import stream
from mmdyn.record import Condition
from mmdyn.run.plan import Ask
from mmdyn.run.replaced_pictures import replace_pictures
from mmdyn.sample import TaskType
from mmdyn.text import estimate_tokens

Strategy = Literal["size", "count", "cost", "cell"]
STRATEGIES: tuple[Strategy, ...] = ("size", "count", "cost", "cell")
CHUNK = 64
"""Asks of a chunk where `count` is given no number."""

PICTURE_TOKENS = 800
READING = 0.1
"""What a token that is read costs of one that is written: a prompt is read at once, an answer is written word by
word."""
ANSWER_TOKENS: dict[TaskType, int] = {
    "single_choice": 16,
    "multi_select": 16,
    "true_false": 16,
    "fill_in_the_blank": 48,
    "open_ended": 400,
}
REASONING_TOKENS = 400
"""More where `reasons` says so."""

Costs: TypeAlias = NDArray[np.float32]
Owners: TypeAlias = NDArray[np.int32]


class Partition(Struct, frozen=True):
    """How asks are shared out.

    size: equal numbers of asks (they differ by one at most), whatever they cost.
    count: chunks of `asks` that follow each other in the plan stay together, so that a share asks about few pictures
        again and again; the numbers differ by one chunk at most.
    cost: equal numbers and equal estimated costs; the sums differ by less than the dearest ask.
    cell: whole cells (a model on a set), those of a model next to each other, so that a share opens few models; the
        sums of estimated costs differ by less than two of the dearest cells.
    """

    strategy: Strategy = "cost"
    asks: int = 1

    @staticmethod
    def parse(text: str) -> Partition:
        """Read `size`, `cost`, `cell`, `count` or `count,asks=N`. Raises UserError."""
        name, _, option = text.partition(",")
        for strategy in STRATEGIES:
            if name == strategy and not option:
                return Partition(strategy, CHUNK if strategy == "count" else 1)
        key, _, number = option.partition("=")
        if name == "count" and key == "asks" and number.isdecimal() and int(number) > 0:
            return Partition("count", int(number))
        if name in STRATEGIES:
            raise UserError(f"{option!r} is no setting of the partition {name!r}: write count,asks=N, or {name} alone")
        raise UserError(f"there is no partition {name!r}{did_you_mean(name, STRATEGIES)}: {', '.join(STRATEGIES)} are")

    def owners(self, costs: Costs, shares: int, seed: str = "") -> Owners:
        """The share, from 0, of each ask, by the asks' costs in the plan's order. Equal wherever it is computed."""
        chunks = self._chunks(costs)
        dealt = np.argsort(-chunks, kind="stable") if self.strategy == "cost" else np.arange(len(chunks))
        rounds = np.tile(np.arange(shares, dtype=np.int32), (-(-len(chunks) // shares), 1))
        owners = np.empty(len(chunks), np.int32)
        owners[dealt] = stream("partition", seed, shares).permuted(rounds, axis=1).ravel()[: len(chunks)]
        return np.repeat(owners, self.asks)[: len(costs)]

    def cells(self, places: NDArray[np.uint32], costs: Costs, models: int, shares: int) -> list[Owners]:
        """For each model the share of each ask, by the asks' sets and costs in the plan's order."""
        of_sets = np.bincount(places, costs)
        cells = np.tile(of_sets, models)
        middles = np.cumsum(cells) - cells / 2
        owners = (middles / cells.sum() * shares).astype(np.int32).reshape(models, len(of_sets))
        return [row[places] for row in owners]

    def order(self, costs: Costs, owners: Owners, share: int) -> NDArray[np.intp]:
        """The places in the plan of one share's asks, the dearest chunk first: what takes long is not begun last, and
        asks that are put together are of like length.
        """
        mine = np.flatnonzero(owners == share)
        return mine[np.argsort(-self._chunks(costs)[mine // self.asks], kind="stable")]

    def _chunks(self, costs: Costs) -> Costs:
        """What each chunk costs."""
        return np.add.reduceat(costs, np.arange(0, len(costs), self.asks))


def cost(ask: Ask) -> float:
    """What an ask is expected to cost, in tokens written: its prompt and pictures read, an answer of its task's kind
    written."""
    sample = replace_pictures(ask.sample, Context.parse(ask.condition.context).pictures) or ask.sample
    texts = [sample.question, *(option.text for option in sample.options), ask.built.text if ask.built else ""]
    read = sum(map(estimate_tokens, texts)) + PICTURE_TOKENS * len(set(sample.all_images))
    return READING * read + ANSWER_TOKENS[sample.task_type] + (REASONING_TOKENS if reasons(ask.condition) else 0)


def reasons(condition: Condition) -> bool:
    """Whether more is written than an answer: reasoning, or what the model has to say of knowledge that lies there."""
    context = Context.parse(condition.context)
    return condition.style != "direct" or (context.source is not None and context.elaborate != "none")
