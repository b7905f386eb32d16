"""No key, proxy or cache of the user's reaches a test; checkpoints are made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import making_models
import pytest
from serving import bare_environment as bare_environment


@pytest.fixture(autouse=True)
def bare(bare_environment: None) -> None:
    """Every test has it."""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A checkpoint of random weights by its name; what changes it makes a copy."""
    folder = tmp_path_factory.mktemp("models")
    return cache(lambda name: getattr(making_models, name)(folder / name))
