"""What failed because a model did not answer is tried again by the same command; what is settled stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from making_sets import tree
from serving import script, serve

from making import blank, write_set
from mmdyn.data import SampleSet
from mmdyn.keys import canonical, sha256
from mmdyn.testing import FakeServer
from mmdyn.work import Ranks

QUESTIONS = [blank(f"q{number}", question=f"What is the sum of {number} and 3? ____") for number in range(6)]


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    return write_set(tmp_path / "source", QUESTIONS, "sums")


@contextmanager
def judge(tmp_path: Path, port: int = 0, silent: int | None = None) -> Iterator[FakeServer]:
    """Says yes to everything, but answers nobody who asks about one question."""
    yes = json.dumps({"same": True, "confidence": 0.9, "reason": "as scripted"})
    lines = [] if silent is None else [{"match": f"of {silent} and", "error": "transient"}]
    with serve(reply=str(script(tmp_path, *lines, yes)), port=port) as server:
        yield server


def start(source: SampleSet, out: Path, url: str, rank: int = 0, ranks: int = 0) -> subprocess.Popen[str]:
    options = ["--ops", "paraphrase,convert", "--seed", "1", "--judge", f"openai:m,base_url={url},max_tries=1"]
    command = [sys.executable, "-m", "mmdyn", "perturb", str(source.folder), "-o", str(out), *options]
    environment = {**os.environ, "MMDYN_CACHE": str(out.parent / "cache")}
    if ranks:
        environment |= {"RANK": str(rank), "WORLD_SIZE": str(ranks)}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def perturb(source: SampleSet, out: Path, url: str, ranks: int = 0) -> list[subprocess.CompletedProcess[str]]:
    processes = [start(source, out, url, rank, ranks) for rank in range(ranks or 1)]
    said = [process.communicate(timeout=240)[1] for process in processes]
    return [
        subprocess.CompletedProcess([], process.returncode, "", text)
        for process, text in zip(processes, said, strict=True)
    ]


def wait_until(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 240
    while not ready():
        assert time.monotonic() < until
        time.sleep(0.02)


def made(out: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(out).items() if not name.startswith(".work/")}


def owners(source: SampleSet) -> list[int]:
    """The rank of two that makes each sample's variants."""
    return [Ranks(0, 2).owner(sha256(canonical(sample))) for sample in source]


@pytest.mark.parametrize(("ranks", "of"), [(0, 0), (2, 0), (2, 1)])
def test_what_failed_is_tried_again_and_nothing_else(source: SampleSet, tmp_path: Path, ranks: int, of: int) -> None:
    silent = owners(source).index(of)
    with judge(tmp_path) as whole:
        assert perturb(source, tmp_path / "whole" / "out", whole.url)[0].returncode == 0
        port = int(whole.url.rpartition(":")[2].partition("/")[0])
    out = tmp_path / "out"
    with judge(tmp_path, port, silent) as server:
        first = perturb(source, out, server.url, ranks)
        assert first[0].returncode == 1 and "1 openai:m did not answer" in first[0].stderr
        counts = SampleSet(out).manifest.counts
        assert counts["failed"] == 2 and counts["kept"] == 10
        assert {dropped.parent for dropped in SampleSet(out).dropped()} == {f"q{silent}"}
        before, asked = made(out), server.stats.total
        again = perturb(source, out, server.url, ranks)
        assert [process.returncode for process in again] == [1, 0][: ranks or 1], "rank 0 speaks for all"
        assert made(out) == before, "a set with holes stays readable, and equal while they stay"
        assert server.stats.total - asked == 2, "nobody is asked again about what is settled"
    with judge(tmp_path, port) as server:
        assert [process.returncode for process in perturb(source, out, server.url, ranks)] == [0] * (ranks or 1)
        assert server.stats.total == 2
        assert tree(out) == tree(tmp_path / "whole" / "out")
        assert not (out / ".work").exists() and not (out / "dropped.jsonl").exists()
        done = perturb(source, out, server.url)
        assert "is finished: nothing to do" in done[0].stderr and server.stats.total == 2


def test_a_failure_that_cannot_pass_is_settled(tmp_path: Path) -> None:
    source = write_set(tmp_path / "source", QUESTIONS, "sums")
    with serve(reply=str(script(tmp_path, "I would rather not say."))) as server:
        first = perturb(source, tmp_path / "out", server.url)
        assert first[0].returncode == 1 and "gave nothing usable in 3 tries" in first[0].stderr
        asked = server.stats.total
        assert "is finished: nothing to do" in perturb(source, tmp_path / "out", server.url)[0].stderr
        assert server.stats.total == asked


def test_what_an_earlier_process_left_unsettled_is_waited_for(source: SampleSet, tmp_path: Path) -> None:
    """Rank 0 does not take what a killed rank 1 could not do for what the living one does."""
    silent, out = owners(source).index(1), tmp_path / "out"
    with judge(tmp_path, silent=silent) as server:
        first = start(source, out, server.url, 1, 2)
        wait_until(lambda: server.stats.total >= 2 * owners(source).count(1))
        time.sleep(1.0)
        first.kill()
        first.communicate()
        port = int(server.url.rpartition(":")[2].partition("/")[0])
    with judge(tmp_path, port) as server:
        zero = start(source, out, server.url, 0, 2)
        time.sleep(3.0)
        assert zero.poll() is None and not (out / "set.json").exists()
        one = start(source, out, server.url, 1, 2)
        for process in (zero, one):
            process.communicate(timeout=240)
            assert process.returncode == 0
    assert SampleSet(out).manifest.counts == {"samples": 12, "kept": 12} and not (out / ".work").exists()


def test_a_request_that_is_refused_is_settled(tmp_path: Path) -> None:
    """Asking again would not help: a content filter, a text that is too long."""
    source = write_set(tmp_path / "source", QUESTIONS, "sums")
    yes = json.dumps({"same": True, "confidence": 0.9, "reason": "as scripted"})
    with serve(reply=str(script(tmp_path, yes)), faults="400=0.3", seed=3) as server:
        first = perturb(source, tmp_path / "out", server.url)
        assert first[0].returncode == 1 and "openai:m refused" in first[0].stderr
        asked = server.stats.total
        assert "is finished: nothing to do" in perturb(source, tmp_path / "out", server.url)[0].stderr
        assert server.stats.total == asked and not (tmp_path / "out" / ".work").exists()
