"""mmdyn report: scores with intervals and contrasts over pairs, of one run or several."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import UNSET
from msgspec.structs import replace

from mmdyn.cli._shared import OutPath, leave_by, quiet_option, say_line, split
from mmdyn.cli._tables import ANALYSES, KINDS, MORE, print_tables, table_options
from mmdyn.errors import MissingExtra

if TYPE_CHECKING:
    from mmdyn.tables import Chart, Summary
    from mmdyn.work import RunFolder

OF_SUMMARY = ("with_flips", "correct", "with_repeats", "with_auc", "html_file")
"""Options that say more in the summary."""


@click.command("report")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path())
@click.option(
    "--by",
    default="",
    callback=split,
    metavar="FIELD,...",
    help=(
        "Break scores and contrasts down by these fields; where something lay beside the questions also by retrieval "
        "(hit, part, miss), answer_leak and knowledge_count."
    ),
)
@click.option("--flips", "with_flips", is_flag=True, help="List the samples that went from right to wrong and back.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the summary as JSON, and nothing else, on standard output."
)
@click.option("--csv", "csv_file", metavar="FILE", type=OutPath(), help="Write the summary to a CSV file.")
@click.option(
    "--correct",
    type=click.Choice(["rogan-gladen", "ppi++"]),
    help=(
        "Correct scores for the scorer's errors, as `mmdyn grade --calibrate` measured them (rogan-gladen), or by"
        " people's marks of some of the run's answers (ppi++, which weighs the scores by how well they tell)."
    ),
)
@click.option(
    "--labels",
    metavar="FILE",
    type=click.Path(),
    help="With ppi++: JSONL with key (or sample and mode) and human, a mark from 0 to 1, of answers chosen at random.",
)
@click.option("--repeats", "with_repeats", is_flag=True, help="pass@k, majority@k, worst@k and consistency of repeats.")
@click.option(
    "--k",
    "ks",
    metavar="K,...",
    default="",
    callback=split,
    help="With --repeats: of how many tries. [default: 1 and as many as there are]",
)
@click.option(
    "--auc", "with_auc", is_flag=True, help="How well the probabilities of weighed options tell right from wrong."
)
@click.option("--why", "with_why", is_flag=True, help="One page: what fell, through what, above what noise, how sure.")
@click.option("--brief", is_flag=True, help="Ten lines: scores, what of them survives, and what to distrust.")
@click.option(
    "--plots", metavar="FOLDER", type=OutPath(), help="Draw what is printed, too: SVG, PDF and PNG for papers."
)
@click.option(
    "--html", "html_file", metavar="FILE", type=OutPath(), help="Write one HTML file to send around, with what flipped."
)
@click.option("--columns", type=click.Choice(["1", "2"]), help="With --plots: columns of a page. [default: 1]")
@table_options
@quiet_option
def command(
    runs: tuple[str, ...],
    by: list[str],
    with_flips: bool,
    as_json: bool,
    csv_file: Path | None,
    correct: str | None,
    labels: str | None,
    with_repeats: bool,
    ks: list[str],
    with_auc: bool,
    with_why: bool,
    brief: bool,
    plots: Path | None,
    html_file: Path | None,
    columns: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Report one run, or compare several: scores, intervals, contrasts, and what failed; or print tables of them.

    A factor of a table is a field of the questions, task_type, language, a part of the condition (variant, chain,
    context, style, mode), changed (image, text or both, by the chain), model, a column of --models, model_size, set,
    run, draw, epoch, options, answer_position, response_tokens or reasoning_tokens. With --by the other tables than
    pivots have rows by these factors, too.
    """
    wanted = _check_forms(click.get_current_context().params)
    repeats = _tries(ks, with_repeats)
    from mmdyn.work import ProgressBar, RunFolder

    folders = [RunFolder(run) for run in runs]
    if with_why:
        _print_why(folders, as_json=as_json, quiet=quiet)
        return
    if wanted:
        given |= {"format": ("json",)} if as_json else {}
        print_tables(folders, given, by, csv_file, partial(_plot, plots, columns) if plots else None, quiet=quiet)
        return
    from mmdyn.tables import summarise, summary_charts

    total = sum(run.config.planned for run in folders)
    with ProgressBar("reading", total, quiet=quiet) as progress:
        more: dict[str, Any] = {"flips": with_flips or bool(plots), "correct": correct or "", "labels": labels}
        summary = summarise(folders, by=by, auc=with_auc, repeats=repeats, progress=progress, **more)
    if plots:
        _plot(plots, columns, summary_charts(summary))
        summary = summary if with_flips else replace(summary, flips=UNSET)
    if html_file:
        _write_html(folders, summary, html_file)
    _write(folders, summary, as_json, csv_file, brief=brief)
    leave_by(summary)


