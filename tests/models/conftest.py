"""No key, proxy or cache of the user's reaches a test; checkpoints are made once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import making_models
import pytest
from serving import bare_environment as bare_environment
from weighing import BOS, with_tokenizer


@pytest.fixture(autouse=True)
def bare(bare_environment: None) -> None:
    """Every test has it."""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A checkpoint of random weights by its name; what changes it makes a copy."""
    folder = tmp_path_factory.mktemp("models")
    return cache(lambda name: getattr(making_models, name)(folder / name))


@pytest.fixture(scope="session")
def begun(made: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base checkpoint whose tokenizer puts BOS before each text."""
    folder = tmp_path_factory.mktemp("begun") / "qwen2"
    shutil.copytree(made("qwen2"), folder)
    return with_tokenizer(folder, post_processor=BOS)
