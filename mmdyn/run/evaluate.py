"""Sets, models and conditions in; a run folder out."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mmdyn.context import NONE, Context
from mmdyn.data import SampleSet, is_set
from mmdyn.errors import UserError
from mmdyn.keys import Json
from mmdyn.models import NO_WEIGHING, Budget, Model, installed, open_budget, open_model
from mmdyn.prompts import Template, templates_digest
from mmdyn.record import Condition
from mmdyn.run.active_scores import begun, scoring_of, settle
from mmdyn.run.conditions import ConditionSpec
from mmdyn.run.context_providers import ContextProviders
from mmdyn.run.executors import open_executor
from mmdyn.run.executors._executor import Engine, Executor, Job
from mmdyn.run.judges import Judging, open_cascade
from mmdyn.run.knowledge_config import KnowledgeConfig
from mmdyn.run.plan import check_hints, check_sets, count, plan
from mmdyn.run.render import LIKELIHOOD
from mmdyn.run.sets import Given, entry_of, make_variants, open_sets, run_store, several
from mmdyn.scoring import Scorer
from mmdyn.work import RUN, ModelEntry, RunConfig, RunFolder, Scoring, write_config
from perturb import parse_chains, perturb

OWN_POINTS = KnowledgeConfig()
"""Each set's own knowledge points, as they come."""

FREE = ("planned", "skipped", "scorer", "judges", "judge_mode", "under_way", "limit", "versions", "library")
"""What of run.json may differ when a run goes on; `limit` may grow."""


def evaluate(
    sets: Given | Sequence[Given],
    models: str | Sequence[str],
    out: str | Path,
    *,
    modes: str | Sequence[str] = (),
    contexts: str | Sequence[str] = (),
    styles: str | Sequence[str] = "direct",
    knowledge: str | Sequence[str] = (),
    elaborate: str | Sequence[str] = (),
    library: KnowledgeConfig = OWN_POINTS,
    policy: str = "mdk12",
    judges: str | Sequence[str] = (),
    judge_mode: str = "unsure",
    votes: int = 1,
    rubric: str = "auto",
    judge_pictures: bool = False,
    else_rules: bool = False,
    prompt: str | Path | None = None,
    ops: str = "",
    draws: int = 1,
    seed: int = 0,
    rewriter: str = "embedded",
    style_backend: str = "embedded",
    workers: int = 1,
    epochs: int = 1,
    limit: int | None = None,
    concurrency: int = 32,
    use_cache: bool = True,
    prices: str | Path | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    executor: str = "local",
    address: str = "",
    replicas: int = 1,
    gpus: float | None = None,
    partition: str = "cost",
    quiet: bool = False,
) -> RunFolder:
    """Ask every model every sample under every mode, context and style, score the replies and record them in `out`.

    A set is an opened one, a set folder, or a file of any format. With `ops` the variants are made on the way and kept
    under out/sets. Called again with the same arguments it goes on where it stopped. `modes` to `elaborate`: as
    `parse_conditions` reads them; `library`: where knowledge comes from. `judges` to `else_rules`: as `Judging` has
    them; judges' scores come into force when no verdict is missing. `executor` to `partition`: as for `open_executor`.
    `prices`: a file as `read_prices` reads it. `max_cost`, `max_requests`: limits of this call. Raises UserError for
    settings that do not fit, ModelError for a model that cannot be asked, Stopped at a limit.
    """
    sets = several(sets)
    wanted = ConditionSpec(*map(several, (modes, styles, contexts, knowledge, elaborate)))
    chosen = open_executor(executor, address=address, replicas=replicas, gpus=gpus, partition=partition)
    check(sets, out, wanted.styles, ops, epochs=epochs, limit=1 if limit is None else limit, concurrency=concurrency)
    library.check(wanted.conditions(), limited=max_cost is not None or max_requests is not None)
    vary = partial(perturb, ops=ops, draws=draws, seed=seed, workers=workers, concurrency=concurrency)
    vary = partial(vary, rewriter=rewriter, style_backend=style_backend, limit=limit, quiet=quiet)
    judging = Judging(several(judges), judge_mode, votes, rubric, judge_pictures, else_rules)
    text = read_prompt(prompt, wanted.conditions())
    asked = Path(out), several(models), wanted, epochs, limit, policy, text, concurrency, use_cache, quiet
    budget = open_budget(prices, max_cost, max_requests).share(chosen.ranks.number, chosen.ranks.size)
    return _carry_out(Job(*asked, judging, library.seeded(seed)), sets, chosen, ops, vary, budget)