def _print_why(folders: list[RunFolder], *, as_json: bool, quiet: bool) -> None:
    """Print the page; exit status 1 where records failed."""
    from mmdyn.tables import explain
    from mmdyn.work import ProgressBar

    with ProgressBar("reading", sum(run.config.planned for run in folders), quiet=quiet) as progress:
        found = explain(folders, progress)
    if as_json:
        sys.stdout.buffer.write(found.to_json())
    else:
        say_line(repr(found))
    if found.failed:
        click.echo(f"{found.failed} records failed", err=True)
        click.get_current_context().exit(1)


def _tries(ks: list[str], with_repeats: bool) -> list[int] | None:
    """The numbers of tries; empty for those that a report takes by itself, None for no repeats."""
    if ks and not with_repeats:
        raise click.UsageError("--k goes with --repeats: give both")
    if wrong := [k for k in ks if not re.fullmatch(r"[1-9]\d{0,5}", k)]:
        raise click.UsageError(f"--k {wrong[0]} is no number of tries: give whole numbers from 1, such as 1,4")
    return sorted({int(k) for k in ks}) if with_repeats else None


def _check_forms(given: dict[str, Any]) -> bool:
    """Whether tables are wanted. Raise UsageError for options that do not go together."""
    wanted = any(given[kind] for kind in (*KINDS, *ANALYSES))
    if given["with_why"] and (wanted or any(given[name] for name in (*OF_SUMMARY, "by", "csv_file", "plots", "brief"))):
        raise click.UsageError("--why is a page of its own: leave all but --json out")
    if given["as_json"] and given["csv_file"]:
        raise click.UsageError("--json and --csv exclude each other: give one of them")
    if given["brief"] and (given["as_json"] or given["csv_file"] or wanted):
        raise click.UsageError("--brief is a form of the summary: leave --json, --csv and tables out")
    if given["columns"] and not given["plots"]:
        raise click.UsageError("--columns goes with --plots FOLDER: give both")
    if given["format"] and (given["as_json"] or given["csv_file"]) and wanted:
        raise click.UsageError("--json and --csv are formats themselves: leave --format out")
    if bool(given["labels"]) != (given["correct"] == "ppi++"):
        raise click.UsageError("--labels FILE and --correct ppi++ go together: give both or none")
    if wanted and any(given[name] for name in OF_SUMMARY):
        raise click.UsageError(
            "--flips, --correct, --repeats, --auc and --html are of the summary: leave them or the tables out"
        )
    if alone := [name for name in (*MORE, "gee") if given[name] and not wanted]:
        raise click.UsageError(f"--{alone[0]} goes with a table: add --pivot FACTOR, or another one")
    return wanted


def _write_html(folders: list[RunFolder], summary: Summary, file: Path) -> None:
    try:
        from mmdyn.view import write_report
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "view") from None

    write_report(folders, summary, file)
    click.echo(f"wrote {file}", err=True)


def _plot(folder: Path, columns: str | None, charts: Mapping[str, Chart]) -> None:
    from mmdyn.tables import save_plots

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        files = save_plots(charts, folder, int(columns or 1))
    for line in [*dict.fromkeys(str(one.message) for one in told), f"wrote {len(files)} files into {folder}"]:
        click.echo(line, err=True)


def _write(folders: list[RunFolder], summary: Summary, as_json: bool, csv_file: Path | None, *, brief: bool) -> None:
    if brief:
        say_line(repr(summary))
        return
    if as_json:
        sys.stdout.buffer.write(summary.to_json())
        return
    from mmdyn.tables import print_flips, print_summary

    if csv_file:
        from mmdyn.tables import write_csv

        write_csv(summary, csv_file)
        click.echo(f"wrote {csv_file}", err=True)
    else:
        print_summary(summary)
        _print_more(summary)
    if isinstance(summary.flips, list):
        print_flips(summary.flips, folders)


def _print_more(summary: Summary) -> None:
    """What is in a report on request, or where there is any."""
    from mmdyn.tables import Cascades, print_auc, print_cascades, print_corrections, print_errors, print_repeats

    if isinstance(summary.cascades, Cascades):
        print_cascades(summary.cascades)
    if isinstance(summary.corrections, list):
        print_corrections(summary.corrections)
    if isinstance(summary.errors, list):
        print_errors(summary.errors)
    if isinstance(summary.repeats, list):
        print_repeats(summary.repeats)
    if isinstance(summary.auc, list):
        print_auc(summary.auc)
