"""mmdyn score: score a run again; asks no evaluated model again."""

from __future__ import annotations

import click

from mmdyn.errors import printable

SHOWN = 20


@click.command("score")
@click.argument("run")
@click.option("--policy", default="mdk12", show_default=True, help="How credit is given: `mmdyn list scorers`.")
def command(run: str, policy: str) -> None:
    """Score the recorded replies of RUN by a policy and show which scores changed. The scores of before stay in the store."""
    from mmdyn.run.score import score

    changes = score(run, policy)
    for change in changes[:SHOWN]:
        before = "unscored" if change.before is None else f"{change.before:.3f}"
        click.echo(printable(f"{change.model}  {change.sample}  {change.mode}: {before} -> {change.after:.3f}"))
    if len(changes) > SHOWN:
        click.echo(f"and {len(changes) - SHOWN} more")
    click.echo(f"{len(changes)} scores changed; {policy} is in force now", err=True)