def _carry_out(
    job: Job,
    sets: Sequence[Given],
    executor: Executor,
    ops: str,
    vary: Callable[[SampleSet, Path], SampleSet],
    budget: Budget,
) -> RunFolder:
    """Bring the sets together, write run.json and ask."""
    scorer, models = Scorer(job.policy), _open_models(job.models)
    check_weighing(models, job.wanted.styles)
    settings: dict[str, Any] = {"concurrency": job.concurrency, "use_cache": job.use_cache, "budget": budget}
    with open_cascade(scorer, job.judging, **settings) as cascade, ExitStack() as stores:
        budget.check([*models, *(judge.asker.model for judge in cascade.judges)])
        store = stores.enter_context(run_store(job.out, executor.ranks))
        opened = open_sets(sets, job.out, executor.ranks)
        if ops:
            _check_limit(job, ops)
            opened += [*make_variants(opened, job.out, vary)]
        executor.meet(store)
        if executor.ranks.number:
            opened = [SampleSet(one.folder) for one in opened]  # the first rank may have written variants anew
        conditions = conditions_of(job, modes_of(opened))
        check_sets(opened, conditions)
        check_hints(opened, conditions)
        known = RunFolder(job.out).config.knowledge if executor.ranks.number else None
        providers = ContextProviders(opened, conditions, job.library, store, known, quiet=job.quiet)
        if not executor.ranks.number:
            _check_knowledge(job.out, providers.settings)
            providers.look_up(job.limit)
        asks = plan(opened, conditions, job.epochs, job.limit, providers.by_set)
        planned, skipped = count(asks, cascade.check)
        job = replace(job, sets=tuple(one.folder for one in opened), conditions=conditions, planned=planned)
        config = _config(job, opened, models, skipped, ops, providers.settings)
        _begin(job.out, config, scoring_of(cascade), write=not executor.ranks.number)
        executor.run(Engine(job, opened, models, store, budget, cascade, providers.by_set))
        if cascade.judges and not executor.ranks.number:
            settle(RunFolder(job.out), store, cascade, else_rules=job.judging.else_rules)
    return RunFolder(job.out)


def check(sets: Sequence[Given], out: str | Path, styles: Sequence[str], ops: str, **numbers: int) -> None:
    """Raise UserError for what can be told before anything is written."""
    for what, number in numbers.items():
        if number < 1:
            raise UserError(f"{what} is {number}: give 1 or more")
    if not sets or not styles:
        raise UserError("name at least one set and one style")
    for given in sets:
        if not isinstance(given, SampleSet) and not Path(given).exists():
            raise UserError(f"{given}: no such file or folder in {Path.cwd()}: check the path")
    if is_set(Path(out)):
        raise UserError(f"{out} is a set: choose another folder for the run")
    if ops:
        parse_chains(ops)


def _open_models(texts: Sequence[str]) -> list[Model]:
    models = [open_model(text) for text in texts]
    check_labels([model.label for model in models])
    return models


def check_weighing(models: Sequence[Model], styles: Sequence[str]) -> None:
    """Raise UserError where options are to be weighed and a model cannot."""
    if LIKELIHOOD in styles and (unable := [model.label for model in models if not model.weighs]):
        raise UserError(f"{unable[0]} {NO_WEIGHING}")


def check_labels(labels: Sequence[str]) -> None:
    """Raise UserError where there is no model, or where reports could not tell two of them apart."""
    if not labels:
        raise UserError("no model is named: give one, such as baseline:lexical")
    if twice := [label for label, count in Counter(labels).items() if count > 1]:
        raise UserError(f"two models are called {twice[0]}: tell them apart with label=")


def modes_of(sets: Sequence[SampleSet]) -> list[str]:
    """The modes that ask what the sets hold, with nothing beside it."""
    made = {opened.manifest.parent is not None for opened in sets}
    return [mode for mode, is_made in (("standard", False), ("dynamic", True)) if is_made in made]


def conditions_of(job: Job, usual: Sequence[str]) -> tuple[Condition, ...]:
    """A job's modes, crossed with its contexts and styles; the `usual` modes where it names none."""
    conditions = job.wanted.conditions(usual)
    return tuple(replace(condition, style="custom") for condition in conditions) if job.prompt else conditions


