"""Hypothesis profiles: `--hypothesis-profile=long` searches for hours; without it tests search as long as they say
themselves. And how many workers `-n auto` starts, of how many threads."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # each worker has a core: with more threads they would only take turns

settings.register_profile("long", max_examples=100_000, deadline=None, suppress_health_check=list(HealthCheck))


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a third of the time tests wait for servers and processes."""
    return (os.cpu_count() or 1) + 1
