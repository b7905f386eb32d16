"""Runs under Ctrl-C, limits and a full disk, as real processes against the fake server."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import hold, serve, wait_until
from shell import MMDYN

from making import choice, write_set
from mmdyn.testing import FakeServer
from mmdyn.work import RunFolder

GOES_ON = "mmdyn: interrupted; what was done is saved, the same command goes on from here"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serve(latency=0.5) as running:
        yield running


def make_set(folder: Path, count: int = 100) -> None:
    write_set(folder / "set", [choice(f"q{number}", question=f"Question {number}?") for number in range(count)])


def popen(folder: Path, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def start(folder: Path, model: str, *more: str, begin: str = "") -> subprocess.Popen[str]:
    mmdyn = [sys.executable, "-c", f"{begin}; from mmdyn.cli import main; main()"] if begin else MMDYN
    return popen(folder, *mmdyn, "eval", "set", "-m", model, "-o", "run", "--concurrency", "8", *more)


def answered(folder: Path) -> int:
    return sum(not record.reply.error for record in RunFolder(folder / "run").records())


@pytest.mark.slow
def test_interrupted_once_it_waits_for_what_is_in_flight_and_saves_it(tmp_path: Path) -> None:
    make_set(tmp_path)
    with hold(16) as server:
        process = start(tmp_path, f"openai:fake,base_url={server.url}")
        wait_until(lambda: server.stats.total == 24, process)
        process.send_signal(signal.SIGINT)
        said = "interrupted: waiting 10 s at most for 8 requests in flight; interrupt again to stop at once"
        assert process.stderr is not None and any(said in line for line in process.stderr)
        server.let_all()
        out, err = process.communicate(timeout=240)
        assert process.returncode == 130 and out == "" and "Traceback" not in err
        assert err.rstrip().endswith(GOES_ON)
        assert answered(tmp_path) == server.stats.by_outcome["200"] == server.stats.total == 24
        again = start(tmp_path, f"openai:fake,base_url={server.url}", "--concurrency", "64")
        _, err = again.communicate(timeout=240)
        assert again.returncode == 0, err
        assert answered(tmp_path) == 100 and server.stats.asked_again == 0


@pytest.mark.slow
def test_interrupted_twice_it_stops_at_once_and_keeps_what_came(tmp_path: Path) -> None:
    make_set(tmp_path)
    with hold(10) as server:
        model = f"openai:fake,base_url={server.url},timeout=3600,max_tries=1"
        patient = "from mmdyn.models import asker; asker.DRAIN_SECONDS = 3600"
        process = start(tmp_path, model, "--concurrency", "4", begin=patient)
        wait_until(lambda: server.stats.total == 14, process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert any("interrupted: waiting 3600 s at most for 4 requests" in line for line in process.stderr)
        assert process.poll() is None, "it did not wait for those in flight"
        process.send_signal(signal.SIGINT)
        err = process.stderr.read()
        process.communicate(timeout=240)
        assert process.returncode == 130, err
        assert err.rstrip().endswith(GOES_ON) and "Traceback" not in err
        assert answered(tmp_path) == 10 and server.stats.total == 14


NOTEBOOK = """
import asyncio, sys
from mmdyn.run import Limits, evaluate

async def cell():
    evaluate("set", sys.argv[1], "run", limits=Limits(concurrency=4))

loop = asyncio.new_event_loop()
try:
    loop.run_until_complete(cell())
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
@pytest.mark.parametrize("interrupts", [1, 2])
def test_a_notebook_is_interrupted_the_same_way(tmp_path: Path, interrupts: int) -> None:
    make_set(tmp_path)
    with hold(4) as server:
        process = popen(tmp_path, sys.executable, "-c", NOTEBOOK, f"openai:fake,base_url={server.url}")
        wait_until(lambda: server.stats.total == 8, process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None and any("waiting 10 s at most for 4" in line for line in process.stderr)
        if interrupts == 1:
            server.let_all()
        else:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0 and out == "interrupted\n" and "Traceback" not in err
        assert answered(tmp_path) == (8 if interrupts == 1 else 4)
        assert server.stats.total == 8


@pytest.mark.slow
def test_a_limit_ends_in_status_3_and_the_same_command_goes_on(tmp_path: Path, server: FakeServer) -> None:
    make_set(tmp_path, 12)
    (tmp_path / "p.yaml").write_text("fake: {input: 1, output: 1}\n")
    for left in (4, 0):
        process = start(tmp_path, f"openai:fake,base_url={server.url}", "--max-requests", "8", "--prices", "p.yaml")
        out, err = process.communicate(timeout=240)
        if left:
            assert process.returncode == 3 and out == ""
            assert re.search(
                r"mmdyn: stopped at --max-requests 8: 8 requests for \S+ USD by this call; 8 of 12 done, 4", err
            )
        else:
            assert process.returncode == 0, err
            told, _ = popen(tmp_path, *MMDYN, "report", "run", "--full").communicate(timeout=240)
            assert re.search(r"run: openai:fake: [\d,]+ tokens in, \d+ out, cost [\d.]+ USD\.", told)
            assert re.search(r"asking: 12/12 \([\d.]+/s, cost [\d.]+ USD, 0 s left\)", err)
    assert server.stats.total == 12


@pytest.mark.slow
def test_a_disk_that_fills_up_is_one_sentence_and_the_rest_follows_later(tmp_path: Path, server: FakeServer) -> None:
    make_set(tmp_path)
    full = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)"
    full += "; resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))"
    process = start(tmp_path, f"openai:fake,base_url={server.url},concurrency=32", "--cache", "none", begin=full)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 2 and out == "" and "Traceback" not in err
    assert re.search(r"mmdyn: cannot save into run/records \(.*\): free some space and run again", err)
    before = answered(tmp_path)
    assert 0 < before < 100
    again = start(tmp_path, f"openai:fake,base_url={server.url},concurrency=32", "--cache", "none")
    _, err = again.communicate(timeout=240)
    assert again.returncode == 0, err
    assert answered(tmp_path) == 100 and server.stats.total - 100 <= 2 * 32


LOST = """
import signal, weakref
from mmdyn import cli

class Thing: ...

@cli.commands.command()
def waits():
    thing = Thing()
    seen = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    print("the interrupt did not get out of the callback", flush=True)
    signal.pause()

cli.Commands.get_command = lambda group, context, name: waits
cli.main()
"""


def test_an_interrupt_that_strikes_in_a_callback_is_not_lost(tmp_path: Path) -> None:
    out, err = (process := popen(tmp_path, sys.executable, "-c", LOST, "waits")).communicate(timeout=240)
    assert process.returncode == 130 and out == "the interrupt did not get out of the callback\n"
    assert err == f"\n{GOES_ON}\n"
