"""mmdyn runs: the runs of a folder at a glance, and a run's records as a flat file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mmdyn.cli._shared import OutPath
from mmdyn.errors import UserError, printable

if TYPE_CHECKING:
    from mmdyn.run.glance import Glance


@click.group("runs")
def command() -> None:
    """Look at runs, and take their records elsewhere."""


@command.command("ls")
@click.argument("folders", metavar="[FOLDER]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on standard output.")
def ls(folders: tuple[Path, ...], as_json: bool) -> None:
    """List runs with their models, sets, counts and cost, the latest first.

    \b
    FOLDER is a run or a folder with runs in it. [default: the current one]
    """
    import msgspec

    from mmdyn.run.glance import find_runs, glance

    found: list[Glance] = []
    unread = False
    for run in dict.fromkeys(run for folder in folders or (Path(),) for run in find_runs(folder)):
        try:
            found.append(glance(run))
        except UserError as error:
            unread = True
            click.echo(printable(f"not listed: {error}"), err=True)
    found.sort(key=lambda one: one.changed, reverse=True)
    if as_json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    elif found:
        _print(found)
    else:
        click.echo("there are no runs here: name a folder that has some", err=True)
    if unread:
        click.get_current_context().exit(1)


@command.command("export")
@click.argument("run")
@click.option("-o", "--out", metavar="FILE", required=True, type=OutPath(), help="A .jsonl, .parquet or .csv file.")
@click.option("--samples", is_flag=True, help="Add each sample's question, options, answer, pictures and explanation.")
def export(run: str, out: Path, samples: bool) -> None:
    """Write the records of RUN, a row each: what was asked, the reply, its score, tokens and cost; failures too."""
    from mmdyn.run.export import export as write

    count = write(run, out, samples=samples)
    click.echo(f"wrote {count} records to {out}", err=True)


def _print(found: list[Glance]) -> None:
    from mmdyn.reporting.spending import say_cost
    from mmdyn.reporting.table import clean, open_console

    console = open_console()
    for run in found:
        failed = f", {run.failed} failed" if run.failed else ""
        when = run.changed.removesuffix("+00:00").replace("T", " ")
        console.print(clean(f"{run.folder}  {run.state}: {run.answered} of {run.planned} answered{failed}; {when} UTC"))
        what = (f"models {', '.join(run.models)}", f"sets {', '.join(run.sets)}", f"modes {', '.join(run.modes)}")
        for line in what:
            console.print(clean(f"    {line}"), soft_wrap=True)
        if any(one.prompt_tokens or one.completion_tokens or one.cost for one in run.spending):
            for one in run.spending:
                console.print(clean(f"    {one.model}: {one.tokens}, cost {say_cost([one])}"), soft_wrap=True)
