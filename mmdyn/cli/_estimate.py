"""What `--dry-run` prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from mmdyn.cli._shared import say_line
from mmdyn.errors import counted, printable

if TYPE_CHECKING:
    from mmdyn.models import Message
    from mmdyn.run import EstimateRow, RunEstimate

COLUMNS = ("model", "set", "mode", "asks", "there", "in cache", "to ask", "tokens in", "tokens out", "cost")


dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Send and write nothing; print the number of requests, their tokens and their cost."
)


def print_estimate(estimated: Callable[[], RunEstimate]) -> None:
    """Print a table, the sums, and what the numbers are worth; nothing in other ranks than the first one, which would
    count the same."""
    from mmdyn.tables import print_grid
    from mmdyn.work import Ranks

    if Ranks.of_environment().number:
        return
    found = estimated()
    rows = [dict(zip(COLUMNS, _cells(row), strict=True)) for row in (*found.rows, *found.judges)]
    print_grid("What would be asked", rows, labels=COLUMNS.index("asks"))
    to_ask = sum(row.to_ask for row in found.rows)
    click.echo(printable(f"{counted(to_ask, 'request')} to send; {_cost(found.rows) or 'nothing to pay'}"))
    if found.judges:
        _print_judges(found)
    for mode, count in found.skipped.items():
        click.echo(f"{counted(count, 'sample')} cannot be asked in mode {mode}")
    if found.shown:
        _print_prompt(found.shown)
    for note in found.notes:
        say_line(note, err=True)
    say_line("tokens are estimated from characters and pictures; nothing was asked or written", err=True)


def _print_judges(estimate: RunEstimate) -> None:
    asks = sum(row.to_ask for row in estimate.judges)
    cost, tries = _cost(estimate.judges) or "nothing to pay", estimate.tries
    click.echo(printable(f"{counted(asks, 'request')} to judges where each is asked about every answer; {cost}"))
    click.echo(f"{tries * asks} requests to judges, and {tries} times the cost, at most, where no verdict can be used")
    say_line("what judges were asked before is not looked for", err=True)


def _print_prompt(messages: Sequence[Message]) -> None:
    from mmdyn.models import ImagePart, TextPart

    click.echo("the first prompt with examples:")
    for message in messages:
        texts = [
            part.text if isinstance(part, TextPart) else "[picture]" * isinstance(part, ImagePart)
            for part in message.parts
        ]
        click.echo(printable(f"[{message.role}]\n{''.join(texts)}"))


def _cost(rows: Sequence[EstimateRow]) -> str:
    from mmdyn.models import say_cost

    costs = dict[str, float]()
    for row in rows:
        if row.cost is not None and row.currency:
            costs[row.currency] = costs.get(row.currency, 0.0) + row.cost
    unpriced = list(dict.fromkeys(row.model for row in rows if row.cost is None and row.to_ask))
    known = f"cost about {say_cost(costs)}" if costs else ""
    unknown = f"cost of {', '.join(unpriced)} unknown (no price)" if unpriced else ""
    return "; ".join(filter(None, (known, unknown)))


def _cells(row: EstimateRow) -> tuple[str, ...]:
    counts = (row.planned, row.there, row.cached, row.to_ask, row.prompt_tokens, row.completion_tokens)
    cost = f"{row.cost:.4g} {row.currency}".rstrip() if row.cost is not None else "unknown" if row.to_ask else "0"
    return (row.model, row.set, row.mode, *(f"{count:,}" for count in counts), cost)
