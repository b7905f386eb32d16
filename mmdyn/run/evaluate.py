"""Sets, models and conditions in; a run folder out."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mmdyn.data.load import is_set
from mmdyn.data.set_folder import SampleSet
from mmdyn.errors import UserError
from mmdyn.models.asker import Asker
from mmdyn.models.cache import open_cache
from mmdyn.models.model import Model, open_model
from mmdyn.prompts import Template, templates_digest
from mmdyn.record import Condition
from mmdyn.run.plan import Ask, Skip, check_sets, count, parse_conditions, plan
from mmdyn.run.render import Renderer
from mmdyn.run.runner import Runner
from mmdyn.run.sets import Given, make_variants, open_sets
from mmdyn.scoring.scorer import Scorer
from mmdyn.work.progress import ProgressBar
from mmdyn.work.run_folder import RUN, ModelEntry, RunConfig, RunFolder, SetEntry, write_config
from mmdyn.work.store import Store
from perturb.chains import parse_chains
from perturb.pipeline import perturb

WAITING = 4
"""Asks under way for each one in flight: those that wait to be asked again leave their place to others."""

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
    quiet: bool = False,
) -> RunFolder:
    """Ask every model every sample under every mode and style, score the replies and record them in `out`.

    A set is an opened one, a set folder, or a file of any format. With `ops` the variants are made on the way and kept
    under out/sets. Called again with the same arguments it goes on where it stopped.
    Raises UserError for settings that do not fit, ModelError for a model that cannot be asked.
    """
    sets, models, modes, styles = _several(sets), _several(models), _several(modes), _several(styles)
    _check(sets, out, modes, styles, ops, epochs=epochs, limit=1 if limit is None else limit, concurrency=concurrency)
    scorer, asked, out = Scorer(policy), _open_models(models), Path(out)
    custom = _read_prompt(Path(prompt), modes, styles) if prompt else None
    with Store(out / "records") as store:
        opened = open_sets(sets, out)
        if ops:
            vary = partial(perturb, ops=ops, draws=draws, seed=seed, workers=workers, concurrency=concurrency)
            vary = partial(vary, rewriter=rewriter, style_backend=style_backend, limit=limit, quiet=quiet)
            opened += [*make_variants(opened, out, vary)]
        conditions = _conditions(modes or _modes_of(opened), styles, custom)
        check_sets(opened, conditions)
        config = _config(
            opened, asked, conditions, out, epochs=epochs, limit=limit, ops=ops, custom=custom, scorer=scorer
        )
        _begin(out, config)
        renderers = [Renderer(s.images, _texts(s), custom) for s in opened]
        with ProgressBar("asking", config.planned, quiet=quiet) as progress:
            runner = Runner(opened, renderers, store, scorer, progress)
            for model in asked:
                _run(_ask(runner, model, plan(opened, conditions, epochs, limit), concurrency, use_cache))
    return RunFolder(out)


def _several(given: Any) -> list[Any]:
    return [given] if isinstance(given, str | Path | SampleSet) else list(given)


def _check(
    sets: Sequence[Given], out: str | Path, modes: Sequence[str], styles: Sequence[str], ops: str, **numbers: int
) -> None:
    """What can be told before anything is written."""
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


def _run(asking: Coroutine[Any, Any, None]) -> None:
    """Run to the end; in a thread of its own where a loop is running already, as in a notebook. An interrupt stops either."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(asking)
        return
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def tell_and_ask() -> None:
        task = asyncio.current_task()
        assert task is not None
        started.append((asyncio.get_running_loop(), task))
        await asking

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(asyncio.run, tell_and_ask())
        try:
            done.result()
        except KeyboardInterrupt:
            for loop, task in started:
                loop.call_soon_threadsafe(task.cancel)
            raise


async def _ask(runner: Runner, model: Model, asks: Iterator[Ask | Skip], concurrency: int, use_cache: bool) -> None:
    cache = open_cache() if use_cache and model.cached else None
    asker = Asker(model, concurrency=concurrency, cache=cache)
    try:
        await runner.run(asker, asks, in_flight=WAITING * asker.concurrency)
    finally:
        try:
            await asker.close()
        finally:
            if cache:
                cache.close()


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


def _conditions(modes: Sequence[str], styles: Sequence[str], custom: Template | None) -> tuple[Condition, ...]:
    conditions = parse_conditions(modes, styles)
    return tuple(replace(condition, style="custom") for condition in conditions) if custom else conditions


def _config(
    sets: Sequence[SampleSet],
    models: Sequence[Model],
    conditions: tuple[Condition, ...],
    out: Path,
    *,
    epochs: int,
    limit: int | None,
    ops: str,
    custom: Template | None,
    scorer: Scorer,
) -> RunConfig:
    planned, skipped = count(plan(sets, conditions, epochs, limit))
    return RunConfig(
        sets=tuple(SetEntry(s.name, s.root, _relative(s.folder, out), s.manifest.digest) for s in sets),
        models=tuple(ModelEntry(model.label, model.identity) for model in models),
        conditions=conditions,
        epochs=epochs,
        limit=limit,
        prompts=templates_digest(custom),
        prompt=custom.text if custom else "",
        ops=ops,
        versions={"mmdyn": version("mmdyn"), "python": platform.python_version()},
        scorer=scorer.name,
        planned=planned * len(models),
        skipped=skipped,
    )


def _relative(folder: Path, out: Path) -> str:
    folder, out = folder.resolve(), out.resolve()
    return folder.relative_to(out).as_posix() if folder.is_relative_to(out) else folder.as_posix()


def _begin(out: Path, config: RunConfig) -> None:
    """Write run.json. Raises UserError where it is there and speaks of another run, and where there is nothing to ask."""
    if not config.planned:
        raise UserError("there is nothing to ask: a set needs samples, and kprag needs samples with knowledge points")
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
    write_config(out, config)


def _read_prompt(file: Path, modes: Sequence[str], styles: Sequence[str]) -> Template:
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
    return custom


def _texts(opened: SampleSet) -> dict[str, str]:
    return {point.point: point.text for point in opened.knowledge()}
