"""Help: all commands in sections, with whole sentences, and ranges as people say them."""

from __future__ import annotations

import re
from itertools import pairwise

import click
import pytest
from helping import Words, all_commands, help_of
from shell import mmdyn

from mmdyn.cli import SECTIONS, commands


def test_each_command_stands_in_one_section() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == commands.list_commands(click.Context(commands))
    helped = mmdyn("--help").stdout
    places = [helped.index(f"\n{heading}:\n") for heading in SECTIONS]
    assert places == sorted(places)


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_help_is_whole(words: Words) -> None:
    helped = help_of(words)
    assert "\b" not in helped
    cut = re.search(r"[^.\]N]\.\.\.$", helped.partition("Options:")[2], re.MULTILINE)
    assert not cut, "a sentence is cut"
    assert "9223372036854775807" not in helped
    assert not re.search(r"\[default[^]]*\]\s*\[[^]]*default", helped), "a default stands twice"
    for option in re.split(r"^  (?=-)", helped, flags=re.MULTILINE)[1:]:
        stated = re.findall(r"\[default: ([^;\]]+)", " ".join(option.split()))
        assert len({*stated}) == len(stated) <= 2, option


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_each_help_opens_with_an_example(words: Words) -> None:
    """Behind the first sentences, and one of the command itself among them; test_examples.py types them."""
    opening = re.split(r"\n\s*\n", help_of(words))[2]
    assert all(
        line.startswith("  mmdyn ") or before.endswith("\\") for before, line in pairwise(["", *opening.split("\n")])
    )
    assert re.search(rf"^  mmdyn {' '.join(words)}\b", opening, re.MULTILINE)


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_a_help_fits_a_terminal(words: Words) -> None:
    assert [line for line in help_of(words).splitlines() if len(line) > 80] == []


def test_values_stand_as_they_are_typed() -> None:
    """Direct, Local or Tokens=800 would be refused; a sentence begins with a capital."""
    helped = " ".join(help_of(("eval",)).split())
    for option, said in {
        "--style NAME": "direct, cot, or both",
        "--layout KEY=VALUE,…": "tokens=800: the most",
        "--executor NAME,…": "local: this process",
        "--retriever NAME,…": "lexical, dense or hybrid",
        "--mode NAME": "Any of standard",
        "--policy NAME": "Scoring policy",
    }.items():
        assert f" {option} {said}" in helped, option
