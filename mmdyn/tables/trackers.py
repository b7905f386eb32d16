"""A report in an experiment tracker, MLflow or Weights & Biases: a run of the tracker's for each model."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple
from uuid import uuid4

from filelock import FileLock
from msgspec.structs import replace

from mmdyn.data import new_file, read_set_manifest
from mmdyn.errors import MissingExtra, UserError, counted
from mmdyn.keys import canonical, digest
from mmdyn.tables.blocks import Row, TablePart
from mmdyn.tables.factors import ARROW, condition_name, contrast_name
from mmdyn.tables.results import Report, brief_lines, changes_of, scores_of
from mmdyn.work import RunFolder

ID = "tracked.id"
"""The file in a run's folder that holds the id under which trackers know the run, wherever its folder is moved."""

LONGEST = 100
"""The most characters of a part of a metric's name: MLflow takes 250 in all."""


class Tracked(NamedTuple):
    """One model of a run, as a tracker has it.

    Args:
        params: What was asked of the model, and how it was scored.
        metrics: Scores in percent and changes in points, each with the ends of its interval, n, and p by Holm.
        tags: Its id, the same at each export; the run's name; how far the run is, in words.
        notes: The lines of `mmdyn report --brief` for this model.
    """

    label: str
    params: dict[str, str]
    metrics: dict[str, float]
    tags: dict[str, str]
    notes: str


def track(run: RunFolder, report: Report, page: str, to: str) -> str:
    """Write a run's report to a tracker: its numbers, and its HTML page as an artifact.

    A later export of the same run takes the place of an earlier one. The tracker's own environment variables say where
    it goes, and hold the keys.

    Args:
        report: The report of this run alone.
        page: The page that `mmdyn.view.report_page` makes of it.
        to: `mlflow` or `wandb`.

    Returns:
        A sentence on what was written where.

    Raises:
        MissingExtra: The tracker's package is not installed.
        UserError: No answer has a score, the run's folder cannot be written, or the tracker did not take all.
    """
    if find_spec(to) is None:
        raise MissingExtra(to, to)
    lock = FileLock(run.folder / f"{ID}.lock") if os.access(run.folder, os.W_OK) else nullcontext()
    with lock:  # of two exports at once each would find no run, and make one
        models = list(_models(run, report))
        if not models:
            raise UserError(f"no answer in {run.folder} has a score yet: run the same `mmdyn eval` once more")
        try:
            places = [TRACKERS[to](import_module(to), model, page) for model in models]
        except Exception as error:  # of any kind: a tracker has many stores behind it
            said = re.sub(r"//\S*@", "//", f"{type(error).__name__}: {' '.join(str(error).split())}")[
                :600
            ]  # no password
            raise UserError(f"{to} did not take all of it ({said}): check the variables {to.upper()}_*") from None
    planned = counted(len(run.config.models), "model")
    wrote = f"{run.name} ({models[0].tags['state']}): wrote {len(models)} of {planned} to"
    return "\n".join([wrote, *dict.fromkeys(places)])


def _models(run: RunFolder, report: Report) -> Iterator[Tracked]:
    state, done = report.runs[0], "complete" if report.complete else "not finished or not scored"
    told = f"{done}, {state.asked} of {state.planned} asked, {report.failed} failed"
    file = run.folder / ID
    if not file.exists():
        with new_file(file) as out:
            out.write(uuid4().hex.encode())
    for label in dict.fromkeys(row.factors["model"] for row in report.rows("scores", "score") if row.n):
        tags = {"id": digest([file.read_text("utf-8"), label]), "run": run.name, "state": told}
        rows = [[row for row in part.rows if row.factors.get("model", label) == label] for part in report.parts]
        own = [replace(part, rows=its) for part, its in zip(report.parts, rows, strict=True)]
        notes = "\n".join(brief_lines(report.of_parts(own)))
        yield Tracked(label, _params(run, label), _metrics(own), tags, notes)


def _params(run: RunFolder, label: str) -> dict[str, str]:
    config = run.config
    made = {there.digest: there.made for one in config.sets if (there := read_set_manifest(run.set_folder(one)))}
    told: dict[str, Sequence[str]] = {
        "model": [label],
        "sets": [f"{entry.name} ({entry.digest[:8]})" for entry in config.sets],
        "seed": [str(made[one.digest]["seed"]) for one in config.sets if "seed" in made.get(one.digest, {})],
        "modes": [one.mode for one in config.conditions],
        "scorer": config.scorers,
        "judges": [entry.name for one in config.by_root.values() for entry in one.judges],
        "epochs": [str(config.epochs)],
        "versions": [f"{name} {version}" for name, version in config.versions.items()],
    }
    found = {name: ", ".join(dict.fromkeys(values)) for name, values in told.items() if values}
    for name, value in next((entry.identity for entry in config.models if entry.label == label), {}).items():
        found[f"identity_{name}"] = value if isinstance(value, str) else canonical(value).decode()
    return found


