"""A run that a fatal error ends in the middle, through the whole command: what was answered is kept, and one sentence
says why."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from serving import serve
from shell import mmdyn

from making import choice, write_set
from mmdyn.testing import FakeServer
from mmdyn.work import Reader, RunFolder

SAMPLES, CONCURRENCY = 60, 8


def mmdyn_eval(folder: Path, url: str) -> CompletedProcess[str]:
    options = ["--cache", "none", "--concurrency", CONCURRENCY]
    return mmdyn("eval", "set", "-m", f"openai:fake,base_url={url}", "-o", "run", *options, folder=folder)


class EndingServer(FakeServer):
    """Takes a key until it has given 20 answers, and none afterwards."""

    async def _respond(self, request: Any, dialect: Any, *asked: Any) -> Any:
        if self.stats.by_outcome["200"] >= 20:
            return self._error(dialect, 401, "a fault that was asked for")
        return await super()._respond(request, dialect, *asked)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "server at {url} wants a key (HTTP 401: a fault that was asked for): put it into $OPENAI_API_KEY"),
        (402, "account at {url} has no quota left (HTTP 402: a fault that was asked for): top it up and run again"),
    ],
)
def test_a_key_that_ends_in_the_middle_loses_no_answer(tmp_path: Path, status: int, says: str) -> None:
    write_set(tmp_path / "set", [choice(f"q{number}", question=f"Question {number}?") for number in range(SAMPLES)])
    faulty = EndingServer(latency=0.1) if status == 401 else serve(faults=f"{status}=0.05", seed=5, latency=0.1)
    with faulty as server:
        ended = mmdyn_eval(tmp_path, server.url)
        stats, url = server.stats, server.url
    answered = stats.by_outcome["200"]
    assert CONCURRENCY < answered < SAMPLES - CONCURRENCY, "the seed draws no error in the middle"
    assert stats.total == answered + stats.by_outcome[str(status)] < SAMPLES
    run = RunFolder(tmp_path / "run")
    assert ended.returncode == 2 and "Traceback" not in ended.stderr
    assert ended.stderr.splitlines()[-1] == f"mmdyn: the {says.format(url=url)}"
    assert sorted(record.reply.text for record in run.records()) == ["Answer: A"] * answered
    with Reader(run.records_folder) as reader:
        assert not list(reader.items("failure")), "what was not asked is no failure"
    with serve(port=int(url.rpartition(":")[2].removesuffix("/v1"))) as server:
        assert mmdyn_eval(tmp_path, url).returncode == 0
        assert server.stats.total == SAMPLES - answered
    assert len({record.sample for record in run.records() if not record.reply.error}) == SAMPLES
