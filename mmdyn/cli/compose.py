"""mmdyn compose: questions out of a bank of statements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mmdyn.cli._command import Command, Groups, options_of, take
from mmdyn.cli._shared import OutPath
from mmdyn.errors import counted


def _groups() -> Groups:
    from mmdyn.build import ComposeSpec

    return {"Questions": options_of(ComposeSpec)}


@click.command("compose", cls=Command, groups=_groups)
@click.argument("banks", metavar="BANK...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--out", metavar="SET", required=True, type=OutPath())
@click.option("--avoid", metavar="SET", multiple=True)
@click.option("--sweep", metavar="NAME=RANGE", multiple=True)
@click.option("--secret", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--publish", metavar="FOLDER", type=OutPath())
@click.option("--name", metavar="NAME")
@click.option("-q", "--quiet", is_flag=True)
def command(
    banks: tuple[Path, ...],
    out: Path,
    avoid: tuple[str, ...],
    sweep: tuple[str, ...],
    secret: Path | None,
    publish: Path | None,
    name: str | None,
    quiet: bool,
    **arguments: Any,
) -> None:
    """Compose questions out of statements: which of several are correct?

    \b
    mmdyn compose statements.jsonl -o composed --questions 20

    BANK is a set of statements, or a JSON Lines file of them: id, text, label (true or false), discipline, field,
    subfield, language, pair (of a false one, the id of the statement that it falsifies), error_type, source. In several
    banks a statement, its falsifications and near copies count as one. The same seed and secret make the same
    questions.
    \f
    out: The new set's folder; with --sweep a folder of sets.
    avoid: A composed set: tell what is shared with it (bound that by --max-shared).
    secret: A file of 32 random bytes or more, which enters every draw; keep it. [default: OUT.secret, made where it is
        not there]
    publish: Write questions.jsonl into FOLDER: the questions without their answers and without what tells them.
    sweep: A set for every value, such as options=4-10, statements=4-16, seed=0-4; several are combined.
    name: The new set's name. [default: the folder's]
    quiet: No progress and no summary.
    """
    from mmdyn.build import ComposeSpec, compose_sweep

    spec = take(arguments, ComposeSpec)
    made_sets = compose_sweep(
        banks, out, spec, sweep, name=name, avoid=avoid, secret=secret, publish=publish, quiet=quiet
    )
    for made in made_sets:
        if not quiet:
            _tell(made)
    if not quiet and secret is None:
        click.echo(f"{out}.secret made the draws: keep it to compose the same again, and publish it nowhere", err=True)


def _tell(made: Any) -> None:
    summary = made.manifest.made["summary"]
    click.echo(f"{counted(len(made), 'question')} of {summary['statements_used']} statements: {made.folder}", err=True)
    if right := summary.get("right_options"):
        click.echo(f"    right options: {', '.join(f'{letter} {count}' for letter, count in right.items())}", err=True)
    if (uses := summary["uses_of_an_origin"])["most"]:
        many = f"in {uses['mean']:.1f} questions on average, {uses['most']} at most" if uses["most"] > 1 else "once"
        click.echo(f"    a statement, with its falsifications and near copies, stands {many}", err=True)
    for who, earned in summary.get("blind_solvers", {}).items():
        click.echo(f"    {who}: {100 * earned:.1f} %", err=True)
    if overlap := summary["overlap"]:
        shared = ", ".join(f"{count} share {shared}" for shared, count in overlap["questions_by_most_shared"].items())
        click.echo(f"    with the nearest question to avoid: {shared} statements; {overlap['equal']} all", err=True)
