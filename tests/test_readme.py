"""What the README shows is what the commands print, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from anywhere import Anywhere
from benches import load_bench
from benchmarks.real_sets import real
from making_releases import write_gaokao_mm
from shell import bash

from mmdyn.cli import commands
from mmdyn.testing import FakeServer
from mmdyn.work import RunFolder

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


@pytest.mark.slow
def test_the_real_run_works_as_it_is_printed(tmp_path: Path) -> None:
    """Its blocks in order; a fake server answers where the model is served, and files of the benchmark's form are made."""
    told = README[README.index("## A real run") : README.index("## More")]
    typed = "\n".join(re.findall(r"^    (.*)$", told, re.MULTILINE))
    viewer = re.compile(r"^mmdyn view .*?(?=\s+#|$)", re.MULTILINE)
    assert len(viewer.findall(typed)) == 1
    # It runs until it is stopped.
    started = r"\g<0> --port 0 > view.txt & until grep -q http: view.txt; do kill -0 $!; sleep 0.2; done"
    typed = viewer.sub(started, typed)
    write_gaokao_mm(tmp_path / "path" / "to" / "gaokao-mm")
    ((name, port),) = re.findall(r"`vllm serve (\S+) --port (\d+)`", told)
    with FakeServer(models=(name,)) as server, Anywhere(server, tmp_path / "tls") as anywhere:
        done = bash(typed, tmp_path, environment=anywhere.environment)
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        assert server.stats.total and all(f"http://127.0.0.1:{port}/v1/" in address for address in anywhere.asked)
    run = RunFolder(tmp_path / "runs" / "gaokao")
    assert {record.model for record in run.records()} == {f"openai:{name}"}
    assert "<html" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.slow
def test_what_it_names_in_passing_works(tmp_path: Path) -> None:
    named = re.findall(r"(?<![\w`])`(mmdyn [^`]+)`", README)
    assert "mmdyn list benchmarks" in named and "mmdyn --help" in named
    done = bash("\n".join(named), tmp_path)
    assert done.returncode == 0, done.stderr
