"""mmdyn score: score a run again, or score what VLMEvalKit predicted; asks no evaluated model again."""

from __future__ import annotations

from pathlib import Path

import click

from mmdyn.cli._shared import OutPath, finish
from mmdyn.errors import printable

SHOWN = 20


@click.command("score")
@click.argument("run", required=False)
@click.option("--policy", default="mdk12", show_default=True, help="How credit is given: `mmdyn list scorers`.")
@click.option(
    "--predictions",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A prediction file of VLMEvalKit's (.xlsx, .tsv, .json) to score in place of a run.",
)
@click.option(
    "--set", "sets", metavar="SET", multiple=True, help="The set whose TSV it was made of; one for each FILE, in order."
)
@click.option("--model", default="", help="With --predictions: how reports name the model. [default: by FILE's name]")
@click.option(
    "-o", "--out", metavar="RUN", type=OutPath(), help="With --predictions: the run's folder. [default: beside FILE]"
)
def command(
    run: str | None, policy: str, predictions: tuple[Path, ...], sets: tuple[str, ...], model: str, out: Path | None
) -> None:
    """Score the recorded replies of RUN by a policy and show which scores changed. The scores of before stay in the store.

    \b
    With --predictions, score what VLMEvalKit predicted for a set and write a run, which `mmdyn report` reads:
    mmdyn score --predictions outputs/m/m_exam.xlsx --set exam -o RUN
    """
    if predictions:
        if run is not None or len(sets) != len(predictions):
            raise click.UsageError("--predictions takes a --set for each FILE, and no RUN")
        _score_predictions(predictions, sets, model, policy, out)
    elif run is None or sets or model or out:
        raise click.UsageError("give a RUN alone, or --predictions FILE --set SET")
    else:
        _score_again(run, policy)


def _score_predictions(
    predictions: tuple[Path, ...], sets: tuple[str, ...], model: str, policy: str, out: Path | None
) -> None:
    from mmdyn.run.predictions import score_predictions

    out = out or predictions[0].with_name(f"{predictions[0].stem}-run")
    run, tallies = score_predictions([*zip(predictions, sets, strict=True)], out, model=model, policy=policy)
    for tally in tallies:
        click.echo(printable(str(tally)), err=True)
    finish(run)


def _score_again(run: str, policy: str) -> None:
    from mmdyn.run.score import score

    changes = score(run, policy)
    for change in changes[:SHOWN]:
        before = "unscored" if change.before is None else f"{change.before:.3f}"
        click.echo(printable(f"{change.model}  {change.sample}  {change.mode}: {before} -> {change.after:.3f}"))
    if len(changes) > SHOWN:
        click.echo(f"and {len(changes) - SHOWN} more")
    click.echo(f"{len(changes)} scores changed; {policy} is in force now", err=True)
