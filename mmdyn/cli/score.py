"""mmdyn score: score a run again; asks no evaluated model again."""

from __future__ import annotations

import click

SHOWN = 20


@click.command("score")
@click.argument("run")
@click.option("--policy", default="mdk12", show_default=True, help="How credit is given: `mmdyn list scorers`.")
def command(run: str, policy: str) -> None:
    """Score the recorded replies of RUN by a policy and show which scores changed. The scores of before stay in the store."""
    from mmdyn.run.score import score

    changes = score(run, policy)
    for change in changes[:SHOWN]:
        before = "unscored" if change.before is None or change.before.value is None else f"{change.before.value:.3f}"
        record = change.record
        click.echo(f"{record.model}  {record.sample}  {record.condition.mode}: {before} -> {change.after.value:.3f}")
    if len(changes) > SHOWN:
        click.echo(f"and {len(changes) - SHOWN} more")
    click.echo(f"{len(changes)} scores changed; {policy} is in force now", err=True)
