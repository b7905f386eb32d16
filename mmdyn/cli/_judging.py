"""The options that say how replies are scored, and which judges are asked about them."""

from __future__ import annotations

import click

from mmdyn.cli._shared import F, add_options

GONE = {
    "--votes": "write --rubric NAME,votes=N",
    "--judge-pictures": "write --rubric NAME,pictures=true",
}

policy_option = click.option(
    "--policy", default="mdk12", show_default=True, help="How credit is given: `mmdyn list scorers`."
)
judge_option = click.option(
    "--judge",
    "judges",
    metavar="MODEL",
    multiple=True,
    help=(
        "Who judges what rules do not settle (--judge-mode). Given twice, a cheap one first: the next is asked only"
        " where the one before gives less than full marks, or no verdict."
    ),
)
judge_mode_option = click.option(
    "--judge-mode",
    metavar="MODE",
    default="unsure",
    show_default=True,
    help=(
        "With --judge: unsure asks about answers that need a judge (nothing was read, or not surely; open answers and"
        " blanks in words that do not equal the right one), wrong about whatever the rules do not call right, all about"
        " everything."
    ),
)
rubric_option = click.option(
    "--rubric",
    metavar="NAME,…",
    default="auto",
    show_default=True,
    help=(
        "With --judge: what is asked (`mmdyn list rubrics`; auto is checklist for a sample that has one, else match),"
        " how often of each (votes=3; odd), and whether with the samples' pictures (pictures=true)."
    ),
)
else_rules_option = click.option(
    "--else-rules",
    is_flag=True,
    help=(
        "With --judge: where no verdict could be had the rules' score counts; else the judges' scores come into force"
        " only when none is missing."
    ),
)


def scoring_options(command: F) -> F:
    """The fields of a ScoringConfig."""
    return add_options(command, (policy_option, judge_option, judge_mode_option, rubric_option, else_rules_option))
