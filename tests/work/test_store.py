"""The store keeps what it took: over kills, several processes, full disks and odd folders."""

from __future__ import annotations

import contextlib
import os
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from clock import wait_until
from filelock import FileLock

from mmdyn.errors import Busy, InputError, UserError
from mmdyn.work import Overlay, Reader, Store, store as store_module
from mmdyn.work.store import TAILS, Tail, left_in


def read_all(folder: Path, kind: str = "k") -> dict[str, bytes]:
    with Reader(folder) as reader:
        return dict(reader.items(kind))


def saved(folder: Path) -> int:
    """How many records are in SQLite files, not in tails."""
    count = 0
    for file in folder.glob("*.sqlite"):
        with closing(sqlite3.connect(file)) as db:
            count += db.execute("SELECT COUNT(*) FROM records").fetchone()[0]
    return count


def script(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def begun(code: str, *arguments: object, lines: int = 1) -> subprocess.Popen[str]:
    """A process that has printed so many lines."""
    process = script(code, *arguments)
    assert process.stdout is not None and all(process.stdout.readline() for _ in range(lines))
    return process


def kill(process: subprocess.Popen[str]) -> list[str]:
    """The whole lines that it printed since."""
    process.kill()
    return process.communicate()[0].split("\n")[:-1]


def test_what_is_put_is_there_at_once_and_after_closing(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        assert store.get("k", "a") is None
        store.put("k", "a", b"1")
        assert store.get("k", "a") == b"1"
        assert store.get("other", "a") is None
    assert read_all(tmp_path / "s") == {"a": b"1"}
    with Store(tmp_path / "s") as store:
        assert store.get("k", "a") == b"1"


@pytest.mark.parametrize("flush", [True, False])
def test_the_first_value_of_a_key_stays(tmp_path: Path, flush: bool) -> None:
    with Store(tmp_path) as store:
        store.put("k", "a", b"first")
        if flush:
            store.flush()
        store.put("k", "a", b"second")
        assert store.get("k", "a") == b"first"
    assert read_all(tmp_path) == {"a": b"first"}


def test_values_are_any_bytes_and_keys_any_text(tmp_path: Path) -> None:
    values = {
        "": b"", "题目~pad+color~0": bytes(range(256)), "a'; DROP TABLE records; --": b"x" * 3_000_000, "\n\t": b"1",
    }  # fmt: skip
    with Store(tmp_path) as store:
        for key, value in values.items():
            store.put("k", key, value)
    with Reader(tmp_path) as reader:
        assert {key: reader.get("k", key) for key in values} == values


def test_it_saves_by_itself_a_while_after_the_first_unsaved_value(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        began = time.monotonic()
        store.put("k", "a", b"1")
        store.put("k", "b", b"2")
        assert saved(tmp_path) == 0 and read_all(tmp_path) == {"a": b"1", "b": b"2"}, "a reader sees them at once"
        wait_until(lambda: saved(tmp_path) == 2)
        assert time.monotonic() - began >= store_module.COMMIT_SECONDS and read_all(tmp_path) == {"a": b"1", "b": b"2"}


def test_what_is_put_while_others_are_saved_waits_for_nothing_and_lies_in_the_other_tail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "COMMIT_SECONDS", 0.01)
    with Store(tmp_path) as store:
        locked = sqlite3.connect(tmp_path / "main.sqlite", isolation_level=None)
        locked.execute("BEGIN EXCLUSIVE")
        store.put("k", "a", b"1")
        wait_until(store._saving.locked)
        for number in range(3):
            store.put("k", f"b{number}", b"2")
        store.put("k", "a", b"3")
        tails = [[key for _, key, _ in left_in(tmp_path / f"main{suffix}")] for suffix in TAILS]
        assert tails == [["a"], ["b0", "b1", "b2"]]
        locked.execute("ROLLBACK")
        locked.close()
        wait_until(lambda: saved(tmp_path) == 4)
        wait_until(lambda: not any((tmp_path / f"main{suffix}").stat().st_size for suffix in TAILS))
        assert read_all(tmp_path) == {"a": b"1", "b0": b"2", "b1": b"2", "b2": b"2"}


def test_a_value_that_is_put_again_while_it_is_saved_keeps_no_later_one_from_being_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "COMMIT_SECONDS", 0.01)
    with Store(tmp_path) as store:
        locked = sqlite3.connect(tmp_path / "main.sqlite", isolation_level=None)
        locked.execute("BEGIN EXCLUSIVE")
        store.put("k", "a", b"1")
        wait_until(store._saving.locked)
        store.put("k", "a", b"1")
        time.sleep(0.1)
        locked.execute("ROLLBACK")
        locked.close()
        wait_until(lambda: saved(tmp_path) == 1)
        wait_until(lambda: not store._saving.locked())
        store.put("k", "b", b"2")
        wait_until(lambda: saved(tmp_path) == 2)
        assert read_all(tmp_path) == {"a": b"1", "b": b"2"}


def test_what_it_could_not_save_by_itself_the_next_put_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "COMMIT_SECONDS", 0.01)
    with Store(tmp_path) as store:
        locked = sqlite3.connect(tmp_path / "main.sqlite", isolation_level=None)
        store._writer.execute("PRAGMA busy_timeout=10")
        locked.execute("BEGIN EXCLUSIVE")
        store.put("k", "a", b"1")
        wait_until(lambda: store._failure is not None)
        with pytest.raises(UserError, match="cannot save into"):
            store.put("k", "b", b"2")
        locked.execute("ROLLBACK")
        locked.close()
        wait_until(lambda: saved(tmp_path) == 2)  # it tries again by itself, and what was put is kept
        store.put("k", "c", b"3")
        wait_until(lambda: saved(tmp_path) == 3)
    assert read_all(tmp_path) == {"a": b"1", "b": b"2", "c": b"3"}


