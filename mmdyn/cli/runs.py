"""mmdyn runs: the runs of a folder at a glance, several as one, and a run's records as a flat file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mmdyn.cli._output import page_of
from mmdyn.cli._shared import (
    OutPath,
    WholeGroup,
    check_overwrite,
    force_option,
    leave_by,
    print_json,
    quiet_option,
    say_line,
)
from mmdyn.errors import command_line, counted

if TYPE_CHECKING:
    from mmdyn.run import RunSummary, Scored


EXPORTED = rb"key,request,digest,|\{\"key\":\"[0-9a-f]+\",\"request\":|PAR1.*parent_type.*finish_reason"
"""What an exported file holds: as CSV, JSON Lines or Parquet."""


@click.group("runs", cls=WholeGroup)
def command() -> None:
    """List and merge runs, and export their records.

    \b
    mmdyn runs ls mmdyn-demo
    """


@command.command("ls")
@click.argument("folders", metavar="[FOLDER]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on standard output.")
def ls(folders: tuple[Path, ...], as_json: bool) -> None:
    """List runs with their models, sets, counts and cost, the latest first.

    \b
    mmdyn runs ls mmdyn-demo

    \b
    FOLDER is a run or a folder with runs in it. [default: the current one]
    Exit status: 1 where a run cannot be read; it is listed with what is wrong.
    """
    from mmdyn.run import look

    runs = {run.folder: run for folder in folders or (Path(),) for run in look(folder)}
    found = sorted(runs.values(), key=lambda run: run.changed, reverse=True)
    if as_json:
        print_json(found)
    elif found:
        _print(found)
    else:
        click.echo("there are no runs here: name a folder that has some", err=True)
    if any(run.problem for run in found):
        click.get_current_context().exit(1)


@command.command("export")
@click.argument("run")
@click.option("-o", "--out", metavar="FILE", type=OutPath(), help="A .jsonl, .parquet or .csv file.")
@click.option("--to", type=click.Choice(["mlflow", "wandb"]), help="Write the report's numbers and page to a tracker.")
@force_option
@click.option("--samples", is_flag=True, help="Add each sample's question, options, answer, pictures and explanation.")
@quiet_option
def export(run: str, out: Path | None, to: str | None, force: bool, samples: bool, quiet: bool) -> None:
    """Write the records of RUN, a row each: what was asked, the reply, its score, tokens and cost; failures too.

    \b
    mmdyn runs export mmdyn-demo/run -o records.csv

    What is a list, such as extracted or logprobs, is JSON text in its cell. With --to, each model becomes a run of the
    tracker, and the same command again replaces it. MLFLOW_TRACKING_URI or `wandb login` say where.
    """
    if (out is None) == (to is None) or (to and (force or samples)):
        raise click.UsageError("give -o FILE, with which --samples and --force go, or --to: one of the two")
    if out is None:
        from mmdyn.table import Flips
        from mmdyn.tables import tabulate, track, why_parts
        from mmdyn.work import RunFolder

        folder = RunFolder(run)
        report = tabulate([folder], [*why_parts(), Flips()])
        click.echo(track(folder, report, page_of([folder], report, previews=False), str(to)), err=True)
        leave_by(report)
    else:
        from mmdyn.run import export as write
        from mmdyn.work import ProgressBar

        check_overwrite(out, EXPORTED, force=force)
        with ProgressBar("export", quiet=quiet) as progress:
            count = write(run, out, samples=samples, progress=progress)
        click.echo(f"wrote {counted(count, 'record')} to {out}", err=True)


@command.command("merge")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "-o", "--out", metavar="OUT", required=True, type=OutPath(), help="The folder of the run that they become."
)
def merge(runs: tuple[str, ...], out: Path) -> None:
    """Bring the runs of several machines together in one that `mmdyn eval`, `score` and `report` go on with.

    \b
    mmdyn eval mmdyn-demo/set -m baseline:random -o runs/random
    mmdyn runs merge mmdyn-demo/run runs/random -o runs/both

    Sets, models and conditions come together. Where runs have different replies to one ask, that of the run named first
    stays. The same command again goes on, and takes over what the runs have by now.
    """
    from mmdyn.run import merge_runs

    _, differing = merge_runs(runs, out)
    if differing:
        click.echo(f"{counted(differing, 'reply', 'differs/differ')} from those of an earlier run: left out", err=True)
    click.echo(f"{counted(len(runs), 'run')} became {out}: {command_line('mmdyn', 'report', out)}", err=True)


def _print(found: list[RunSummary]) -> None:
    for run in found:
        if run.problem:
            say_line(f"{run.folder}  {run.state}: {run.problem}")
            continue
        if run.state == "comparison":
            say_line(f"{run.folder}  a comparison of two models, made by `mmdyn compare`")
            continue
        failed = f", {run.failed} failed" if run.failed else ""
        when = run.changed.removesuffix("+00:00").replace("T", " ")
        say_line(f"{run.folder}  {run.state}: {run.answered} of {run.planned} answered{failed}; {when} UTC")
        what = [f"models {', '.join(run.models)}", f"sets {', '.join(run.sets)}", f"modes {', '.join(run.modes)}"]
        what += [f"scores {_scores(one)}" for one in run.scores]
        for line in what:
            say_line(f"    {line}")
        for whose, spending in (("", run.spending), ("judge ", run.judges)):
            if any(one.prompt_tokens or one.completion_tokens or one.cost for one in spending):
                for one in spending:
                    say_line(f"    {whose}{one.model}: {one.tokens}, cost {one.money}")


def _scores(scored: Scored) -> str:
    under_way = "" if scored.active else ", not in force yet"
    lacking = [f"{counted(scored.unscored, 'answer', 'has/have')} none"] * bool(scored.unscored)
    lacking += [f"{counted(scored.needs_judge, 'answer', 'needs/need')} a judge"] * bool(scored.needs_judge)
    return f"{scored.scorer}{under_way}" + (f": {', '.join(lacking)}" if lacking else "")
