"""`accelerate launch` itself starts the ranks: they make what one process makes.

On a machine without GPUs it starts several processes only with --multi_gpu, which it sets by itself where there are
some; with --cpu it starts one, whatever --num_processes says.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from making_sets import tree
from running import contents, evaluated, many_samples
from serving import serve

from mmdyn.data import SampleSet
from perturb import perturb

pytest.importorskip("accelerate")

LAUNCHED = pytest.mark.parametrize(("device", "writers"), [("--cpu", ["main"]), ("--multi_gpu", ["main", "rank-1"])])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    return many_samples(tmp_path_factory.mktemp("source") / "set")


def launch(device: str, *arguments: str | Path) -> str:
    """Start `mmdyn` on two processes at a free port; what it said on standard error."""
    options = ["--num_processes", "2", "--num_machines", "1", "--main_process_port", "0"]
    options += ["--mixed_precision", "no", "--dynamo_backend", "no"]
    launcher = [sys.executable, "-m", "accelerate.commands.launch", device, *options, "-m", "mmdyn"]
    done = subprocess.run([*launcher, *map(str, arguments)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stderr


def writers_in(store: Path) -> list[str]:
    return sorted(file.stem for file in store.glob("*.sqlite"))


@pytest.mark.slow
@LAUNCHED
def test_eval_makes_the_records_of_one_process(
    source: SampleSet, tmp_path: Path, device: str, writers: list[str]
) -> None:
    with serve(reply="hashed") as server:
        model = f"openai:fake,base_url={server.url}"
        launch(device, "eval", source.folder, "-m", model, "-o", tmp_path / "launched", "--mode", "standard,kprag")
        assert server.stats.total == 75, "an ask was put by two ranks, or by none"
        alone = evaluated(source, model, tmp_path / "alone", modes=["standard", "kprag"], cache="none")
        assert server.stats.total == 150
    assert contents(tmp_path / "launched") == contents(alone) and len(contents(alone)) == 75
    assert writers_in(tmp_path / "launched" / "records") == writers


@pytest.mark.slow
def test_perturb_makes_the_set_of_one_process(source: SampleSet, tmp_path: Path) -> None:
    ops = "pad+color,shuffle,paraphrase"
    said = launch("--multi_gpu", "perturb", source.folder, "-o", tmp_path / "launched", "--ops", ops)
    assert "perturbing, rank 0" in said and "perturbing, rank 1" in said
    perturb(source, tmp_path / "alone", ops=ops, quiet=True)
    assert tree(tmp_path / "launched") == tree(tmp_path / "alone")
