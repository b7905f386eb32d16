"""A package that stands in for vLLM, with the interface that it documents."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def vllm_installed() -> Iterator[None]:
    """Within it, the stand-in can be imported and has a version."""
    site = str(Path(__file__).with_name("vllm_package"))
    sys.path.insert(0, site)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(site)
        sys.modules.pop("vllm", None)
