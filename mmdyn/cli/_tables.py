"""The options of `mmdyn report` that print tables in place of the summary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mmdyn.cli._shared import split
from mmdyn.errors import UserError

if TYPE_CHECKING:
    from mmdyn.table import NamedTable, Part
    from mmdyn.work import RunFolder

F = TypeVar("F", bound=Callable[..., object])

KINDS = ("pivot", "paired", "gap", "trend", "spread", "ranking", "leaderboard")

_OPTIONS = (
    click.option("--pivot", multiple=True, metavar="FACTOR,...", help="A measure by one to three factors; the last across."),
    click.option("--paired", multiple=True, metavar="FACTOR=A:B", help="Two values over the same questions: b - a."),
    click.option("--gap", multiple=True, metavar="FACTOR=A:B", help="Two groups of different questions: b - a."),
    click.option("--trend", multiple=True, metavar="FACTOR", help="The slope along a factor whose values are numbers."),
    click.option("--spread", multiple=True, metavar="FACTOR", help="How far values lie apart, and whether all are equal."),
    click.option("--ranking", multiple=True, metavar="FACTOR", help="How steady the order of models is over its values."),
    click.option("--leaderboard", is_flag=True, help="Models by their mean over sets; those not told apart share ranks."),
    click.option("--table", metavar="NAME", help="A table of a paper, such as mdk12.table3; `mmdyn list tables`."),
    click.option("--measure", default="score", show_default=True, metavar="NAME", help="What is measured."),
    click.option("--where", multiple=True, metavar="FACTOR=X,...", help="Only records with these values."),
    click.option("--macro", default="", callback=split, metavar="FACTOR,...", help="With --pivot: add means of means."),
    click.option("--group", "groups", multiple=True, metavar="NAME=SET,...", help="With --leaderboard: a mean over these."),
    click.option("--pair", type=click.Choice(["parent", "group"]), default="parent", show_default=True, help="With --paired: what makes a pair."),
    click.option("--paper", default="", metavar="MODEL", help="With --table: whose numbers of the paper stand beside."),
    click.option("--format", "form", type=click.Choice(["text", "json", "csv", "markdown", "latex"]), help="Of tables. [default: text]"),
)  # fmt: skip


def table_options(command: F) -> F:
    """Give a command these options, as one parameter `tables`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_options(given: dict[str, Any]) -> dict[str, Any] | None:
    """What was given; None where no table was asked for. Raises click's usage error for what goes with tables alone."""
    if any(given[kind] for kind in KINDS) or given["table"]:
        if given["table"] and any(given[kind] for kind in KINDS):
            raise click.UsageError("--table goes alone: its parts are declared already")
        if given["paper"] and not given["table"]:
            raise click.UsageError("--paper goes with --table NAME: give both")
        return given
    for name in ("where", "macro", "groups", "paper", "form"):
        if given[name]:
            raise click.UsageError(
                f"--{'format' if name == 'form' else name.rstrip('s')} goes with a table: add --pivot FACTOR, or another one"
            )
    return None


def print_tables(
    folders: Sequence[RunFolder], given: dict[str, Any], by: list[str], csv_file: Path | None, *, quiet: bool
) -> None:
    """Tabulate and print; exit status 1 where records failed."""
    from mmdyn.tables import FORMATS, named_table, tabulate
    from mmdyn.work import ProgressBar

    table: NamedTable | list[Part]
    table, published = named_table(given["table"], given["paper"]) if given["table"] else (_parts(given, by), None)
    total = sum(run.config.planned for run in folders)
    with ProgressBar("reading", total, quiet=quiet) as progress:
        found = tabulate(folders, table, published=published, progress=progress)
    if csv_file:
        try:
            csv_file.write_text(FORMATS["csv"](found), encoding="utf-8", newline="")
        except OSError as error:
            raise UserError(f"cannot write {csv_file} ({error.strerror}): choose another file") from None
        click.echo(f"wrote {csv_file}", err=True)
    else:
        sys.stdout.write(FORMATS[given["form"] or "text"](found))
    if not found.complete:
        click.echo("records are missing or not scored yet: run the same `mmdyn eval` once more", err=True)
    if found.failed:
        click.echo(f"{found.failed} records failed", err=True)
        click.get_current_context().exit(1)


def _parts(given: dict[str, Any], by: list[str]) -> list[Part]:
    from mmdyn.table import Gap, Leaderboard, Paired, Pivot, Ranking, Spread, Trend

    more: dict[str, Any] = {"measure": given["measure"], "where": dict(map(_equals, given["where"]))}

    def along(factor: str) -> dict[str, Any]:
        """What a table along a factor has rows by: models and the other factors of --by."""
        return {"by": tuple(name for name in dict.fromkeys(("model", *by)) if name != factor), **more}

    parts: list[Part] = []
    for text in given["pivot"]:
        names = tuple(split_names(text))
        if not 1 <= len(names) <= 3:
            raise click.UsageError(
                f"--pivot {text!r} names {len(names)} factors: name one to three, such as discipline,difficulty"
            )
        parts.append(
            Pivot(
                by=names,
                macro=tuple(name for name in given["macro"] if name in names or len(given["pivot"]) == 1),
                **more,
            )
        )
    pairs = [_ends("paired", text) for text in given["paired"]]
    parts += [Paired(**ends, pair=given["pair"], **along(ends["factor"])) for ends in pairs]
    parts += [Gap(**ends, **along(ends["factor"])) for ends in (_ends("gap", text) for text in given["gap"])]
    parts += [Trend(factor=name, **along(name)) for name in given["trend"]]
    parts += [Spread(factor=name, **along(name)) for name in given["spread"]]
    parts += [Ranking(over=name, **more) for name in given["ranking"]]
    return parts + [Leaderboard(groups=dict(map(_equals, given["groups"])), **more)] * given["leaderboard"]


def split_names(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _equals(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, values = text.partition("=")
    if not name.strip() or not split_names(values):
        raise click.UsageError(f"{text!r} is no NAME=VALUE,...: write it like difficulty=easy,hard")
    return name.strip(), tuple(split_names(values))


def _ends(option: str, text: str) -> dict[str, str]:
    factor, _, ends = text.partition("=")
    a, colon, b = ends.partition(":")
    if not (factor.strip() and colon and a.strip() and b.strip()):
        raise click.UsageError(f"--{option} {text!r} is no FACTOR=A:B: write it like difficulty=easy:hard")
    return {"factor": factor.strip(), "a": a.strip(), "b": b.strip()}
