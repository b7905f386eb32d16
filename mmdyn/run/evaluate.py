"""Evaluates models on sets under conditions, into a run folder."""

from __future__ import annotations

import platform
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from itertools import chain
from math import inf
from pathlib import Path
from typing import get_args

from msgspec import UNSET
from msgspec.structs import replace

import perturb
from mmdyn.data import Given, SampleSet, unsure_form
from mmdyn.errors import UserError, command_line
from mmdyn.keys import Json, canonical
from mmdyn.models import NO_WEIGHING, Budget, Model, installed, open_model, read_listings
from mmdyn.prompts import Template, templates_digest
from mmdyn.run.conditions import ConditionSpec
from mmdyn.run.context_providers import ContextProviders
from mmdyn.run.execution import Execution, Limits
from mmdyn.run.executors import open_executor
from mmdyn.run.executors._executor import Engine, Executor, Job, open_providers
from mmdyn.run.grader import begun, settle
from mmdyn.run.plan import check_hints, check_sets, count
from mmdyn.run.render import LIKELIHOOD, own_instructions
from mmdyn.run.request import Requested, RunRequest, own_jobs
from mmdyn.run.sets import GivenModel, entry_of, holds_any, open_sets, run_store, several, variants_folder
from mmdyn.run.settings import KnowledgeConfig, ScoringConfig, open_cascades
from mmdyn.sample import VariantKind
from mmdyn.scoring import Cascade
from mmdyn.work import (
    FAILURE,
    LOG,
    RECORD,
    RUN,
    Evaluator,
    ModelEntry,
    RunConfig,
    RunFolder,
    Served,
    run_log,
    run_to_the_end,
    spelt,
    write_config,
)


def read_served(models: Iterable[Model], judges: Iterable[Model]) -> Served:
    """Each model's entry in its server's list, by label (`judge LABEL` for a judge), if the server lists any."""
    named = {model.label: model for model in models} | {f"judge {judge.label}": judge for judge in judges}
    run_to_the_end(read_listings(named.values()))
    listings = {name: getattr(model, "listing", None) for name, model in named.items()}
    return {name: (listing.entry,) for name, listing in listings.items() if listing is not None and listing.entry}


def still_served(folder: Path, before: Served, now: Served, *, changed_model: bool) -> Served:
    """The server entries of a run, with the current ones added.

    Args:
        folder: The run's.
        before: What its run.json says.
        now: What `read_served` found.
        changed_model: Whether an entry may have changed.

    Raises:
        UserError: a server lists a different model under the same name.
    """
    known = dict(before)
    for name, (entry,) in now.items():
        entries = known.get(name, ())
        if entries and entries[-1] != entry and not changed_model:
            raise UserError(
                f"the server of {name} has another model under this name than when {folder} was begun ({spelt(entry)};"
                f" {spelt(entries[-1])} before): choose another -o, or go on with --changed-model"
            )
        if not entries or entries[-1] != entry:
            known[name] = (*entries, entry)
    return known


FREE = (
    "planned",
    "skipped",
    "scorer",
    "judges",
    "judge_mode",
    "under_way",
    "evaluators",
    "limit",
    "versions",
    "library",
    "beside",
    "cache",
    "served",
    "merged_from",
)
"""The fields of run.json that may differ when a run resumes; `limit` may grow, or shrink if nothing was answered."""


