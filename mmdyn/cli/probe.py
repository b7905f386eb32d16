"""mmdyn probe: what models are asked beside answers, to find what they knew before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from mmdyn.cli._command import CommandGroup, Groups, asking_options, options_of, take
from mmdyn.cli._shared import list_failures, quiet_option
from mmdyn.errors import command_line

if TYPE_CHECKING:
    from mmdyn.run import Probe

SHOWN = 20
"""Failures that are listed."""

model_option = click.option(
    *("-m", "--model", "models"),
    metavar="MODEL",
    multiple=True,
    required=True,
    help="A model of RUN, as `mmdyn eval` was given it; several -m for several.",
)


@click.group("probe", cls=CommandGroup)
def command() -> None:
    """Ask the models of a run for evidence on what they knew before; `mmdyn report RUN --memory` tells what it says.

    \b
    mmdyn probe order RUN -m hf:Qwen/Qwen2.5-0.5B --is-random exam
    mmdyn probe completion RUN -m openai:gpt-4o

    What is asked stays in RUN, and is not asked again.
    """


def _order_options() -> Groups:
    from mmdyn.run import Order

    return _groups(Order)


@command.command("order", groups=_order_options)
@click.argument("run", type=click.Path(path_type=Path))
@model_option
@quiet_option
def order(run: Path, models: tuple[str, ...], **arguments: Any) -> None:
    """Ask the models of RUN how likely they find its standard questions in the order of their set, and in random ones.

    \b
    mmdyn probe order RUN -m hf:Qwen/Qwen2.5-0.5B --is-random exam

    A model that was trained on the file may find its order likelier than all others. That says nothing where the order
    is not random: exam orders follow topic and difficulty. It takes log-probabilities: hf:, vllm: and completions:
    models.
    Exit status: 1 where some orders have no log-probability; 3 stopped at --max-cost or --max-requests.
    """
    from mmdyn.run import Order

    _ask(run, models, take(arguments, Order), arguments)


def _completion_options() -> Groups:
    from mmdyn.run import Completion

    return _groups(Completion)


@command.command("completion", groups=_completion_options)
@click.argument("run", type=click.Path(path_type=Path))
@model_option
@quiet_option
def completion(run: Path, models: tuple[str, ...], **arguments: Any) -> None:
    """Ask the models of RUN to go on with the first half of its standard questions, with the set named and not.

    \b
    mmdyn probe completion RUN -m openai:gpt-4o

    A model that has read the questions may go on as they were published. Where RUN has paraphrases of the same
    questions, their first halves are asked as well. It takes two or three short requests a question, and any model.
    Exit status: 1 where some requests failed; 3 stopped at --max-cost or --max-requests.
    """
    from mmdyn.run import Completion

    _ask(run, models, take(arguments, Completion), arguments)


def _masked_option_options() -> Groups:
    from mmdyn.run import Options

    return _groups(Options)


@command.command("options", groups=_masked_option_options)
@click.argument("run", type=click.Path(path_type=Path))
@model_option
@quiet_option
def options(run: Path, models: tuple[str, ...], **arguments: Any) -> None:
    """Ask the models of RUN for a wrong option of its single choices that is masked, with the set named and not.

    \b
    mmdyn probe options RUN -m openai:gpt-4o

    Nothing in a question says which wrong options it has, so a model that names many of them may have read them. It
    takes two short requests a question, and any model.
    Exit status: 1 where some requests failed; 3 stopped at --max-cost or --max-requests.
    """
    from mmdyn.run import Options

    _ask(run, models, take(arguments, Options), arguments)


def _member_options() -> Groups:
    from mmdyn.run import Members

    return _groups(Members, required="published")


@command.command("members", groups=_member_options)
@click.argument("run", type=click.Path(path_type=Path))
@model_option
@quiet_option
def members(run: Path, models: tuple[str, ...], **arguments: Any) -> None:
    """Ask the models of RUN how likely they find the words of questions that were published, and of those held out.

    \b
    mmdyn probe members RUN -m hf:Qwen/Qwen2.5-0.5B --published split=public \\
      --drawn-at-random

    Scores: Min-K%++ of hf: models, Min-K% of vllm: and completions: models. They tell only where the held-out part was
    drawn at random, and where the words alone do not tell the parts apart, which is looked at, too.
    Exit status: 1 where some questions have no log-probabilities; 3 stopped at --max-cost or --max-requests.
    """
    from mmdyn.run import Members

    _ask(run, models, take(arguments, Members), arguments)


def _groups(kind: type[Struct], required: str = "") -> Groups:
    """The options of a kind of evidence, and those of asking."""
    return {"Evidence": options_of(kind, required=required), "Limits": asking_options()}


def _ask(run: Path, models: tuple[str, ...], evidence: Probe[Any, Any, Any], asking: dict[str, Any]) -> None:
    """Ask, say what there is now, list what failed, and leave by it."""
    from mmdyn.run import probe

    found = probe(run, models, evidence, **asking)
    telling = command_line("mmdyn", "report", run, "--memory")
    click.echo(f"{found.said} {evidence.what} asked about: `{telling}` tells what they say")
    list_failures("failed", found.failures[:SHOWN], len(found.failures))
    if found.failures:
        click.get_current_context().exit(1)
