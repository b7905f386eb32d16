"""Sets, models and conditions in; a run folder out."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

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
from mmdyn.work.run_folder import ModelEntry, RunConfig, RunFolder, SetEntry, write_config
from mmdyn.work.store import Store

FREE = ("planned", "skipped", "scorer", "limit", "versions")
"""What of run.json may differ when a run goes on."""


WAITING = 4
"""Asks under way for each one in flight: those that wait to be asked again leave their place to others."""


def evaluate(
    sets: Sequence[Given],
    models: Sequence[str],
    out: str | Path,
    *,
    modes: Sequence[str] = (),
    styles: Sequence[str] = ("direct",),
    policy: str = "mdk12",
    prompt: str | Path | None = None,
    ops: str = "",
    draws: int = 1,
    seed: int = 0,
    workers: int = 1,
    epochs: int = 1,
    limit: int | None = None,
    concurrency: int = 32,
    use_cache: bool = True,
    quiet: bool = False,
) -> RunFolder:
    """Ask every model every sample under every mode and style, score the replies and record them in `out`.

    A set is an opened one, a set folder, or a file of any format. With `ops` the variants are made on the way and kept
    under out/sets. Called again with the same arguments it goes on where it stopped. Raises UserError for settings that do not fit, ModelError for a model that cannot be asked.
    """
    scorer = Scorer(policy)
    asked = _open_models(models)
    out = Path(out)
    with Store(out / "records") as store:
        opened = open_sets(sets, out)
        if ops:
            opened += [
                *make_variants(opened, out, ops=ops, draws=draws, seed=seed, workers=workers, limit=limit, quiet=quiet)
            ]
        conditions = parse_conditions(modes or _modes_of(opened), styles)
        check_sets(opened, conditions)
        custom = _read_prompt(Path(prompt), conditions) if prompt else None
        planned, skipped = count(plan(opened, conditions, epochs, limit))
        config = RunConfig(
            sets=tuple(SetEntry(s.name, s.root, _relative(s.folder, out), s.manifest.digest) for s in opened),
            models=tuple(ModelEntry(model.label, model.identity) for model in asked),
            conditions=conditions,
            epochs=epochs,
            limit=limit,
            prompts=templates_digest(custom),
            ops=ops,
            versions={"mmdyn": version("mmdyn"), "python": platform.python_version()},
            scorer=scorer.name,
            planned=planned * len(asked),
            skipped=skipped,
        )
        _begin(out, config)
        renderers = [Renderer(s.images, _texts(s), custom) for s in opened]
        with ProgressBar("asking", config.planned, quiet=quiet) as progress:
            runner = Runner(opened, renderers, store, scorer, progress)
            for model in asked:
                asks = plan(opened, conditions, epochs, limit)
                _run(_ask(runner, model, asks, concurrency, use_cache))
    return RunFolder(out)


def _run(asking: Coroutine[Any, Any, None]) -> None:
    """Run to the end; in a thread of its own where a loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(asking)
        return
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, asking).result()


async def _ask(runner: Runner, model: Model, asks: Iterator[Ask | Skip], concurrency: int, use_cache: bool) -> None:
    cache = open_cache() if use_cache and model.cached else None
    asker = Asker(model, concurrency=concurrency, cache=cache)
    try:
        await runner.run(asker, asks, in_flight=WAITING * asker.concurrency)
    finally:
        await asker.close()
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


def _relative(folder: Path, out: Path) -> str:
    folder, out = folder.resolve(), out.resolve()
    return folder.relative_to(out).as_posix() if folder.is_relative_to(out) else folder.as_posix()


def _begin(out: Path, config: RunConfig) -> None:
    """Write run.json. Raises UserError where it is there and speaks of another run, and where there is nothing to ask."""
    if not config.planned:
        raise UserError("there is nothing to ask: a set needs samples, and kprag needs samples with knowledge points")
    if (out / "run.json").is_file():
        before = RunFolder(out).config
        differing = [
            name
            for name in RunConfig.__struct_fields__
            if name not in FREE and getattr(before, name) != getattr(config, name)
        ]
        if differing:
            raise UserError(
                f"{out} holds a run with other {' and '.join(differing)}: choose another -o, or ask the same as before"
            )
    write_config(out, config)


def _read_prompt(file: Path, conditions: Sequence[Condition]) -> Template:
    try:
        custom = Template.parse(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read as a prompt ({error}): give a UTF-8 text file") from None
    if "{knowledge}" not in custom.text and any(condition.context == "kprag" for condition in conditions):
        raise UserError(
            f"{file} does not contain {{knowledge}}, which kprag needs: put it where the knowledge should stand"
        )
    return custom


def _texts(opened: SampleSet) -> dict[str, str]:
    return {point.point: point.text for point in opened.knowledge()}
