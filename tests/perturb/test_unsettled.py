"""What failed because a model did not answer is tried again by the same command; what is settled stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from making_sets import tree
from serving import script, serve

from making import blank, write_set
from mmdyn.data.set_folder import SampleSet, SetWriter
from mmdyn.models.fake_server import FakeServer

QUESTIONS = [blank(f"q{number}", question=f"What is the sum of {number} and 3? ____") for number in range(6)]


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    return write_set(tmp_path / "source", QUESTIONS, "sums")


@contextmanager
def judge(tmp_path: Path, port: int = 0, broken: bool = False) -> Iterator[FakeServer]:
    """Says yes to everything, or answers nobody who asks about question 3."""
    yes = json.dumps({"same": True, "confidence": 0.9, "reason": "as scripted"})
    lines = [{"match": "of 3 and", "error": "transient"}] if broken else []
    with serve(reply=str(script(tmp_path, *lines, yes)), port=port) as server:
        yield server


def perturb(source: SampleSet, out: Path, url: str, ranks: int = 0) -> list[subprocess.CompletedProcess[str]]:
    judge = f"openai:m,base_url={url},max_tries=1"
    command = [
        "perturb",
        str(source.folder),
        "-o",
        str(out),
        "--ops",
        "paraphrase,convert",
        "--seed",
        "1",
        "--judge",
        judge,
    ]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "mmdyn", *command],
            env={**os.environ, "MMDYN_CACHE": str(out.parent / "cache")}
            | ({"RANK": str(rank), "WORLD_SIZE": str(ranks)} if ranks else {}),
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks or 1)
    ]
    said = [process.communicate(timeout=120)[1] for process in processes]
    return [
        subprocess.CompletedProcess([], process.returncode, "", text)
        for process, text in zip(processes, said, strict=True)
    ]


def made(out: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(out).items() if not name.startswith(".work/")}


@pytest.mark.parametrize("ranks", [0, 2])
def test_what_failed_is_tried_again_and_nothing_else(source: SampleSet, tmp_path: Path, ranks: int) -> None:
    with judge(tmp_path) as whole:
        assert perturb(source, tmp_path / "whole" / "out", whole.url)[0].returncode == 0
        port = int(whole.url.rpartition(":")[2].partition("/")[0])
    out = tmp_path / "out"
    with judge(tmp_path, port, broken=True) as server:
        first = perturb(source, out, server.url, ranks)
        assert first[0].returncode == 1 and "1 openai:m did not answer" in first[0].stderr
        counts = SampleSet(out).manifest.counts
        assert counts["failed"] == 2 and counts["kept"] == 10
        assert {dropped.parent for dropped in SampleSet(out).dropped()} == {"q3"}
        before, asked = made(out), server.stats.total
        again = perturb(source, out, server.url, ranks)
        assert again[0].returncode == 1
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


def test_a_set_that_is_replaced_stays_whole_until_the_new_one_is(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", QUESTIONS, "sums").folder
    before = tree(folder)
    with pytest.raises(KeyError), SetWriter(folder, "sums", replace=True) as writer:
        writer.add(QUESTIONS[0])
        raise KeyError
    assert {name: data for name, data in tree(folder).items() if not name.endswith(".part")} == before
    with SetWriter(folder, "sums", replace=True) as writer:
        writer.add(QUESTIONS[0])
    assert len(SampleSet(folder)) == len(list(SampleSet(folder))) == 1
    assert set(tree(folder)) == {"samples.jsonl", "set.json"}
