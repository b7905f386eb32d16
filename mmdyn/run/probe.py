"""What models of a run are asked beside answers, to find what they knew before its questions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import InputError, ModelError, UserError, did_you_mean
from mmdyn.keys import digest
from mmdyn.models import Asker, Caches, open_budget
from mmdyn.run.probes._probe import Probe
from mmdyn.run.recorded import check_asked
from mmdyn.run.verdicts import NoVerdict, VerdictPile, with_asker
from mmdyn.tables import keep_probe_design
from mmdyn.work import RunFolder, SetEntry, Store


class Probed(Struct, frozen=True):
    """The number of things that models said something of, over models and sets, and those of which they did not."""

    said: int
    failures: list[NoVerdict]


def probe(
    run: RunFolder | str | Path,
    models: Sequence[str],
    evidence: Probe[Any, Any, Any],
    *,
    concurrency: int = 32,
    cache: str | None = None,
    prices: str | Path | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    quiet: bool = False,
) -> Probed:
    """Ask models of a run for a kind of evidence on what they knew before, on its standard sets.

    What a model said is kept in the run, and not asked again.

    Args:
        models: The run's models, as MODEL texts.
        evidence: The kind, such as `Order()`, with its settings.

    Raises:
        UserError: A model or set is none of the run's, or a set has too few questions or was changed.
        ModelError: A model cannot be asked for this kind, or cannot be asked at all.
        Busy: The run is going on.
        Stopped: At a limit.
    """
    opened = run if isinstance(run, RunFolder) else RunFolder(run)
    check_asked(opened)
    budget, sets = open_budget(prices, max_cost, max_requests), _standard_sets(opened)
    evidence.check(sets)
    by_set = [(source.name, evidence.choose(source, _variants(opened, source))) for source in sets]

    async def work(asker: Asker) -> Probed:
        _check_model(opened, asker, weighs=evidence.weighs)
        failures, said = list[NoVerdict](), 0
        with Store(opened.records_folder) as store:
            for name, asked in by_set:
                keep_probe_design(store, evidence.designs, name, asked.design, time.time_ns())
                pile = VerdictPile(store, asked.kind, evidence.verdict)
                whose = [asker.model.label, asker.model.identity]
                own = {digest([*whose, identity]): job for identity, job in asked.jobs.items()}
                doing = f"{evidence.what} of {name}, {asker.model.label}"
                failures += await pile.fill(asker, own, lambda job: evidence.ask(asker, job), doing, quiet=quiet)
                said += sum(pile.known(key) is not None for key in own)
        return Probed(said, failures)

    found = [with_asker(model, 1, concurrency, budget, Caches(cache, opened.folder), work) for model in models]
    return Probed(sum(one.said for one in found), [failure for one in found for failure in one.failures])


def _standard_sets(run: RunFolder) -> list[SampleSet]:
    """The run's standard sets. Raises UserError where it has none, and for a set that was changed."""
    entries = [entry for entry in run.config.sets if entry.name == entry.root]
    if not entries:
        raise UserError(f"{run.folder} has no standard set, whose questions could be asked about: evaluate one")
    return [_unchanged(run, entry) for entry in entries]


def _variants(run: RunFolder, source: SampleSet) -> Iterator[SampleSet]:
    """The sets of variants of a standard set, opened one by one. Raises UserError for one that was changed."""
    return (_unchanged(run, entry) for entry in run.config.sets if entry.root == source.name != entry.name)


def _unchanged(run: RunFolder, entry: SetEntry) -> SampleSet:
    opened = SampleSet(run.set_folder(entry))
    if opened.manifest.digest != entry.digest:
        raise InputError(opened.folder, None, "the set was changed since the run asked it: bring it back")
    return opened


def _check_model(run: RunFolder, asker: Asker, *, weighs: bool) -> None:
    """Raise UserError where a model is none of the run's, ModelError where it is to weigh texts and cannot."""
    known = {entry.label: entry.identity for entry in run.config.models}
    label = asker.model.label
    if label not in known:
        raise UserError(f"{run.folder} has no model {label}{did_you_mean(label, known)}: it has {', '.join(known)}")
    if digest(known[label]) != digest(asker.model.identity):
        raise UserError(f"{label} is set up otherwise in {run.folder}: give -m as `mmdyn eval` was given it")
    if weighs and not asker.model.weighs:
        raise ModelError(f"{label} tells no log-probabilities of texts: ask an hf:, vllm: or completions: model")
