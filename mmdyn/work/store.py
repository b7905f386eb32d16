"""The store: keyed JSON records in SQLite, one file for each writing process, merged on reading.

A value that `put` took is durable after at most half a second, and is never written again. Perturbing, asking and scoring
share it, so that resuming is written once.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from mmdyn.errors import Busy, InputError, UserError

COMMIT_SECONDS = 0.5
COMMIT_RECORDS = 2000


class Store:
    """Records of several kinds under one folder: (kind, key) -> bytes.

    `writer` names this process's file. With `shared` the first free of writer, writer-1, writer-2, … is taken (a cache);
    without, a file that another process holds raises Busy. Every file of the folder is read. Usable from several threads.
    Raises UserError where the folder cannot be written, InputError where a file is no store (it is left as it is).
    """

    def __init__(self, folder: Path, writer: str = "main", *, shared: bool = False) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock, name = self._acquire(writer, shared)
        except OSError as error:
            raise UserError(f"cannot write {folder} ({error.strerror}): choose another folder") from None
        self._pending: list[tuple[str, str, bytes]] = []
        self._unsaved: dict[tuple[str, str], bytes] = {}
        self._guard = threading.RLock()
        self._due = 0.0
        try:
            self._db = _open(folder / f"{name}.sqlite", write=True)
            others = sorted(set(folder.glob("*.sqlite")) - {folder / f"{name}.sqlite"})
            self._others = [_open(file) for file in others]
        except BaseException:
            self._lock.release()
            raise

    def get(self, kind: str, key: str) -> bytes | None:
        """The value of a key, or None."""
        with self._guard:
            if (kind, key) in self._unsaved:
                return self._unsaved[kind, key]
            return _find((self._db, *self._others), kind, key)

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Keep a value; the first one put under a key stays. Saved by `flush`, `close` or a later `put` past half a second."""
        with self._guard:
            if not self._pending:
                self._due = time.monotonic() + COMMIT_SECONDS
            self._pending.append((kind, key, value))
            self._unsaved.setdefault((kind, key), value)
            if len(self._pending) >= COMMIT_RECORDS or time.monotonic() >= self._due:
                self.flush()

    def flush(self) -> None:
        """Save what is pending. Raises UserError where the disk is full or read-only; nothing that was saved is lost."""
        with self._guard:
            if not self._pending:
                return
            try:
                with self._db:
                    self._db.executemany("INSERT OR IGNORE INTO records VALUES (?, ?, ?)", self._pending)
            except sqlite3.Error as error:
                raise UserError(f"cannot save into {self.folder} ({error}): free some space and run again") from None
            self._pending.clear()
            self._unsaved.clear()

    def close(self) -> None:
        """Save and let go of the file."""
        try:
            self.flush()
        finally:
            for db in (self._db, *self._others):
                db.close()
            self._lock.release()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _acquire(self, writer: str, shared: bool) -> tuple[FileLock, str]:
        for number in range(1000):
            name = f"{writer}-{number}" if number else writer
            lock = FileLock(self.folder / f"{name}.lock", thread_local=False)
            holder = self.folder / f"{name}.holder"
            try:
                lock.acquire(timeout=0)
            except Timeout:
                if shared:
                    continue
                raise Busy(f"{self.folder} is held by {_read_holder(holder)}: wait for it, or stop it") from None
            holder.write_text(f"process {os.getpid()} on {socket.gethostname()}")
            return lock, name
        raise Busy(f"{self.folder} is held by a thousand processes: wait for one of them")


class Reader:
    """Reads all files of a folder, while somebody may be writing. A context manager."""

    def __init__(self, folder: Path) -> None:
        self._dbs = [_open(file) for file in sorted(folder.glob("*.sqlite"))]

    def get(self, kind: str, key: str) -> bytes | None:
        """The value of a key, or None."""
        return _find(self._dbs, kind, key)

    def items(self, kind: str) -> Iterator[tuple[str, bytes]]:
        """Every (key, value) of a kind, each key once, in key order within a file."""
        for number, db in enumerate(self._dbs):
            for key, value in _pages(db, kind):
                if _find(self._dbs[:number], kind, key) is None:
                    yield key, value

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for db in self._dbs:
            db.close()


def _pages(db: sqlite3.Connection, kind: str) -> Iterator[tuple[str, bytes]]:
    """Page by page, so that a reader never keeps a writer waiting for longer than a page takes."""
    last = ""
    while page := db.execute(
        "SELECT key, value FROM records WHERE kind = ? AND key > ? ORDER BY key LIMIT 500", (kind, last)
    ).fetchall():
        for key, value in page:
            yield key, bytes(value)
        last = page[-1][0]


def _find(dbs: Iterable[sqlite3.Connection], kind: str, key: str) -> bytes | None:
    for db in dbs:
        row = db.execute("SELECT value FROM records WHERE kind = ? AND key = ?", (kind, key)).fetchone()
        if row:
            return bytes(row[0])
    return None


def _open(file: Path, *, write: bool = False) -> sqlite3.Connection:
    try:
        if write:
            db = sqlite3.connect(file, check_same_thread=False, timeout=60)
            db.execute(
                "CREATE TABLE IF NOT EXISTS records (kind TEXT, key TEXT, value BLOB, PRIMARY KEY (kind, key)) WITHOUT ROWID"
            )
        else:
            db = sqlite3.connect(f"file:{file.resolve()}?mode=ro", uri=True, check_same_thread=False, timeout=60)
            db.execute("SELECT 1 FROM records LIMIT 1")
    except sqlite3.OperationalError as error:
        raise UserError(f"cannot open {file} ({error}): check that its folder can be read and written") from None
    except sqlite3.DatabaseError as error:
        raise InputError(file, None, f"is no store, or a damaged one ({error}): move it away and run again") from None
    return db


def _read_holder(file: Path) -> str:
    try:
        return file.read_text() or "another process"
    except OSError:
        return "another process"