def test_a_disk_that_is_full_loses_nothing_while_others_read(tmp_path: Path) -> None:
    ended = threading.Event()

    def read(store: Store) -> None:
        while not ended.is_set():
            store.get("k", "missing")

    with Store(tmp_path) as store:
        pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
        store._writer.execute(f"PRAGMA max_page_count={pages + 2}")
        threads = [threading.Thread(target=read, args=(store,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        failed = 0
        for number in range(30):
            try:
                store.put("k", f"{number:02}", bytes(3000))
                store.flush()
            except UserError:
                failed += 1
        ended.set()
        for thread in threads:
            thread.join()
        assert failed >= 20
        store._writer.execute("PRAGMA max_page_count=1000000")
    assert len(read_all(tmp_path)) == 30


def test_it_saves_by_itself_when_much_is_unsaved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "COMMIT_SECONDS", 3600.0)
    with Store(tmp_path) as store:
        for number in range(store_module.COMMIT_RECORDS):
            store.put("k", str(number), b"v")
        assert saved(tmp_path) == store_module.COMMIT_RECORDS


def test_several_threads_share_a_store(tmp_path: Path) -> None:
    with Store(tmp_path) as store:

        def work(name: int) -> None:
            for number in range(200):
                store.put("k", f"{name}-{number}", b"v")
                assert store.get("k", f"{name}-{number}") == b"v"
                if number % 50 == 0:
                    store.flush()

        threads = [threading.Thread(target=work, args=(name,)) for name in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(read_all(tmp_path)) == 1000


HOLD = """
import sys
from pathlib import Path
from mmdyn.work.store import Store
with Store(Path(sys.argv[1]), shared=sys.argv[2] == "True") as store:
    store.put("k", "held", b"by me"); store.flush()
    print("ready", flush=True)
    __import__("time").sleep(60)
"""


def test_a_held_file_is_busy_and_says_by_whom(tmp_path: Path) -> None:
    holder = begun(HOLD, tmp_path, False)
    with pytest.raises(Busy, match=f"is held by process {holder.pid} on ") as refused:
        Store(tmp_path)
    assert refused.value.exit_status == 75
    assert read_all(tmp_path) == {"held": b"by me"}, "reading does not wait for the writer"
    kill(holder)
    with Store(tmp_path) as store:
        assert store.get("k", "held") == b"by me"


def test_a_look_at_who_holds_a_file_keeps_nobody_out_however_long_it_takes(tmp_path: Path) -> None:
    Store(tmp_path).close()
    with ThreadPoolExecutor(1) as pool:
        with FileLock(tmp_path / ".looking.lock"), FileLock(tmp_path / "main.lock"):
            opening = pool.submit(Store, tmp_path)
            time.sleep(0.3)
        with opening.result(240) as store:
            store.put("k", "opened", b"after the look")
    assert read_all(tmp_path) == {"opened": b"after the look"}


def test_shared_writers_take_a_file_each(tmp_path: Path) -> None:
    holder = begun(HOLD, tmp_path, True)
    with Store(tmp_path, shared=True) as store:
        assert store.get("k", "held") == b"by me"
        store.put("k", "mine", b"too")
    kill(holder)
    assert sorted(file.name for file in tmp_path.glob("*.sqlite")) == ["main-1.sqlite", "main.sqlite"]
    assert read_all(tmp_path) == {"held": b"by me", "mine": b"too"}


MANY = """
import sys
from pathlib import Path
from mmdyn.work.store import Store
with Store(Path(sys.argv[1]), shared=True) as store:
    for number in range(300):
        store.put("k", f"{sys.argv[2]}-{number}", b"v" * 100)
        if number % 30 == 0:
            store.flush()
"""


@pytest.mark.slow
def test_several_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    processes = [script(MANY, tmp_path, name) for name in "abcd"]
    while any(process.poll() is None for process in processes):
        read_all(tmp_path)
    for process in processes:
        assert process.communicate()[1] == ""
    assert sorted(read_all(tmp_path)) == sorted(f"{name}-{number}" for name in "abcd" for number in range(300))


ENDLESS = """
import sys
from pathlib import Path
from mmdyn.work.store import Store
with Store(Path(sys.argv[1])) as store:
    number = 0
    while True:
        store.put("k", f"{number:08}", str(number).encode() * 50)
        if number % 7 == 0:
            store.flush()
            print(number, flush=True)
        number += 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.05, 0.11, 0.2])
def test_kill_9_loses_nothing_that_was_saved(tmp_path: Path, seconds: float) -> None:
    process = begun(ENDLESS, tmp_path)
    time.sleep(seconds)
    saved = max([0, *map(int, kill(process))])
    there = read_all(tmp_path)
    assert set(there) >= {f"{number:08}" for number in range(saved + 1)}
    assert all(value == str(int(key)).encode() * 50 for key, value in there.items())
    with Store(tmp_path) as store:
        store.put("k", "more", b"1")
    assert read_all(tmp_path).keys() >= {*there, "more"}


UNSAVED = """
import sys, time
from pathlib import Path
from mmdyn.work import store as stores
stores.COMMIT_SECONDS = 3600.0
with stores.Store(Path(sys.argv[1]), sys.argv[2]) as store:
    for number in range(int(sys.argv[3])):
        store.put("k", f"{number:03}", str(number).encode() * 50)
        print(number, flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("finder", ["main", "another"])
def test_kill_9_loses_nothing_that_was_put(tmp_path: Path, finder: str) -> None:
    kill(begun(UNSAVED, tmp_path, "main", 200, lines=200))
    put = {f"{number:03}": str(number).encode() * 50 for number in range(200)}
    assert saved(tmp_path) == 0 and read_all(tmp_path) == put, "a report of what was killed has them too"
    with Store(tmp_path, finder) as store:
        assert {key: store.get("k", key) for key in put} == put
    assert saved(tmp_path) == 200 and read_all(tmp_path) == put
    assert [file.name for file in tmp_path.glob("*.left")] == []
    assert all(file.stat().st_size == 0 for file in tmp_path.glob("*.tail"))


def test_what_was_being_taken_over_when_that_was_killed_is_found(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "main.0123.left")
    tail.append([("k", "a", b"1")])
    tail.close()
    assert read_all(tmp_path) == {"a": b"1"}
    with Store(tmp_path, "other") as store:
        assert store.get("k", "a") == b"1"
    assert not (tmp_path / "main.0123.left").exists() and saved(tmp_path) == 1


def test_taking_over_a_long_tail_keeps_nobody_waiting(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "rank-1.tail")
    for number in range(2000):
        tail.append([("k", str(number), bytes(40_000))])
    tail.close()
    taking = threading.Thread(target=lambda: Store(tmp_path, "main").close())
    taking.start()
    Store(tmp_path, "rank-1").close()
    taking.join()
    assert len(read_all(tmp_path)) == 2000


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit on file sizes here")
def test_a_torn_record_hides_none_after_it(tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from pathlib import Path
from mmdyn.work.store import TAILS, Tail, left_in
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
tail = Tail(Path(sys.argv[1]))
tail.append([("k", "a", b"1")])
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
try:
    tail.append([("k", "large", bytes(1000))])
except OSError as error:
    print(error.strerror)
tail.append([("k", "b", b"2")])
"""
    out, errors = script(code, tmp_path / "main.tail").communicate()
    assert out and not errors
    assert read_all(tmp_path) == {"a": b"1", "b": b"2"}


def test_what_a_living_process_did_not_save_yet_is_left_to_it(tmp_path: Path) -> None:
    process = begun(UNSAVED, tmp_path, "main", 500, lines=500)
    with Store(tmp_path, "another") as store:
        assert store.get("k", "000") is None
    assert (tmp_path / "main.tail").stat().st_size > 500 * 50
    kill(process)


@pytest.mark.parametrize("spoil", [
    lambda data: data[:-1], lambda data: data[:-1] + b"?", lambda data: data + b"\1\2", lambda data: data + bytes(100),
])  # fmt: skip
def test_what_was_cut_off_in_writing_is_left_out(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    tail = Tail(tmp_path / "main.tail")
    for key in ("a", "b"):
        tail.append([("k", key, b"value")])
    tail.close()
    data = spoil((tmp_path / "main.tail").read_bytes())
    (tmp_path / "main.tail").write_bytes(data)
    with Store(tmp_path) as store:
        assert store.get("k", "a") == b"value"
        assert store.get("k", "b") == (b"value" if data.endswith((b"\1\2", b"\0\0")) else None)


def test_a_kind_is_forgotten_everywhere(tmp_path: Path) -> None:
    with Store(tmp_path, "rank-1") as other:
        other.put("k", "theirs", b"1")
    with Store(tmp_path) as store:
        store.put("k", "mine", b"1")
        store.put("kept", "mine", b"1")
        store.forget("k")
        assert (store.get("k", "mine"), store.get("k", "theirs"), store.get("kept", "mine")) == (None, None, b"1")


KILLED_HALF_WAY = """
import os, signal, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA cache_size=1")
db.execute("BEGIN IMMEDIATE")
db.executemany("INSERT INTO records VALUES ('k', ?, ?)", [(f"half {n}", b"v" * 100) for n in range(2000)])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("opens", ["Reader", "the same writer", "another writer"])
def test_a_commit_that_was_killed_half_way_is_undone_by_whoever_opens_it(tmp_path: Path, opens: str) -> None:
    with Store(tmp_path) as store:
        store.put("k", "a", b"1")
    script(KILLED_HALF_WAY, tmp_path / "main.sqlite").communicate()
    assert (tmp_path / "main.sqlite-journal").stat().st_size > 0
    if opens == "Reader":
        assert read_all(tmp_path) == {"a": b"1"}
    else:
        with Store(tmp_path, "main" if opens == "the same writer" else "other") as store:
            assert store.get("k", "a") == b"1"
            assert store.get("k", "half 0") is None


def test_a_folder_without_files_and_a_file_that_was_not_begun_are_empty(tmp_path: Path) -> None:
    assert read_all(tmp_path) == read_all(tmp_path / "not there") == {}
    (tmp_path / "main.sqlite").write_bytes(b"")
    assert read_all(tmp_path) == {}
    with Store(tmp_path, "other") as store:
        store.put("k", "a", b"1")
    with Store(tmp_path) as store:
        assert store.get("k", "a") == b"1"


@pytest.mark.parametrize("name", ["a?b", "a#b", "100%25", "with space", "名字", "a&mode=rwc"])
def test_odd_folder_names(tmp_path: Path, name: str) -> None:
    with Store(tmp_path / name) as store:
        store.put("k", "a", b"1")
    assert read_all(tmp_path / name) == {"a": b"1"}
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_that_is_no_store_is_named_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "main.sqlite"
    file.write_bytes(b"my own notes, not a database at all" * 100)
    before = file.read_bytes()
    for opening in (lambda: Store(tmp_path), lambda: Store(tmp_path, "other"), lambda: Reader(tmp_path)):
        with pytest.raises(InputError, match="is no store, or a damaged one"):
            opening()
    assert file.read_bytes() == before
    (tmp_path / "main.sqlite").unlink()
    Store(tmp_path).close()


def test_a_damaged_page_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for number in range(2000):
            store.put("k", f"{number:05}", os.urandom(200))
    file = tmp_path / "main.sqlite"
    data = bytearray(file.read_bytes())
    data[8192 : len(data) - 4096] = b"\xff" * (len(data) - 12288)
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"main\.sqlite: is no store, or a damaged one"):
        read_all(tmp_path)


@pytest.mark.parametrize("value", [None, 7, 0.5])
def test_a_value_that_is_no_text_is_an_error_that_names_the_file(tmp_path: Path, value: object) -> None:
    with Store(tmp_path) as store:
        store.put("k", "a", b"1")
        store.put("k", "b", b"2")
    with contextlib.closing(sqlite3.connect(tmp_path / "main.sqlite")) as db, db:
        db.execute("UPDATE records SET value = ? WHERE key = 'b'", (value,))
    problem = r"main\.sqlite: holds no text under 'b': move it away and run again"
    with pytest.raises(InputError, match=problem):
        read_all(tmp_path)
    with Store(tmp_path) as store:
        assert store.get("k", "a") == b"1"
        for reads in (store.get, store.find):
            with pytest.raises(InputError, match=problem):
                reads("k", "b")
    with Reader(tmp_path) as reader, pytest.raises(InputError, match=problem):
        reader.along("k")("b")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match=r"cannot write .*file.* choose another folder"):
        Store(tmp_path / "file" / "store")


FULL = """
import resource, sys
from pathlib import Path
from mmdyn.errors import UserError
from mmdyn.work.store import Store
store = Store(Path(sys.argv[1]))
store.put("k", "kept", b"1"); store.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
__import__("signal").signal(__import__("signal").SIGXFSZ, __import__("signal").SIG_IGN)
try:
    store.put("k", "large", b"v" * 1_000_000)
    store.flush()
except UserError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit on file sizes here")
def test_a_full_disk_is_one_sentence_and_what_was_saved_stays(tmp_path: Path) -> None:
    out, _ = script(FULL, tmp_path).communicate()
    assert "free some space and run again" in out
    assert read_all(tmp_path) == {"kept": b"1"}


def test_what_could_not_be_saved_is_saved_by_the_next_flush(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put("k", "a", b"1")
        locked = sqlite3.connect(tmp_path / "main.sqlite", isolation_level=None)
        store._writer.execute("PRAGMA busy_timeout=10")
        locked.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UserError, match="cannot save into"):
            store.flush()
        locked.execute("ROLLBACK")
        locked.close()
        store.flush()
        assert read_all(tmp_path) == {"a": b"1"}


def test_a_shared_store_sees_what_a_later_process_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmdyn.work.store.LOOK_SECONDS", 0.0)
    with Store(tmp_path, shared=True) as first:
        assert first.get("kind", "key") is None
        with Store(tmp_path, shared=True) as second:
            second.put("kind", "key", b"value")
            second.flush()
            assert first.get("kind", "key") == b"value"


def test_many_keys_are_looked_up_in_their_order_over_files_and_what_is_unsaved(tmp_path: Path) -> None:
    with Store(tmp_path / "s", "first") as first, Store(tmp_path / "s", "second") as second:
        first.put_all([("k", f"{number:03}", b"first") for number in range(0, 200, 2)])
        first.flush()
        second.put_all([("k", f"{number:03}", b"second") for number in range(0, 200, 5)])
        second.put("other", "007", b"another kind")
        keyed = [(f"{number:03}", number) for number in (*reversed(range(200)), 4)]
        taken = list[int]()
        found = second.get_all("k", (taken.append(number) or (key, number) for key, number in keyed))
        assert next(found) == ("199", 199, None)
        assert len(taken) < 100
        assert list(found) == [
            (key, number, b"first" if number % 2 == 0 else b"second" if number % 5 == 0 else None)
            for key, number in keyed[1:]
        ]


def test_items_come_page_by_page_in_one_order_over_files_and_tails_and_the_first_value_counts(tmp_path: Path) -> None:
    with Store(tmp_path, "rank-0") as first, Store(tmp_path, "rank-1") as second:
        for number in range(0, 1200, 2):
            first.put("k", f"{number:05}", b"0")
        for number in range(0, 1200, 3):
            second.put("k", f"{number:05}", b"1")
        first.flush()
        second.flush()
        for number in range(1199, -1, -5):
            second.put("k", f"{number:05}", b"tail")
        second.put("j", "00001", b"another kind")
        with Reader(tmp_path) as reader:
            found = list(reader.items("k"))
        keys = [f"{number:05}" for number in range(1200) if not (number % 2 and number % 3 and (number + 1) % 5)]
        assert [key for key, _ in found] == keys
        values = dict(found)
        assert [values[f"{number:05}"] for number in (4, 6, 9, 19)] == [b"0", b"0", b"1", b"tail"]
        with Store(tmp_path, "rank-2") as third:
            assert third.get("k", "00009") == b"1"


@pytest.mark.parametrize("name", ["main.sqlite", "main.tail", "rank-1.tail2", "main.holder", "x.left"])
def test_a_folder_of_records_takes_plain_files_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    for open_it in (Store, Reader):
        with pytest.raises(InputError, match=f"{name}: is no plain file, as records are: move it away"):
            open_it(tmp_path)


def test_an_overlay_finds_what_lies_beneath_and_writes_nothing_there(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.put_all([("k", "a1", b"1"), ("k", "b1", b"2")])
    before = {file: file.read_bytes() for file in (tmp_path / "s").iterdir()}
    with Overlay(tmp_path / "over", tmp_path / "s") as over:
        over.put_all([("k", "a2", b"3"), ("k", "c1", b"4")])
        assert [over.get("k", key) for key in ("a1", "a2", "c1", "d")] == [b"1", b"3", b"4", None]
        assert [value for _, _, value in over.get_all("k", [("b1", ""), ("c1", ""), ("d", "")])] == [b"2", b"4", None]
        assert (over.find("k", "b"), over.find("k", "c")) == (("b1", b"2"), ("c1", b"4"))
        assert over.find("k", "d") is None and over.find("other", "") is None
    assert {file: file.read_bytes() for file in (tmp_path / "s").iterdir()} == before
    assert read_all(tmp_path / "over") == {"a2": b"3", "c1": b"4"}
    with Overlay(tmp_path / "more", tmp_path / "none") as over:
        assert over.get("k", "a1") is None and not (tmp_path / "none").exists()


def test_a_cache_reads_between_saves_without_keeping_a_save_or_a_reader_waiting(tmp_path: Path) -> None:
    with Store(tmp_path, shared=True) as store:
        for number in range(3):  # a read before each save, one after it, and another process's between both
            assert store.get("kind", f"{number}") is None
            store.put("kind", f"{number}", b"value")
            began = time.monotonic()
            store.flush()
            assert time.monotonic() - began < 5
            assert store.get("kind", f"{number}") == b"value"
            with Reader(tmp_path) as reader:
                assert reader.get("kind", f"{number}") == b"value"
        with Store(tmp_path, shared=True) as second:
            assert second.get("kind", "0") == b"value"
            second.put("kind", "from the second", b"value")
            second.flush()
            store._look_again = 0.0
            assert store.get("kind", "from the second") == b"value"
        store.forget("kind")
        assert store.get("kind", "1") is None