def _metrics(parts: Sequence[TablePart]) -> dict[str, float]:
    """The scores of conditions and the changes between them; beside a change of corrected scores the raw one."""
    found = dict[str, float]()
    for scored in scores_of(parts):
        found |= _numbers(found, "score", scored.factors["set"], condition_name(scored.factors), scored.score)
    for change in (one for one in changes_of(parts) if "model" in one.factors):
        place = change.factors["set"], contrast_name(change.factors).replace(ARROW, "to")
        found |= _numbers(found, "change", *place, change.raw or change.difference)
        found |= _numbers(found, "change_corrected", *place, change.difference) if change.raw else {}
    return found


def _numbers(taken: Mapping[str, float], what: str, set: str, name: str, row: Row) -> dict[str, float]:
    """A row's numbers as `SET/WHAT/NAME`, in letters, digits and underscores, which both trackers take; with a digest
    where another one is spelt so, too."""
    whose, place = (re.sub(r"\W+", "_", part)[:LONGEST].strip("_") or "_" for part in (set, name))
    ends = zip(("", "_low", "_high"), (row.value, *(row.ci95 or (None, None))), strict=True)
    told = {end: round(100 * share, 4) for end, share in ends if share is not None} | {"_n": float(row.n)}
    told |= {} if row.p_adjusted is None else {"_p_holm": row.p_adjusted}
    place += f"_{digest([set, name])[:4]}" * (f"{whose}/{what}_n/{place}" in taken)
    return {f"{whose}/{what}{end}/{place}": value for end, value in told.items()}


def _to_mlflow(mlflow: Any, model: Tracked, page: str) -> str:
    """Write to the experiment MLFLOW_EXPERIMENT_NAME, or `mmdyn`.

    MLflow forgets no metric and changes no param: a run that would keep a wrong one is deleted, and made anew.
    """
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    client = mlflow.MlflowClient()
    experiment = mlflow.set_experiment(os.environ.get("MLFLOW_EXPERIMENT_NAME") or "mmdyn")
    old = client.search_runs([experiment.experiment_id], f"tags.`mmdyn.id` = '{model.tags['id']}'")
    fit = [one for one in old if one.data.params == model.params and one.data.metrics.keys() <= model.metrics.keys()]
    tags = {f"mmdyn.{name}": value for name, value in model.tags.items()} | {"mlflow.note.content": model.notes}
    tags = mlflow.tracking.context.registry.resolve_tags(tags | {"mlflow.source.name": "mmdyn runs export"})
    id = (fit[0] if fit else client.create_run(experiment.experiment_id, tags=tags, run_name=model.label)).info.run_id
    client.log_batch(id, tags=[mlflow.entities.RunTag(name, value) for name, value in tags.items()])
    mlflow.log_params(model.params, run_id=id)
    mlflow.log_metrics(model.metrics, step=0, run_id=id)
    mlflow.log_text(page, "report.html", run_id=id)
    client.update_run(id, "FINISHED" if model.tags["state"].startswith("complete") else "RUNNING")
    for other in {one.info.run_id for one in old} - {id}:
        client.delete_run(other)
    return f"the experiment {experiment.name} of MLflow"


def _to_wandb(wandb: Any, model: Tracked, page: str) -> str:
    """Write to the project WANDB_PROJECT, or `mmdyn`; what is there under an id is written anew."""
    os.environ.setdefault("WANDB_PROJECT", "mmdyn")
    os.environ.setdefault("WANDB_INIT_TIMEOUT", "30")
    settings = wandb.Settings(silent=True, console="off", disable_git=True, disable_code=True)
    id, config = model.tags["id"], model.params | model.tags
    run = wandb.init(id=id, name=model.label, config=config, notes=model.notes, settings=settings)
    if run.disabled:
        raise ValueError("WANDB_MODE is disabled")
    run.log(model.metrics)
    artifact = wandb.Artifact(f"report-{id}", "report")
    with artifact.new_file("report.html", encoding="utf-8") as file:
        file.write(page)
    run.log_artifact(artifact)
    run.finish()
    return f"{run.sync_dir}; `wandb sync` sends it" if run.offline else str(run.url)


TRACKERS: dict[str, Callable[[Any, Tracked, str], str]] = {"mlflow": _to_mlflow, "wandb": _to_wandb}
"""By the names that --to takes."""
