"""Replicas on a Ray cluster make the records that one process makes, also when a node of it is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import contents, evaluated, many_samples, typed
from serving import hold, serve, wait_until

from mmdyn.data import SampleSet
from mmdyn.errors import MissingExtra, UserError
from mmdyn.run import Execution
from mmdyn.run.executors import open_executor
from mmdyn.work import RayConfig, Reader, room_for

pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("default")
OPS = "pad,color,shuffle,paraphrase,pad+shuffle"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    quick = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 300, "health_check_timeout_ms": 20_000}
    settings = {"num_cpus": 1, "include_dashboard": False, "_system_config": quick}
    made = Cluster(initialize_head=True, head_node_args=settings)
    yield made
    made.shutdown()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    return many_samples(tmp_path_factory.mktemp("source") / "set", 120)


def start(source: SampleSet, model: str, out: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "mmdyn", "eval", str(source.folder), "-m", model, "-o", str(out), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def on(cluster: Any, settings: str = "", *more: str) -> list[str]:
    return ["--executor", f"ray,{cluster.address}{settings}", *more]


@pytest.mark.slow
def test_a_node_that_is_killed_loses_no_sample(cluster: Any, source: SampleSet, tmp_path: Path) -> None:
    node = cluster.add_node(num_cpus=1)
    with serve(latency=0.2, reply="hashed") as server:
        model = f"openai:fake,base_url={server.url}"
        options = on(cluster, ",replicas=2", "--concurrency", "8")
        running = start(source, model, tmp_path / "ray", *options)
        wait_until(lambda: server.stats.total >= 40, running)
        cluster.remove_node(node, allow_graceful=False)
        said = running.communicate(timeout=240)
        assert running.returncode == 0, said
        asked = sum(server.stats.requests.values())
        assert 120 <= asked <= 120 + 16, "only what was in flight is asked again"
        local = evaluated(source, model, tmp_path / "local")
    assert contents(tmp_path / "ray") == contents(local) and len(contents(local)) == 120
    with Reader(tmp_path / "ray" / "records") as reader:
        assert sum(1 for _ in reader.items("failure")) == 0


@pytest.mark.slow
def test_failures_come_back_as_what_they_are(cluster: Any, source: SampleSet, tmp_path: Path) -> None:
    lines = [{"match": "Question 1:", "error": "transient"}, {"match": "", "reply": "Answer: B"}]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    model = f"scripted:{tmp_path / 's.jsonl'},max_tries=1"
    running = start(source, model, tmp_path / "run", *on(cluster, "", "--limit", "10"))
    said = running.communicate(timeout=240)
    assert running.returncode == 1 and "failed: s1 of many" in said[1] and "a failure scripted in s.jsonl" in said[1]
    (tmp_path / "fatal.jsonl").write_text('{"match": "", "error": "fatal"}')
    running = start(source, f"scripted:{tmp_path / 'fatal.jsonl'}", tmp_path / "fatal", *on(cluster))
    said = running.communicate(timeout=240)
    assert running.returncode == 2 and "mmdyn: a failure scripted in" in said[1] and "Traceback" not in said[1]


@pytest.mark.slow
def test_two_replicas_share_a_gpu_and_no_more_than_two(cluster: Any, source: SampleSet, tmp_path: Path) -> None:
    import ray

    node = cluster.add_node(num_cpus=0, num_gpus=1)  # Ray counts what is declared, whatever the machine has
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    try:
        with hold() as server:
            model = f"openai:fake,base_url={server.url}"
            options = on(cluster, ",replicas=2,gpus=0.5", "--limit", "40")
            running = start(source, model, tmp_path / "ray", *options, "--concurrency", "8")
            wait_until(lambda: ray.available_resources().get("GPU", 0.0) == 0, running)
            server.let_all()
            said = running.communicate(timeout=240)
            assert running.returncode == 0, said
            local = evaluated(source, model, tmp_path / "local", n=40)
        assert contents(tmp_path / "ray") == contents(local) and len(contents(local)) == 40
        said = refused(source, tmp_path / "more", *on(cluster, ",replicas=2,gpus=0.6"))
        assert "2 replicas with 0.6 GPUs each are asked for, and the cluster has room for 1: lower" in said
    finally:
        ray.shutdown()
        cluster.remove_node(node)


def refused(source: SampleSet, out: Path, *options: str) -> str:
    running = start(source, "baseline:lexical", out, *options)
    _, said = running.communicate(timeout=240)
    assert running.returncode == 2 and said.startswith("mmdyn: ") and said.count("\n") == 1
    return said


@pytest.mark.slow
def test_gpus_of_a_cluster_without_any_are_refused(cluster: Any, source: SampleSet, tmp_path: Path) -> None:
    said = "3 replicas with 0.5 GPUs each are asked for, and the cluster has room for 0: lower the replicas or the gpus"
    assert (
        refused(source, tmp_path / "run", *on(cluster, ",replicas=3,gpus=0.5")) == f"mmdyn: {said} of --executor ray\n"
    )


@pytest.mark.parametrize(
    ("gpus", "nodes", "room"),
    [
        (0.5, [1, 0], 2),
        (0.6, [2], 2),
        (1 / 3, [1], 3),
        (0.333333, [1, 2], 9),
        (1, [4, 1], 5),
        (2, [1, 1], 0),
        (2, [5, 2], 3),
    ],
)
def test_what_fits_on_gpus_fits_on_one_of_them(gpus: float, nodes: list[float], room: int) -> None:
    assert room_for(gpus, nodes) == room


def test_settings_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    for ray, problem in (
        (
            "ray,local,replica=2",
            r"--executor ray has no option 'replica' \(did you mean 'replicas'\?\); it takes address, replicas",
        ),
        ("ray,local,replicas=0", "replicas is 0: give another number"),
        (RayConfig(gpus=1.5), "gpus is 1.5, which Ray gives to no replica: give a fraction of one, or a whole"),
    ):
        with pytest.raises(UserError, match=problem):
            open_executor(Execution(ray))
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="a cluster starts its processes by itself: run the command without a launcher"):
        open_executor(Execution("ray,local"))


def test_where_ray_is_not_installed(source: SampleSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"ray is needed for this and is not installed: pip install 'mmdyn\[ray\]'"):
        evaluated(source, "baseline:lexical", tmp_path / "run", executor="ray,local")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("127.0.0.1:9", "no Ray cluster answers at 127.0.0.1:9"),
        ("ray://127.0.0.1:10001", "is no address of a Ray cluster: write host:port"),
        ("head", "'head' is no address of a Ray cluster: write host:port"),
    ],
)
def test_an_address_where_no_cluster_is(source: SampleSet, tmp_path: Path, address: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        evaluated(source, "baseline:lexical", tmp_path / "run", executor=f"ray,{address}")


@pytest.mark.slow
def test_variants_are_the_same_from_a_cluster_that_loses_a_node(
    cluster: Any, source: SampleSet, tmp_path: Path
) -> None:
    node = cluster.add_node(num_cpus=1)
    command = [sys.executable, "-m", "mmdyn", "perturb", str(source.folder), "--ops", OPS, "--draws", "3", "-q"]
    running = subprocess.Popen(
        [*command, "-o", tmp_path / "ray" / "made", *on(cluster, ",replicas=2")], stderr=subprocess.PIPE, text=True
    )
    work = tmp_path / "ray" / "made" / ".work"
    wait_until(lambda: work.exists() and any(file.stat().st_size > 50_000 for file in work.glob("main.*")), running)
    cluster.remove_node(node, allow_graceful=False)
    said = running.communicate(timeout=240)
    assert running.returncode == 0, said
    subprocess.run([*command, "-o", tmp_path / "here" / "made"], check=True, timeout=240)
    assert files(tmp_path / "ray") == files(tmp_path / "here") and len(files(tmp_path / "here")) > 100


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_who_makes_variants() -> None:
    said = typed("perturb", "set", "-o", "out", "--ops", "pad", "--executor", "slurm").exception
    assert str(said).startswith(
        "variants are made here or on a Ray cluster: under Slurm start ranks by srun (docs/clusters.md)"
    )
