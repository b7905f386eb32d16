"""The store: keyed JSON records in SQLite, one file for each writing process, merged on reading.

A value survives its process once `put` returns, and a power cut once a thread of the store has saved it, a second
later. It is never overwritten. Perturbing, asking and scoring share it, so resuming is coded once.
"""

from __future__ import annotations

import heapq
import os
import socket
import sqlite3
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import TypeVar
from uuid import uuid4

import msgspec
from filelock import FileLock, Timeout

from mmdyn.errors import Busy, InputError, UserError

Entry = tuple[str, str, bytes]
"""Kind, key and value."""

TAILS = (".tail", ".tail2")
"""The two files of a writer: one takes new records while those of the other are being saved."""
MAX_RECORD = 1 << 29
_HEAD = struct.Struct("<II")
"""A record's length and its CRC-32."""
_encoder = msgspec.msgpack.Encoder()


class Tail:
    """A file of records that are not saved yet; `left_in` reads what a killed process left in it. Raises OSError."""

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        self._end = os.fstat(self._file).st_size

    def append(self, records: Iterable[Entry]) -> None:
        """Append records. When this returns, the operating system has them, and the disk perhaps not."""
        bodies = [_encoder.encode(record) for record in records]
        rest = b"".join([_HEAD.pack(len(body), zlib.crc32(body)) + body for body in bodies])
        end = self._end + len(rest)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            os.ftruncate(self._file, self._end)  # a partial record would hide later ones
            raise
        self._end = end

    def clear(self) -> None:
        """Forget the records: they are saved."""
        os.ftruncate(self._file, 0)
        self._end = 0

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)
        self._file = -1


def left_in(file: Path) -> Iterator[Entry]:
    """A tail's complete records, up to one that was cut off."""
    with file.open("rb") as data:
        while len(head := data.read(_HEAD.size)) == _HEAD.size:
            length, checksum = _HEAD.unpack(head)
            body = data.read(length) if length <= MAX_RECORD else b""
            if not body or len(body) < length or zlib.crc32(body) != checksum:  # a power cut may leave zeros
                return
            yield msgspec.msgpack.decode(body, type=Entry)


T = TypeVar("T")

COMMIT_SECONDS = 1.0
COMMIT_RECORDS = 10_000
LOCK_SECONDS = 60
_ROWS = 300
"""Rows of one INSERT: SQLite built before 2020 allows 999 values."""
_KEYS = 64
_LEFT = ".left"
"""The suffix of a tail that is being taken over."""
LOOK_SECONDS = 1.0
"""How often a store looks for files of processes that began after it."""


