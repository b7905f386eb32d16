"""Keyed jobs over processes: each done once, whatever happens in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import making_work
import pytest
from clock import wait_until

from mmdyn.errors import InputError, UserError
from mmdyn.work import Reader, Store
from mmdyn.work.pool import Job, run_jobs


def jobs(count: int) -> Iterator[Job]:
    for number in range(count):
        yield f"key {number}", str(number).encode()


def results(folder: Path, kind: str = "kind") -> dict[str, bytes]:
    with Reader(folder) as reader:
        return dict(reader.items(kind))


class Count:
    def __init__(self) -> None:
        self.done = self.there = 0

    def __call__(self, *, there: bool = False) -> None:
        self.done += 1
        self.there += there


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_job_is_done_and_counted_once(tmp_path: Path, workers: int) -> None:
    count = Count()
    with Store(tmp_path / "store") as store:
        run_jobs(jobs(100), making_work.doubling, store, "kind", workers=workers, advance=count)
    assert results(tmp_path / "store") == {f"key {n}": str(n).encode() * 2 for n in range(100)}
    assert count.done == 100


@pytest.mark.parametrize("workers", [1, 2])
def test_no_jobs_and_fewer_jobs_than_workers(tmp_path: Path, workers: int) -> None:
    with Store(tmp_path / "store") as store:
        run_jobs(jobs(0), making_work.doubling, store, "kind", workers=workers, advance=Count())
        run_jobs(jobs(1), making_work.doubling, store, "kind", workers=workers, advance=Count())
    assert results(tmp_path / "store") == {"key 0": b"00"}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_with_a_result_is_not_done_again(tmp_path: Path, workers: int) -> None:
    (tmp_path / "logs").mkdir()
    make = partial(making_work.Logging, tmp_path / "logs")
    count = Count()
    with Store(tmp_path / "store") as store:
        store.put("kind", "key 1", b"as it was")
        run_jobs(jobs(4), make, store, "kind", workers=workers, advance=count)
        run_jobs(jobs(5), make, store, "kind", workers=workers, advance=count)
    logged = sorted(line for log in (tmp_path / "logs").iterdir() for line in log.read_text().split())
    assert logged == ["0", "2", "3", "4"]
    assert results(tmp_path / "store")["key 1"] == b"as it was"
    assert (count.done, count.there) == (9, 5)


def test_large_payloads_and_results_do_not_block(tmp_path: Path) -> None:
    large = ((str(n), bytes([n]) * 5_000_000) for n in range(6))
    with Store(tmp_path / "store") as store:
        run_jobs(large, making_work.doubling, store, "kind", workers=2, advance=Count())
        assert all(store.get("kind", str(n)) == bytes([n]) * 10_000_000 for n in range(6))


def test_jobs_are_taken_as_they_are_needed(tmp_path: Path) -> None:
    ahead = []

    def counted() -> Iterator[Job]:
        for number, job in enumerate(jobs(300)):
            ahead.append(number - count.done)
            yield job

    count = Count()
    with Store(tmp_path / "store") as store:
        run_jobs(counted(), partial(making_work.Logging, tmp_path, 0.002), store, "kind", workers=2, advance=count)
    assert max(ahead) <= 3 * 64
    assert count.done == 300


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_for_the_user_comes_through_and_the_rest_is_kept(tmp_path: Path, workers: int) -> None:
    with Store(tmp_path / "store") as store:
        expected = InputError if workers == 1 else UserError
        with pytest.raises(expected, match=r"some\.file:3: is broken: mend it"):
            run_jobs(jobs(5), making_work.make_failing, store, "kind", workers=workers, advance=Count())
    assert {"key 0", "key 1"} & results(tmp_path / "store").keys()


def test_a_bug_in_a_worker_is_printed_and_ends_the_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path / "store") as store, pytest.raises(UserError, match=r"a worker process died \(exit status 1\)"):
        run_jobs(jobs(5), making_work.make_broken, store, "kind", workers=2, advance=Count())
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_killed_worker_is_told_and_what_was_done_is_kept(tmp_path: Path) -> None:
    said = pytest.raises(UserError, match=r"killed by signal 9; out of memory\?\): run again with fewer workers")
    with Store(tmp_path / "store") as store, said:
        run_jobs(jobs(50), making_work.make_dying, store, "kind", workers=2, advance=Count())
    assert results(tmp_path / "store")


SLOW = """
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, sys.argv[3])
import making_work
from mmdyn.work.pool import run_jobs
from mmdyn.work.store import Store

