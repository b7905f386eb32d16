"""The index of a run in the user's cache folder, and the runs and sets below a path.

It is built while pages are shown, and brought up to date when the run goes on. One reading of the run's records makes
the index and the report, on which the page on why rests, too.
"""

from __future__ import annotations

import io
import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from mmdyn.data import IMAGE_MEDIA_TYPES, IMAGE_SUFFIXES, MANIFEST_FILE, ImageFolder, SampleSet, is_set, open_image
from mmdyn.errors import InputError, UserError, sentence_of
from mmdyn.keys import Json, digest, sha256
from mmdyn.record import Record
from mmdyn.run import pictures_of
from mmdyn.sample import ImageRef, Sample, from_json
from mmdyn.table import Scores
from mmdyn.tables import (
    EVEN,
    POOLED,
    Block,
    Columns,
    Key,
    Report,
    Watcher,
    conditions_of,
    evidence_parts,
    field_of,
    has_failed,
    is_cut_off,
    read_for,
    tabulate_columns,
    why_parts,
)
from mmdyn.view._page import WAYS
from mmdyn.work import RUN, SAMPLE, Reader, RunFolder, SetEntry, cache_to_write

VERSION = 5
"""Counted up where an older index cannot be continued."""

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value);
CREATE TABLE parents (id INTEGER PRIMARY KEY, token TEXT UNIQUE, set_name TEXT, name TEXT, in_order TEXT,
    gold TEXT, broke INT DEFAULT 0);
CREATE TABLE fields (name TEXT, value TEXT, parent INT, PRIMARY KEY (name, value, parent)) WITHOUT ROWID;
CREATE TABLE conditions (id INTEGER PRIMARY KEY, token TEXT UNIQUE, model TEXT, set_name TEXT, variant TEXT, chain TEXT,
    context TEXT, style TEXT, shots TEXT, pooled INT DEFAULT 1);
CREATE TABLE answers (id INTEGER PRIMARY KEY, key TEXT UNIQUE, parent INT, condition INT, sample TEXT, digest TEXT,
    draw INT, epoch INT, status TEXT, value REAL, needs_judge INT, truncated INT,
    flip INT DEFAULT 0, stayed INT DEFAULT 0, partly INT DEFAULT 0, way TEXT, read TEXT,
    final INT);
CREATE TABLE replies (id INTEGER PRIMARY KEY, text TEXT);
CREATE TABLE samples (digest TEXT PRIMARY KEY, text TEXT, gold TEXT, picture TEXT) WITHOUT ROWID;
CREATE TABLE cells (condition INT, parent INT, value REAL, moved REAL, PRIMARY KEY (condition, parent)) WITHOUT ROWID;
CREATE INDEX by_field ON fields (parent);
CREATE INDEX by_parent ON answers
    (parent, condition, value, flip, stayed, partly, way, status, needs_judge, truncated);
CREATE INDEX by_condition ON answers
    (condition, parent, value, flip, stayed, partly, way, status, needs_judge, truncated);
