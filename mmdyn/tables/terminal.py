"""Sentences on a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

PLAIN_WIDTH = 100
"""The width in characters where the output is no terminal."""

GAP = 2
"""Blanks between columns, and before what goes on."""

WHOLE = re.compile(r"`[^`]+`")
WORD = re.compile(r"(?:'[^']*'|[^\s'])+")
HELD = "\ue000"
"""Stands for a blank at which no line is broken."""


def open_console(file: TextIO | None = None) -> Console:
    """Open a console on `file` (standard output by default) that prints text as it is, without markup."""
    file = file or sys.stdout
    width = None if file.isatty() else PLAIN_WIDTH
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def say(console: Console, text: str) -> None:
    """Print a sentence; on a terminal it is wrapped."""
    for line in wrapped([text], console.width) if console.file.isatty() else [clean(text).plain]:
        console.print(Text(line), soft_wrap=True)


def wrapped(lines: Iterable[str], width: int | None = None) -> Iterator[str]:
    """Break lines at `width` (the terminal's by default); what goes on is indented. A command can still be pasted: one
    on a line of its own goes on behind a backslash, and one in backticks stays on a line."""
    console = open_console()
    width = width or console.width
    for line in lines:
        text = clean(line).plain
        indent = " " * (len(text) - len(text.lstrip()) + GAP)
        is_command = text.lstrip().startswith(("$ ", "mmdyn "))
        room, whole = width - len(indent) - GAP * is_command, WORD if is_command else WHOLE
        if cell_len(text) <= width or (is_command and max(map(cell_len, WORD.findall(text))) > room):
            yield text  # a terminal breaks it by itself, and it is pasted as one line
            continue
        for command in whole.findall(text):
            text = text.replace(command, command.replace(" ", HELD) if cell_len(command) <= room else command)
        parts = [part.plain.rstrip().replace(HELD, " ") for part in Text(text).wrap(console, room)]
        more = (" \\" * is_command + f"\n{indent}").join(parts)
        yield from more.split("\n")


def clean(text: str) -> Text:
    r"""Replace unprintable characters, so that a model's or a file's text cannot move the cursor or hide other text.

    >>> clean("safe\x1b[2J").plain
    'safe\ufffd[2J'
    """
    return Text("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text))
