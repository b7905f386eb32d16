"""What failed because a model did not answer is tried again by the same command; what is settled stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clock import wait_until
from making_sets import tree
from running import typed
from serving import script, serve

from making import blank, write_set
from mmdyn.data import SampleSet
from mmdyn.keys import canonical, sha256
from mmdyn.testing import FakeServer
from mmdyn.work import Ranks

QUESTIONS = [blank(f"q{number}", question=f"What is the sum of {number} and 3? ____") for number in range(6)]
YES = json.dumps({"same": True, "confidence": 0.9, "reason": "as scripted"})


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleSet:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    return write_set(tmp_path / "source", QUESTIONS, "sums")


@contextmanager
def judge(tmp_path: Path, port: int = 0, silent: int | None = None) -> Iterator[FakeServer]:
    """Says yes to everything, but answers nobody who asks about one question."""
    lines = [] if silent is None else [{"match": f"of {silent} and", "error": "transient"}]
    with serve(reply=str(script(tmp_path, *lines, YES)), port=port) as server:
        yield server


def command(source: SampleSet, out: Path, url: str) -> list[str]:
    options = ["--ops", "paraphrase,convert", "--seed", "1", "--judge", f"openai:m,base_url={url},max_tries=1"]
    return ["perturb", str(source.folder), "-o", str(out), *options]


def start(source: SampleSet, out: Path, url: str, rank: int) -> subprocess.Popen[str]:
    """One rank of two, in a process of its own."""
    environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}
    typing = [sys.executable, "-m", "mmdyn", *command(source, out, url)]
    return subprocess.Popen(typing, env=environment, stderr=subprocess.PIPE, text=True)


def perturb(source: SampleSet, out: Path, url: str, ranks: int = 0) -> tuple[list[int], str]:
    """The exit status of each rank, and what the first one said; 0 ranks: this process is the only one."""
    if not ranks:
        done = typed(*command(source, out, url))
        return [getattr(done.exception, "exit_status", done.exit_code)], done.stderr
    processes = [start(source, out, url, rank) for rank in range(ranks)]
    said = [process.communicate(timeout=240)[1] for process in processes]
    return [process.returncode for process in processes], said[0]


def made(out: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(out).items() if not name.startswith(".work/")}


def owners(source: SampleSet) -> list[int]:
    """The rank of two that makes each sample's variants."""
    return [Ranks(0, 2).owner(sha256(canonical(sample))) for sample in source]


LAUNCHED = [pytest.param(2, rank, marks=pytest.mark.slow) for rank in (0, 1)]


@pytest.mark.parametrize(("ranks", "of"), [(0, 0), *LAUNCHED])
def test_what_failed_is_tried_again_and_nothing_else(
    source: SampleSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: int, of: int
) -> None:
    silent = owners(source).index(of)
    with judge(tmp_path) as whole:
        assert perturb(source, tmp_path / "whole", whole.url)[0] == [0]
        port = int(whole.url.rpartition(":")[2].partition("/")[0])
    out = tmp_path / "out"
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "another cache"))
    with judge(tmp_path, port, silent) as server:
        ended, said = perturb(source, out, server.url, ranks)
        assert ended[0] == 1 and "1 openai:m did not answer" in said
        counts = SampleSet(out).manifest.counts
        assert counts["failed"] == 2 and counts["kept"] == 10
        assert {dropped.parent for dropped in SampleSet(out).dropped()} == {f"q{silent}"}
        before, asked = made(out), server.stats.total
        assert perturb(source, out, server.url, ranks)[0] == [1, 0][: ranks or 1], "rank 0 speaks for all"
        assert made(out) == before, "a set with holes stays readable, and equal while they stay"
        assert server.stats.total - asked == 2, "nobody is asked again about what is settled"
    with judge(tmp_path, port) as server:
        assert perturb(source, out, server.url, ranks)[0] == [0] * (ranks or 1) and server.stats.total == 2
        assert tree(out) == tree(tmp_path / "whole")
        assert not (out / ".work").exists() and not (out / "dropped.jsonl").exists()
        assert "is finished: nothing to do" in perturb(source, out, server.url)[1] and server.stats.total == 2


@pytest.mark.slow
def test_what_an_earlier_process_left_unsettled_is_waited_for(source: SampleSet, tmp_path: Path) -> None:
    """Rank 0 does not take what a killed rank 1 could not do for what the living one does."""
    silent, out = owners(source).index(1), tmp_path / "out"
    with judge(tmp_path, silent=silent) as server:
        first = start(source, out, server.url, 1)
        wait_until(lambda: server.stats.total >= 2 * owners(source).count(1))
        time.sleep(0.5)
        first.kill()
        first.communicate()
        port = int(server.url.rpartition(":")[2].partition("/")[0])
    with judge(tmp_path, port) as server:
        zero = start(source, out, server.url, 0)
        wait_until(lambda: server.stats.total >= 2 * owners(source).count(0))
        time.sleep(1.0)
        assert zero.poll() is None and not (out / "set.json").exists()
        one = start(source, out, server.url, 1)
        for process in (zero, one):
            process.communicate(timeout=240)
            assert process.returncode == 0
    assert SampleSet(out).manifest.counts == {"samples": 12, "kept": 12} and not (out / ".work").exists()


@pytest.mark.parametrize(("reply", "faults", "said"), [
    ("I would rather not say.", "", "gave nothing usable in 3 tries"), (YES, "400=0.3", "openai:m refused"),
])  # fmt: skip
def test_a_failure_that_cannot_pass_is_settled(
    source: SampleSet, tmp_path: Path, reply: str, faults: str, said: str
) -> None:
    """Asking again would not help: no verdict, a content filter, a text that is too long."""
    out = tmp_path / "out"
    with serve(reply=str(script(tmp_path, reply)), faults=faults, seed=3) as server:
        ended, printed = perturb(source, out, server.url)
        assert ended == [1] and said in printed
        asked = server.stats.total
        assert "is finished: nothing to do" in perturb(source, out, server.url)[1]
        assert server.stats.total == asked and not (out / ".work").exists()
