"""mmdyn extract: answers out of responses."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click

from mmdyn.cli._shared import InFile


@click.command("extract")
@click.argument("file", type=InFile())
@click.option("--policy", default="mdk12", show_default=True, help="Scoring policy; see `mmdyn list scorers`.")
def command(file: BinaryIO, policy: str) -> None:
    """Read the answers out of the responses in FILE (- for standard input), by rules alone.

    \b
    mmdyn extract replies.jsonl

    FILE has a JSON object a line: task_type, response and, as they apply, question, options, language, finish_reason,
    blanks, answer and match. The same lines come out on standard output with extracted, status, rule, span (characters
    of the response) and confidence and, where there is an answer, score and needs_judge.
    """
    import msgspec

    from mmdyn.scoring import Scorer, answered_lines, read_out

    scorer, out = Scorer(policy), sys.stdout.buffer
    for line in answered_lines(file, file.name, keyed=False):
        out.write(msgspec.json.encode(read_out(line, scorer)) + b"\n")
