"""No key, proxy or cache of the user's reaches a test."""

from __future__ import annotations

import pytest
from serving import bare_environment as bare_environment


@pytest.fixture(autouse=True)
def bare(bare_environment: None) -> None:
    """Every test has it."""
