"""The notebooks run from the first cell to the last, and are stored without outputs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from tracked import ROOT, tracked

NOTEBOOKS = tracked("notebooks/*.ipynb")


def shown(cell: Any, kind: str) -> str:
    """What a cell shows, as a kind of media."""
    return "".join(output["data"].get(kind, "") for output in cell["outputs"] if "data" in output)


@pytest.mark.slow
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    book = nbformat.read(file, as_version=4)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell for cell in cells if cell.outputs or cell.execution_count] == [], "clear the outputs before it is kept"
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [cell.source for cell in cells if any(one.get("name") == "stdout" for one in cell.outputs)] == []
    assert any(shown(cell, "image/png") for cell in cells), "a plot"
    assert any("<mark>" in shown(cell, "text/html") for cell in cells) == (file.stem == "quickstart")
    reports = [shown(cell, "text/plain") for cell in cells if "Contrasts" in shown(cell, "text/html")]
    (brief,) = reports
    drop = {"quickstart": "  shuffle takes most: -65 [", "own_set": "python:says_b on samples: standard 100 ["}
    assert drop[file.stem] in brief


def test_there_are_two() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["own_set", "quickstart"]