def evaluate(
    sets: Requested | Sequence[Requested],
    models: GivenModel | Sequence[GivenModel],
    out: str | Path,
    *,
    conditions: ConditionSpec = ConditionSpec(),
    scoring: ScoringConfig = ScoringConfig(),
    knowledge: KnowledgeConfig = KnowledgeConfig(),
    limits: Limits = Limits(),
    execution: Execution = Execution(),
) -> RunFolder:
    """Ask every model every sample under every condition, score the replies, and record them in `out`.

    The same call resumes where it stopped. Judges' scores count once every verdict is there. The five groups of
    settings are the sections of a YAML config and of `mmdyn eval --help`.

    Args:
        sets: Opened sets, set folders, files of any format, or lists of samples; a SetRequest gives one of them
            settings of its own.
        models: MODELs, objects with `ask`, or functions of the messages (docs/programs.md).
        out: The run's folder. Variants that `conditions.ops` makes are kept under out/sets.
        conditions: What is asked in which way.
        scoring: By which rules and judges replies are scored.
        knowledge: Where knowledge comes from, and how it is shown.
        limits: How many questions, requests and costs.
        execution: Who carries it out.

    Returns:
        The run.

    Raises:
        UserError: Settings do not fit.
        ModelError: A model cannot be asked.
        Stopped: A limit was reached.

    >>> hexagon = {"id": "hexagon", "question": "How many sides does a hexagon have?", "task_type": "single_choice"}
    >>> hexagon |= {"answer": ["B"], "options": [{"label": "A", "text": "five"}, {"label": "B", "text": "six"}]}
    >>> run = evaluate([[hexagon]], lambda messages: "Answer: B", "run", execution=Execution(quiet=True))
    >>> [(record.sample, record.reply.text, record.score.value) for record in run.records()]
    [('hexagon', 'Answer: B', 1.0)]
    """
    return run_request(
        RunRequest(
            several(sets), several(models), Path(out), conditions=conditions, scoring=scoring, knowledge=knowledge,
            limits=limits, execution=execution,
        )
    )  # fmt: skip


def run_request(request: RunRequest) -> RunFolder:
    """Carry out what is asked for. Raises as `evaluate` does."""
    executor = open_executor(request.execution)
    job, jobs = request.jobs()
    budget = request.limits.budget.share(executor.ranks.number, executor.ranks.size)
    return _carry_out(job, jobs, request.plain_sets, executor, budget)


def _carry_out(
    job: Job, jobs: Sequence[Job | None], sets: Sequence[Given], executor: Executor, budget: Budget
) -> RunFolder:
    """Open the sets, write run.json and ask. jobs: each set's own job, or None."""
    models, is_first = _open_models(job.models), not executor.ranks.number
    every = [one or job for one in jobs]
    for one in every:
        check_weighing(models, one.spec.styles)
    concurrency, caches, scorings = job.limits.concurrency, job.caches(), [one.scoring for one in every]
    with (
        open_cascades(scorings, concurrency=concurrency, caches=caches, budget=budget) as cascades,
        ExitStack() as stores,
    ):
        judges = [judge.asker.model for cascade in cascades.values() for judge in cascade.judges]
        budget.check([*models, *judges])
        store = stores.enter_context(run_store(job.out, executor.ranks))
        preparing = stores.enter_context(ExitStack())
        preparing.enter_context(executor.ranks.telling(store))
        heed = partial(executor.ranks.heed, store)
        opened = open_sets(sets, job.out, executor.ranks, heed, skip_bad=job.limits.skip_bad)
        job = replace(job, own=own_jobs(job, jobs, opened))
        if job.spec.makes_variants:
            if is_first:
                _check_limit(job, opened)
            opened += [vary(job, one, job.out) for one in opened]
        elif is_first and not job.execution.quiet and (unsure := unsure_form(opened)):
            print(unsure, file=sys.stderr)
        executor.meet(store)
        if not is_first:
            opened = [SampleSet(one.folder) for one in opened]  # the first rank may have written variants anew
        job = with_conditions(job, opened)
        conditions = job.conditions
        known = None if is_first else RunFolder(job.out).config.knowledge
        providers = open_providers(job, opened, conditions, store, known)
        if is_first:
            _check_knowledge(job.out, providers.settings)
            providers.look_up(job.question_limits(opened))
        engine = Engine(job, opened, models, store, budget, cascades, providers.by_set)
        asked, skipped = count(engine.plan(), lambda ask: engine.cascade(opened[ask.place].root).check(ask.sample))
        engine.job = job = replace(job, planned=asked)
        config = _config(job, opened, models, skipped, providers)
        if is_first:
            config = replace(config, served=read_served(models, judges))
        _begin(job, config, engine.cascade, write=is_first)
        preparing.close()
        with run_log(job.out, executor.ranks.number):
            who, what = [model.label for model in models], [condition.mode for condition in conditions]
            LOG.info("mmdyn %s: %d asks of %s in the modes %s", version("mmdyn"), config.planned, who, what)
            try:
                executor.run(engine)
            finally:
                store.flush()
                if is_first:
                    RunFolder(job.out).note_cache()
        for root in config.by_root if is_first else ():
            if (cascade := engine.cascade(root)).judges:
                settle(RunFolder(job.out), store, cascade, root, else_rules=job.of(root).scoring.else_rules)
    return RunFolder(job.out)


