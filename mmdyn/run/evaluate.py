"""Sets, models and conditions in; a run folder out."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mmdyn.data.load import is_set
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError
from mmdyn.models.budget import Budget, open_budget
from mmdyn.models.device import installed
from mmdyn.models.model import Model, open_model
from mmdyn.prompts import Template, templates_digest
from mmdyn.record import Condition
from mmdyn.run.executors import open_executor
from mmdyn.run.executors._executor import Engine, Executor, Job
from mmdyn.run.plan import check_sets, count, parse_conditions, plan
from mmdyn.run.sets import Given, make_variants, open_sets
from mmdyn.scoring.scorer import Scorer
from mmdyn.work.run_folder import RUN, ModelEntry, RunConfig, RunFolder, SetEntry, write_config
from mmdyn.work.store import Store
from perturb.chains import parse_chains
from perturb.pipeline import perturb

FREE = ("planned", "skipped", "scorer", "limit", "versions")
"""What of run.json may differ when a run goes on; `limit` may grow."""


def evaluate(
    sets: Given | Sequence[Given],
    models: str | Sequence[str],
    out: str | Path,
    *,
    modes: str | Sequence[str] = (),
    styles: str | Sequence[str] = "direct",
    policy: str = "mdk12",
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
    """Ask every model every sample under every mode and style, score the replies and record them in `out`.

    A set is an opened one, a set folder, or a file of any format. With `ops` the variants are made on the way and kept
    under out/sets. Called again with the same arguments it goes on where it stopped.

    `executor`: local (this process), accelerate (processes of a launcher, whose RANK and WORLD_SIZE choose it by themselves;
    `partition` shares the asks out) or ray (`replicas` of each model on the cluster at `address`, with `gpus` each).
    `prices`: a file as `read_prices` reads it, for what the replies cost. `max_cost`, `max_requests`: limits of this call.
    Raises UserError for settings that do not fit, ModelError for a model that cannot be asked, Stopped at a limit.
    """
    sets, models, modes, styles = several(sets), several(models), several(modes), several(styles)
    doer = open_executor(executor, address=address, replicas=replicas, gpus=gpus, partition=partition)
    check(sets, out, modes, styles, ops, epochs=epochs, limit=1 if limit is None else limit, concurrency=concurrency)
    vary = partial(perturb, ops=ops, draws=draws, seed=seed, workers=workers, concurrency=concurrency)
    vary = partial(vary, rewriter=rewriter, style_backend=style_backend, limit=limit, quiet=quiet)
    job = Job(
        out=Path(out),
        models=tuple(models),
        modes=tuple(modes),
        styles=tuple(styles),
        epochs=epochs,
        limit=limit,
        policy=policy,
        prompt=read_prompt(Path(prompt), modes, styles) if prompt else "",
        concurrency=concurrency,
        use_cache=use_cache,
        quiet=quiet,
    )
    budget = open_budget(prices, max_cost, max_requests).share(doer.ranks.number, doer.ranks.size)
    _carry_out(job, sets, doer, ops, vary, budget)
    return RunFolder(out)


def _carry_out(
    job: Job,
    sets: Sequence[Given],
    doer: Executor,
    ops: str,
    vary: Callable[[SampleSet, Path], SampleSet],
    budget: Budget,
) -> None:
    """Bring the sets together, write run.json and ask."""
    scorer, models = Scorer(job.policy), _open_models(job.models)
    budget.check(models)
    with Store(job.out / "records", doer.ranks.writer) as store:
        opened = open_sets(sets, job.out, doer.ranks)
        if ops:
            _check_limit(job, ops)
            opened += [*make_variants(opened, job.out, vary)]
        doer.meet(store)
        if doer.ranks.number:
            opened = [SampleSet(one.folder) for one in opened]  # the first rank may have written variants anew
        conditions = conditions_of(job, opened)
        check_sets(opened, conditions)
        planned, skipped = count(plan(opened, conditions, job.epochs, job.limit))
        job = replace(job, sets=tuple(one.folder for one in opened), conditions=conditions, planned=planned)
        _begin(job.out, _config(job, opened, models, scorer, skipped, ops), write=not doer.ranks.number)
        doer.run(Engine(job, opened, models, store, budget))


def several(given: Any) -> list[Any]:
    """One given thing, or several of them, as a list."""
    return [given] if isinstance(given, str | Path | SampleSet) else list(given)


def check(
    sets: Sequence[Given], out: str | Path, modes: Sequence[str], styles: Sequence[str], ops: str, **numbers: int
) -> None:
    """Raise UserError for what can be told before anything is written."""
    parse_conditions(modes, styles)
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
    labels = [model.label for model in models]
    if not models:
        raise UserError("no model is named: give one, such as baseline:lexical")
    if len(set(labels)) < len(labels):
        raise UserError(f"two models are called {', '.join(labels)}: tell them apart with label=")
    return models


def _modes_of(sets: Sequence[SampleSet]) -> list[str]:
    made = {opened.manifest.parent is not None for opened in sets}
    return [mode for mode, is_made in (("standard", False), ("dynamic", True)) if is_made in made]


def conditions_of(job: Job, sets: Sequence[SampleSet]) -> tuple[Condition, ...]:
    """A job's modes in its styles; without modes those that the sets hold."""
    conditions = parse_conditions(job.modes or _modes_of(sets), job.styles)
    return tuple(replace(condition, style="custom") for condition in conditions) if job.prompt else conditions


