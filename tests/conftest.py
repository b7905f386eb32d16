"""What holds for every test: it runs in an empty folder, and searches with Hypothesis as long as it says itself, or with
`--hypothesis-profile=long` for hours. And how many workers `-n auto` starts, of how many threads."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import chdir

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # each worker has a core: with more threads they would only take turns

# Workers and the commands that tests start load the same files over and over: compiled ones, whatever the user's shell says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A run in a shell's background ignores Ctrl-C, and so would the commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("long", max_examples=100_000, deadline=None, suppress_health_check=list(HealthCheck))


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a third of the time tests wait for servers and processes."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session", autouse=True)
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The folder that tests run in: no file of the user's is near, and no test leaves one."""
    folder = tmp_path_factory.mktemp("empty")
    with chdir(folder):
        yield
    assert [*folder.iterdir()] == []
