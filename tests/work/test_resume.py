"""kill -9 at any moment, the same command again: the set is the one that an undisturbed run makes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from clock import wait_until
from making_sets import tree

from making import choice, image_ref, picture, write_set
from mmdyn.data import SampleSet

HERE = Path(__file__).parent


@pytest.mark.slow
def test_killed_at_every_step_with_a_file(tmp_path: Path) -> None:
    typing = [sys.executable, HERE / "kill_everywhere.py", tmp_path, "5"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(typing, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["differing"] == []
    assert result["over"], "the last try was not killed and made the whole set"
    assert result["tried"] > 20


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    data = picture(600, 500)
    folder = tmp_path_factory.mktemp("source") / "set"
    return write_set(folder, (choice(f"s{n}", images=(image_ref(data),)) for n in range(60)), "many", [data])


def command(source: SampleSet, out: Path, workers: int) -> list[str]:
    options = ["--ops", "pad+color,shuffle", "--draws", "2", "--seed", "1", "--workers", str(workers)]
    return [sys.executable, "-m", "mmdyn", "perturb", str(source.folder), "-o", str(out), *options]


@pytest.fixture(scope="module")
def undisturbed(source: SampleSet, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    subprocess.run(command(source, out, 2), check=True, capture_output=True)
    return tree(out)


def pictures(out: Path) -> int:
    return sum(1 for _ in out.glob("images/*/*.png"))


def wait_for_pictures(process: subprocess.Popen[str], out: Path, count: int) -> None:
    wait_until(lambda: pictures(out) >= count or process.poll() is not None, every=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "moments"), [(1, (3, 40)), (2, (1, 25, 60))])
def test_killed_again_and_again_with_workers(
    source: SampleSet, undisturbed: dict[str, bytes], tmp_path: Path, workers: int, moments: tuple[int, ...]
) -> None:
    out = tmp_path / "out"
    for moment in moments:
        process = subprocess.Popen(command(source, out, workers), stderr=subprocess.PIPE, text=True)
        wait_for_pictures(process, out, moment)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not (out / "set.json").exists()
    kept = pictures(out)
    finished = subprocess.run(command(source, out, workers), capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert kept > 0
    assert tree(out) == undisturbed


@pytest.mark.slow
def test_ctrl_c_ends_with_130_and_the_same_command_goes_on(
    source: SampleSet, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(command(source, out, 2), stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for_pictures(process, out, 20)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert errors.rstrip().endswith("interrupted; what was done is saved, the same command goes on from here")
    finished = subprocess.run(command(source, out, 2), capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert tree(out) == undisturbed


def test_a_second_process_in_the_same_folder_ends_with_75(source: SampleSet, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = subprocess.Popen(command(source, out, 1), stderr=subprocess.PIPE, text=True)
    wait_for_pictures(first, out, 1)
    first.send_signal(signal.SIGSTOP)
    second = subprocess.run(command(source, out, 1), capture_output=True, text=True)
    first.kill()
    first.communicate()
    assert second.returncode == 75
    assert second.stderr.startswith(f"mmdyn: {out / '.work'} is held by process {first.pid} on ")
