"""The commands, their helps, and the examples in these."""

from __future__ import annotations

import re

import click

from mmdyn.cli import commands

Words = tuple[str, ...]


def all_commands(group: click.Group = commands, path: Words = ()) -> list[Words]:
    """The words of each command and group."""
    found: list[Words] = [path]
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        found += all_commands(command, (*path, name)) if isinstance(command, click.Group) else [(*path, name)]
    return found


def help_of(words: Words) -> str:
    """A command's help at 80 columns."""
    group: click.Command = commands
    for word in words:
        assert isinstance(group, click.Group)
        found = group.get_command(click.Context(group), word)
        assert found
        group = found
    return group.get_help(click.Context(group, info_name=" ".join(("mmdyn", *words)), terminal_width=80))


def examples_of(words: Words) -> list[str]:
    """What a help has to be typed, command by command, as a shell reads it."""
    return re.findall(r"^  (mmdyn .*)$", help_of(words).replace("\\\n", ""), re.MULTILINE)