def main():
    with Store(Path(sys.argv[1])) as store:
        make = partial(making_work.Logging, Path(sys.argv[2]), 0.02)
        run_jobs(((str(n), b"%d" % n) for n in range(200)), make, store, "kind", workers=2, advance=lambda **_: None)

if __name__ == "__main__":
    main()
"""


def start_slow(tmp_path: Path) -> subprocess.Popen[str]:
    (tmp_path / "logs").mkdir(exist_ok=True)
    (tmp_path / "slow.py").write_text(SLOW)
    command = [
        sys.executable, tmp_path / "slow.py", tmp_path / "store", tmp_path / "logs", Path(making_work.__file__).parent,
    ]  # fmt: skip
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def logged(tmp_path: Path) -> list[str]:
    return [line for log in (tmp_path / "logs").iterdir() for line in log.read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").exists() and ") Z " not in Path(f"/proc/{pid}/stat").read_text()


@pytest.mark.slow
def test_kill_9_leaves_no_worker_behind_and_costs_what_they_were_at(tmp_path: Path) -> None:
    process = start_slow(tmp_path)
    wait_until(lambda: len(logged(tmp_path)) > 50)
    process.kill()
    process.communicate()
    workers = [int(log.stem) for log in (tmp_path / "logs").iterdir()]
    wait_until(lambda: not any(map(is_alive, workers)))
    again = start_slow(tmp_path)
    assert again.communicate()[1] == "" and again.returncode == 0
    assert len(results(tmp_path / "store")) == 200
    assert len(logged(tmp_path)) - 200 <= 2 * 12, "the chunks that two workers were at"


@pytest.mark.slow
def test_ctrl_c_saves_and_leaves_no_traceback_of_a_worker(tmp_path: Path) -> None:
    process = start_slow(tmp_path)
    wait_until(lambda: len(logged(tmp_path)) > 50)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=240)
    assert errors.count("Traceback") == 1 and errors.rstrip().endswith("KeyboardInterrupt")
    assert len(results(tmp_path / "store")) > 30
    workers = [int(log.stem) for log in (tmp_path / "logs").iterdir()]
    wait_until(lambda: not any(map(is_alive, workers)))


def test_threads_do_every_job_once_and_at_the_same_time(tmp_path: Path) -> None:
    """No job ends before sixteen are at work."""
    together, given = threading.Barrier(16, timeout=240), list[bytes]()

    def work(payload: bytes) -> bytes:
        given.append(payload)
        together.wait()
        return payload

    count = Count()
    with Store(tmp_path / "store") as store:
        run_jobs(jobs(64), lambda: work, store, "kind", workers=1, threads=16, advance=count)
    assert results(tmp_path / "store") == {f"key {n}": str(n).encode() for n in range(64)}
    assert count.done == 64
    assert sorted(given) == sorted(str(n).encode() for n in range(64))


def test_an_error_in_a_thread_stops_the_others_and_keeps_what_was_done(tmp_path: Path) -> None:
    ended = threading.Event()

    def work(payload: bytes) -> bytes:
        """Those after the third end when the error has come through."""
        assert int(payload) <= 3 or ended.wait(240)
        return making_work.failing(payload)

    with Store(tmp_path / "store") as store:
        with pytest.raises(InputError, match=r"some.file:3: is broken: mend it"):
            run_jobs(jobs(1000), lambda: work, store, "kind", workers=1, threads=2, advance=Count())
        ended.set()
    assert set(results(tmp_path / "store")) <= {"key 0", "key 1", "key 2"}


def test_what_threads_have_done_is_saved_while_others_wait(tmp_path: Path) -> None:
    def slow(payload: bytes) -> bytes:
        """The first one ends when the others are to be read."""
        if payload == b"0":
            wait_until(lambda: len(results(tmp_path / "store")) == 3)
            seen.update(results(tmp_path / "store"))
        return payload

    seen: dict[str, bytes] = {}
    with Store(tmp_path / "store") as store:
        run_jobs(jobs(4), lambda: slow, store, "kind", workers=1, threads=2, advance=Count())
    assert set(seen) == {"key 1", "key 2", "key 3"}
