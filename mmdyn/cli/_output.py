"""Where a report goes, and in what form."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mmdyn.cli._shared import OutPath, check_overwrite
from mmdyn.errors import MissingExtra, counted, did_you_mean

if TYPE_CHECKING:
    from mmdyn.tables import Report

ENDINGS = {"txt": "text", "json": "json", "csv": "csv", "md": "markdown", "tex": "latex", "html": "html"}
MARKS = {
    "text": "mmdyn report\n\n",
    "json": "",
    "csv": "",
    "markdown": "<!-- mmdyn report -->\n\n",
    "latex": "% mmdyn report\n",
    "html": "",
}
"""What a file begins with, by its form."""

OURS = (
    rb"(<!doctype html>\n)?(<!-- |% )?mmdyn report|part,kind,title,"
    rb'|\{\n  "schema": \d+,\n  "title": .*"complete": |\{\n  "title": "Why the scores changed'
)
"""How files begin that may be written over."""

PLOTTED = "With --plots: the width, in columns of a page. [default: 1]"


def output_options() -> list[click.Option]:
    """The options of this subject."""
    return [
        click.Option(["--format", "form"], type=click.Choice([*MARKS]), help="[default: text, or by the ending of -o]"),
        click.Option(["--json", "as_json"], is_flag=True, help="Short for --format json."),
        click.Option(
            ["-o", "--out"], metavar="FILE", type=OutPath(),
            help=f"Write a file; its ending says the format: .{', .'.join(ENDINGS)} (all pages in one).",
        ),
        click.Option(["--force"], is_flag=True, help="Overwrite a file that this command did not write."),
        click.Option(["--previews"], is_flag=True, help="In a page of HTML: small pictures, not those that were sent."),
        click.Option(["--plots"], metavar="FOLDER", type=OutPath(), help="Plot the tables as SVG, PDF and PNG."),
        click.Option(["--columns"], type=click.Choice(["1", "2"]), help=PLOTTED),
        click.Option(["-q", "--quiet"], is_flag=True, help="No progress."),
    ]  # fmt: skip


def form_of(given: Mapping[str, Any]) -> str:
    """The form that was asked for. Raises UsageError."""
    form, out = given["form"], given["out"]
    if given["as_json"]:
        if form not in (None, "json"):
            raise click.UsageError("--json is --format json: give one of the two")
        form = "json"
    if given["columns"] and not given["plots"]:
        raise click.UsageError("--columns goes with --plots FOLDER: give both")
    ending = out.suffix.removeprefix(".").lower() if out else ""
    if out and not form and ending not in ENDINGS:
        known = ", ".join(f".{name}" for name in ENDINGS)
        raise click.UsageError(f"-o {out} ends in none of {known}{did_you_mean(ending, ENDINGS)}: add --format")
    form = str(form or ENDINGS.get(ending, "text"))
    if given["previews"] and form != "html":
        raise click.UsageError("--previews goes with a page of HTML: add -o FILE.html")
    return form


def write(text: str, form: str, given: Mapping[str, Any]) -> None:
    """Print a report, or write it into the file that was named. Raises UserError where that is something else."""
    out: Path | None = given["out"]
    if out is None:
        sys.stdout.write(text)
        return
    check_overwrite(out, OURS, force=given["force"])
    from mmdyn.data import new_file

    with new_file(out) as written:
        written.write(f"{MARKS[form]}{text}".encode())
    click.echo(f"wrote {out}", err=True)


def plot(report: Report, given: Mapping[str, Any]) -> None:
    """Draw what is printed where that was asked for."""
    if not given["plots"]:
        return
    import warnings

    from mmdyn.tables import save_plots, table_charts

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        files = save_plots(table_charts(report.parts), given["plots"], int(given["columns"] or 1))
    wrote = f"wrote {counted(len(files), 'file')} into {given['plots']}"
    for line in [*dict.fromkeys(str(one.message) for one in told), wrote]:
        click.echo(line, err=True)


def page_of(runs: Sequence[Any], report: Report, *, previews: bool) -> str:
    """A whole report as one HTML page. Raises MissingExtra."""
    try:
        from mmdyn.view import report_page
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "view") from None
    return str(report_page(runs, report, previews=previews))
