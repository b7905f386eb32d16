"""A matrix of models, sets and conditions out of a config gives one report, whoever carries it out and wherever it was
killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from serving import wait_until

from making import choice, write_set
from mmdyn.testing import write_script
from mmdyn.work import Reader

SETS, SAMPLES = 4, 60
ASKED = 3 * SETS * (SAMPLES + SAMPLES + SAMPLES // 5)
"""Of three models: each sample as it is, a variant of it, and with knowledge beside it where it has some."""


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the config, three scripts and four sets."""
    folder = tmp_path_factory.mktemp("matrix")
    for place in range(SETS):
        samples = (
            choice(f"s{n}", question=f"Set {place}, question {n}?", knowledge_points=("Ice",) * (n % 5 == 0))
            for n in range(SAMPLES)
        )
        write_set(folder / f"set{place}", samples, f"set{place}")
    for letter in "ABC":
        write_script(folder / f"{letter}.jsonl", {"match": "question 7", "reply": "D"}, f"Answer: {letter}")
    config = {
        "sets": [f"set{place}" for place in range(SETS)],
        "models": [f"scripted:{letter}.jsonl" for letter in "ABC"],
        "conditions": {"modes": ["standard", "dynamic", "kprag"], "ops": "shuffle", "seed": 1},
        "out": "set by each test",
    }
    (folder / "matrix.yaml").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def expected(matrix: Path) -> str:
    """The report of a run that nobody killed."""
    running = start(matrix, "undisturbed")
    assert running.wait(240) == 0
    found = report(matrix, "undisturbed")
    assert json.loads(found)["runs"][0]["asked"] == ASKED
    return found


def start(matrix: Path, place: str, *overrides: str) -> subprocess.Popen[bytes]:
    """Every run is called `run`, and lies in a folder of its own."""
    (matrix / place).mkdir(exist_ok=True)
    command = [sys.executable, "-m", "mmdyn", "run", "matrix.yaml", "-q", f"out={place}/run", *overrides]
    return subprocess.Popen(command, cwd=matrix, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def report(matrix: Path, place: str) -> str:
    command = [sys.executable, "-m", "mmdyn", "report", f"{place}/run", "--json"]
    return subprocess.run(command, cwd=matrix, capture_output=True, text=True, check=True, timeout=240).stdout


def answered(matrix: Path, place: str, writer: str = "*") -> int:
    records = matrix / place / "run" / "records"
    if not records.exists() or not any(records.glob(f"{writer}.sqlite")):
        return 0
    with Reader(records) as reader:
        return sum(1 for _ in reader.items("record"))


def killed_in_the_middle(matrix: Path, place: str, *overrides: str) -> None:
    running = start(matrix, place, *overrides)
    wait_until(lambda: answered(matrix, place) > ASKED // 20, running)
    running.kill()
    running.wait()
    assert answered(matrix, place) < ASKED


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", pytest.param("ray,local", marks=pytest.mark.filterwarnings("default"))])
def test_a_matrix_that_is_killed_goes_on_to_the_same_report(matrix: Path, expected: str, executor: str) -> None:
    place = executor.partition(",")[0]
    if place == "ray":
        pytest.importorskip("ray")
    chosen = f"execution.executor={executor}"
    killed_in_the_middle(matrix, place, chosen)
    assert start(matrix, place, chosen).wait(240) == 0
    assert report(matrix, place) == expected


def job_of(matrix: Path, place: str, rank: int) -> int:
    """The process that asks a share, by what it says in the store."""
    holder = matrix / place / "run" / "records" / f"rank-{rank}.holder"
    with suppress(OSError, ValueError):
        return int(holder.read_text().split()[1])
    return 0


NEEDS_SLURM = pytest.mark.skipif(not shutil.which("sbatch"), reason="there is no Slurm here: no sbatch in the PATH")


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["local", pytest.param("slurm", marks=NEEDS_SLURM)])
def test_a_matrix_on_slurm_survives_a_lost_job_and_a_lost_submitter(matrix: Path, expected: str, cluster: str) -> None:
    pytest.importorskip("submitit")
    place = f"slurm-{cluster}"
    chosen = f"execution.executor={{name: slurm, jobs: 2, cluster: {cluster}}}", "execution.partition=cell"
    running = start(matrix, place, *chosen)
    wait_until(lambda: answered(matrix, place, "rank-2") > ASKED // 20, running)
    os.kill(lost := job_of(matrix, place, 2), signal.SIGKILL)
    wait_until(lambda: job_of(matrix, place, 2) not in (0, lost), running)
    running.kill()
    running.wait()
    assert start(matrix, place, *chosen).wait(240) == 0
    assert report(matrix, place) == expected
    assert not [*(matrix / place).glob(".run-slurm-*")]