class Store:
    """Records of several kinds under one folder: (kind, key) -> bytes.

    `writer` names this process's file. With `shared` (for caches) the first free of writer, writer-1, writer-2, … is
    taken; without it, a file that another process has locked raises Busy. Every file of the folder is read. Usable from
    several threads. `session` is an id of this opening; other processes read it by `session_of`. Raises UserError where
    the folder cannot be written, InputError where a file is no store (it is left as it is).
    """

    def __init__(self, folder: Path, writer: str = "main", *, shared: bool = False) -> None:
        self.folder, self.session = folder, uuid4().hex
        try:
            folder.mkdir(parents=True, exist_ok=True)
            check_plain(folder)
            self._lock, name = self._acquire(writer, shared)
        except OSError as error:
            raise UserError(f"cannot write {folder} ({error.strerror}): choose another folder") from None
        self._pending: list[Entry] = []
        self._unsaved: dict[tuple[str, str], bytes] = {}
        self._saving, self._guard = threading.Lock(), threading.RLock()
        self._timer: threading.Timer | None = None
        self._failure: UserError | None = None
        self._look_again, self._closed, self._is_saving, self._shared = 0.0, False, False, shared
        file = folder / f"{name}.sqlite"
        self._seen, self._others = {file}, list[sqlite3.Connection]()
        try:
            self._open_new_files()
            self._db, self._writer = _create(file), _create(file)  # a read on the same connection hides a save's error
            self._tail, self._spare = self._take_over(name)
        except BaseException as error:
            self._lock.release()
            if isinstance(error, OSError):
                raise UserError(f"cannot write {folder} ({error.strerror}): check its permissions") from None
            raise

    def get(self, kind: str, key: str) -> bytes | None:
        """The value of a key, or None."""
        return self._values(kind, [key]).get(key)

    def get_all(self, kind: str, keyed: Iterable[tuple[str, T]]) -> Iterator[tuple[str, T, bytes | None]]:
        """Each key, its companion, and its value or None. Reads in batches, three times as fast as `get`."""
        rest = iter(keyed)
        while some := list(islice(rest, _KEYS)):
            found = self._values(kind, [key for key, _ in some])
            yield from ((key, beside, found.get(key)) for key, beside in some)

    def find(self, kind: str, prefix: str) -> tuple[str, bytes] | None:
        """A key that begins so, with its value, or None."""
        with self._guard:
            if time.monotonic() >= self._look_again:
                self._open_new_files()
            unsaved = (
                (key, value) for (of, key), value in self._unsaved.items() if of == kind and key.startswith(prefix)
            )
            return _find_prefix((self._db, *self._others), kind, prefix) or next(unsaved, None)

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Store a value; the first one under a key stays. It is saved a second later. If this process is killed before
        that, the next store that is opened on the folder recovers it.

        Raises UserError if this value, or an earlier one, cannot be saved.
        """
        self.put_all([(kind, key, value)])

    def put_all(self, records: list[Entry]) -> None:
        """Keep several values at once, each as `put` does: kind, key and value. None is ever there without the earlier
        ones."""
        with self._guard:
            records = [record for record in records if record[:2] not in self._unsaved]
            try:
                self._tail.append(records)
            except OSError as error:
                raise self._unsavable(error.strerror) from None
            self._pending += records
            for kind, key, value in records:
                self._unsaved.setdefault((kind, key), value)
            self._save_soon()
            full, failure = len(self._pending) >= COMMIT_RECORDS, self._failure
            self._failure = None
        if failure:
            raise failure
        if full:
            self.flush()

    def flush(self) -> None:
        """Save what is pending now. Raises UserError where the disk is full or read-only; nothing that was saved is
        lost."""
        with self._saving:
            taken: list[Entry] = []
            try:
                with self._guard:
                    if self._timer:
                        self._timer.cancel()
                        self._timer = None
                    if not self._pending:
                        return
                    taken = self._pending
                    self._pending = []
                    self._tail, self._spare = self._spare, self._tail
                    self._is_saving = True
                    self._db.rollback()
                self._save(taken)
                self._spare.clear()
            except BaseException as error:
                with self._guard:
                    self._pending, self._is_saving = taken + self._pending, False
                if isinstance(error, OSError):
                    raise self._unsavable(error.strerror) from None
                raise
            with self._guard:
                self._failure, self._is_saving = None, False
                for kind, key, _ in taken:
                    self._unsaved.pop((kind, key), None)
                if not self._pending:  # after a failed save it may hold records that are saved now
                    self._tail.clear()

    def forget(self, kind: str) -> None:
        """Remove a kind's saved records from every file; one that cannot be written keeps them."""
        self.flush()
        with self._saving, self._guard:
            self._db.rollback()
            for db in (self._writer, *self._others):
                with suppress(sqlite3.OperationalError), db:
                    db.execute("DELETE FROM records WHERE kind = ?", (kind,))

    def close(self) -> None:
        """Save and let go of the file."""
        self._closed = True
        try:
            self.flush()
        finally:
            self._tail.close()
            self._spare.close()
            for db in (self._db, self._writer, *self._others):
                db.close()
            self._lock.release()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _values(self, kind: str, keys: list[str]) -> dict[str, bytes]:
        with self._guard:
            if self._shared and not (self._is_saving or self._db.in_transaction):
                self._db.execute(
                    "BEGIN"
                )  # until the next save: of a cache nobody else forgets a kind, and locks cost most
            found = _find((self._db, *self._others), kind, keys)
            if len(found) < len(keys) and time.monotonic() >= self._look_again:
                self._open_new_files()
                found = _find(self._others, kind, keys) | found
            if len(found) < len(keys):
                found = {key: self._unsaved[kind, key] for key in keys if (kind, key) in self._unsaved} | found
            return found

    def _open_new_files(self) -> None:
        opened = _open_all(sorted(set(self.folder.glob("*.sqlite")) - self._seen))
        self._others += opened.values()
        self._seen.update(opened)
        self._look_again = time.monotonic() + LOOK_SECONDS

    def _save_soon(self) -> None:
        if self._pending and self._timer is None and not self._closed:
            timer = threading.Timer(COMMIT_SECONDS, self._save_by_itself)
            timer.daemon = True
            timer.start()
            self._timer = timer

    def _save_by_itself(self) -> None:
        try:
            self.flush()
        except UserError as error:
            with self._guard:
                self._failure = error if self._pending else None  # another flush may have saved it
                self._save_soon()

    def _save(self, records: list[Entry]) -> None:
        try:
            with self._writer:
                for at in range(0, len(records), _ROWS):  # many rows in one call, so that other threads can run
                    some = records[at : at + _ROWS]
                    rows = ", ".join(["(?, ?, ?)"] * len(some))
                    self._writer.execute(
                        f"INSERT OR IGNORE INTO records VALUES {rows}", list(chain.from_iterable(some))
                    )
        except sqlite3.Error as error:
            raise self._unsavable(error) from None

    def _unsavable(self, reason: object) -> UserError:
        return UserError(f"cannot save into {self.folder} ({reason}): free some space and run again")

    def _take_over(self, name: str) -> tuple[Tail, Tail]:
        """Save what killed processes left unsaved, and open new tails.

        Under a lock a tail is only renamed, so that a process that takes over the name need not wait.
        """
        for file in _tails(self.folder):
            lock = _lock_of(self.folder, file.stem)
            with (
                suppress(Timeout, FileNotFoundError),
                _looking(self.folder),
                nullcontext() if file.stem == name else lock.acquire(timeout=0),
            ):
                file.replace(file.with_suffix(f".{self.session}{file.suffix}{_LEFT}"))
        for file in self.folder.glob(f"*{_LEFT}"):
            with suppress(FileNotFoundError):  # another process saves it, too
                self._save(list(left_in(file)))
                file.unlink()
        return Tail(self.folder / f"{name}{TAILS[0]}"), Tail(self.folder / f"{name}{TAILS[1]}")

    def _acquire(self, writer: str, shared: bool) -> tuple[FileLock, str]:
        for number in range(1000):
            name = f"{writer}-{number}" if number else writer
            lock, holder = _lock_of(self.folder, name), self.folder / f"{name}.holder"
            try:
                with _looking(self.folder):
                    lock.acquire(timeout=0)
                    holder.write_text(f"process {os.getpid()} on {socket.gethostname()}\n{self.session}")
            except Timeout:
                if shared:
                    continue
                raise Busy(f"{self.folder} is held by {_read_holder(holder)}: wait for it, or stop it") from None
            return lock, name
        raise Busy(f"{self.folder} is held by a thousand processes: wait for one of them")


