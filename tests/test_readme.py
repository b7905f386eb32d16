"""What the README shows is what the commands print, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from benches import load_bench
from benchmarks.real_sets import real

from mmdyn.cli import commands

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def test_the_report_is_what_the_demo_prints_now_and_another_is_printed_anew() -> None:
    printing = load_bench("readme")
    output = printing.demo_output()
    assert printing.reprinted(README, output) == README, "run python bench/readme.py"
    assert "19 [8, 38]" in README
    assert printing.reprinted(README.replace("19 [8, 38]", "20 [8, 38]"), output) == README


def test_the_site_begins_with_the_same_result() -> None:
    said = README[README.index("    scripted:by_heart on demo:") :].partition("\n\n")[0]
    assert said in (Path(__file__).parents[1] / "docs" / "index.md").read_text("utf-8")


def test_it_is_short_and_begins_with_the_commands() -> None:
    lines = README.splitlines()
    assert len(lines) < 100 and len(README.split()) < 900
    assert [line for line in lines if len(line) > 120 and "<picture>" not in line] == []
    assert [line for line in lines if line.startswith("    ") and len(line) > 80] == []
    assert README.index("mmdyn demo") < README.index("<picture>")
    assert sum("pip install -c constraints.txt -e" in line for line in lines[:25]) == 2


def test_ids_are_of_the_benchmark() -> None:
    named = set(re.findall(r"gaokao-mm-\w+-\d+", README))
    assert named and named <= real("gaokao_mm").keys()


@pytest.mark.parametrize("line", re.findall(r"^    (mmdyn [a-z].*?)(?:\s+#.*| \\)?$", README, re.MULTILINE))
def test_commands_and_their_options_are_there(line: str) -> None:
    command: click.Command = commands
    for word in line.split()[1:]:
        if not isinstance(command, click.Group):
            break
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    known = {option for parameter in command.get_params(click.Context(command)) for option in parameter.opts}
    assert set(re.findall(r"(?<=\s)--?[a-z][a-z-]*", line)) <= known
