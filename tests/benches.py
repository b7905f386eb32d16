"""Scripts of bench/ as modules, for tests of a fast part of them."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parents[1] / "bench"


def load_bench(name: str) -> Any:
    """The script of this name. Its neighbours are found last, since some are called as packages are."""
    spec = spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    sys.path.append(str(BENCH))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCH))
    return module
