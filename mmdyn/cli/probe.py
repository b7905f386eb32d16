"""mmdyn probe: whether models find a set's published order of questions likelier than random orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mmdyn.cli._command import Command, asking_options
from mmdyn.cli._shared import list_failures, number_option, quiet_option, split
from mmdyn.errors import command_line


@click.command("probe", cls=Command, groups=lambda: {"Limits": asking_options()})
@click.argument("run", type=click.Path(path_type=Path))
@click.option("-m", "--model", "models", metavar="MODEL", multiple=True, required=True)
@click.option("--order-is-random", "random_order", callback=split, metavar="SET,...")
@number_option("--shards", "N", default=20)
@number_option("--orders", "N", default=19)
@number_option("--seed", "N", default=0, least=0, most=(1 << 63) - 1)
@quiet_option
def command(run: Path, models: tuple[str, ...], **asking: Any) -> None:
    """Ask the models of RUN how likely they find its standard questions in the order of their set, and in random ones.

    \b
    mmdyn probe RUN -m hf:Qwen/Qwen2.5-0.5B --order-is-random exam

    A model that was trained on the file may find its order likelier than all others. `mmdyn report RUN --memory` tells
    what that says, which is nothing where the order is not random: exam orders follow topic and difficulty. It takes
    log-probabilities: hf:, vllm: and completions: models. What is asked stays in RUN, and is not asked again.
    Exit status: 1 where some orders have no log-probability; 3 stopped at --max-cost or --max-requests.
    \f
    models: A model of RUN, as `mmdyn eval` was given it; several -m for several.
    random_order: Sets whose makers say that they put the questions in random order.
    shards: Blocks of 10 to 19 questions that are weighed of each set.
    orders: Random orders of each block.
    seed: Another seed draws other blocks and orders.
    """
    from mmdyn.run import probe

    found = probe(run, models, **asking)
    telling = command_line("mmdyn", "report", run, "--memory")
    click.echo(f"{found.weighed} orders weighed: `{telling}` tells what they say")
    list_failures("failed", found.failures[:SHOWN], len(found.failures))
    if found.failures:
        click.get_current_context().exit(1)


SHOWN = 20
"""Failures that are listed."""
