"""Where a user's programs keep what outlives a run: replies, encoded prompts, calibrations of judges."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """The folder that MMDYN_CACHE names, or the user's cache folder."""
    from platformdirs import user_cache_path

    given = os.environ.get("MMDYN_CACHE")
    return Path(given).expanduser() if given else user_cache_path("mmdyn", appauthor=False)
