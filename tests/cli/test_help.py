"""Help: all commands in sections, with whole sentences, and ranges as people say them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

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


def help_of(words: tuple[str, ...]) -> str:
    group: click.Command = commands
    for word in words:
        assert isinstance(group, click.Group)
        found = group.get_command(click.Context(group), word)
        assert found
        group = found
    return group.get_help(click.Context(group, info_name="mmdyn"))


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_help_is_whole(words: tuple[str, ...]) -> None:
    helped = help_of(words)
    assert "\b" not in helped
    cut = re.search(r"[^.\]N]\.\.\.$", helped.partition("Options:")[2], re.MULTILINE)
    assert not cut, "a sentence is cut"
    assert "9223372036854775807" not in helped
    assert not re.search(r"\[default[^]]*\]\s*\[[^]]*default", helped), "a default stands twice"
    for option in re.split(r"^  (?=-)", helped, flags=re.MULTILINE)[1:]:
        stated = re.findall(r"\[default: ([^;\]]+)", " ".join(option.split()))
        assert len({*stated}) == len(stated) <= 2, option


EXAMPLES = {
    example: words
    for words in all_commands()
    for example in re.findall(rf"^  (mmdyn {' '.join(words)} .*?)$", help_of(words).replace("\\\n", ""), re.MULTILINE)
    if words
    and words[0] not in ("view", "fake-server")
    and not re.search(
        r"openai:(?!.*--dry-run)|\b[A-Z]{3,}(?:_[A-Z])?\b|outputs/|path/to|--help|^mmdyn[a-z ]* \w+\.jsonl?\b", example
    )
}
"""The examples of all helps that the demo's folders are enough for, by what is typed."""


NEED_MORE = ("demo", "compare", "compose", "extract", "grade", "judge", "probe", "fake-server", "completion", "view")
"""What makes the demo's folders; what these are not enough for; what runs until it is stopped."""


def test_each_command_has_an_example_that_runs() -> None:
    lacking = {words for words in all_commands()[1:] if len(words) == 1 or words[0] in ("data", "knowledge", "runs")}
    lacking -= {words[:length] for words in EXAMPLES.values() for length in (1, 2)}
    beyond = {(name,) for name in NEED_MORE} | {("data", "apply"), ("data", "join"), ("runs", "merge")}
    assert lacking == beyond and len(EXAMPLES) > 20


@pytest.mark.parametrize("words", [words for words in all_commands() if words and words[0] != "build"], ids=" ".join)
def test_each_help_opens_with_an_example(words: tuple[str, ...]) -> None:
    """Steps of `build` share those of their group."""
    told = help_of(words).partition("Options:")[0]
    assert f"  mmdyn {' '.join(words)} " in told or words in (
        ("demo",),
        ("completion",),
        ("data",),
        ("knowledge",),
        ("runs",),
    )


@pytest.mark.slow
def test_the_examples_of_all_helps_work(tmp_path: Path) -> None:
    assert mmdyn("demo", "-q", folder=tmp_path).returncode == 0
    for example in EXAMPLES:
        done = mmdyn(*shlex.split(example)[1:], folder=tmp_path)
        assert done.returncode == 0, f"{example}: {done.stderr}"
