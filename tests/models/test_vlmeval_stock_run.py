"""VLMEvalKit's own run where torchvision's compiled operators do not fit torch: the command that the docs give."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tracked import ROOT

PACKAGES = {
    "torchvision/__init__.py": "from torchvision import _meta_registrations, transforms\n",
    "torchvision/transforms.py": "",
    "torchvision/_meta_registrations.py": "raise RuntimeError('operator torchvision::nms does not exist')\n",
    "vlmeval/__init__.py": "import torchvision.transforms\n",
    "vlmeval/run.py": "import sys\nif __name__ == '__main__':\n    print(*sys.argv[1:])\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in PACKAGES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(("start", "fails"), [("-m vlmeval.run", True), ("-c '", False)])
def test_the_stock_run_of_the_docs(folder: Path, start: str, fails: bool) -> None:
    page = (ROOT / "docs" / "vlmevalkit.md").read_text("utf-8")
    (line,) = re.findall(rf"^    vlm/bin/python ({start}.* --config .*)$", page, re.MULTILINE)
    done = subprocess.run([sys.executable, *shlex.split(line)], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) is fails is ("torchvision::nms" in done.stderr)
    assert done.stdout == ("" if fails else "--config config.json --mode infer --work-dir outputs\n")
