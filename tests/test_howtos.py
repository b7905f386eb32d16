"""The quickstart and the how-tos work as they are typed: each page's commands run in order, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tracked import ROOT, tracked

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
    assert '"question":"Hello. ' in shell(typed, tmp_path, package).stdout


def follow(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Type a page's commands, one after the other."""
    typed = "\n".join(COMMANDS.findall(page.read_text("utf-8")))
    assert typed
    return shell(typed, folder)


def shell(typed: str, tmp_path: Path, *more: Path) -> subprocess.CompletedProcess[str]:
    """What commands print in a folder; `more` stands on Python's path."""
    path = os.pathsep.join(map(str, (DOCS.parent, *more)))
    paths = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": path}
    env = {**os.environ, **paths, "MMDYN_CACHE": str(tmp_path / "cache")}
    script = f"set -m\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n{typed}"
    return subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)


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
