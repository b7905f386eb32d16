"""mmdyn build: the steps by which benchmarks are made."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import click

from mmdyn.cli._command import Command, options_of, take
from mmdyn.cli._shared import OutPath, limit_option, number_option


class Steps(click.Group):
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

    What a step refuses stands in OUT/dropped.jsonl with the reason. The same command goes on where it was interrupted.
    """


def _command(name: str, kind: Any) -> click.Command:
    @click.argument("source", metavar="SET")
    @click.option("-o", "--out", metavar="OUT", required=True, type=OutPath(), help="The new set's folder.")
    @_drawing(kind)
    @click.option("--name", metavar="NAME", help="The new set's name. [default: the folder's]")
    @click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
    def done(source: str, out: str, quiet: bool, **arguments: Any) -> None:
        from mmdyn.build import build, tell_funnel, tell_summary

        settings = take(arguments, kind.Settings)
        made = build(name, source, out, settings, quiet=quiet, **arguments)
        if not quiet:
            for line in (*tell_funnel(made), *tell_summary(made)):
                click.echo(line, err=True)
        if made.manifest.counts.get("failed"):
            click.get_current_context().exit(1)

    done.__doc__ = kind.__doc__
    return click.command(name, cls=Command, groups=lambda: {"Step": options_of(kind.Settings)})(done)


def _drawing(kind: Any) -> Callable[[Any], Any]:
    """The options of a step that does something with every sample; other steps see all at once, and take none."""
    if not hasattr(kind, "make"):
        return lambda command: command
    options = [
        click.option(
            "--seed", metavar="N", type=int, default=0, show_default=True, help="Another seed draws otherwise."
        ),
        limit_option("limit"),
    ]
    if kind.asks:
        options += [
            click.option("-m", "--model", metavar="MODEL", default="", help="Who is asked."),
            number_option("--concurrency", "N", default=32),
        ]
    else:
        options += [number_option("--workers", "N")]
    return lambda command: reduce(lambda done, option: option(done), options, command)