def vary(job: Job, source: SampleSet, out: Path) -> SampleSet:
    """Make the variants of a set for a job, kept under `out`."""
    spec, execution, concurrency = job.spec, job.execution, job.limits.concurrency
    return perturb.perturb(
        source,
        variants_folder(source, out),
        ops=spec.ops,
        draws=spec.draws,
        seed=spec.seed,
        rewriter=spec.rewriter,
        style_backend=spec.style_backend,
        judge=spec.variant_judge,
        workers=execution.workers,
        # A styler's default is higher than that of requests.
        concurrency=None if concurrency == Limits().concurrency else concurrency,
        cache=execution.cache,
        take=spec.take,
        limit=job.of(source.root).limits.n,
        quiet=execution.quiet,
    )


def _open_models(given: Sequence[GivenModel]) -> list[Model]:
    models = [open_model(text) for text in given]
    check_labels([model.label for model in models])
    return models


def check_weighing(models: Sequence[Model], styles: Sequence[str]) -> None:
    """Raise UserError if a model cannot weigh options and a style needs it."""
    if LIKELIHOOD in styles and (unable := [model.label for model in models if not model.weighs]):
        raise UserError(f"{unable[0]} {NO_WEIGHING}")


def check_labels(labels: Sequence[str]) -> None:
    """Raise UserError for no model, or for two with one label."""
    if not labels:
        raise UserError("no model is named: give one, such as baseline:lexical")
    if twice := [label for label, count in Counter(labels).items() if count > 1]:
        raise UserError(f"two models are called {twice[0]}: tell them apart with label=")


def with_conditions(job: Job, sets: Sequence[SampleSet]) -> Job:
    """The job and the sets' own jobs, with their conditions; the modes follow from the sets if the job names none.
    Raises UserError if the sets lack what the conditions ask."""
    made = {kind for opened in sets for kind in opened.manifest.variant_kinds}
    usual = [kind for kind in get_args(VariantKind) if kind in made]
    own = {root: replace(one, conditions=one.spec.conditions(usual)) for root, one in job.own.items()}
    each = [one.conditions for one in own.values()] or [job.spec.conditions(usual)]
    conditions = tuple(dict.fromkeys(chain.from_iterable(each)))
    check_sets(sets, conditions)
    check_hints(sets, conditions)
    return replace(job, conditions=conditions, own=own)


def _config(
    job: Job, sets: Sequence[SampleSet], models: Sequence[Model], skipped: dict[str, int], providers: ContextProviders
) -> RunConfig:
    asked = _evaluator(job)
    return RunConfig(
        sets=tuple(entry_of(opened, job.out) for opened in sets),
        models=tuple(ModelEntry(model.label, model.identity) for model in models),
        evaluators={root: _evaluator(one) for root, one in job.own.items()} or UNSET,
        epochs=job.spec.epochs,
        instructions=own_instructions(job.conditions),
        ops=str(job.spec.ops),
        versions=_versions(models),
        planned=job.planned * len(models),
        skipped=skipped,
        knowledge=providers.settings,
        library=job.knowledge.words if providers.settings else {},
        examples=providers.examples.settings,
        conditions=asked.conditions,
        limit=asked.limit,
        prompts=asked.prompts,
        prompt=asked.prompt,
    )


def _evaluator(job: Job) -> Evaluator:
    """What a job says of an Evaluator: all but the scores."""
    prompts = templates_digest(Template(job.prompt) if job.prompt else None)
    return Evaluator(conditions=job.conditions, limit=job.limits.n, prompts=prompts, prompt=job.prompt)


def _versions(models: Sequence[Model]) -> dict[str, str]:
    """Versions of mmdyn and Python, and of the libraries that local models need."""
    local = any(model.identity.get("backend") in ("hf", "vllm") for model in models)
    libraries = installed("torch", "transformers", "tokenizers", "vllm") if local else {}
    return {"mmdyn": version("mmdyn"), "python": platform.python_version(), **libraries}