def _config(
    job: Job,
    sets: Sequence[SampleSet],
    models: Sequence[Model],
    skipped: dict[str, int],
    ops: str,
    knowledge: dict[str, Json],
) -> RunConfig:
    return RunConfig(
        sets=tuple(entry_of(opened, job.out) for opened in sets),
        models=tuple(ModelEntry(model.label, model.identity) for model in models),
        conditions=job.conditions,
        epochs=job.epochs,
        limit=job.limit,
        prompts=templates_digest(Template(job.prompt) if job.prompt else None),
        prompt=job.prompt,
        ops=ops,
        versions=_versions(models),
        planned=job.planned * len(models),
        skipped=skipped,
        knowledge=knowledge,
        library=job.library.words if knowledge else {},
    )


def _versions(models: Sequence[Model]) -> dict[str, str]:
    """Of what a run was made with, and of what computes for models on this machine."""
    local = any(model.identity.get("backend") in ("hf", "vllm") for model in models)
    libraries = installed("torch", "transformers", "tokenizers", "vllm") if local else {}
    return {"mmdyn": version("mmdyn"), "python": platform.python_version(), **libraries}


def _check_limit(job: Job, ops: str) -> None:
    """Raise UserError where the variants of a run were made for another limit."""
    before = RunFolder(job.out).config if (job.out / RUN).is_file() else None
    if before and before.ops == ops and before.limit != job.limit:
        made = f"--limit {before.limit}" if before.limit else "no --limit"
        raise UserError(
            f"{job.out} holds variants made with {made}, which cannot change where --ops makes them: give {made} again,"
            " or choose another -o"
        )


def _check_knowledge(out: Path, settings: dict[str, Json]) -> None:
    """Raise UserError where a run is there that lays other knowledge beside its questions, before any is looked up."""
    if (out / RUN).is_file() and RunFolder(out).config.knowledge != settings:
        raise UserError(f"{out} holds a run with other knowledge: choose another -o, or ask the same as before")


def _begin(out: Path, config: RunConfig, asked: Scoring, *, write: bool) -> None:
    """Write run.json where that is this process's task. Raises UserError where it is there and speaks of another run,
    and where there is nothing to ask."""
    if not config.planned:
        raise UserError(
            "there is nothing to ask: a set needs samples, kprag samples with knowledge points, retrieved ones a --base"
            " or points of the set's own, a hint samples that have it, likelihood single choices or statements"
        )
    run = RunFolder(out) if (out / RUN).is_file() else None
    if run is not None:
        before = run.config
        names = RunConfig.__struct_fields__
        differing = [name for name in names if name not in FREE and getattr(before, name) != getattr(config, name)]
        if [entry.digest for entry in before.sets] == [entry.digest for entry in config.sets]:
            differing = [name for name in differing if name != "sets"]  # they were moved
        endless = float("inf")
        if (before.limit or endless) > (config.limit or endless):
            differing.append("(larger) limit")
        if differing:
            what, scored = " and ".join(differing), ""
            if differing == ["sets"] and [entry.name for entry in before.sets] == [entry.name for entry in config.sets]:
                scored = f" (`mmdyn score {out}` scores what was asked by answers that changed)"
            raise UserError(
                f"{out} holds a run with other {what}: choose another -o, or ask the same as before{scored}"
            )
    if write:
        write_config(out, begun(config, asked, run))


def read_prompt(name: str | Path | None, conditions: Sequence[Condition]) -> str:
    """The text of the user's own template, empty where there is none. Raises UserError where it cannot be read or does
    not fit."""
    if not name:
        return ""
    file = Path(name)
    if any(condition.style != "direct" for condition in conditions):
        raise UserError("--prompt is a style of its own: leave --style out")
    try:
        custom = Template.parse(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read as a prompt ({error}): give a UTF-8 text file") from None
    beside = [condition.context for condition in conditions if condition.context != NONE]
    ways = [replace(found, elaborate="none") for found in map(Context.parse, beside) if found.elaborate != "two-turn"]
    if any(ways.count(one) > 1 for one in ways if one.source):
        raise UserError(f"{file} says itself whether to elaborate: ask one of inline and none with --prompt")
    if "{knowledge}" not in custom.text and beside:
        raise UserError(
            f"{file} does not contain {{knowledge}}, which {beside[0]} needs: put it where the knowledge should stand"
        )
    return custom.text