"""

COMMIT = 2000
SHOWN = 200
"""Characters of what was read."""
SEARCHED = 10_000
"""Characters of a question, and of a reply, in which texts are looked for."""
PATIENCE, STEPS = 8.0, 10_000
"""Seconds that a page may read the index; steps of SQLite between two looks at the clock."""
BREAKDOWN = range(2, 13)
"""A field with so many values is one that scores are broken down by."""
BREAKDOWNS = 6


class Index:
    """The index of one run. Usable from several threads. `refresh` brings it up to date in a thread of its own.

    read: records that were looked at by that thread so far. problem: why it could not, empty where it could.
    """

    def __init__(self, run: RunFolder) -> None:
        self.run, self.read, self.problem, self._failed = run, 0, "", ""
        self._thread: threading.Thread | None = None
        self._guard = threading.Lock()
        folder = cache_to_write("view")
        folder.chmod(0o700)
        place, config = run.folder.resolve(), run.config
        which = [str(place), place.stat().st_ino, config.scorers, [[one.root, one.answers] for one in config.sets]]
        self._prefix = digest(str(place), 8)
        self._file = folder / f"{self._prefix}-{digest([VERSION, *which], 8)}.sqlite"
        self._create()

    def refresh(self, patience: float | None = 1.0) -> None:
        """Begin to bring the index up to date where records came since, and wait so many seconds for it, None
        till it is done."""
        with self._guard:
            if not self.busy and self._stamp() not in (self.meta("stamp"), self._failed):
                self._thread = threading.Thread(target=self._update, daemon=True)
                self._thread.start()
        if self._thread:
            self._thread.join(patience)

    @property
    def busy(self) -> bool:
        """Whether it is being brought up to date."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def edition(self) -> str:
        """What changes whenever the pages on the run would: when all records were read anew, or could not be read."""
        return digest([self.meta("stamp"), self.problem], 8)

    @property
    def changed(self) -> float:
        """When the run's last record came, in seconds since 1970."""
        return max(file.stat().st_mtime for file in self._files())

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection whose rows are had by name. Raises UserError where that takes too long."""
        until = time.monotonic() + PATIENCE
        with closing(sqlite3.connect(self._file, timeout=60)) as db:
            db.row_factory = sqlite3.Row
            db.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            try:
                yield db
            except sqlite3.OperationalError as error:
                raise UserError(
                    f"the index cannot be read ({error}): search for less, or open the page again"
                ) from None

    def attach(self, db: sqlite3.Connection, name: str) -> None:
        """Have a connection to another index see this one, too, under a name."""
        db.execute(f"ATTACH ? AS {name}", (str(self._file),))

    def meta(self, name: str) -> str:
        """What is noted under a name; empty where nothing is."""
        with self.reading() as db:
            found = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return str(found["value"]) if found else ""

    def report(self) -> Report | None:
        """What `mmdyn report` says of the run, as of the last time that all of it was read; None before."""
        found = self.meta("report")
        return msgspec.json.decode(found, type=Report) if found else None

    def _create(self) -> None:
        if self._file.exists():
            return
        for old in self._file.parent.glob(f"{self._prefix}-*"):
            old.unlink(missing_ok=True)
        self._file.touch(mode=0o600)
        with closing(sqlite3.connect(self._file)) as db:
            db.executescript("PRAGMA journal_mode = WAL;" + SCHEMA)

    def _files(self) -> list[Path]:
        records = (file for file in self.run.records_folder.glob("*") if not file.name.startswith("."))
        return [self.run.folder / RUN, *sorted(file for file in records if file.suffix not in (".lock", ".holder"))]

    def _stamp(self) -> str:
        return digest([[file.name, (found := file.stat()).st_size, found.st_mtime_ns] for file in self._files()])

    def _update(self) -> None:
        stamp = ""
        try:
            stamp, self.read = self._stamp(), 0
            with closing(sqlite3.connect(self._file, timeout=60)) as db:
                db.row_factory = sqlite3.Row
                db.execute("PRAGMA synchronous = OFF")
                writer, parts = _Writer(self, db), [*why_parts(), *evidence_parts()]
                columns, watched = read_for([self.run], parts, watchers=[writer])
                writer.finish(columns)
                parts += [Scores(by=name) for name in _breakdowns(db)]
                report = msgspec.json.encode(tabulate_columns(columns, parts, watched)).decode()
                msgspec.json.decode(report, type=Report)  # an infinite cost, say, cannot be told
                noted = [("report", report), ("stamp", stamp)]
                db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", noted)
                db.commit()
            self.problem = ""
        except Exception as error:  # whatever lies in the folder costs this run alone
            self.problem, self._failed = sentence_of(error), stamp


class _Writer(Watcher):
    """Watches a run's records as they are read, and adds those that an index lacks; parents, conditions and samples
    once each."""

    def __init__(self, index: Index, db: sqlite3.Connection) -> None:
        self._index, self._db = index, db
        self._known = {
            row["key"]: (row["id"], row["final"]) for row in db.execute("SELECT key, id, final FROM answers")
        }
        self._conditions = {row["token"]: row["id"] for row in db.execute("SELECT token, id FROM conditions")}
        self._by_key, self._by_parent = dict[Key, int](), dict[int, int]()
        self._samples = {row["digest"] for row in db.execute("SELECT digest FROM samples")}

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Add a record, in place of an earlier one without a score; what has a score stays as it is."""
        self._index.read += 1
        if parent not in self._by_parent:
            self._by_parent[parent] = self._parent(record)
        place, final = self._known.pop(record.key, (None, False))
        if not final:
            self._add(place, key, self._by_parent[parent], record, reader)
        if self._index.read % COMMIT == 0:
            self._db.commit()

    def finish(self, columns: Columns) -> None:
        """Remove what the run has no longer, and add the mean score of each question under each condition, and over all
        chains, and what flipped."""
        gone = [(place,) for place, _ in self._known.values()]
        self._db.executemany("DELETE FROM answers WHERE id = ?", gone)
        self._db.executemany("DELETE FROM replies WHERE id = ?", gone)
        self._db.execute("DELETE FROM cells")
        pooled = zip(columns.pooled.tolist(), map(self._condition, columns.keys), strict=True)
        self._db.executemany("UPDATE conditions SET pooled = ? WHERE id = ?", pooled)
        block = Block(columns, "score", np.arange(len(columns.parents)), {})
        for key, records in conditions_of(block).items():
            condition, cell = self._condition(key), block.cell(records)
            rows = zip(cell.parents.tolist(), cell.values.tolist(), strict=True)
            cells = ((condition, self._by_parent[parent], value) for parent, value in rows)
            self._db.executemany("INSERT INTO cells VALUES (?, ?, ?, NULL)", cells)
        self._db.executescript(FLIPS)

    def _add(self, place: int | None, key: Key, parent: int, record: Record, reader: Reader) -> None:
        status, value, needs_judge, read = describe(record).values()
        row = (
            place, record.key, parent, self._condition(key), record.sample, record.digest, record.draw, record.epoch,
            status, value, needs_judge, is_cut_off(record.reply), read, status not in ("failed", "unscored"),
        )  # fmt: skip
        at = self._db.execute(
            "INSERT OR REPLACE INTO answers (id, key, parent, condition, sample, digest, draw, epoch, status, value,"
            " needs_judge, truncated, read, final) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        ).lastrowid
        said = record.reply.text or record.reply.error
        self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (at, said[:SEARCHED]))
        if record.digest not in self._samples:
            self._samples.add(record.digest)
            if stored := reader.get(SAMPLE, record.digest):
                sample = from_json(stored, Sample)
                told = _text(sample)[:SEARCHED], _gold(sample), next(iter(sample.all_images), "")
                self._db.execute("INSERT OR IGNORE INTO samples VALUES (?, ?, ?, ?)", (record.digest, *told))

    def _condition(self, key: Key) -> int:
        if key not in self._by_key:
            token = condition_token(key)
            if token not in self._conditions:
                row = (token, key.model, key.set, key.variant, key.chain, key.context, key.style, key.shots)
                added = self._db.execute(
                    "INSERT INTO conditions (token, model, set_name, variant, chain, context, style, shots)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                )
                self._conditions[token] = added.lastrowid
            self._by_key[key] = int(self._conditions[token])
        return self._by_key[key]

    def _parent(self, record: Record) -> int:
        token = parent_token(record.set, record.parent)
        known = self._db.execute("SELECT id FROM parents WHERE token = ?", (token,)).fetchone()
        if known:
            return int(known["id"])
        row = (token, record.set, record.parent, _in_order(record.parent))
        sql = "INSERT INTO parents (token, set_name, name, in_order) VALUES (?, ?, ?, ?)"
        added = self._db.execute(sql, row).lastrowid
        fields = [(name, field_of(record, name)) for name in (*record.fields, "task_type", "language")]
        self._db.executemany("INSERT INTO fields VALUES (?, ?, ?)", [(*each, added) for each in fields])
        return int(added or 0)


FLIPS = f"""
    CREATE TEMP TABLE flips AS SELECT b.condition, b.parent, CASE WHEN b.value < {EVEN} THEN -1 ELSE 1 END AS way,
        (a.value - {EVEN}) * (b.value - {EVEN}) AS side, b.value - a.value AS moved
        FROM conditions dynamic JOIN conditions base USING (model, set_name, context, style, shots)
        JOIN cells b ON b.condition = dynamic.id JOIN cells a ON a.condition = base.id AND a.parent = b.parent
        WHERE dynamic.variant = 'dynamic' AND base.variant = 'standard' AND dynamic.chain != '{POOLED}';
    CREATE UNIQUE INDEX temp.each_flip ON flips (condition, parent);
    UPDATE cells SET moved = flips.moved
        FROM flips WHERE flips.condition = cells.condition AND flips.parent = cells.parent;
    UPDATE answers SET flip = 0, stayed = 0, partly = 0, way = NULL;
    UPDATE answers SET flip = flips.way * (side < 0), stayed = flips.way * (side > 0), partly = side = 0
        FROM flips WHERE flips.condition = answers.condition AND flips.parent = answers.parent;
    CREATE TEMP TABLE ways AS SELECT c.id AS condition, y.parent,
        CASE {" ".join(f"WHEN {holds} THEN '{name}'" for name, holds in WAYS.items())} END AS way
        FROM conditions p CROSS JOIN conditions c USING (model, set_name, context, style, shots)
        CROSS JOIN conditions s USING (model, set_name, context, style, shots)
        CROSS JOIN cells y ON y.condition = p.id CROSS JOIN cells x ON x.condition = s.id AND x.parent = y.parent
        WHERE p.chain = '{POOLED}' AND c.variant = 'dynamic' AND s.variant = 'standard';
    CREATE UNIQUE INDEX temp.each_way ON ways (condition, parent);
    UPDATE answers SET way = ways.way FROM ways
        WHERE ways.condition = answers.condition AND ways.parent = answers.parent;
    CREATE TEMP TABLE broken AS SELECT parent, count(*) AS n FROM flips WHERE side < 0 AND way < 0 GROUP BY parent;
    UPDATE parents SET broke = coalesce((SELECT n FROM broken WHERE broken.parent = parents.id), 0),
        gold = (SELECT min(t.gold) FROM answers a JOIN conditions c ON c.id = a.condition JOIN samples t USING (digest)
            WHERE a.parent = parents.id AND c.variant = 'standard');
"""
"""What each chain, and the mean over all chains, turned, out of the cells, and the standard question's golden
answer."""


def describe(record: Record) -> dict[str, Any]:
    """What lists of answers show of one: `status`, `value` (None where it has none), `needs_judge`, and what was
    `read`."""
    score = record.score
    status = "failed" if has_failed(record) else "unscored" if score is None else score.status
    value = None if score is None or status == "failed" else score.value if status == "ok" else 0.0
    read, needs_judge = ("", False) if score is None else (_spelt(score.extracted), score.needs_judge)
    return {"status": status, "value": value, "needs_judge": needs_judge, "read": read}


def condition_token(key: Key) -> str:
    """What names a condition in addresses."""
    return digest([key.model, key.set, key.variant, key.chain, key.context, key.style, key.shots], 6)


def parent_token(set_name: str, parent: str) -> str:
    """What names a question in addresses."""
    return digest([set_name, parent], 8)


def _spelt(found: Json) -> str:
    """What was read out of a reply, in short."""
    parts = found if isinstance(found, list) else [] if found is None else [found]
    return ", ".join(str(part) for part in parts)[:SHOWN]


def _gold(sample: Sample) -> str:
    """The golden answer in short; other ways to say it are left out."""
    answer = sample.answer if isinstance(sample.answer, tuple) else (sample.answer,)
    return _spelt([part if isinstance(part, str | bool) else part[0] for part in answer])


def _in_order(name: str) -> str:
    """A name that sorts by the numbers in it: `q9` before `q10`."""
    return re.sub(r"\d+", lambda number: number[0].zfill(20), name)


def _text(sample: Sample) -> str:
    return "\n".join((sample.id, sample.question, *(f"{option.label}. {option.text}" for option in sample.options)))


def _breakdowns(db: sqlite3.Connection) -> list[str]:
    """The fields to break scores down by: those of few values, more telling ones first."""
    counts = db.execute("SELECT name, count(DISTINCT value) AS n FROM fields GROUP BY name ORDER BY n DESC, name")
    return [row["name"] for row in counts if row["n"] in BREAKDOWN][:BREAKDOWNS]


SMALL, SIDE = "small-", 192
"""How the name of a small copy of a picture begins; its width and height in pixels, at most."""

DEPTH = 3
"""How many folders down runs and sets are looked for."""


class Catalog:
    """The runs and sets under a path. Nothing in an address is ever a path: it is looked up here.

    Raises InputError where there is no such folder, or neither a run nor a set in it.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InputError(root, None, "no such folder: name a run, a set, or a folder of them")
        self.root = root.resolve()
        self._indexes, self._guard = dict[Path, tuple[int, Index]](), threading.Lock()
        self._pictures = dict[str, tuple[ImageFolder, ImageRef]]()
        if not self.runs() and not self.sets():
            raise InputError(root, None, "there is neither a run nor a set in it: `mmdyn eval -o` makes a run")

    def runs(self) -> dict[str, Path]:
        """The folders of runs by their names in addresses."""
        return {self.name(folder): folder for folder in _look(self.root, DEPTH) if (folder / RUN).is_file()}

    def sets(self) -> dict[str, Path]:
        """The folders of sets by their names in addresses."""
        return {self.name(folder): folder for folder in _look(self.root, DEPTH) if is_set(folder)}

    def name(self, folder: Path) -> str:
        """What names a folder in addresses."""
        return digest(str(folder.relative_to(self.root)), 5)

    def place(self, folder: Path) -> str:
        """Where a folder lies, for readers: its path under the path that is shown."""
        place = str(folder.relative_to(self.root))
        return place if place != "." else self.root.name

    def index(self, name: str) -> Index:
        """The index of a run, brought up to date. Raises KeyError for a run that is not there, UserError for one that
        cannot be read."""
        folder = self.runs()[name]
        with self._guard:
            written = (folder / RUN).stat().st_mtime_ns
            known = self._indexes.get(folder)
            if known is None or known[0] != written:
                known = self._indexes[folder] = written, Index(RunFolder(folder))
        known[1].refresh()
        return known[1]

    def set(self, name: str) -> SampleSet:
        """A set. Raises KeyError, InputError."""
        return SampleSet(self.sets()[name])

    def find_set(self, near: Path, *digests: str) -> Path | None:
        """The folder of a set of one of these digests: one under the path, or one with a set.json beside the folder
        `near` or beside that one's parent."""
        above = near.resolve().parent
        around = chain(_look(above, 1), _look(above.parent, 1))
        places = chain(self.sets().values(), (one for one in around if (one / MANIFEST_FILE).is_file()))
        return next((one for one in places if has_digest(one, *digests)), None)

    def located(self, run: RunFolder) -> tuple[RunFolder, list[SetEntry]]:
        """A run with those of its sets that are what was asked, where they lie now, and those that are nowhere."""
        found, gone = list[SetEntry](), list[SetEntry]()
        for entry in run.config.sets:
            digests, folder = {entry.digest, entry.answers} - {""}, run.set_folder(entry)
            place = folder if has_digest(folder, *digests) else self.find_set(run.folder, *digests)
            if place is None:
                gone.append(entry)
            else:
                found.append(entry if place == folder else replace(entry, folder=str(place)))
        shown = RunFolder(run.folder)
        shown.config = replace(run.config, sets=tuple(found))
        return shown, gone

    def images(self, run: RunFolder) -> dict[str, ImageFolder]:
        """The pictures of a run's sets, by the standard set's name: only of sets that are what was asked."""
        return pictures_of(self.located(run)[0])

    def picture(self, images: ImageFolder, ref: ImageRef) -> str:
        """The address of a picture; empty where it cannot be read."""
        try:
            name = sha256(images.read(ref))
        except ValueError:
            return ""
        self._pictures[name] = images, ref
        return f"/picture/{name}"

    def thumbnail(self, images: ImageFolder, ref: ImageRef) -> str:
        """The address of a small copy of a picture, which is made when it is asked for; empty where there is no
        file."""
        try:
            file = images.path(ref)
            found = file.stat()
        except OSError:
            return ""
        name = SMALL + digest([str(file), found.st_size, found.st_mtime_ns], 16)
        self._pictures[name] = images, ref
        return f"/picture/{name}"

    def read_picture(self, name: str) -> tuple[bytes, str]:
        """The bytes and media type of a picture that a page has shown, by its name there. Raises KeyError,
        ValueError."""
        images, ref = self._pictures[name]
        data = images.read(ref)
        if name.startswith(SMALL):
            return _made_small(data), "image/png"
        if sha256(data) != name:
            raise ValueError("the picture has changed")
        return data, IMAGE_MEDIA_TYPES[IMAGE_SUFFIXES[open_image(data).format or ""]]


def _made_small(data: bytes) -> bytes:
    try:
        image = open_image(data)
        image.thumbnail((SIDE, SIDE))
        image.convert("RGBA").save(made := io.BytesIO(), "PNG")
    except OSError as error:  # it breaks off, say
        raise ValueError(str(error)) from None
    return made.getvalue()


def _look(folder: Path, depth: int) -> Iterator[Path]:
    """A folder and those in it, without links, and without what may not be read; a run's own are its own."""
    try:
        whole = not depth or (folder / RUN).is_file() or is_set(folder)
        inside = [] if whole else sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
    except OSError:
        return
    yield folder
    for one in inside:
        if not one.name.startswith("."):
            yield from _look(one, depth - 1)


def has_digest(folder: Path, *digests: str) -> bool:
    """Whether a set of one of these digests lies in a folder."""
    try:
        return SampleSet(folder).manifest.digest in digests
    except Exception:  # a set that cannot be read is no set that was asked
        return False
