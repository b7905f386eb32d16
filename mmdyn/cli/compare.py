"""mmdyn compare: a judge says which of two models' replies are better, or which of two sets' questions take more
reasoning, pair by pair; several models make a board."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mmdyn.cli._command import Command, asking_options
from mmdyn.cli._shared import OutPath, limit_option, list_failures, number_option, print_json, quiet_option, split
from mmdyn.errors import counted, printable

if TYPE_CHECKING:
    from mmdyn.run import Comparison


@click.command("compare", cls=Command, groups=lambda: {"Limits": asking_options()})
@click.argument("runs", nargs=-1, required=True, metavar="RUN... | SET_A SET_B", type=click.Path(path_type=Path))
@click.option("--judge", metavar="MODEL", required=True)
@click.option("-o", "--out", metavar="FOLDER", required=True, type=OutPath())
@click.option("--models", callback=split, metavar="A,B,...")
@click.option("--reference", metavar="MODEL", default="")
@number_option("--votes", "N")
@limit_option("limit")
@click.option("--by", callback=split, metavar="FIELD,...")
@click.option("--no-gold", "gold", flag_value=False, default=True)
@click.option("--pictures", is_flag=True)
@click.option("--json", "as_json", is_flag=True)
@quiet_option
def command(as_json: bool, **arguments: Any) -> None:
    """Compare the replies of the models of one or more runs to the same samples under the same conditions. Or the
    questions of two sets, paired at random: which of the two takes more reasoning. The scores of two runs are compared
    without a judge, by `mmdyn report RUN RUN`.

    \b
    mmdyn compare mmdyn-demo/run --judge openai:gpt-4o -o verdicts
    mmdyn compare mmdyn-demo/set mine --judge openai:gpt-4o -o harder

    Three models and more make a board: ranks, which tie where no test tells models apart, Elo by the Bradley-Terry
    model, and win rates. All pairs of models are judged, or those with a reference.

    A judge is shown both in both orders. One wins only where both orders say so; else the pair is a tie, and
    the share of pairs in which the order decided is the judge's position bias. FOLDER keeps each verdict, and has them
    as pairs.jsonl. Exit status: 1 where a pair got no verdict; 3 stopped at --max-cost or --max-requests.
    \f
    judge: Who compares: backend:name, such as openai:NAME.
    out: Where the verdicts are kept; the same command again goes on there.
    models: The models to compare; two of two runs in the order of the runs. [default: all]
    reference: Judge only pairs with this model, and tell win rates and Elo against it.
    votes: How often the judge is asked in each order; odd.
    limit: Only N samples, drawn at random, the same for every pair of models; a larger N keeps those of before.
    by: Break the figures down by these fields.
    gold: Do not show the judge the golden answer, which it never sees with questions.
    pictures: Show the judge the samples' pictures.
    as_json: Print one JSON object, and nothing else, on standard output.
    """
    from mmdyn.run import compare

    found = compare(**arguments)
    if as_json:
        print_json(found)
    else:
        _print(found)
    list_failures("failed", found.failures, found.failed)
    if found.failed:
        click.get_current_context().exit(1)


def _print(found: Comparison) -> None:
    from mmdyn.tables import print_parts

    if found.board:
        click.echo(printable(f"models: {', '.join(map(str, (found.a, found.b, *found.more)))}\n"))
        print_parts(found.board)
    else:
        click.echo(printable(f"a: {found.a}\nb: {found.b}\n"))
    print_parts(found.table)
    left_out = {
        "asked in a alone": found.left_out.only_a,
        "asked in b alone": found.left_out.only_b,
        "of another version of the sample": found.left_out.changed,
        "never answered": found.left_out.failed,
        "beyond --limit": found.left_out.limit,
    }
    if said := ", ".join(f"{count} {what}" for what, count in left_out.items() if count):
        click.echo(f"left out: {said}")
    cost = "" if found.cost is None or not found.currency else f", {found.cost:g} {found.currency}"
    click.echo(f"judged by {found.judge} ({found.id}): {counted(found.requests, 'request')}{cost}")