def _check_limit(job: Job, sets: Sequence[SampleSet]) -> None:
    """Raise UserError if the variants of a set were made for another limit; if the new one is smaller and nothing was
    answered, they are removed and made anew."""
    if not (job.out / RUN).is_file():
        return
    run = RunFolder(job.out)
    if run.config.ops != job.spec.ops:
        return
    for one in sets:
        before, now = run.config.evaluator(one.root).limit, job.of(one.root).limits.n
        if _shrinks(before, now) and not _is_answered(run):
            shutil.rmtree(variants_folder(one, job.out), ignore_errors=True)
        elif before != now:
            made = f"--limit {before}" if before else "no --limit"
            raise UserError(
                f"{job.out} holds variants of {one.name} made with {made}, which cannot change where --ops makes them:"
                f" give {made} again, or choose another -o"
            )


def _check_knowledge(out: Path, settings: dict[str, Json]) -> None:
    """Raise UserError if the run in the folder has other knowledge, before any is looked up."""
    if (out / RUN).is_file() and RunFolder(out).config.knowledge != settings:
        raise UserError(f"{out} holds a run with other knowledge: choose another -o, or ask the same as before")


def _begin(job: Job, config: RunConfig, cascade: Callable[[str], Cascade], *, write: bool) -> None:
    """Write run.json if `write`. Raises UserError if the folder holds another run, or if there is nothing to ask."""
    if not config.planned:
        raise UserError(
            "there is nothing to ask: a set needs samples, kprag samples with knowledge points, retrieved ones a --base"
            " or points of the set's own, a hint samples that have it, likelihood single choices or statements, shots"
            " as many other samples"
        )
    out = job.out
    run = RunFolder(out) if (out / RUN).is_file() else None
    if run is not None:
        before = run.config
        changed = job.execution.changed_model
        config = replace(config, served=still_served(out, before.served, config.served, changed_model=changed))
        names = RunConfig.__struct_fields__
        differing = [
            name for name in names if name not in FREE and _unordered(before, name) != _unordered(config, name)
        ]
        roots = {entry.root for entry in config.sets}
        both = [(before.evaluator(root), config.evaluator(root)) for root in sorted(roots)]
        if any((one.conditions, one.prompts) != (other.conditions, other.prompts) for one, other in both) and (
            before.evaluators or config.evaluators
        ):
            differing.append("styles, shots or prompts of a set")
        shrinks, answered = any(_shrinks(one.limit, other.limit) for one, other in both), _is_answered(run)
        what = "name" if shrinks and not answered else "digest"  # fewer variants, or all of it was moved
        if {getattr(entry, what) for entry in before.sets} == {getattr(entry, what) for entry in config.sets}:
            differing = [name for name in differing if name != "sets"]
        if shrinks and answered:
            differing.append("(larger) limit")
        if differing:
            what, scored = " and ".join(differing), ""
            if differing == ["sets"] and [entry.name for entry in before.sets] == [entry.name for entry in config.sets]:
                scored = f" (`{command_line('mmdyn', 'score', out)}` scores what was asked by answers that changed)"
            now = {entry.digest for entry in config.sets}
            if "sets" in differing and (more := [one for one in before.sets if one.digest not in now]):
                named = " and ".join(str(run.set_folder(one)) for one in more)
                scored = scored or f" (it asked of {named}, too: name that among the sets)"
            raise UserError(
                f"{out} holds a run with other {what}: choose another -o, or ask the same as before{scored}"
            )
    if write:
        write_config(out, begun(config, cascade, run))


def _shrinks(before: int | None, now: int | None) -> bool:
    return (before or inf) > (now or inf)


def _is_answered(run: RunFolder) -> bool:
    return any(holds_any(run.records_folder, kind) for kind in (RECORD, FAILURE))


def _unordered(config: RunConfig, name: str) -> object:
    """The values of run.json with sets, models and conditions sorted (a merged run has its own order)."""
    value = getattr(config, name)
    return sorted(map(canonical, value)) if isinstance(value, tuple) else value
