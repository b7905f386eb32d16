"""What several commands need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mmdyn.reporting.summary import Summary
    from mmdyn.work.run_folder import RunFolder


def split(ctx: click.Context, parameter: click.Parameter, value: str | tuple[str, ...] | None) -> list[str]:
    """A click callback: a comma-separated option, or one given several times, as a list."""
    texts = (value,) if isinstance(value, str) else value or ()
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def finish(run: RunFolder) -> None:
    """Print a run's report; leave with exit status 1 where some samples were never answered."""
    from mmdyn.reporting.summary import report
    from mmdyn.reporting.table import print_summary

    summary = report(run)
    print_summary(summary)
    click.echo(f"records and settings: {run.folder}; again: mmdyn report {run.folder}", err=True)
    leave_by(summary)


def leave_by(summary: Summary) -> None:
    """List on standard error what was never answered, and leave with exit status 1 where there is any."""
    from mmdyn.reporting.table import clean

    for failure in summary.failures:
        where = f"{failure.sample} of {failure.set}, {failure.model}, {failure.mode}"
        click.echo(clean(f"failed: {where}: {failure.reason}").plain, err=True)
    if (more := summary.failed - len(summary.failures)) > 0:
        click.echo(f"failed: {more} more", err=True)
    if summary.failed:
        click.get_current_context().exit(1)
