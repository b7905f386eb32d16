"""The samples whose sizes and lengths benches of batches go through: those of gaokao_mm, we_math and scemqa, mixed."""

from __future__ import annotations

import random
from pathlib import Path

from mmdyn import plugins
from mmdyn.data import ImageFolder
from mmdyn.sample import Sample

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = {"gaokao_mm": "gaokao-mm", "we_math": "we-math", "scemqa": "scemqa"}


def samples(data: Path, folder: Path, rounds: int) -> list[Sample]:
    """So many rounds over all samples, each in a random order; their pictures lie in `folder` then."""
    if not data.is_dir():
        raise SystemExit(f"{data} is not there: give the folder of {', '.join(SETS.values())} with --data")
    found = [
        row.sample
        for name, place in SETS.items()
        for row in plugins.load("benchmarks", name)().read(data / place, ImageFolder(folder))
        if row.sample
    ]
    draw = random.Random(0)
    return [sample for _ in range(rounds) for sample in draw.sample(found, len(found))]
