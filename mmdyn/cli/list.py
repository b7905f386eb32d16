"""mmdyn list: what there is, other packages' plug-ins too."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable

import click

from mmdyn.cli._shared import say_line
from mmdyn.plugins import FOLDERS, load, names

OURS = ("mmdyn", "perturb")


@click.command("list")
@click.argument("kind", type=click.Choice([*FOLDERS, "tables", "configs", "vlmeval"]))
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print a JSON object: name -> where it is loaded from, or what a short name or a preset stands for.",
)
@click.option(
    "--python", default="", help="With vlmeval: the interpreter that has it. [default: $MMDYN_VLMEVAL_PYTHON]"
)
@click.option("--path", default="", help="With vlmeval: a folder that holds the package, such as a checkout.")
def command(kind: str, as_json: bool, python: str, path: str) -> None:
    """List operators, models, formats, scorers, rubrics, benchmarks, steps, task types, tables, ready runs, or
    VLMEvalKit's own models.

    Operators are followed by their severities and forms (not those of other packages, which are loaded when they are
    used), and by the names that stand for several operators in a row or, the presets, for a list of chains; benchmarks
    by what they are, where their data are, and under which licence.
    """
    if kind == "vlmeval":
        from mmdyn.models import vlmeval_models

        models = vlmeval_models(python, path)
        click.echo(json.dumps({name: f"vlmeval:{name}" for name in models}) if as_json else "\n".join(models))
        return
    if kind == "configs":
        from mmdyn.configs import ready_runs

        runs = ready_runs()
        said = {name: file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for name, file in runs.items()}
        listed = "\n".join(f"{name}  {line}" for name, line in said.items())
        click.echo(json.dumps({name: str(file) for name, file in runs.items()}) if as_json else listed)
        return
    if kind in ("tables", "task_types"):
        titles = _titles() if kind == "tables" else _questions()
        click.echo(json.dumps(titles) if as_json else "\n".join(f"{name}  {title}" for name, title in titles.items()))
        return
    found = next(names(known) for known in FOLDERS if known == kind)
    aliases, chains = (_aliases(), _presets()) if kind == "operators" else ({}, {})
    if as_json:
        click.echo(json.dumps(dict(sorted({**found, **aliases, **chains}.items()))))
        return
    for name, source in found.items():
        if source.partition(".")[0] not in OURS:
            say_line(f"{name}  ({source})")
        else:
            tellers: dict[str, Callable[[str], str]]
            tellers = {"operators": _settings, "benchmarks": _source, "steps": _step}
            say_line(name + (tellers[kind](name) if kind in tellers else ""))
    for name, operators in aliases.items():
        say_line(f"{name}  = {operators}{_settings(*operators.split('+'))}")
    for name, listed in chains.items():
        say_line(f"{name}  = {listed}")


def _titles() -> dict[str, str]:
    """What each table is called."""
    from mmdyn.tables import named_tables

    return {name: table.title for name, table in named_tables().items()}


def _questions() -> dict[str, str]:
    """What each task type asks."""
    from mmdyn.task_types import kind_of, task_types

    return {name: kind_of(name).title for name in task_types()}


def _source(benchmark: str) -> str:
    """What a benchmark is, where its data are, and their licence, out of its file's and its class's docstrings."""
    loader = load("benchmarks", benchmark)
    about, where = inspect.getdoc(inspect.getmodule(loader)) or "", inspect.getdoc(loader) or ""
    first = where.partition("\n\n")[0].partition(" (")[2]
    return "  " + " ".join(f"{about.removesuffix('.')} ({first.removesuffix('.')}".split())


def _step(step: str) -> str:
    """What a step takes and does."""
    from mmdyn.cli.build import takes

    kind = load("steps", step)
    first = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    return f"  takes {takes(kind)}: {first}"


def _aliases() -> dict[str, str]:
    """Names that stand for several operators in a row."""
    from mmdyn.plugins import ALIASES

    return {name: "+".join(operators) for name, operators in ALIASES.items()}


def _presets() -> dict[str, str]:
    """The presets' chains, as they could be typed after --ops."""
    from perturb import expand, presets

    return {name: ",".join(expand(name)) for name in sorted(presets())}


def _settings(*operators: str) -> str:
    """The severities and forms that any of some operators takes, as they are typed."""
    from perturb import load_operator

    loaded = [load_operator(operator) for operator in operators]
    known = dict.fromkeys(f"@{level}" for made in loaded for level in made.severities)
    known |= dict.fromkeys(f":{form}" for made in loaded for form in made.forms)
    return "  " + " ".join(known) if known else ""
