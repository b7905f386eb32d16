"""mmdyn build: the steps by which benchmarks are made."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path
from typing import Any

import click

from mmdyn.cli._command import Command, Groups, asking_options, options_of, take
from mmdyn.cli._estimate import dry_run_option, print_estimate
from mmdyn.cli._shared import OutPath, WholeGroup, limit_option, number_option, say_line
from mmdyn.errors import printable


class Steps(WholeGroup):
    """A command for each step, made when it is typed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every step's name."""
        from mmdyn.plugins import names

        return sorted(names("steps"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """A step's command; its options are those of its Settings."""
        from mmdyn.plugins import load, resolve

        kind = load("steps", cmd_name)
        return _command(resolve("steps", cmd_name), kind)


@click.group("build", cls=Steps)
def command() -> None:
    """Make, screen and renew a benchmark, step by step: a set in, a set out.

    \b
    mmdyn build screen mmdyn-demo/set -o screened
    mmdyn build caption mmdyn-demo/set -o captioned -m openai:gpt-4o --dry-run

    What a step refuses stands in OUT/dropped.jsonl with the reason. The same command goes on where it was interrupted.
    """


def _command(name: str, kind: Any) -> click.Command:
    @click.argument("source", metavar="SET")
    @click.option("-o", "--out", metavar="OUT", required=True, type=OutPath(), help="The new set's folder.")
    @_drawing(kind)
    @click.option("--name", metavar="NAME", help="The new set's name. [default: the folder's]")
    @click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
    def done(source: str, out: str, quiet: bool, **arguments: Any) -> None:
        from mmdyn.build import StepCall, build, tell_summary
        from mmdyn.data import describe_stages, stages
        from mmdyn.run import Limits, estimate_build

        settings, limits = take(arguments, kind.Settings), take(arguments, Limits)
        budget = limits.budget
        if arguments.pop("dry_run", False):
            call = StepCall(
                name=name,
                kind=kind,
                settings=settings,
                model=arguments["model"],
                seed=arguments["seed"],
                concurrency=limits.concurrency,
                budget=budget,
                cache=arguments["cache"],
            )
            print_estimate(partial(estimate_build, call, source, Path(out), arguments["limit"]))
            return
        try:
            made = build(
                name,
                source,
                out,
                settings,
                quiet=quiet,
                budget=budget,
                concurrency=limits.concurrency,
                skip_bad=limits.skip_bad,
                **arguments,
            )
        finally:
            if budget.requests and not quiet:
                tokens = f"{budget.prompt_tokens:,} tokens in, {budget.completion_tokens:,} out"
                say_line(f"asked {budget}, {tokens}", err=True)
        for line in () if quiet else (*describe_stages(made), *tell_summary(made)):
            say_line(line, err=True)
        if (last := stages(made)[-1]).came_in and not len(made):
            reasons = Counter[str]()
            for told in last.left.values():
                reasons.update(told)
            most = printable(reasons.most_common(1)[0][0])
            say_line(f"{name} kept none of {last.came_in} samples, mostly because: {most}", err=True)
        if "failed" in last.left or not len(made):
            click.get_current_context().exit(1)

    done.__doc__ = f"{inspect.getdoc(kind)}\n\nTakes {takes(kind)}."
    return click.command(name, cls=Command, groups=partial(_groups, kind))(done)


def _groups(kind: Any) -> Groups:
    asks = {"Asking": asking_options()} if getattr(kind, "asks", False) else {}
    return {"Step": options_of(kind.Settings), **asks}


def _drawing(kind: Any) -> Callable[[Any], Any]:
    """The options of a step that does something with every sample, or reads files; other steps see all at once."""
    options = [click.option("--skip-bad", is_flag=True, help="Leave rows of a file that are no samples out.")]
    if not hasattr(kind, "make"):
        return options[0]
    options += [
        click.option(
            "--seed", metavar="N", type=int, default=0, show_default=True, help="Another seed draws otherwise."
        ),
        limit_option("limit"),
    ]
    if kind.asks:
        options.append(click.option("-m", "--model", metavar="MODEL", default="", help="Who is asked."))
        options.append(dry_run_option)
    else:
        options += [number_option("--workers", "N")]
    return lambda command: reduce(lambda done, option: option(done), options, command)


def takes(kind: Any) -> str:
    """What a step takes, and whom it asks."""
    if hasattr(kind, "read"):
        return "a file or folder, and makes a set of it"
    if hasattr(kind, "refuse"):
        return "a set, and takes samples out of it"
    return f"a set, sample by sample, and {'asks a model' if kind.asks else 'asks nobody'}"
