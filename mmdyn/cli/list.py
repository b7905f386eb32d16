"""mmdyn list: what there is, other packages' plug-ins too."""

from __future__ import annotations

import inspect
import json
import shutil
import sys
from collections import Counter
from textwrap import TextWrapper

import click

from mmdyn.errors import printable
from mmdyn.plugins import FOLDERS, Kind, load, names, summary

KINDS = {
    "operators": "what makes variants, and presets of chains",
    "models": "backends, the part of -m in front of the colon",
    "formats": "files that are read as sets, or written",
    "scorers": "policies and metrics by which replies are scored",
    "rubrics": "what judges of replies are asked",
    "benchmarks": "published sets that are read as they are",
    "steps": "steps of `mmdyn build`",
    "task_types": "types of questions",
    "tables": "the papers' tables, for `mmdyn report --table`",
    "configs": "runs as YAML files, ready to be used",
    "vlmeval": "models of VLMEvalKit, where it is installed",
}
OURS = ("mmdyn", "perturb")
UNBROKEN = 1 << 16
"""Columns where no terminal breaks lines."""


@click.command("list")
@click.argument("kind", required=False, metavar="[KIND]", type=click.Choice([*KINDS]))
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print a JSON object: name -> where it is loaded from, or what a short name, a preset or a kind stands for.",
)
@click.option(
    "--python", default="", help="With vlmeval: the interpreter that has it. [default: $MMDYN_VLMEVAL_PYTHON]"
)
@click.option("--path", default="", help="With vlmeval: a folder that holds the package, such as a checkout.")
def command(kind: str | None, as_json: bool, python: str, path: str) -> None:
    """List operators, models, benchmarks or another kind of plug-in, each with what it is; without KIND, the kinds.

    \b
    mmdyn list operators

    Operators, by their short names, have their severities and forms in brackets; below them stand
    the names of several operators in a row and, the presets, of a list of chains. Benchmarks tell where their data are,
    and under which licence. Of other packages' plug-ins you see where they are loaded from.
    """
    if kind == "vlmeval":
        from mmdyn.models import vlmeval_models

        models = vlmeval_models(python, path)
        click.echo(json.dumps({name: f"vlmeval:{name}" for name in models}) if as_json else "\n".join(models))
        return
    listed, places = _listed(kind) if kind else (KINDS, KINDS)
    if as_json:
        click.echo(json.dumps(places))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else UNBROKEN
    first = max(map(len, listed)) + 2
    wrapper = TextWrapper(width - first, break_on_hyphens=False)  # addresses stay whole where they fit
    for name, said in listed.items():
        click.echo(printable(name).ljust(first) + f"\n{' ' * first}".join(wrapper.wrap(printable(said))))


def _listed(kind: str) -> tuple[dict[str, str], dict[str, str]]:
    """What is said of each name, and what JSON says of it."""
    if kind == "configs":
        from mmdyn.configs import ready_runs

        runs = ready_runs()
        said = {name: file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for name, file in runs.items()}
        return said, {name: str(file) for name, file in runs.items()}
    if kind in ("tables", "task_types"):
        titles = _titles() if kind == "tables" else _questions()
        return titles, titles
    known = next(one for one in FOLDERS if one == kind)
    found = names(known)
    if kind != "operators":
        return {name: _said(known, name, source) for name, source in found.items()}, found
    aliases, chains = _aliases(), _presets()
    short = Counter(name.rpartition(".")[2] for name in found)
    listed = {}
    for name, source in found.items():
        last = name.rpartition(".")[2]
        listed[last if short[last] == 1 and last not in aliases else name] = _said(known, name, source)
    listed |= {name: f"{operators}{_settings(*operators.split('+'))}" for name, operators in aliases.items()}
    spaced = {name: preset.replace(",", ", ") for name, preset in chains.items()}  # so that lines break between chains
    return listed | spaced, dict(sorted({**found, **aliases, **chains}.items()))


def _said(kind: Kind, name: str, source: str) -> str:
    """What a plug-in is; of another package's, where it is loaded from."""
    if source.partition(".")[0] not in OURS:
        return f"({source})"
    if kind == "benchmarks":
        return _source(name)
    if kind == "steps":
        return _step(name)
    return summary(kind, name) + (_settings(name) if kind == "operators" else "")


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
    return " ".join(f"{about.removesuffix('.')} ({first.removesuffix('.')}".split())


def _step(step: str) -> str:
    """What a step takes and does."""
    from mmdyn.cli.build import takes

    kind = load("steps", step)
    first = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    return f"takes {takes(kind)}: {first}"


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
    return f" [{' '.join(known)}]" if known else ""
