"""mmdyn grade that is stopped while a judge is asked: what is in flight is waited for and kept."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest
from serving import hold, wait_until
from shell import MMDYN

from mmdyn.testing import FakeServer

QUESTION = {"question": "Why does ice float?", "task_type": "open_ended", "answer": "It has the lower density."}


def grading(folder: Path, server: FakeServer, *options: str) -> subprocess.Popen[str]:
    """12 answers, all for the judge."""
    rows = [{**QUESTION, "response": f"Reason {number}."} for number in range(12)]
    (folder / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "prices.yaml").write_text("m: {input: 1, output: 1}\n")
    judge = ["--judge", f"openai:m,base_url={server.url},timeout=600,max_tries=1", "--prices", "prices.yaml"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*MMDYN, "grade", "lines.jsonl", *judge, *options], cwd=folder, text=True, **pipes)


@pytest.mark.slow
def test_at_a_limit_what_is_in_flight_is_kept(tmp_path: Path) -> None:
    with hold() as server:
        stopped = grading(tmp_path, server, "--cache", "shared", "--max-requests", "8", "--concurrency", "12")
        wait_until(lambda: server.stats.total == 8, stopped)
        server.let_all()
        stopped.communicate(timeout=240)
        assert stopped.returncode == 3 and server.stats.by_outcome["200"] == server.stats.total == 8
        again = grading(tmp_path, server, "--cache", "shared")
        out, told = again.communicate(timeout=240)
        assert again.returncode == 0 and len(out.splitlines()) == 12 and "8 replies out of the cache" in told
        assert server.stats.total == 12 and server.stats.asked_again == server.stats.begun_again == 0


@pytest.mark.slow
def test_an_interrupt_waits_for_what_is_in_flight_and_a_second_one_does_not(tmp_path: Path) -> None:
    with hold(4) as server:
        process = grading(tmp_path, server, "--concurrency", "4")
        wait_until(lambda: server.stats.total == 8, process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert any("waiting 10 s at most for 4 requests in flight" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=240)[1]
        assert process.returncode == 130 and "mmdyn: interrupted;" in told and "Traceback" not in told
        assert server.stats.total == 8
