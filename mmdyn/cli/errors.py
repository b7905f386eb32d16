"""mmdyn errors: wrong answers counted, and a judge says what made them wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mmdyn.cli._command import Command, asking_options
from mmdyn.cli._shared import list_failures, number_option, print_json, quiet_option, say_line, split
from mmdyn.errors import command_line, counted


@click.command("errors", cls=Command, groups=lambda: {"Limits": asking_options()})
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--judge", metavar="MODEL")
@number_option("--per", "N", default=20)
@click.option("--by", callback=split, metavar="FIELD,...")
@number_option("--seed", "N", default=0, least=0, most=(1 << 63) - 1)
@number_option("--votes", "N")
@click.option("--no-pictures", "pictures", flag_value=False, default=True)
@click.option("--json", "as_json", is_flag=True)
@quiet_option
def command(run: Path, judge: str | None, by: list[str], as_json: bool, **asking: Any) -> None:
    """Count the wrong answers of RUN by kind (cut off, empty, unparsed), and the refused and failed ones.

    \b
    mmdyn errors mmdyn-demo/run

    With --judge, have a judge label them: question misunderstood, reasoning, visual comprehension, incomplete, other.
    Labelled are the answers of a stratified sample; shares are of all wrong answers. Answers that were cut off (finish
    reason length) are incomplete without asking, refused ones are counted apart. The labels stay in RUN, and `mmdyn
    report RUN` shows them. Exit status: 1 where an answer got no label, or has no score; 3 stopped at --max-cost or
    --max-requests.
    \f
    judge: Who labels: backend:name, such as openai:NAME.
    per: Answers of each model, set, condition and task type that are labelled at most.
    by: Break the shares down by these fields.
    seed: Another seed draws other answers.
    votes: How often the judge is asked about each; odd.
    pictures: Do not show the judge the samples' pictures.
    as_json: Print one JSON object, and nothing else, on standard output.
    """
    ctx = click.get_current_context()
    if judge is not None:
        unscored, failed = _label(run, judge=judge, by=by, as_json=as_json, **asking)
    else:
        given = [name for name in asking if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT]
        if set(given) - {"quiet"}:
            raise click.UsageError(
                "--per, --seed, --votes, --no-pictures and what asking takes go with --judge: name one"
            )
        unscored, failed = _count(run, by, as_json), 0
    if unscored:
        again = f"`{command_line('mmdyn', 'score', run)}`, with the judges it had, scores them"
        say_line(f"{counted(unscored, 'answer', 'is/are')} not scored, and left out: {again}", err=True)
    if failed or unscored:
        ctx.exit(1)


def _label(run: Path, *, as_json: bool, **asking: Any) -> tuple[int, int]:
    """How many answers have no score, and how many got no label."""
    from mmdyn.run import label_errors
    from mmdyn.tables import print_report

    found = label_errors(run, **asking)
    if as_json:
        print_json(found)
    else:
        print_report(found.report)
    list_failures("failed", found.failures, found.failed)
    return found.report.runs[0].unscored, found.failed


def _count(run: Path, by: list[str], as_json: bool) -> int:
    """How many answers have no score."""
    from mmdyn.run import check_asked
    from mmdyn.table import ErrorCounts
    from mmdyn.tables import TOTAL, print_report, tabulate
    from mmdyn.work import RunFolder

    opened = RunFolder(run)
    check_asked(opened)
    found = tabulate([opened], [ErrorCounts(by=tuple(by))])
    if as_json:
        print_json(found)
    else:
        print_report(found)
    rows = [row for row in found.rows("errorcounts") if row.factors["subset"] == TOTAL]
    signs = {"wrong": 1, "truncated": -1, "empty": -1}
    if left := sum(signs.get(row.quantity, 0) * int(row.value or 0) for row in rows):
        more = f"`{command_line('mmdyn', 'errors', run)} --judge MODEL` has a judge say what made them wrong"
        say_line(f"{counted(left, 'wrong answer', 'is/are')} neither cut off nor empty: {more}", err=True)
    return found.runs[0].unscored
