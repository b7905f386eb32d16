"""Help: all commands in sections, with whole sentences, and ranges as people say them."""

from __future__ import annotations

import re

import click
import pytest
from shell import mmdyn

from mmdyn.cli import SECTIONS, commands


def all_commands(group: click.Group = commands, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The words of each command and group."""
    found = list[tuple[str, ...]]([path])
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        found += all_commands(command, (*path, name)) if isinstance(command, click.Group) else [(*path, name)]
    return found


def test_each_command_stands_in_one_section() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == commands.list_commands(click.Context(commands))
    helped = mmdyn("--help").stdout
    places = [helped.index(f"\n{heading}:\n") for heading in SECTIONS]
    assert places == sorted(places)


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_help_is_whole(words: tuple[str, ...]) -> None:
    group: click.Command = commands
    for word in words:
        assert isinstance(group, click.Group)
        found = group.get_command(click.Context(group), word)
        assert found
        group = found
    helped = group.get_help(click.Context(group, info_name="mmdyn"))
    cut = re.search(r"[^.\]N]\.\.\.$", helped.partition("Options:")[2], re.MULTILINE)
    assert not cut, "a sentence is cut"
    assert "9223372036854775807" not in helped
    assert helped.count("[default") == helped.count("default:"), "a default stands twice"
