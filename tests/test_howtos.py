"""The quickstart and the how-tos work as they are typed: each page's commands run in order, in an empty folder."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from anywhere import Anywhere
from shell import bash
from tracked import ROOT, tracked

from mmdyn.testing import FakeServer

DOCS = ROOT / "docs"
PAGES = [DOCS / "quickstart.md", *(page for page in tracked("docs/howto/*.md") if page.stem != "coming_from")]
PRINTED = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.parent.name == "howto" else ()) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_a_page_can_be_followed(page: Path, tmp_path: Path) -> None:
    done = follow(page, tmp_path)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    shown = PRINTED.findall(page.read_text("utf-8"))
    assert [block for block in shown if block not in done.stdout] == []
    assert shown or page.stem != "quickstart"


@pytest.mark.slow
def test_the_quickstart_s_other_model_is_asked_alike(tmp_path: Path) -> None:
    """What it names in the place of the fake one, with the options that it names for costs."""
    page = (DOCS / "quickstart.md").read_text("utf-8")
    assert follow(DOCS / "quickstart.md", tmp_path).returncode == 0
    (asking,) = re.findall(r"^mmdyn eval .*$", page, re.MULTILINE)
    (model,) = re.findall(r"`(-m openai:[\w-]+)`", page)
    (costs,) = re.findall(r"`(--dry-run --prices) FILE`", page)
    (tmp_path / "prices.yaml").write_text("gpt-4o: {input: 2.5, output: 10}\n", "utf-8")
    other = re.sub(r"-m \S+(.*) -o \S+", rf"{model}\1 -o runs/other", asking)
    assert other != asking
    with FakeServer() as server, Anywhere(server, tmp_path / "tls") as anywhere:
        counted = bash(f"{other} {costs} prices.yaml", tmp_path, environment=anywhere.environment)
        assert counted.returncode == 0 and "11 requests to send; cost about 0.0" in counted.stdout, counted.stderr
        assert not server.stats.total
        asked = bash(other, tmp_path, environment=anywhere.environment)
        assert asked.returncode == 0 and server.stats.total == 11, asked.stderr
    assert {*anywhere.asked} == {"api.openai.com:443"}


@pytest.mark.slow
def test_the_operator_of_extend_works_once_it_is_installed(tmp_path: Path) -> None:
    package = tmp_path / "my_package"
    assert follow(DOCS / "howto" / "extend.md", tmp_path).returncode == 0
    points = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    told = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in named.items())
        for group, named in points.items()
    )
    (package / "my_mmdyn-1.0.dist-info").mkdir()  # what pip would write
    (package / "my_mmdyn-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: my-mmdyn\nVersion: 1.0\n"
    )
    (package / "my_mmdyn-1.0.dist-info" / "entry_points.txt").write_text(told)
    typed = "mmdyn perturb mmdyn-demo/set -o greeted --ops my.hello && head -n 1 greeted/samples.jsonl"
    assert '"question":"Hello. ' in bash(typed, tmp_path, package).stdout


def follow(page: Path, folder: Path) -> CompletedProcess[str]:
    """Type a page's commands, one after the other."""
    typed = "\n".join(COMMANDS.findall(page.read_text("utf-8")))
    assert typed
    return bash(typed, folder)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_all_pages_can_be_followed_in_one_folder(order: str, tmp_path: Path) -> None:
    """Whatever was followed before: no page takes, waits for or overwrites what another one made."""
    for page in PAGES if order == "forwards" else reversed(PAGES):
        there = contents(tmp_path)
        done = follow(page, tmp_path)
        assert done.returncode == 0, f"{page.stem}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        assert [block for block in PRINTED.findall(page.read_text("utf-8")) if block not in done.stdout] == []
        now = contents(tmp_path)
        changed = {file for file, data in there.items() if not now.get(file, b"").startswith(data)}  # logs grow
        assert changed <= {Path("demo.txt")}, page.stem


def contents(folder: Path) -> dict[Path, bytes]:
    """The files of a folder that people look at, by their paths; the cache and logs are for programs."""
    files = (file for file in folder.rglob("*") if file.is_file() and "cache" not in file.parts)
    return {file.relative_to(folder): file.read_bytes() for file in files if file.suffix not in (".lock", ".holder")}
