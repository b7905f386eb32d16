"""mmdyn errors: a judge says what made answers wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mmdyn.cli._shared import concurrency_option, list_failures, money_options, number_option, print_json, split
from mmdyn.errors import printable


@click.command("errors")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--judge", metavar="MODEL", required=True, help="Who labels: backend:name, such as openai:NAME.")
@number_option(
    "--per", "N", "Answers of each model, set, condition and task type that are labelled at most.", default=20
)
@click.option("--by", callback=split, metavar="FIELD,...", help="Break the shares down by these fields.")
@number_option("--seed", "N", "Another seed draws other answers.", default=0, least=0, most=(1 << 63) - 1)
@number_option("--votes", "N", "How often the judge is asked about each; odd.")
@click.option(
    "--no-pictures", "pictures", flag_value=False, default=True, help="Do not show the judge the samples' pictures."
)
@concurrency_option("Requests in flight at most.")
@money_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else, on standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(as_json: bool, **arguments: Any) -> None:
    """Have a judge label the wrong answers of RUN: question misunderstood, reasoning, visual comprehension, incomplete, other.

    Labelled are the answers of a stratified sample; shares are of all wrong answers. Answers that were cut off (finish reason
    length) are incomplete without asking, refused ones are counted apart. The labels stay in RUN, and `mmdyn report RUN`
    shows them. Exit status: 1 where an answer got no label, or has no score; 3 stopped at --max-cost or --max-requests.
    """
    from mmdyn.reporting.error_kinds_table import print_errors
    from mmdyn.run.error_kinds import label_errors

    found = label_errors(**arguments)
    if as_json:
        print_json(found)
    else:
        print_errors(found.rows, unscored=found.unscored, failed=found.failed)
    list_failures("failed", found.failures, found.failed)
    if found.unscored:
        again = f"`mmdyn score {arguments['run']}`, with the judges it had, scores them"
        click.echo(printable(f"{found.unscored} answers are not scored and were left out: {again}"), err=True)
    if found.failed or found.unscored:
        click.get_current_context().exit(1)
