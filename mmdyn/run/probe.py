"""What models are asked about the questions of a run beside answers: how likely they find their published order."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import InputError, ModelError, UserError, did_you_mean
from mmdyn.keys import digest, stream
from mmdyn.models import Asker, Caches, ChoicesPart, Message, TextPart, open_budget
from mmdyn.prompts import asking_digest, filled
from mmdyn.run.recorded import check_asked
from mmdyn.run.render import replace_pictures
from mmdyn.run.verdicts import NoVerdict, VerdictPile, with_asker
from mmdyn.sample import Sample
from mmdyn.tables import OrderDesign, OrderWeight, keep_order_design, order_kind
from mmdyn.work import RunFolder, Store

KIND = "probe"
"""Where the words of the prompts lie."""

LEAST = 10
"""The least number of questions of a block (Oren et al. 2023, section 4.2, take blocks of 10 to 50)."""

BLOCKS, ORDERS = 20, 19


class Probed(Struct, frozen=True):
    """The number of orders whose log-probability is known, over models and sets, and those that have none."""

    weighed: int
    failures: list[NoVerdict]


class _Job(NamedTuple):
    """A block's questions in an order (0 is the published one), and the words before them."""

    design: OrderDesign
    block: int
    order: int
    lead: str
    text: str


def probe(
    run: RunFolder | str | Path,
    models: Sequence[str],
    *,
    shards: int = BLOCKS,
    orders: int = ORDERS,
    seed: int = 0,
    random_order: Sequence[str] = (),
    concurrency: int = 32,
    cache: str | None = None,
    prices: str | Path | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    quiet: bool = False,
) -> Probed:
    """Ask models of a run how likely they find the standard questions in the order of their set, and in random orders.

    What a model said is kept in the run, and not asked again.

    Args:
        models: The run's models, as MODEL texts.
        shards: The number of blocks of 10 to 19 questions that are weighed of each set; a larger one keeps those of
            before.
        orders: The number of random orders of each block.
        seed: Another seed draws other blocks and orders.
        random_order: Names of sets whose makers say that they put the questions in random order.

    Raises:
        UserError: A model or set is none of the run's, or a set has fewer than 10 questions or was changed.
        ModelError: A model tells no log-probabilities, or cannot be asked at all.
        Busy: The run is going on.
        Stopped: At a limit.
    """
    opened = run if isinstance(run, RunFolder) else RunFolder(run)
    check_asked(opened)
    budget, sets = open_budget(prices, max_cost, max_requests), _standard_sets(opened, random_order)
    by_set = [_jobs(one, shards, orders, seed, declared=one.name in random_order) for one in sets]

    async def work(asker: Asker) -> Probed:
        _check_model(opened, asker)
        failures, weighed = list[NoVerdict](), 0
        with Store(opened.records_folder) as store:
            for design, jobs in by_set:
                keep_order_design(store, design, time.time_ns())
                pile = VerdictPile(store, order_kind(design.id), OrderWeight)
                own = {digest([asker.model.label, asker.model.identity, job.block, job.order]): job for job in jobs}
                doing = f"orders of {design.set}, {asker.model.label}"
                failures += await pile.fill(asker, own, lambda job: _weigh(asker, job), doing, quiet=quiet)
                weighed += sum(pile.known(key) is not None for key in own)
        return Probed(weighed, failures)

    found = [with_asker(model, 1, concurrency, budget, Caches(cache, opened.folder), work) for model in models]
    return Probed(sum(one.weighed for one in found), [failure for one in found for failure in one.failures])


def _standard_sets(run: RunFolder, random_order: Sequence[str]) -> list[SampleSet]:
    """The run's standard sets. Raises UserError for a name that is none of them, and for a set that was changed."""
    entries = {entry.name: entry for entry in run.config.sets if entry.name == entry.root}
    if unknown := [name for name in random_order if name not in entries]:
        holds = f"its standard sets are {', '.join(entries)}" if entries else "it has no standard set"
        raise UserError(f"{run.folder} has no set {unknown[0]!r}{did_you_mean(unknown[0], entries)}: {holds}")
    opened = [SampleSet(run.set_folder(entry)) for entry in entries.values()]
    for one, entry in zip(opened, entries.values(), strict=True):
        if one.manifest.digest != entry.digest:
            raise InputError(one.folder, None, "the set was changed since the run asked it: bring it back")
    if not opened:
        raise UserError(f"{run.folder} has no standard set, whose order could be weighed: evaluate one")
    return opened


def _check_model(run: RunFolder, asker: Asker) -> None:
    """Raise UserError where a model is none of the run's, ModelError where it weighs no texts."""
    known = {entry.label: entry.identity for entry in run.config.models}
    label = asker.model.label
    if label not in known:
        raise UserError(f"{run.folder} has no model {label}{did_you_mean(label, known)}: it has {', '.join(known)}")
    if digest(known[label]) != digest(asker.model.identity):
        raise UserError(f"{label} is set up otherwise in {run.folder}: give -m as `mmdyn eval` was given it")
    if not asker.model.weighs:
        raise ModelError(f"{label} tells no log-probabilities of texts: ask an hf:, vllm: or completions: model")


def _jobs(source: SampleSet, shards: int, orders: int, seed: int, *, declared: bool) -> tuple[OrderDesign, list[_Job]]:
    """What is asked of a set, block by block. Raises UserError where it has too few questions for one block."""
    samples = [sample for sample in source if sample.variant is None]
    texts = [text for sample in samples if (text := _text(sample))]
    if len(texts) < LEAST:
        raise UserError(f"{source.name} has {len(texts)} questions in words: orders are weighed of {LEAST} or more")
    of_set, blocks = source.manifest.digest, np.array_split(np.array(texts, object), len(texts) // LEAST)
    chosen = sorted(range(len(blocks)), key=lambda place: digest(["blocks", seed, of_set, place]))[:shards]
    design = OrderDesign(
        set=source.name,
        id=digest([texts, seed, asking_digest(KIND, "order")], 8),
        chosen=tuple(chosen),
        orders=orders,
        declared=declared,
        no_text=len(samples) - len(texts),
    )
    lead = filled(KIND, "order", Counter(sorted(sample.language for sample in samples)).most_common(1)[0][0])
    jobs = list[_Job]()
    for place in chosen:
        jobs.append(_Job(design, place, 0, lead, "\n\n".join(blocks[place])))
        for number in range(1, orders + 1):
            drawn = stream("question order", seed, of_set, place, number).permutation(blocks[place])
            jobs.append(_Job(design, place, number, lead, "\n\n".join(drawn)))
    return design, jobs


def _text(sample: Sample) -> str:
    """A question with its options; empty where it cannot be asked without its pictures."""
    bare = replace_pictures(sample, "withheld")
    if bare is None:
        return ""
    options = [f"{option.label}. {option.text}" for option in bare.options if option.text]
    return "\n".join([*[turn.text for turn in bare.turns], bare.question, *options])


async def _weigh(asker: Asker, job: _Job) -> OrderWeight | NoVerdict:
    asked = Message("user", (TextPart(job.lead),)), Message("assistant", (TextPart(""), ChoicesPart((job.text,))))
    reply = await asker.ask(asked)
    if reply.error:
        return NoVerdict(job.design.set, f"block {job.block}", f"order {job.order}", reply.error, asker.model.label)
    return OrderWeight(asker.model.label, job.block, job.order, reply.logprobs[0])