class Reader:
    """Reads all records of a folder, also during writes, and what a killed process left unsaved. A context manager."""

    def __init__(self, folder: Path) -> None:
        check_plain(folder)
        self.folder = folder
        self._unsaved = _left_unsaved(folder)
        self._dbs = [*_open_all(sorted(folder.glob("*.sqlite"))).values()]

    def get(self, kind: str, key: str) -> bytes | None:
        """The value of a key, or None."""
        return _find(self._dbs, kind, [key]).get(key, self._unsaved.get((kind, key)))

    def find(self, kind: str, prefix: str) -> tuple[str, bytes] | None:
        """A key that begins so, with its value, or None."""
        unsaved = ((key, value) for (of, key), value in self._unsaved.items() if of == kind and key.startswith(prefix))
        return _find_prefix(self._dbs, kind, prefix) or next(unsaved, None)

    def kinds(self) -> list[str]:
        """The kinds that have records."""
        saved = {kind for db in self._dbs for kind, _ in _query(db, "SELECT DISTINCT kind, kind FROM records")}
        return sorted(saved.union(kind for kind, _ in self._unsaved))

    def items(self, kind: str) -> Iterator[tuple[str, bytes]]:
        """Every (key, value) of a kind in key order over all files, each key once: the first file's value."""
        unsaved = sorted((key, value) for (of, key), value in self._unsaved.items() if of == kind)
        if len(self._dbs) == 1 and not unsaved:
            yield from _pages(self._dbs[0], kind)
            return
        last = None
        for key, value in heapq.merge(*(_pages(db, kind) for db in self._dbs), unsaved, key=itemgetter(0)):
            if key != last:
                yield key, value
            last = key

    def along(self, kind: str) -> Callable[[str], bytes | None]:
        """`get` for keys that are asked for in rising order, in one pass over the kind."""
        items = self.items(kind)
        there = next(items, None)

        def value(key: str) -> bytes | None:
            nonlocal there
            while there is not None and there[0] < key:
                there = next(items, None)
            return there[1] if there is not None and there[0] == key else None

        return value

    def close(self) -> None:
        """Let go of the files."""
        for db in self._dbs:
            db.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Overlay(Store):
    """A store that lies over another folder's records: it finds those, too, and writes into its own folder alone."""

    def __init__(self, folder: Path, beneath: Path) -> None:
        super().__init__(folder)
        self._beneath = Reader(beneath)

    def find(self, kind: str, prefix: str) -> tuple[str, bytes] | None:
        """A key that begins so, with its value, or None."""
        return self._beneath.find(kind, prefix) or super().find(kind, prefix)

    def close(self) -> None:
        """Let go of both folders, with what was written saved."""
        self._beneath.close()
        super().close()

    def _values(self, kind: str, keys: list[str]) -> dict[str, bytes]:
        found = super()._values(kind, keys)
        beneath = ((key, self._beneath.get(kind, key)) for key in keys if key not in found)
        return found | {key: value for key, value in beneath if value is not None}


