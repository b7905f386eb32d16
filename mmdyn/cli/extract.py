"""mmdyn extract: answers out of responses."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click


@click.command("extract")
@click.argument("file", type=click.File("rb"))
@click.option("--policy", default="mdk12", show_default=True, help="How credit is given: `mmdyn list scorers`.")
def command(file: BinaryIO, policy: str) -> None:
    """Read the answers out of the responses in FILE (- for standard input), by rules alone.

    FILE has a JSON object a line: task_type, response and, as they apply, options, language, blanks and answer. The same
    lines come out on standard output with extracted, status, rule, span (characters of the response) and confidence and,
    where there is an answer, score.
    """
    import msgspec

    from mmdyn.errors import InputError
    from mmdyn.keys import Json
    from mmdyn.scoring.lines import read_line
    from mmdyn.scoring.scorer import Scorer

    scorer, out = Scorer(policy), sys.stdout.buffer
    for number, text in enumerate(file, 1):
        if not text.strip():
            continue
        try:
            row: dict[str, Json] = msgspec.json.decode(text, type=dict)
            out.write(msgspec.json.encode(read_line(row, scorer)) + b"\n")
        except msgspec.MsgspecError as error:
            raise InputError(file.name, number, f"not a JSON object ({error})") from None
        except (ValueError, RecursionError) as error:
            raise InputError(file.name, number, str(error)) from None
