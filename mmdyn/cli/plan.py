"""mmdyn plan: how many questions, draws and repetitions show a drop, or memory, and what a set can show as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mmdyn.cli._command import Command, Groups, options_of, take
from mmdyn.cli._shared import Number, number_option, print_json, say_line

if TYPE_CHECKING:
    from mmdyn.run import Choice, MemoryPlan, Plan

FOR_MEMORY = {"sets", "power", "contrasts", "pilot", "prior"}
"""What goes with --memory."""


def _groups() -> Groups:
    from mmdyn.run import ConditionSpec, Limits

    return {
        "Draws and repetitions of the set as it is": options_of(ConditionSpec, "ops", "draws", "epochs"),
        "Cost and time": options_of(Limits, "prices", "concurrency"),
    }


@click.command("plan", cls=Command, groups=_groups)
@click.argument("sets", metavar="SET...", nargs=-1)
@click.option("-m", "--model", "models", metavar="MODEL", multiple=True)
@click.option("--memory", is_flag=True)
@click.option("--detect", metavar="POINTS", type=Number(), default=3.0, show_default=True)
@click.option("--power", metavar="P", type=Number(), default=0.8, show_default=True)
@number_option("--contrasts", "M")
@click.option("--pilot", metavar="RUN", default="")
@click.option("--pilot-model", metavar="LABEL", default="")
@click.option("--prior", metavar="NAME=X,…", default="")
@click.option("--json", "as_json", is_flag=True)
def command(as_json: bool, memory: bool, **arguments: Any) -> None:
    """Estimate how many questions it takes to detect a drop from standard to dynamic.

    \b
    mmdyn plan mmdyn-demo/set -m baseline:lexical --detect 10
    mmdyn plan mmdyn-demo/set --memory

    SET is a set folder, or a file (JSONL, VLMEvalKit TSV, Parquet).
    \f
    models: backend:name, as for eval.
    memory: Estimate instead how many questions, and what access, each kind of evidence of `report --memory` takes,
        of SET and in general; without -m.
    detect: The drop that is to be seen, in points.
    power: How often it is to be seen where it is there.
    contrasts: Of how many contrasts, each at 5 %/M, as Holm's first step has it.
    pilot: A run with standard and dynamic answers, better with --epochs and --draws, that says how they vary; with
        --memory, any run, whose questions are looked at.
    pilot_model: The model of the pilot that stands for all of -m.
    prior: What is believed where no pilot tells, such as accuracy=0.6,flips=0.15,repeat=0.1,draws=0.5,icc=0.1: the
        standard score; how often question and variant, and two answers to one question, differ in being right; which
        share of the other spread is between draws; how alike the differences of one group are. With --memory, what
        stands there as assumed.
    as_json: Print the plan as JSON.
    """
    from mmdyn.run import ConditionSpec, Limits, plan_memory, plan_run

    _check(memory, arguments)
    if memory:
        plan = plan_memory(**{name: arguments[name] for name in FOR_MEMORY})
        if as_json:
            print_json(plan)
        else:
            _print_memory(plan)
        return
    spec, limits = take(arguments, ConditionSpec), take(arguments, Limits)
    found = plan_run(**arguments, spec=spec, limits=limits)
    if as_json:
        print_json(found)
    for one in found if not as_json else ():
        _print(one)


def _check(memory: bool, arguments: dict[str, Any]) -> None:
    """Raise click's error for an option that does not go with --memory, or what is missing without it."""
    ctx = click.get_current_context()
    for option in ctx.command.get_params(ctx):
        name = option.name or ""
        if not memory and name in ("sets", "models") and not arguments[name]:
            raise click.MissingParameter(ctx=ctx, param=option)
        given = ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
        if memory and given and name in arguments.keys() - FOR_MEMORY:
            raise click.UsageError(f"{option.opts[0]} does not go with --memory: leave one of them out")


def _print_memory(plan: MemoryPlan) -> None:
    """Print a grid for each kind of evidence, what it assumes, and what the sets would show."""
    from mmdyn.tables import print_grid

    say_line(
        f"The questions that each kind of evidence takes to show memory with a power of {plan.power:g}, at"
        f" {100 * plan.level:.3g} %, by the leaked share of the questions and the gain of a seen one."
        f" None is below {plan.least}; -: {plan.most:,} are not enough."
    )
    say_line(plan.unknown)
    for one in plan.kinds.values():
        scale = 100 if one.unit == "points" else 1
        heads = ["leaked", *(f"+{scale * gain:g}" for gain in one.gains)]
        rows = list[dict[str, object]]()
        for share, needed in zip(plan.shares, one.needed, strict=True):
            cells = (f"{100 * share:g} %", *(f"{count:,}" if count else "-" for count in needed))
            rows.append(dict(zip(heads, cells, strict=True)))
        notes = [f"Takes {one.access}.", f"Assumed: {one.assumes}"]
        for name, gains in one.shown.items():
            least = [f"{row['leaked']} from +{scale * gain:g}" for row, gain in zip(rows, gains, strict=True) if gain]
            shows = f"{', '.join(least)}, if all can be asked so" if least else "nothing here"
            notes.append(f"{plan.questions[name]:,} questions of {name} would show {shows}.")
        click.echo()
        print_grid(f"{one.title} (gain in {one.unit})", rows, notes)


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
            f"{where}, show {seen} with --draws and --epochs as given, and {100 * one.at_best:.1f} points at best."
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
