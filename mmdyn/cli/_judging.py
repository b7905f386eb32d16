"""The options that say which judges are asked about answers."""

from __future__ import annotations

import click

from mmdyn.cli._shared import F, add_options, number_option


def judge_mode_option(command: F) -> F:
    """About which answers judges are asked."""
    option = click.option(
        "--judge-mode",
        metavar="MODE",
        default="unsure",
        show_default=True,
        help=(
            "With --judge: unsure asks about answers that need a judge (nothing was read, or not surely; open answers"
            " and blanks in words that do not equal the right one), wrong about whatever the rules do not call right,"
            " all about everything."
        ),
    )
    return option(command)


def judge_options(command: F) -> F:
    """Which judges score answers beside the rules, and how."""
    options = (
        click.option(
            "--judge",
            "judges",
            metavar="MODEL",
            multiple=True,
            help=(
                "Who judges what rules do not settle (--judge-mode). Given twice, a cheap one first: the next is asked"
                " only where the one before gives less than full marks, or no verdict."
            ),
        ),
        judge_mode_option,
        number_option("--votes", "N", "With --judge: asks of each about an answer; odd."),
        click.option(
            "--rubric",
            metavar="NAME",
            default="auto",
            show_default=True,
            help=(
                "With --judge: what is asked: `mmdyn list rubrics`; auto is checklist for a sample that has one, else"
                " match."
            ),
        ),
        click.option("--judge-pictures", is_flag=True, help="With --judge: show the samples' pictures, too."),
        click.option(
            "--else-rules",
            is_flag=True,
            help=(
                "With --judge: where no verdict could be had the rules' score counts; else the judges' scores come into"
                " force only when none is missing."
            ),
        ),
    )
    return add_options(command, options)
