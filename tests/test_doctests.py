"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib

import pytest
from tracked import ROOT, tracked

MODULES = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in tracked("mmdyn/**/*.py", "perturb/**/*.py", "kprag/**/*.py")
    if ">>> " in file.read_text("utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_give_what_they_say(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.attempted
    assert not results.failed
