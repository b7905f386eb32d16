"""The options of `mmdyn report` that print tables in place of the summary."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mmdyn.errors import UserError

if TYPE_CHECKING:
    from mmdyn.table import NamedTable, Part
    from mmdyn.tables import Chart, Published
    from mmdyn.work import RunFolder

F = TypeVar("F", bound=Callable[..., object])

KINDS = {
    "pivot": ("FACTOR,…", "A measure by one to three factors, the last one across."),
    "paired": ("FACTOR=A:B", "b - a over the same questions."),
    "gap": ("FACTOR=A:B", "b - a of two groups of different questions; first and last are the ends of a factor."),
    "trend": ("FACTOR", "The slope along a factor whose values are numbers."),
    "spread": ("FACTOR", "How far a measure varies over a factor's values, and whether all are equal."),
    "ranking": ("FACTOR", "How steady the order of models is over a factor's values."),
    "leaderboard": ("FACTOR", "Models by their mean over a factor's values, such as set; those not told apart tie."),
    "table": ("NAME", "A table of a paper, such as those that `mmdyn list tables` names."),
}
ANALYSES = {
    "attribute": "Of factorial sets: how much of the drop each operator takes (Shapley values), and pairs of them.",
    "noise": "What chains flip beyond what asking the same question again flips (eval --epochs), and k draws of each.",
    "ladder": "What wrong answers lack, seeing, knowing or reasoning, by the contexts that mend them.",
    "curves": "Of operators at several severities: the score along the dose, and where half of it is lost.",
}
"""Tables that say why a score changed; each is a flag."""

GEE = "With --attribute: a clustered logistic regression (GEE) as a second opinion (pip install 'mmdyn[why]')."

MORE = {
    "measure": ("NAME", "What tables measure. [default: score]"),
    "where": ("FACTOR=X,…", "Only records with these values."),
    "macro": ("FACTOR", "With --pivot: a mean of the means of a factor's values."),
    "group": ("NAME=X,…", "With --leaderboard: a mean over these columns."),
    "pair": ("parent|group", "With --paired: what makes a pair. [default: parent]"),
    "models": ("FILE", "CSV of what is known of models: a column model, and factors such as family, size and kind."),
    "paper": ("MODEL", "With --table: the model of the paper whose numbers stand beside."),
    "format": ("text|json|csv|markdown|latex|html", "How tables are printed. [default: text]"),
}
"""What goes with tables alone."""
ONCE = ("measure", "pair", "models", "paper", "format")
NEEDS = {
    **{"macro": ("pivot",), "pair": ("paired",), "group": ("leaderboard",), "paper": ("table",)},
    "gee": ("attribute",),
    "by": ("paired", "gap", "trend", "spread", *ANALYSES),
}
"""The tables that an option goes with."""


def table_options(command: F) -> F:
    """Give a command an option for each of these, which may be given several times, and a flag for each analysis."""
    for name, text in reversed(ANALYSES.items()):
        command = click.option(f"--{name}", is_flag=True, help=text)(command)
    command = click.option("--gee", is_flag=True, help=GEE)(command)
    for name, (metavar, text) in reversed((KINDS | MORE).items()):
        command = click.option(f"--{name}", multiple=True, metavar=metavar, help=text)(command)
    return command


def print_tables(
    folders: Sequence[RunFolder],
    given: dict[str, tuple[str, ...]],
    by: list[str],
    csv_file: Path | None,
    plot: Callable[[Mapping[str, Chart]], object] | None,
    *,
    quiet: bool,
) -> None:
    """Print tables as they were asked for; exit status 1 where records failed. Raises UsageError for options that do
    not go together."""
    from mmdyn.tables import FORMATS, named_table, read_model_facts, table_charts, tabulate
    from mmdyn.work import ProgressBar

    form, paper = _one(given, "format", "text"), _one(given, "paper", "")
    if form not in FORMATS or _one(given, "pair", "parent") not in ("parent", "group"):
        raise click.UsageError(f"--format is one of {', '.join(FORMATS)}, --pair parent or group: give one of these")
    for name in ONCE:
        if len(given[name]) > 1:
            raise click.UsageError(f"--{name} is given {len(given[name])} times: give it once")
    for name, kinds in NEEDS.items():
        if (by if name == "by" else given[name]) and not any(given[kind] for kind in kinds):
            raise click.UsageError(f"--{name} goes with --{' or --'.join(kinds)}: give one, or leave --{name} out")
    declared = [name for name in ("measure", "macro", "group", "pair") if given[name]]
    if declared and not any(given[kind] for kind in KINDS if kind != "table"):
        raise click.UsageError(f"--table says its own {declared[0]}: leave --{declared[0]} out, or declare the table")
    facts = read_model_facts(Path(file)) if (file := _one(given, "models", "")) else {}
    where = _by_name(given, "where")
    tables: list[tuple[NamedTable | list[Part], Published | None]] = [
        (table.narrowed(where), published) for table, published in (named_table(name, paper) for name in given["table"])
    ]
    if (parts := _parts(given, by)) or not tables:
        tables.append((parts, None))
    if len(tables) > 1 and (csv_file or form in ("json", "csv")):
        raise click.UsageError("JSON and CSV are of one table: give one --table, or declared tables, at a time")
    failed = 0
    for table, published in tables:
        with ProgressBar("reading", sum(run.config.planned for run in folders), quiet=quiet) as progress:
            found = tabulate(folders, table, published=published, facts=facts, progress=progress)
        if plot:
            plot(table_charts(found))
        sys.stdout.write("" if csv_file else FORMATS[form](found))
        if csv_file:
            try:
                csv_file.write_text(FORMATS["csv"](found), encoding="utf-8", newline="")
            except OSError as error:
                raise UserError(f"cannot write {csv_file} ({error.strerror}): choose another file") from None
            click.echo(f"wrote {csv_file}", err=True)
        if not found.complete:
            click.echo("records are missing or not scored yet: run the same `mmdyn eval` once more", err=True)
        failed = max(failed, found.failed)
    if failed:
        click.echo(f"{failed} records failed", err=True)
        click.get_current_context().exit(1)


def _parts(given: dict[str, tuple[str, ...]], by: list[str]) -> list[Part]:
    """The declarations, in the order of KINDS."""
    from mmdyn import table as declared

    named: dict[str, Any] = {"measure": _one(given, "measure", "score"), "where": _by_name(given, "where")}
    groups = _by_name(given, "group")
    parts: list[Part] = []
    for text in given["pivot"]:
        factors = tuple(_names(text))
        if not 1 <= len(factors) <= 3:
            raise click.UsageError(f"--pivot {text!r} names {len(factors)} factors: name one to three")
        parts.append(declared.Pivot(by=factors, macro=given["macro"], **named))
    for kind in ("paired", "gap", "trend", "spread"):
        more = {"pair": _one(given, "pair", "parent")} if kind == "paired" else {}
        for text in given[kind]:
            ends = _ends(text) if kind in ("paired", "gap") else {"factor": text}
            rows = tuple(name for name in dict.fromkeys(("model", *by)) if name != ends["factor"])
            parts.append(getattr(declared, kind.title())(by=rows, **ends, **more, **named))
    parts += [declared.Ranking(over=factor, **named) for factor in given["ranking"]]
    parts += [declared.Leaderboard(columns=name, groups=groups, **named) for name in given["leaderboard"]]
    of_all: dict[str, Any] = {"by": tuple(dict.fromkeys(("model", *by))), "where": named["where"]}
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "attribute": (declared.Attribution, {"gee": given["gee"]}),
        "noise": (declared.Noise, {}),
        "ladder": (declared.Ladder, {}),
        "curves": (declared.Curves, {}),
    }
    return parts + [kind(**of_all, **own) for name, (kind, own) in kinds.items() if given[name]]


def _one(given: dict[str, tuple[str, ...]], name: str, default: str) -> str:
    return given[name][-1] if given[name] else default


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _by_name(given: dict[str, tuple[str, ...]], option: str) -> dict[str, tuple[str, ...]]:
    """NAME=VALUE,… options by their names. Raises UsageError for one that is named twice."""
    found = dict(map(_values, given[option]))
    if len(found) < len(given[option]):
        raise click.UsageError(f"--{option} names one thing twice: write all its values at once, NAME=X,Y")
    return found


def _values(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, values = text.partition("=")
    if not name.strip() or not _names(values):
        raise click.UsageError(f"{text!r} is no NAME=VALUE,…: write it like difficulty=easy,hard")
    return name.strip(), tuple(_names(values))


def _ends(text: str) -> dict[str, str]:
    if not (found := re.fullmatch(r"\s*([^=]+?)\s*=\s*(.+?)\s*:\s*(.+?)\s*", text)):
        raise click.UsageError(f"{text!r} is no FACTOR=A:B: write it like difficulty=easy:hard")
    return dict(zip(("factor", "a", "b"), found.groups(), strict=True))
