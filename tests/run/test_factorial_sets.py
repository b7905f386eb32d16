"""What a run keeps of a factorial set, and runs that were made before it kept it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import contents, evaluated, many_samples

from mmdyn.run.sets import entry_of
from mmdyn.work import RUN, RunFolder
from perturb import perturb

OPS = "pad@2,invert,salt_pepper+blur,substitute,shuffle"


@pytest.mark.parametrize("design", ["full", "fraction", "permutations:1"])
def test_a_run_knows_the_factors_and_the_design(tmp_path: Path, design: str) -> None:
    source = many_samples(tmp_path / "set", 4)
    dynamic = perturb(source, tmp_path / "out", ops=OPS, factorial=True, design=design, seed=5, quiet=True)
    entry = entry_of(dynamic, tmp_path / "run")
    assert (entry.factors, entry.design, entry.seed) == (tuple(OPS.split(",")), design, 5)
    assert entry_of(source, tmp_path / "run").factors == ()


def test_a_run_from_before_is_read_and_goes_on(tmp_path: Path) -> None:
    source = many_samples(tmp_path / "set", 4)
    dynamic = perturb(source, tmp_path / "out", ops="pad,invert", factorial=True, quiet=True)
    run = evaluated([source, dynamic], lambda prompt: "B", tmp_path / "run")
    before, file = contents(run), tmp_path / "run" / RUN
    old = json.loads(file.read_bytes())
    for entry in old["sets"]:
        for name in ("factors", "design", "seed"):
            del entry[name]
    file.write_text(json.dumps(old))
    assert RunFolder(tmp_path / "run").config.sets[1].factors == ()
    again = evaluated([source, dynamic], lambda prompt: "never asked", tmp_path / "run")
    assert contents(again) == before
    assert [(entry.factors, entry.design) for entry in again.config.sets] == [((), ""), (("pad", "invert"), "full")]
