"""What to ask: every sample of every set under every condition that applies to it, streamed; and which process asks
what.

Who asks what, where several processes share a plan: over single requests, by numbers alone.

The requests are dealt out in rounds, of which each share gets one; who gets which of a round is drawn by a seed. So
shares are even, and when a run goes on after one process was lost, another seed spreads what that one left over all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kprag import BuiltContext
from mmdyn.context import ALL, NONE, Context
from mmdyn.data import SampleSet
from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import stream
from mmdyn.record import Condition
from mmdyn.run.context_providers import ContextProvider
from mmdyn.run.render import LIKELIHOOD, Example, replace_pictures
from mmdyn.run.sets import samples
from mmdyn.sample import Sample
from mmdyn.text import estimate_tokens


class Ask(Struct, frozen=True):
    """One question to put: a sample of the `place`-th set, under a condition, in an epoch (from 0).

    built: its context; None where the condition has none. examples: answered questions that are shown before it.
    """

    place: int
    sample: Sample
    condition: Condition
    epoch: int
    built: BuiltContext | None = None
    examples: tuple[Example, ...] = ()


class Skip(Struct, frozen=True):
    """A sample that a mode cannot ask, such as one without knowledge points in kprag, or a blank by likelihood."""

    mode: str


def check_sets(sets: Sequence[SampleSet], conditions: Sequence[Condition]) -> None:
    """Raise UserError where a dynamic set has no parent beside it, or another version of it, or a mode has no set to
    ask."""
    standard = {opened.name: opened.manifest.digest for opened in sets if not opened.manifest.parent}
    wanted = {condition.variant for condition in conditions}
    for opened in sets:
        origin = opened.manifest.parent
        if origin and standard.get(origin.name, origin.digest) != origin.digest:
            raise UserError(f"{opened.folder} was made of another version of {origin.name}: perturb that set again")
        if origin and origin.name not in standard and "standard" in wanted:
            raise UserError(
                f"{opened.folder} was made of {origin.name}, which is not given: name it too, or ask --mode dynamic"
            )
    made = {kind for opened in sets for kind in opened.manifest.variant_kinds}
    for kind, ops in (("dynamic", "give --ops"), ("counterfactual", "give --ops text.counterfactual")):
        if kind in wanted - made:
            raise UserError(f"a {kind} mode needs variants: name a set that `mmdyn perturb` made, or {ops}")


def check_hints(sets: Sequence[SampleSet], conditions: Sequence[Condition]) -> None:
    """Raise UserError for a kind of hint that no sample has."""
    wanted = {Context.parse(condition.context).hint for condition in conditions} - {"", ALL}
    if not wanted:
        return
    kinds = dict.fromkeys(kind for opened in sets for sample in opened for kind in sample.hints)
    for kind in sorted(wanted - kinds.keys()):
        there = f"{', '.join(kinds)} are" if kinds else "the samples have no hints"
        raise UserError(f"no sample has a hint {kind!r}{did_you_mean(kind, kinds)}: {there}")


def plan(
    sets: Sequence[SampleSet],
    conditions: Sequence[Sequence[Condition]],
    epochs: int,
    limits: Mapping[str, int | None],
    providers: Sequence[ContextProvider] = (),
) -> Iterator[Ask | Skip]:
    """Stream the asks set by set, sample by sample; `conditions`, and where a condition has a context `providers`: one
    for each set; `limits`: by the standard set's name."""
    for place, sample in samples(sets, limits):
        yield from asks_of(place, sample, conditions[place], epochs, providers[place] if providers else None)


def count(asks: Iterable[Ask | Skip], check: Callable[[Ask], None] | None = None) -> tuple[int, dict[str, int]]:
    """How many asks there are, and how many samples each mode skips. `check` may raise UserError for one."""
    planned, skipped = 0, dict[str, int]()
    for ask in asks:
        if isinstance(ask, Ask):
            if check:
                check(ask)
            planned += 1
        else:
            skipped[ask.mode] = skipped.get(ask.mode, 0) + 1
    return planned, skipped


def asks_of(
    place: int, sample: Sample, conditions: Sequence[Condition], epochs: int, provider: ContextProvider | None = None
) -> Iterator[Ask | Skip]:
    """The asks of one sample; a mode, or a style, in which it cannot be asked is skipped once."""
    variant = sample.variant_kind
    chain = sample.variant.chain if sample.variant else ""
    skipped, beside = set[str](), dict[str, BuiltContext | None]()
    shown: dict[str, tuple[Example, ...] | None] = {}
    for condition in conditions:
        if condition.variant != variant:
            continue
        if condition.context != NONE and condition.context not in beside:
            assert provider is not None, "a context needs a provider"
            beside[condition.context] = provider.build(sample, condition.context)
        if condition.shots and condition.shots not in shown and provider and provider.examples:
            shown[condition.shots] = provider.examples.choose(sample, condition.shots)
        built, examples = beside.get(condition.context), shown.get(condition.shot_name, ())
        lacking = _lacking(sample, condition, built, examples)
        if lacking is not None:
            if lacking not in skipped:  # once, however many styles it would have been asked in
                skipped.add(lacking)
                yield Skip(lacking)
            continue
        under = condition if condition.chain == chain else msgspec.structs.replace(condition, chain=chain)
        for epoch in range(epochs):
            yield Ask(place, sample, under, epoch, built, examples or ())


def _lacking(
    sample: Sample, condition: Condition, built: BuiltContext | None, examples: Sequence[Example] | None
) -> str | None:
    """The mode, the style or the shots in which a sample cannot be asked."""
    if condition.context != NONE and built is None:
        return condition.mode
    if condition.style == LIKELIHOOD and not sample.kind.weighed:
        return LIKELIHOOD
    if examples is None:
        return f"shots {condition.shots}"
    pictures = Context.parse(condition.context).pictures
    return condition.mode if any(replace_pictures(one.sample, pictures) is None for one in examples) else None


Strategy = Literal["size", "count", "cost", "cell"]
STRATEGIES: tuple[Strategy, ...] = ("size", "count", "cost", "cell")
CHUNK = 64
"""Asks of a chunk where `count` is given no number."""

PICTURE_TOKENS = 800
READING = 0.1
"""What a token that is read costs of one that is written: a prompt is read at once, an answer is written word by
word."""
REASONING_TOKENS = 400
"""Tokens beside those of the answer where `reasons` says so."""

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
    return READING * read + sample.kind.answer_tokens + (REASONING_TOKENS if reasons(ask.condition) else 0)


def reasons(condition: Condition) -> bool:
    """Whether more is written than an answer: reasoning, or what the model has to say of knowledge that lies there."""
    context = Context.parse(condition.context)
    return condition.style != "direct" or (context.source is not None and context.elaborate != "none")
