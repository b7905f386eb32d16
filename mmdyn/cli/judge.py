"""mmdyn judge: is the meaning the same, and how well does a judge tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from mmdyn.cli._command import Command
from mmdyn.cli._shared import InFile, number_option, quiet_option
from mmdyn.errors import printable

if TYPE_CHECKING:
    from mmdyn.stats import Share
    from mmdyn.tables import Calibration
    from mmdyn.work import ProgressBar
    from perturb import Sources, VariantJudge


@click.command("judge", cls=Command)
@click.argument("file", type=InFile())
@click.option("--judge", "name", metavar="MODEL", default="embedded", show_default=True)
@number_option("--votes", "N")
@number_option("--concurrency", "N", default=32)
@click.option("--calibrate", is_flag=True)
@click.option("--json", "as_json", is_flag=True)
@click.option("--set", "dynamic", metavar="SET", default="")
@click.option("--parent", metavar="SET", default="")
@click.option("--style-backend", "style", metavar="NAME", default="")
@quiet_option
def command(
    file: BinaryIO, name: str, votes: int, concurrency: int, calibrate: bool, as_json: bool, quiet: bool, **places: str
) -> None:
    """Judge whether the questions of each pair in FILE (- for standard input) ask the same.

    \b
    mmdyn judge pairs.jsonl
    mmdyn judge labelled.jsonl --calibrate --judge openai:gpt-4o

    FILE has a JSON object a line: a and b, the question before and after, and answer where it is known. The same lines
    come out on standard output with same, confidence, reason and by. Exit status: 1 where a pair got no verdict (same
    is null).

    With --calibrate each line has a label too: true or keep, false or reject. A line of an audit sheet (set,
    parent_set, id, attempt, digest) or two pictures (before_image, after_image) may stand for a and b.
    \f
    name: Who judges: embedded (rules), nli:FOLDER (a cross-encoder of natural language inference), or a MODEL.
    votes: Asks of a model; odd.
    concurrency: Requests in flight.
    calibrate: FILE is labelled: measure the judge, and keep the result for reports.
    as_json: With --calibrate: print one JSON object on standard output.
    dynamic: With --calibrate: where the marked set lies now.
    parent: With --calibrate: where the set lies that it was made of.
    style: With --calibrate: who restyles pictures that must be made again without noise. [default: as the set says]
    """
    from mmdyn.work import ProgressBar
    from perturb import Sources, open_judge

    if as_json and not calibrate:
        raise click.UsageError("--json goes with --calibrate: without it every line of output is JSON")
    if any(places.values()) and not calibrate:
        raise click.UsageError(
            "--set, --parent and --style-backend go with --calibrate: pairs of texts need none of them"
        )
    judge = open_judge(name, votes, concurrency)
    try:
        with ProgressBar("judging", quiet=quiet) as bar:
            if calibrate:
                failed = _calibrate(file, judge, concurrency, as_json, Sources(**places), bar)
            else:
                failed = _judge(file, judge, concurrency, bar)
    finally:
        judge.close()
    if failed:
        click.echo(f"pairs without a verdict: {failed}", err=True)
        click.get_current_context().exit(1)


def _judge(file: BinaryIO, judge: VariantJudge, concurrency: int, bar: ProgressBar) -> int:
    """Print every line with its verdict; how many have none."""
    import sys

    import msgspec

    from perturb import judge_lines

    failed = 0
    for row in bar.count(judge_lines(file, file.name, judge, concurrency)):
        sys.stdout.buffer.write(msgspec.json.encode(row) + b"\n")
        failed += row["same"] is None
    return failed


def _calibrate(
    file: BinaryIO, judge: VariantJudge, concurrency: int, as_json: bool, sources: Sources, bar: ProgressBar
) -> int:
    import msgspec

    from mmdyn.data import LabelledFile
    from mmdyn.tables import load_calibrations, save
    from perturb import in_order, labelled_cases, measure, verdict_of

    load_calibrations(judge.identity)  # what cannot be read is told before a model is asked
    lines = LabelledFile(file)
    labelled = labelled_cases(lines, file.name, sources)
    judged = in_order(lambda pair: verdict_of(judge, pair[1]), labelled, concurrency if judge.waits else 1)
    told = ((keep, verdict, case.about) for (keep, case), verdict in bar.count(judged))
    measured = measure(judge.label, judge.identity, told)
    calibration = msgspec.structs.replace(measured, labels=lines.digest, file=Path(file.name).name)
    kept, replaced = save(calibration)
    if as_json:
        click.echo(msgspec.json.encode(calibration))
    else:
        _print(calibration)
    instead = ", in place of what was measured on these labels before" if replaced else ""
    click.echo(f"kept for reports{instead}: {kept}", err=True)
    return calibration.failed


def _print(calibration: Calibration) -> None:
    from mmdyn.tables import METHOD, judge_id, named, spell_kappa

    rows = {
        "agreement": (calibration.agreement, "of all pairs, those that it and people both keep or both reject"),
        "precision": (calibration.precision, "of the pairs that it rejects, those whose meaning changed"),
        "recall = sensitivity": (calibration.recall, "of the pairs whose meaning changed, those that it rejects"),
        "specificity": (calibration.specificity, "of the pairs whose meaning was kept, those that it keeps"),
    }
    who = f"{calibration.judge} ({judge_id(calibration.identity)})"
    asked = f"{calibration.questions} question{'s' * (calibration.questions != 1)}"
    on = f"{calibration.n} labelled pairs about {asked} of {named(calibration)}"
    click.echo(printable(f"{who} on {on}"), err=True)
    for name, (share, meaning) in rows.items():
        click.echo(f"    {name:<21} {_spell(share):<36} {meaning}", err=True)
    kappa = spell_kappa(calibration.kappa, calibration.kappa_ci95)
    click.echo(f"    {'kappa':<21} {kappa:<36} agreement on kept and changed beyond chance", err=True)
    click.echo(f"    {METHOD}", err=True)


def _spell(share: Share | None) -> str:
    if share is None:
        return "no such pair"
    return f"{share.value:6.1%}  [{share.low:.1%}, {share.high:.1%}]  n = {share.n}"
