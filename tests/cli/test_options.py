"""The options of `mmdyn eval`: in groups, each a key of a section; an unknown one is answered with those like it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from making import choice, write_set
from mmdyn.cli import commands
from mmdyn.cli.eval import command
from mmdyn.run import SECTIONS

ROOT = Path(__file__).resolve().parents[2]


def test_an_option_is_a_key_of_the_section_that_its_heading_names() -> None:
    shown = CliRunner().invoke(commands, ["eval", "--help"], terminal_width=100).output
    heading, listed = "", dict[str, list[str]]()
    for line in shown.splitlines():
        if found := re.fullmatch(r"(\w+):", line):
            heading = found[1].lower()
        elif found := re.match(r"  (?:-\w, )?(--[\w-]+)", line):
            listed.setdefault(heading, []).append(found[1])
    assert [*listed] == ["options", *SECTIONS]
    assert listed.pop("options") == ["--model", "--out", "--dry-run", "--help"]
    places = {option.opts[-1]: option.name for option in _options(command)}
    for section, options in listed.items():
        assert sorted(places[option] or "" for option in options) == sorted(SECTIONS[section].__struct_fields__)
    assert sum(map(len, listed.values())) + 3 == 40


def test_an_unknown_option_is_answered_with_those_like_it() -> None:
    done = CliRunner().invoke(commands, ["eval", "set", "-m", "baseline:random", "-o", "run", "--retrievers", "x"])
    assert done.exit_code == 2 and "Did you mean one of: '--retriever', " in done.stderr


@pytest.mark.parametrize(
    "name",
    [
        *("eval", "run", "perturb", "score", "compare", "errors", "grade", "report", "judge", "demo"),
        *("data convert", "data validate", "knowledge index", "knowledge search", "knowledge eval"),
    ],
)
def test_what_shows_progress_can_be_quiet(name: str) -> None:
    found = _command(name)
    (quiet,) = [option for option in _options(found) if option.name == "quiet"]
    assert {"-q", "--quiet"} == {*quiet.opts}


@pytest.mark.parametrize(
    "name", ["eval", "compare", "perturb", "data convert", "data show", "data sample", "data audit"]
)
def test_how_many_samples_is_one_option(name: str) -> None:
    assert [option.opts for option in _options(_command(name)) if "--limit" in option.opts] == [["-n", "--limit"]]


def test_quiet_and_nested_options_as_they_are_typed(tmp_path: Path) -> None:
    write_set(tmp_path / "set", [choice(f"q{n}", knowledge_points=("Ice",)) for n in range(3)])
    words = f"eval {tmp_path}/set -m baseline:majority -o {tmp_path}/run -q -n 2 --context kprag --layout format=names"
    done = CliRunner().invoke(commands, words.split())
    assert done.exit_code == 0 and "asking" not in done.stderr, done.output
    assert '"format":"names"' in (tmp_path / "run" / "run.json").read_text().replace('": ', '":')


def _command(name: str) -> click.Command:
    found: click.Command = import_module(f"mmdyn.cli.{name.split()[0]}").command
    for part in name.split()[1:]:
        assert isinstance(found, click.Group)
        found = found.commands[part]
    return found


def test_every_option_says_what_it_does() -> None:
    names = [name for name in commands.list_commands(click.Context(commands)) if name != "fake-server"]
    found = [(name, import_module(f"mmdyn.cli.{name}").command) for name in names]
    for name, one in found:
        if isinstance(one, click.Group):
            found += [(f"{name} {part}", inner) for part, inner in one.commands.items()]
            continue
        assert [option.name for option in _options(one) if not option.help] == [], name


def _options(found: click.Command) -> list[click.Option]:
    return [option for option in found.get_params(click.Context(found)) if isinstance(option, click.Option)]
