"""Several launched processes make the set that one process makes, also after one of them was killed.

A launcher says who is who in RANK and WORLD_SIZE: torchrun does on a CPU, `accelerate launch` on GPUs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clock import wait_until
from making_sets import make_set, tree

from making import choice, image_ref, picture, write_set
from mmdyn.data import SampleSet, convert

OPTIONS = ["--ops", "pad+color,style,shuffle,convert,paraphrase", "--draws", "2", "--seed", "1"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    data = [picture(300, 200, text=str(number)) for number in range(6)]
    made = (choice(f"s{n}", question=f"What is {n} + 1?", images=(image_ref(data[n % 6]),)) for n in range(48))
    return write_set(tmp_path_factory.mktemp("source") / "set", made, "many", data)


def perturb(source: Path, out: Path) -> list[str]:
    return ["-m", "mmdyn", "perturb", str(source), "-o", str(out), *OPTIONS]


@pytest.fixture(scope="module")
def alone(source: SampleSet, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("alone") / "out"
    subprocess.run([sys.executable, *perturb(source.folder, out)], check=True, capture_output=True)
    return tree(out)


def start(source: SampleSet, out: Path, rank: int, size: int = 2) -> subprocess.Popen[str]:
    environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank)}
    command = [sys.executable, *perturb(source.folder, out)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def finish(*processes: subprocess.Popen[str]) -> list[str]:
    said = [process.communicate(timeout=240)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), said
    return said


def torchrun(source: SampleSet, out: Path) -> subprocess.CompletedProcess[str]:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "0"]
    return subprocess.run([*launcher, *perturb(source.folder, out)], capture_output=True, text=True)


def pictures(out: Path) -> int:
    return sum(1 for _ in out.glob("images/*/*.png"))


@pytest.mark.slow
def test_two_ranks_make_the_set_of_one_process(source: SampleSet, alone: dict[str, bytes], tmp_path: Path) -> None:
    said = finish(start(source, tmp_path / "out", 0), start(source, tmp_path / "out", 1))
    assert tree(tmp_path / "out") == alone
    assert "variants: " in said[0] and "variants: " not in said[1], "rank 0 alone prints the summary"
    assert all(f"perturbing, rank {rank}" in said[rank] for rank in (0, 1))


@pytest.mark.slow
def test_the_ranks_may_come_in_any_order_and_number(source: SampleSet, alone: dict[str, bytes], tmp_path: Path) -> None:
    others = [start(source, tmp_path / "out", rank, 3) for rank in (2, 1)]
    time.sleep(0.5)
    finish(start(source, tmp_path / "out", 0, 3), *others)
    assert tree(tmp_path / "out") == alone


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1])
def test_a_rank_that_was_killed_is_made_good_by_running_again(
    source: SampleSet, alone: dict[str, bytes], tmp_path: Path, lost: int
) -> None:
    out = tmp_path / "out"
    both = [start(source, out, rank) for rank in (0, 1)]
    wait_until(lambda: pictures(out) >= 30 or both[lost].poll() is not None, every=0.005)
    both[lost].kill()
    both[lost].communicate()
    assert both[lost].returncode == -signal.SIGKILL
    both[1 - lost].terminate()
    both[1 - lost].communicate()
    assert not (out / "set.json").exists()
    finish(start(source, out, 0), start(source, out, 1))
    assert tree(out) == alone


@pytest.mark.slow
def test_another_number_of_processes_goes_on_with_what_was_done(
    source: SampleSet, alone: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    second = start(source, out, 1)
    wait_until(lambda: pictures(out) >= 20, every=0.005)
    second.terminate()
    second.communicate()
    done = subprocess.run([sys.executable, *perturb(source.folder, out)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert tree(out) == alone


@pytest.mark.slow
def test_torchrun_starts_them(source: SampleSet, alone: dict[str, bytes], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = torchrun(source, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "out") == alone
    assert (
        "is finished: nothing to do"
        in finish(start(source, tmp_path / "out", 0), start(source, tmp_path / "out", 1))[0]
    )


@pytest.mark.slow
def test_several_ranks_take_a_file_as_one_process_does(tmp_path: Path) -> None:
    make_set(tmp_path / "set")
    convert(tmp_path / "set", tmp_path / "loose.tsv")
    file = SampleSet(tmp_path / "set").folder.parent / "loose.tsv"
    subprocess.run([sys.executable, *perturb(file, tmp_path / "one")], check=True, capture_output=True)
    environment = {**os.environ, "WORLD_SIZE": "2"}
    both = [
        subprocess.Popen([sys.executable, *perturb(file, tmp_path / "out")], env={**environment, "RANK": rank}, stderr=subprocess.PIPE, text=True)
        for rank in ("1", "0")
    ]  # fmt: skip
    finish(*both)
    assert tree(tmp_path / "out") == tree(tmp_path / "one")
