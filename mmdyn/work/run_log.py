"""What a run did, a line a step, in a file in its folder. Prompts, replies and keys are not among it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOG = logging.getLogger("mmdyn")
FORM = "%(asctime)s %(levelname)s %(message)s"


@contextmanager
def run_log(folder: Path, rank: int = 0) -> Iterator[None]:
    """Append what is logged meanwhile to log.txt in a run's folder, or log-N.txt for rank N; how it ends, too."""
    handler = logging.FileHandler(folder / (f"log-{rank}.txt" if rank else "log.txt"), encoding="utf-8")
    handler.setFormatter(logging.Formatter(FORM))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        yield
        LOG.info("done")
    except BaseException as error:
        LOG.error("ended by %s: %s", type(error).__name__, error)
        raise
    finally:
        LOG.removeHandler(handler)
        handler.close()


def log_to_terminal() -> None:
    """Print what is logged on standard error, too."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(FORM))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
