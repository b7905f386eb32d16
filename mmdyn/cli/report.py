"""mmdyn report: scores with intervals and contrasts over pairs, of one run or several."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mmdyn.cli._shared import OutPath, leave_by, split

if TYPE_CHECKING:
    from mmdyn.reporting.summary import Summary


@click.command("report")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path())
@click.option(
    "--by", default="", callback=split, metavar="FIELD,...", help="Break scores and contrasts down by these fields."
)
@click.option("--flips", "with_flips", is_flag=True, help="List the samples that went from right to wrong and back.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the summary as JSON, and nothing else, on standard output."
)
@click.option("--csv", "csv_file", metavar="FILE", type=OutPath(), help="Write the summary to a CSV file.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(
    runs: tuple[str, ...], by: list[str], with_flips: bool, as_json: bool, csv_file: Path | None, quiet: bool
) -> None:
    """Report one run, or compare several: scores, intervals, contrasts, and what failed."""
    if as_json and csv_file:
        raise click.UsageError("--json and --csv exclude each other: give one of them")
    from mmdyn.reporting.summary import summarise
    from mmdyn.work.progress import ProgressBar
    from mmdyn.work.run_folder import RunFolder

    folders = [RunFolder(run) for run in runs]
    total = sum(run.config.planned for run in folders)
    with ProgressBar("reading", total, quiet=quiet) as progress:
        summary = summarise(folders, by=by, flips=with_flips, progress=progress)
    _write(summary, as_json, csv_file)
    leave_by(summary)


def _write(summary: Summary, as_json: bool, csv_file: Path | None) -> None:
    if as_json:
        sys.stdout.buffer.write(summary.to_json())
        return
    from mmdyn.reporting.table import print_flips, print_summary

    if csv_file:
        from mmdyn.reporting.tabular import write_csv

        write_csv(summary, csv_file)
        click.echo(f"wrote {csv_file}", err=True)
    else:
        print_summary(summary)
    if isinstance(summary.flips, list):
        print_flips(summary.flips)
