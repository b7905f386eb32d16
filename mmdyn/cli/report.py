"""mmdyn report: scores with intervals and contrasts over pairs, of one run or several."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mmdyn.cli._shared import OutPath, leave_by, quiet_option, split
from mmdyn.cli._tables import KINDS, MORE, print_tables, table_options
from mmdyn.errors import command_line

if TYPE_CHECKING:
    from mmdyn.tables import Summary
    from mmdyn.work import RunFolder


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
    type=click.Choice(["rogan-gladen", "ppi", "ppi++"]),
    help=(
        "Correct scores for the scorer's errors, as `mmdyn grade --calibrate` measured them (rogan-gladen), or by"
        " people's marks of some of the run's answers (ppi; ppi++ weighs the scores by how well they tell)."
    ),
)
@click.option(
    "--labels",
    metavar="FILE",
    type=click.Path(),
    help="With ppi: JSONL with key (or sample and mode) and human, a mark from 0 to 1, of answers chosen at random.",
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
    quiet: bool,
    **given: Any,
) -> None:
    """Report one run, or compare several: scores, intervals, contrasts, and what failed; or print tables of them.

    A factor of a table is a field of the questions, task_type, language, a part of the condition (variant, chain,
    context, style, mode), changed (image, text or both, by the chain), model, a column of --models, model_size, set,
    run, draw, epoch, options, answer_position, response_tokens or reasoning_tokens. With --by the other tables than
    pivots have rows by these factors, too.
    """
    if as_json and csv_file:
        raise click.UsageError("--json and --csv exclude each other: give one of them")
    correct = correct or ""
    if bool(labels) != correct.startswith("ppi"):
        raise click.UsageError("--labels FILE and --correct ppi go together: give both or none")
    if ks and not with_repeats:
        raise click.UsageError("--k goes with --repeats: give both")
    if wrong := [k for k in ks if not re.fullmatch(r"[1-9]\d{0,5}", k)]:
        raise click.UsageError(f"--k {wrong[0]} is no number of tries: give whole numbers from 1, such as 1,4")
    repeats = sorted({int(k) for k in ks}) if with_repeats else None
    wanted = any(given[kind] for kind in KINDS)
    if wanted and (with_flips or correct or with_repeats or with_auc):
        raise click.UsageError(
            "--flips, --correct, --repeats and --auc are of the summary: leave them or the tables out"
        )
    if alone := [name for name in MORE if given[name] and not wanted]:
        raise click.UsageError(f"--{alone[0]} goes with a table: add --pivot FACTOR, or another one")
    from mmdyn.work import ProgressBar, RunFolder

    folders = [RunFolder(run) for run in runs]
    if wanted and given["format"] and (as_json or csv_file):
        raise click.UsageError("--json and --csv are formats themselves: leave --format out")
    if wanted:
        print_tables(folders, given | {"format": ("json",)} if as_json else given, by, csv_file, quiet=quiet)
        return
    from mmdyn.tables import summarise

    total = sum(run.config.planned for run in folders)
    with ProgressBar("reading", total, quiet=quiet) as progress:
        more: dict[str, Any] = {"flips": with_flips, "correct": correct, "labels": labels, "repeats": repeats}
        summary = summarise(folders, by=by, auc=with_auc, progress=progress, **more)
    _write(summary, as_json, csv_file)
    if with_flips and not as_json:
        _tell_where(folders)
    leave_by(summary)


def _tell_where(runs: list[RunFolder]) -> None:
    """How to see what a variant changed."""
    made = dict.fromkeys(run.set_folder(entry) for run in runs for entry in run.config.sets if entry.name != entry.root)
    for folder in made:
        click.echo(f"what a variant changed: {command_line('mmdyn', 'data', 'show', folder)} ID", err=True)


def _write(summary: Summary, as_json: bool, csv_file: Path | None) -> None:
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
        print_flips(summary.flips)


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
