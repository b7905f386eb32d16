"""mmdyn eval: ask models the standard, the dynamic and the knowledge-beside variants, score and record."""

from __future__ import annotations

from typing import Any

import click

from mmdyn.cli._judging import judge_options
from mmdyn.cli._knowledge import knowledge_options, take_library
from mmdyn.cli._shared import (
    OutPath,
    concurrency_option,
    executor_options,
    finish,
    money_options,
    number_option,
    split,
    variant_options,
)


@click.command("eval")
@click.argument("sets", metavar="SET...", nargs=-1, required=True)
@click.option(
    "-m",
    "--model",
    "models",
    metavar="MODEL",
    multiple=True,
    required=True,
    help="backend:name, such as openai:gpt-4o or baseline:lexical; give it several times for several models.",
)
@click.option(
    "-o",
    "--out",
    metavar="RUN",
    required=True,
    type=OutPath(),
    help="The run's folder; the same command again goes on in it.",
)
@click.option(
    "--mode",
    "modes",
    callback=split,
    help="standard, dynamic, kprag, dynamic+kprag, separated by commas. [default: what the sets hold]",
)
@knowledge_options
@click.option(
    "--style", "styles", callback=split, default="direct", show_default=True, help="direct, cot, or direct,cot."
)
@click.option(
    "--scoring-mode",
    default="generate",
    show_default=True,
    type=click.Choice(["generate", "likelihood"]),
    help="likelihood: weigh the options of choices and statements instead of having answers written (for base models).",
)
@click.option("--policy", default="mdk12", show_default=True, help="How credit is given: `mmdyn list scorers`.")
@judge_options
@click.option(
    "--prompt",
    metavar="FILE",
    help="A template of your own with {question}, {options}, {instruction} and, where a context is asked, {knowledge}.",
)
@variant_options(required=False)
@number_option("--epochs", "N", "Ask everything so many times.")
@number_option("--limit", "N", "Only the first N questions of each set, with their variants.", default=None)
@concurrency_option("Requests in flight at most; one that seems to hang is none.")
@click.option(
    "--no-cache", "use_cache", flag_value=False, default=True, help="Ask again what another run has asked before."
)
@money_options
@click.option(
    "--dry-run",
    is_flag=True,
    help=(
        "Ask and write nothing: print how many requests there would be, with how many tokens, and their cost by"
        " --prices."
    ),
)
@executor_options
def command(dry_run: bool, **arguments: Any) -> None:
    """Ask models the questions of one or more sets and report how the conditions compare.

    \b SET is a set folder, or a file (JSONL, VLMEvalKit TSV, Parquet). On several GPUs: accelerate launch
    --num_processes N -m mmdyn eval …; each process does a share. Exit status: 0 done; 1 done, but some samples were
    never answered, or not judged; 3 stopped at --max-cost or --max-requests.
    """
    from mmdyn.errors import UserError

    if arguments.pop("scoring_mode") == "likelihood":
        if tuple(arguments["styles"]) != ("direct",):
            raise UserError("--scoring-mode likelihood is a style of its own: leave --style out")
        arguments["styles"] = ("likelihood",)
    arguments["library"] = take_library(arguments)
    if not dry_run:
        from mmdyn.run import evaluate

        finish(evaluate(**arguments))
        return
    from mmdyn.cli._estimate import print_estimate
    from mmdyn.run import estimate
    from mmdyn.work import Ranks

    if Ranks.of_environment().number == 0:  # the others would count the same
        print_estimate(estimate(**arguments))
