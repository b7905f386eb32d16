"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import re
from functools import cached_property
from pathlib import Path

import pytest
from tracked import ROOT, tracked

MODULES = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in tracked("mmdyn/**/*.py", "perturb/**/*.py", "kprag/**/*.py")
    if ">>> " in file.read_text("utf-8")
]

CLASS = r"autoclass:: ([\w.]+)\.(\w+)"


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_give_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.attempted
    assert not results.failed


def test_no_property_reads_inside_out_in_the_reference() -> None:
    """Napoleon takes the words before a colon in a property's first line for its type."""
    page = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    classes = [getattr(importlib.import_module(room), name) for room, name in re.findall(CLASS, page)]
    assert len(classes) > 10
    first = {
        f"{kind.__name__}.{name}": (member.__doc__ or "").partition("\n")[0]
        for kind in classes
        for name, member in vars(kind).items()
        if isinstance(member, property | cached_property) and not name.startswith("_")
    }
    assert "SampleSet.root" in first
    assert [name for name, line in first.items() if ":" in line] == []


def test_every_function_that_the_reference_names_has_an_example() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    named = re.findall(r"autofunction:: ([\w.]+)\.(\w+)", page)
    assert len(named) > 10
    documented = {name: getattr(importlib.import_module(room), name).__doc__ or "" for room, name in named}
    assert [name for name, text in documented.items() if ">>> " not in text] == []
