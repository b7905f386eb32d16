"""mmdyn eval: ask models the standard, the dynamic and the knowledge-beside variants, score and record."""

from __future__ import annotations

from typing import Any

import click

from mmdyn.cli._command import Command, Groups, options_of, take
from mmdyn.cli._estimate import dry_run_option, print_estimate
from mmdyn.cli._shared import OutPath, finish


def _groups() -> Groups:
    from mmdyn.run import SECTIONS

    return {name.capitalize(): options_of(section) for name, section in SECTIONS.items()}


@click.command("eval", cls=Command, groups=_groups)
@click.argument("sets", metavar="SET...", nargs=-1, required=True)
@click.option("-m", "--model", "models", metavar="MODEL", multiple=True, required=True)
@click.option("-o", "--out", metavar="RUN", required=True, type=OutPath())
@dry_run_option
def command(dry_run: bool, **arguments: Any) -> None:
    """Ask models the questions of one or more sets and report how the conditions compare.

    \b
    mmdyn eval mmdyn-demo/set mmdyn-demo/dynamic -m baseline:lexical \\
        -o runs/lexical --mode standard,dynamic
    mmdyn eval mmdyn-demo/set -m baseline:majority -o runs/kprag \\
        --mode standard,kprag --dry-run

    SET is a set folder, or a file (JSONL, VLMEvalKit TSV, Parquet). On several GPUs: accelerate launch
    --num_processes N -m mmdyn eval …; each process does a share. Exit status: 0 done; 1 done, but some samples were
    never answered, or not judged; 3 stopped at --max-cost or --max-requests.
    \f
    models: backend:name, such as openai:gpt-4o or baseline:lexical; give it several times for several models.
    out: The run's folder; repeat the command to resume it.
    """
    from mmdyn.run import SECTIONS, RunRequest, estimate, run_request

    groups: dict[str, Any] = {name: take(arguments, section) for name, section in SECTIONS.items()}
    request = RunRequest(**arguments, **groups)
    if dry_run:
        print_estimate(lambda: estimate(request))
    else:
        finish(run_request(request))
