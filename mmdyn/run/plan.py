"""What to ask: every sample of every set under every condition that it belongs to, streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from kprag import BuiltContext
from mmdyn.context import ALL, NONE, Context
from mmdyn.data import SampleSet
from mmdyn.errors import UserError, did_you_mean
from mmdyn.record import Condition
from mmdyn.run.context_providers import ContextProvider
from mmdyn.run.render import LIKELIHOOD, WEIGHED, Example
from mmdyn.run.replaced_pictures import replace_pictures
from mmdyn.run.samples import samples
from mmdyn.sample import Sample


class Ask(Struct, frozen=True):
    """One question to put: a sample of the `place`-th set, under a condition, in an epoch (from 0).

    laid: what lies beside it; None where the condition's context is none. examples: what stands before it.
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
    if "dynamic" in wanted and not any(opened.manifest.parent for opened in sets):
        raise UserError("a dynamic mode needs variants: name a set that `mmdyn perturb` made, or give --ops")


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
    variant = "dynamic" if sample.variant else "standard"
    chain = sample.variant.chain if sample.variant else ""
    skipped, beside = set[str](), dict[str, BuiltContext | None]()
    shown: dict[str, tuple[Example, ...] | None] = {}
    for condition in conditions:
        if condition.variant != variant:
            continue
        if condition.context != NONE and condition.context not in beside:
            assert provider is not None, "a context needs a shelf"
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
        for epoch in range(epochs):
            yield Ask(place, sample, msgspec.structs.replace(condition, chain=chain), epoch, built, examples or ())


def _lacking(
    sample: Sample, condition: Condition, built: BuiltContext | None, examples: Sequence[Example] | None
) -> str | None:
    """The mode, the style or the shots in which a sample cannot be asked."""
    if condition.context != NONE and built is None:
        return condition.mode
    if condition.style == LIKELIHOOD and sample.task_type not in WEIGHED:
        return LIKELIHOOD
    if examples is None:
        return f"shots {condition.shots}"
    pictures = Context.parse(condition.context).pictures
    return condition.mode if any(replace_pictures(one.sample, pictures) is None for one in examples) else None
