"""The quickstart and the how-tos work as they are typed: each page's commands run in order, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / "quickstart.md", *sorted((DOCS / "howto").glob("*.md"))]
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed(page: Path, tmp_path: Path) -> None:
    typed = "\n".join(COMMANDS.findall(page.read_text("utf-8")))
    assert typed
    paths = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(DOCS.parent)}
    env = {**os.environ, **paths, "MMDYN_CACHE": str(tmp_path / "cache")}
    script = f"set -m\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n{typed}"
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    shown = re.findall(r"^    (  (?:standard|dynamic): .*)$", page.read_text("utf-8"), re.MULTILINE)
    assert all(line.strip() in done.stdout for line in shown)
