"""mmdyn plan: how many questions, draws and repetitions show a drop, and what a set can show as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mmdyn.cli._command import Command, Groups, options_of, take
from mmdyn.cli._shared import Number, number_option, print_json, say_line

if TYPE_CHECKING:
    from mmdyn.run import Choice, Plan


def _groups() -> Groups:
    from mmdyn.run import ConditionSpec, Limits

    return {
        "Draws and repetitions of the set as it is": options_of(ConditionSpec, "ops", "draws", "epochs"),
        "Cost and time": options_of(Limits, "prices", "concurrency"),
    }


@click.command("plan", cls=Command, groups=_groups)
@click.argument("sets", metavar="SET...", nargs=-1, required=True)
@click.option("-m", "--model", "models", metavar="MODEL", multiple=True, required=True)
@click.option("--detect", metavar="POINTS", type=Number(), default=3.0, show_default=True)
@click.option("--power", metavar="P", type=Number(), default=0.8, show_default=True)
@number_option("--contrasts", "M")
@click.option("--pilot", metavar="RUN", default="")
@click.option("--pilot-model", metavar="LABEL", default="")
@click.option("--prior", metavar="NAME=X,…", default="")
@click.option("--json", "as_json", is_flag=True)
def command(as_json: bool, **arguments: Any) -> None:
    """Estimate how many questions it takes to detect a drop from standard to dynamic.

    \b
    mmdyn plan mmdyn-demo/set -m baseline:lexical --detect 10

    SET is a set folder, or a file (JSONL, VLMEvalKit TSV, Parquet).
    \f
    models: backend:name, as for eval.
    detect: The drop that is to be seen, in points.
    power: How often it is to be seen where it is there.
    contrasts: Of how many contrasts, each at 5 %/M, as Holm's first step has it.
    pilot: A run with standard and dynamic answers, better with --epochs and --draws, that says how they vary.
    pilot_model: The model of the pilot that stands for all of -m.
    prior: What is believed where no pilot tells, such as accuracy=0.6,flips=0.15,repeat=0.1,draws=0.5,icc=0.1: the
        standard score; how often question and variant, and two answers to one question, differ in being right; which
        share of the other spread is between draws; how alike the differences of one group are.
    as_json: Print the plan as JSON.
    """
    from mmdyn.run import ConditionSpec, Limits, plan_run

    spec, limits = take(arguments, ConditionSpec), take(arguments, Limits)
    found = plan_run(**arguments, spec=spec, limits=limits)
    if as_json:
        print_json(found)
    for one in found if not as_json else ():
        _print(one)


def _print(one: Plan) -> None:
    """Print what shows the drop, what the set shows, and the commands."""
    from mmdyn.tables import print_grid

    what = f"Questions that show a drop of {100 * one.drop:g} points with a power of {one.power:g}"
    title = f"{what}, at {100 * one.level:.3g} % ({one.model}, {one.set})"
    print_grid(title, [_cells(one, each) for each in one.choices])
    say_line(f"Told from {one.told.basis}; assumed: {', '.join(one.told.assumed) or 'nothing'}.")
    where = f"The {one.questions} questions of {one.set}, in {one.groups} groups"
    if one.at_best:
        seen = f"a drop of {100 * one.seen:.1f} points" if one.seen else "no drop, however large,"
        say_line(
            f"{where}, show {seen} with the draws and repetitions named, and {100 * one.at_best:.1f} points at best."
        )
    else:
        say_line(f"{where}, are too few to show any drop, with any number of draws and repetitions above.")
    say_line("\n".join(one.commands) or "No choice above has so few questions as the set: add some, or detect more.")


def _cells(one: Plan, choice: Choice) -> dict[str, object]:
    cost = "unknown" if choice.cost is None else f"{choice.cost:.4g} {one.told.currency}".rstrip()
    hours = "unknown" if choice.seconds is None else f"{choice.seconds / 3600:.2f}"
    draws, repetitions = "s" * (choice.draws > 1), "s" * (choice.epochs > 1)
    name = f"{choice.draws} draw{draws}, {choice.epochs} repetition{repetitions}{' (cheapest)' * choice.cheapest}"
    questions, requests = (f"{count:,}" if count else "too many" for count in (choice.questions, choice.requests))
    return {"asked": name, "questions": questions, "requests": requests, "cost": cost, "hours": hours}