def _config(
    job: Job, sets: Sequence[SampleSet], models: Sequence[Model], scorer: Scorer, skipped: dict[str, int], ops: str
) -> RunConfig:
    return RunConfig(
        sets=tuple(SetEntry(s.name, s.root, _relative(s.folder, job.out), s.manifest.digest) for s in sets),
        models=tuple(ModelEntry(model.label, model.identity) for model in models),
        conditions=job.conditions,
        epochs=job.epochs,
        limit=job.limit,
        prompts=templates_digest(Template(job.prompt) if job.prompt else None),
        prompt=job.prompt,
        ops=ops,
        versions=_versions(models),
        scorer=scorer.name,
        planned=job.planned * len(models),
        skipped=skipped,
    )


def _versions(models: Sequence[Model]) -> dict[str, str]:
    """Of what a run was made with, and of what computes for models on this machine."""
    local = any(model.identity.get("backend") in ("hf", "vllm") for model in models)
    libraries = installed("torch", "transformers", "tokenizers", "vllm") if local else {}
    return {"mmdyn": version("mmdyn"), "python": platform.python_version(), **libraries}


def _relative(folder: Path, out: Path) -> str:
    folder, out = folder.resolve(), out.resolve()
    return folder.relative_to(out).as_posix() if folder.is_relative_to(out) else folder.as_posix()


def _check_limit(job: Job, ops: str) -> None:
    """Raise UserError where the variants of a run were made for another limit."""
    before = RunFolder(job.out).config if (job.out / RUN).is_file() else None
    if before and before.ops == ops and before.limit != job.limit:
        raise UserError(f"{job.out} holds variants made with another --limit, which --ops fixes: choose another -o")


def _begin(out: Path, config: RunConfig, *, write: bool) -> None:
    """Write run.json where that is this process's task. Raises UserError where it is there and speaks of another run, and where there is nothing to ask."""
    if not config.planned:
        raise UserError(
            "there is nothing to ask: a set needs samples, kprag samples with knowledge points, likelihood single choices or statements"
        )
    if (out / RUN).is_file():
        before = RunFolder(out).config
        names = RunConfig.__struct_fields__
        differing = [name for name in names if name not in FREE and getattr(before, name) != getattr(config, name)]
        if [entry.digest for entry in before.sets] == [entry.digest for entry in config.sets]:
            differing = [name for name in differing if name != "sets"]  # they were moved
        endless = float("inf")
        if (before.limit or endless) > (config.limit or endless):
            differing.append("(larger) limit")
        if differing:
            what = " and ".join(differing)
            raise UserError(f"{out} holds a run with other {what}: choose another -o, or ask the same as before")
    if write:
        write_config(out, config)


def read_prompt(file: Path, modes: Sequence[str], styles: Sequence[str]) -> str:
    """The text of the user's own template. Raises UserError where it cannot be read or does not fit."""
    if tuple(styles) != ("direct",):
        raise UserError("--prompt is a style of its own: leave --style out")
    try:
        custom = Template.parse(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read as a prompt ({error}): give a UTF-8 text file") from None
    if "{knowledge}" not in custom.text and any("kprag" in mode for mode in modes):
        raise UserError(
            f"{file} does not contain {{knowledge}}, which kprag needs: put it where the knowledge should stand"
        )
    return custom.text