def check_plain(folder: Path) -> None:
    """Raise InputError where a folder of records holds anything but files: a pipe would be waited for, a device read
    without an end."""
    for file in folder.glob("*.*"):  # by which names a store reads
        if not file.is_file() and os.path.lexists(file):  # else somebody has just removed it
            raise InputError(file, None, "is no plain file, as records are: move it away")


def session_of(folder: Path, writer: str) -> str:
    """The session of the process that holds a writer's file; empty where none does."""
    if not is_held(folder, writer):
        return ""
    try:
        return (folder / f"{writer}.holder").read_text().partition("\n")[2]
    except OSError:
        return ""


def is_held(folder: Path, writer: str) -> bool:
    """Whether a process holds a writer's file."""
    if not (folder / f"{writer}.lock").exists():
        return False
    lock = _lock_of(folder, writer)
    try:
        with _looking(folder):
            lock.acquire(timeout=0)
            lock.release()
    except Timeout:
        return True
    except OSError:  # the folder was removed meanwhile
        return False
    return False


def _lock_of(folder: Path, writer: str) -> FileLock:
    return FileLock(folder / f"{writer}.lock", thread_local=False)


def _looking(folder: Path) -> FileLock:
    """Serialises all use of writers' locks, checks included: no check is taken for a holder, and no earlier holder's
    session is read."""
    return FileLock(folder / ".looking.lock", timeout=LOCK_SECONDS, thread_local=False)


def _left_unsaved(folder: Path) -> dict[tuple[str, str], bytes]:
    """Unsaved records in tails. Call this before the files are opened that they may be moved to."""
    unsaved = dict[tuple[str, str], bytes]()
    for file in (*_tails(folder), *folder.glob(f"*{_LEFT}")):
        with suppress(FileNotFoundError):
            for kind, key, value in left_in(file):
                unsaved.setdefault((kind, key), value)
    return unsaved


