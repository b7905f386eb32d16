"""Whatever lies in one folder costs that folder's pages alone: every other page is there, and a sentence says what is
wrong."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from shell import mmdyn

from making import choice, write_set
from mmdyn.run import Execution, evaluate
from mmdyn.view._page import Filter
from mmdyn.view.index import Catalog, Index
from mmdyn.work import RunFolder


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set, and two runs on it."""
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    made = write_set(tmp_path / "all" / "set", [choice(f"q{number}") for number in range(6)])
    evaluate([made], ["baseline:lexical"], tmp_path / "all" / "good", execution=Execution(quiet=True))
    shutil.copytree(tmp_path / "all" / "good", tmp_path / "all" / "bad")
    return tmp_path / "all"


def change(bad: Path, old: str, new: str) -> None:
    """Replace a text in every value of the store."""
    with closing(sqlite3.connect(bad / "records" / "main.sqlite")) as db, db:
        db.execute("UPDATE records SET value = CAST(replace(CAST(value AS TEXT), ?, ?) AS BLOB)", (old, new))


def replace_by_link(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


BROKEN: dict[str, Callable[[Path], object]] = {
    "a cost beyond numbers": lambda bad: change(bad, '"reply":{', '"reply":{"cost":1e308,"currency":"$",'),
    "no records": lambda bad: shutil.rmtree(bad / "records"),
    "a record of another type": lambda bad: change(bad, '"parent":"', '"parent":7,"p":"'),
    "no JSON": lambda bad: change(bad, "{", "["),
    "a pipe": lambda bad: os.mkfifo(bad / "records" / "more.sqlite"),
    "a pipe for a tail": lambda bad: os.mkfifo(bad / "records" / "more.tail"),
    "a device": lambda bad: replace_by_link(bad / "records" / "main.tail"),
    "a loop": lambda bad: (bad / "records" / "x.sqlite").symlink_to("x.sqlite"),
    "a folder": lambda bad: (bad / "records" / "x.sqlite").mkdir(),
    "run.json is another's": lambda bad: (bad / "run.json").write_text("[1]"),
    "run.json is huge": lambda bad: os.truncate(bad / "run.json", 1 << 32),
    "the records endless": lambda bad: endless(bad),
}


def endless(bad: Path) -> None:
    """A store whose records are made up while they are read, without an end."""
    file = bad / "records" / "main.sqlite"
    file.unlink()
    with closing(sqlite3.connect(file)) as db:
        more = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT 'record', 'k' || x, '{}' FROM n"
        db.execute(f"CREATE VIEW records (kind, key, value) AS {more}")


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_run_costs_its_own_pages_alone(runs: Path, kind: str) -> None:
    BROKEN[kind](runs / "bad")
    pages = runs.parent / "pages"
    done = mmdyn("view", runs, "--export", pages, "-q", folder=runs.parent)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    first = (pages / "index.html").read_text()
    assert "good" in first and "bad" in first and len(list(pages.glob("run-*-samples.html"))) >= 1


@pytest.mark.parametrize("text", ["{", "[]", '{"name": 7}', '{"counts": "x", "name": "n", "digest": "d"}', ""])
def test_a_broken_set_costs_its_own_page_alone(runs: Path, text: str) -> None:
    shutil.copytree(runs / "set", runs / "broken")
    (runs / "broken" / "set.json").write_text(text)
    pages = runs.parent / "pages"
    done = mmdyn("view", runs, "--export", pages, "-q", folder=runs.parent)
    assert done.returncode == 0, done.stderr
    told = [page for page in pages.glob("set-*.html") if "Not to be shown" in page.read_text()]
    assert len(told) == 1 and len(list(pages.glob("set-*.html"))) == 2


def test_any_exception_of_the_index_is_the_run_s_problem(runs: Path) -> None:
    change(runs / "bad", '"reply":{', '"reply":{"cost":1e308,"currency":"$",')
    index = Index(RunFolder(runs / "bad"))
    index.refresh(None)
    assert index.problem and "\n" not in index.problem and index.report() is None


def test_a_search_is_bounded(runs: Path) -> None:
    asked = Filter.of({"text": "a" * 60_000}, [])
    assert len(asked.text) == 200
    index = Catalog(runs).index(next(iter(Catalog(runs).runs())))
    index.refresh(None)
    with index.reading() as db:
        assert asked.parents(db) == []


def test_a_cache_that_cannot_be_written_is_named(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (runs.parent / "file").touch()
    monkeypatch.setenv("MMDYN_CACHE", str(runs.parent / "file" / "cache"))
    done = mmdyn("view", runs, "--export", runs.parent / "pages", "-q", folder=runs.parent)
    said = f"cannot write {runs.parent}/file/cache/view (Not a directory): set MMDYN_CACHE to a folder of yours"
    assert done.returncode == 0 and said in (runs.parent / "pages" / "index.html").read_text()
    page = mmdyn("report", runs / "good", "-o", "page.html", "-q", folder=runs.parent)
    assert page.returncode == 0 and (runs.parent / "page.html").stat().st_size > 10_000
