"""mmdyn score: score a run again, by rules and by judges, or score what VLMEvalKit predicted; asks no evaluated model
again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from mmdyn.cli._command import Command, asking_options, options_of, scoring_options, take
from mmdyn.cli._shared import OutPath, finish, list_failures, quiet_option, say_line
from mmdyn.errors import counted, printable

if TYPE_CHECKING:
    from mmdyn.run import Change, Rescored, ScoringConfig

SHOWN = 20
JUDGING = ("judges", "judge_mode", "rubric", "else_rules")


def _groups() -> dict[str, list[click.Option]]:
    from mmdyn.run import Execution

    limits = [*asking_options(), *options_of(Execution, "changed_model")]
    return {"Judging": scoring_options(*JUDGING), "Limits": limits}


@click.command("score", cls=Command, groups=_groups)
@click.argument("run", required=False)
@click.option("--policy", metavar="NAME")
@click.option("--predictions", metavar="FILE", multiple=True, type=click.Path(path_type=Path))
@click.option("--set", "sets", metavar="SET", multiple=True)
@click.option("--model", default="")
@click.option("--in-force", is_flag=True)
@click.option("-o", "--out", metavar="RUN", type=OutPath())
@quiet_option
def command(
    run: str | None,
    predictions: tuple[Path, ...],
    sets: tuple[str, ...],
    model: str,
    in_force: bool,
    out: Path | None,
    **asking: Any,
) -> None:
    """Score the recorded replies of RUN by another policy, or by judges, and show which scores changed.

    \b
    mmdyn score mmdyn-demo/run --policy strict

    Only what a change touches is scored and judged again: a judge's verdicts stand under any policy, and the scores of
    before stay in the store. A metric of texts (--policy bleu) stands beside the scores in force. Golden answers are
    those that the run's sets have now, where they still ask the same.
    Exit status: 1 where a judge gave no verdict on some answers; 3 stopped at a limit.

    With --predictions, score what VLMEvalKit predicted for a set and write a run, which `mmdyn report` reads:

    \b
    mmdyn score --predictions outputs/m/m_exam.xlsx --set exam \\
        -o runs/m
    \f
    policy: Scoring policy; see `mmdyn list scorers`. [default: as now; mdk12 with --predictions]
    predictions: A prediction file of VLMEvalKit's (.xlsx, .tsv, .json) to score in place of a run.
    sets: The run's set as it is now, where it lies elsewhere. With --predictions: the set whose TSV it was made of; one
        for each FILE, in order.
    in_force: Put the scores of a metric in force, too.
    model: With --predictions: how reports name the model. [default: by FILE's name]
    out: With --predictions: the run's folder. [default: beside FILE]
    """
    from mmdyn.run import ScoringConfig

    scoring = take(asking, ScoringConfig)
    if predictions:
        if run is not None or len(sets) != len(predictions):
            raise click.UsageError("--predictions takes a --set for each FILE, and no RUN")
        if scoring.judges:
            raise click.UsageError(
                "--predictions are scored by rules; then `mmdyn score RUN --judge MODEL` has them judged"
            )
        _score_predictions(predictions, sets, model, scoring.policy, out)
    elif run is None or model or out:
        raise click.UsageError("give a RUN, or --predictions FILE --set SET, with which --model and -o go")
    else:
        _score_again(run, sets, scoring, asking, in_force)


def _score_predictions(
    predictions: tuple[Path, ...], sets: tuple[str, ...], model: str, policy: str, out: Path | None
) -> None:
    from mmdyn.run import score_predictions

    out = out or predictions[0].with_name(f"{predictions[0].stem}-run")
    run, tallies = score_predictions([*zip(predictions, sets, strict=True)], out, model=model, policy=policy)
    for tally in tallies:
        say_line(str(tally), err=True)
    finish(run)


def _score_again(
    run: str, sets: tuple[str, ...], scoring: ScoringConfig, asking: dict[str, Any], in_force: bool
) -> None:
    from mmdyn.plugins import resolve
    from mmdyn.run import Execution, Limits, rescore
    from mmdyn.scoring import Scorer
    from mmdyn.work import RunFolder

    before = RunFolder(run).config
    known = {evaluator.active_scores.policy for evaluator in before.by_root.values()}
    if not click.get_current_context().params["policy"]:
        scoring = replace(scoring, policy=known.pop() if len(known) == 1 else "")
    elif (scorer := Scorer(scoring.policy)).compares and known != {scorer.policy} and not (in_force or scoring.judges):
        _score_beside(run, scorer.policy, take(asking, Execution).quiet)
        return
    done = rescore(run, scoring, sets, take(asking, Limits), take(asking, Execution))
    for change in done.changes[:SHOWN]:
        click.echo(printable(_spelt(change)))
    if len(done.changes) > SHOWN:
        click.echo(f"and {len(done.changes) - SHOWN} more")
    for note in done.notes:
        say_line(note, err=True)
    if done.waiting is None:
        now = RunFolder(run).config
        policy = resolve("scorers", scoring.policy) if scoring.policy else "each set's own policy"
        beside = "".join(f", judge {entry.name}" for entry in now.judges)
        beside += ", else rules" if now.scorer.endswith("+else-rules") else ""
        say_line(f"{_count(done.changes)}; {policy}{beside} is in force now", err=True)
    if scoring.judges:
        _tell_judged(run, done)
    elif before.all_judges:
        names = ", ".join(entry.name for entry in before.all_judges)
        say_line(f"scored by rules alone; give --judge for the verdicts of {names}, which are kept", err=True)


def _score_beside(run: str, metric: str, quiet: bool) -> None:
    from mmdyn.run import score_beside

    done = score_beside(run, metric, quiet=quiet)
    left = f"; {counted(done.no_text, 'answer', 'is no text/are no texts')}" if done.no_text else ""
    end = "these stand beside the scores in force (--in-force puts them in force)"
    say_line(f"{counted(done.scored, 'answer')} scored by {done.scorer}, {done.new} of them now{left}; {end}", err=True)


def _count(changes: list[Change]) -> str:
    weighed = sum(change.is_weighed_anew for change in changes)
    return f"{len(changes)} scores changed" + (f", {weighed} of them in weight" if weighed else "")


def _spelt(change: Change) -> str:
    before, after = ("unscored" if value is None else f"{value:.3f}" for value in (change.before, change.after))
    weight = f", weight {change.weight_before:g} -> {change.weight_after:g}" if change.is_weighed_anew else ""
    return f"{change.model}  {change.sample}  {change.mode}: {before} -> {after}{weight}"


def _tell_judged(run: str, done: Rescored) -> None:
    """What the judges were asked; exit status 1 where answers have no verdict."""
    from mmdyn.table import Judged
    from mmdyn.tables import tabulate

    counts = done.counts
    cached = f" and {counted(counts.cached, 'reply')} out of the cache" if counts.cached else ""
    made = f"{counted(counts.judged, 'verdict')} by {counted(counts.requests, 'request')} to judges{cached}"
    say_line(f"{made}; {done.saved} verdicts were not needed, or known before", err=True)
    if done.waiting:
        (state,) = tabulate([run], [Judged()]).runs
        list_failures("not judged", state.judge_failures, state.no_verdict)
        say_line(str(done.waiting), err=True)
        click.get_current_context().exit(1)