def _tails(folder: Path) -> list[Path]:
    return [file for suffix in TAILS for file in folder.glob(f"*{suffix}")]


def _pages(db: sqlite3.Connection, kind: str) -> Iterator[tuple[str, bytes]]:
    """Page by page, so that a reader never keeps a writer waiting for longer than a page takes."""
    last = ""
    page = "SELECT key, value FROM records WHERE kind = ? AND key > ? ORDER BY key LIMIT 500"
    while rows := _query(db, page, kind, last):
        yield from rows
        last = rows[-1][0]


def _find(dbs: Iterable[sqlite3.Connection], kind: str, keys: list[str]) -> dict[str, bytes]:
    """For each key, the value in the first file that has it."""
    found: dict[str, bytes] = {}
    for db in dbs:
        if wanted := [key for key in keys if key not in found] if found else keys:
            sql = f"SELECT key, value FROM records WHERE kind = ? AND key IN ({'?' + ', ?' * (len(wanted) - 1)})"
            found |= _query(db, sql, kind, *wanted)
    return found


def _find_prefix(dbs: Iterable[sqlite3.Connection], kind: str, prefix: str) -> tuple[str, bytes] | None:
    for db in dbs:
        sql = "SELECT key, value FROM records WHERE kind = ? AND key >= ? AND key < ? ORDER BY key LIMIT 1"
        for found in _query(db, sql, kind, prefix, f"{prefix}\U0010ffff"):
            return found
    return None


def _query(db: sqlite3.Connection, sql: str, *values: str) -> list[tuple[str, bytes]]:
    try:
        rows: list[tuple[str, bytes]] = db.execute(sql, values).fetchall()
    except sqlite3.DatabaseError as error:
        raise _explain(error, _file_of(db)) from None
    for key, value in rows:
        if not isinstance(value, bytes | str):  # somebody else wrote it
            raise InputError(_file_of(db), None, f"holds no text under {key[:40]!r}: move it away and run again")
    return rows


def _file_of(db: sqlite3.Connection) -> str:
    return str(db.execute("PRAGMA database_list").fetchone()[2])


def _create(file: Path) -> sqlite3.Connection:
    try:
        db = sqlite3.connect(file, check_same_thread=False, timeout=LOCK_SECONDS)
        db.execute("CREATE TABLE IF NOT EXISTS records (kind TEXT, key TEXT, value BLOB, PRIMARY KEY (kind, key))")
    except sqlite3.DatabaseError as error:
        raise _explain(error, file) from None
    return db


def _open_all(files: Iterable[Path]) -> dict[Path, sqlite3.Connection]:
    """Open the files that have records; a file whose writer never began has none."""
    dbs = dict[Path, sqlite3.Connection]()
    try:
        for file in files:
            dbs[file] = _open(file)
            if not _query(dbs[file], "SELECT name, name FROM sqlite_master WHERE name = 'records' AND type = 'table'"):
                dbs.pop(file).close()
    except BaseException:
        for db in dbs.values():
            db.close()
        raise
    return dbs


def _open(file: Path) -> sqlite3.Connection:
    """Open for reading, but writable if possible: opening rolls back what a killed writer left half done."""
    mode = "rw" if os.access(file, os.W_OK) and os.access(file.parent, os.W_OK) else "ro"
    uri = f"{file.resolve().as_uri()}?mode={mode}"
    try:
        return sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=LOCK_SECONDS)
    except sqlite3.DatabaseError as error:
        raise _explain(error, file) from None


def _explain(error: sqlite3.DatabaseError, file: str | Path) -> UserError:
    if isinstance(error, sqlite3.OperationalError):
        return UserError(f"cannot open {file} ({error}): check that its folder can be read and written")
    return InputError(file, None, f"is no store, or a damaged one ({error}): move it away and run again")


def _read_holder(file: Path) -> str:
    try:
        return file.read_text().partition("\n")[0] or "another process"
    except OSError:
        return "another process"
