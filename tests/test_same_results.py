"""The comparison of two trees' results: what differs is seen, what no two runs have in common is not."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from sqlite3 import connect

import pytest
from benches import load_bench

ROOT = Path(__file__).resolve().parents[1]
BENCH = load_bench("same_results")


def differing(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """How many files of FOLDER/old and FOLDER/new differ, and what is printed."""
    count = BENCH.print_differences(folder / "old", folder / "new", 5)
    return count, capsys.readouterr().out


def write(folder: Path, name: str, old: bytes | None, new: bytes | None) -> None:
    for side, content in (("old", old), ("new", new)):
        file = folder / side / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            file.write_bytes(content)


def store(file: Path, *records: tuple[str, str, object]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(connect(file)) as database:
        database.execute("CREATE TABLE records (kind TEXT, key TEXT, value BLOB)")
        rows = [(kind, key, json.dumps(value).encode()) for kind, key, value in records]
        database.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
        database.commit()


def test_cells_lines_bytes_and_files_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "same.csv", b"a,b\n1,2\n", b"a,b\n1,2\n")
    write(tmp_path, "cell.csv", b"a,b\n1,2\n", b"a,b\n1,2.0\n")
    write(tmp_path, "long.jsonl", b"{" + b"x" * 900 + b"1}\n", b"{" + b"x" * 900 + b"2}\n")
    write(tmp_path, "picture.png", b"\x89PNG\xff", b"\x89PNG\xff\x00")
    write(tmp_path, "lost.txt", b"", None)
    write(tmp_path, "more.txt", None, b"")
    count, said = differing(tmp_path, capsys)
    assert count == 5 and "5 of 6 files differ" in said
    assert "*cell.csv: 2 lines differ\n    -1,2\n    +1,2.0\n" in said and "    +…xxx" in said and "x2}\n" in said
    assert "6 bytes before" not in said and "5 bytes before, 6 now" in said
    assert "-lost.txt: only before" in said and "+more.txt: only now" in said and "not compared: nothing" in said


def test_times_and_versions_are_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (
        '{{"made":17958{0}5526,"seconds":0.{0}1,"text":"B"}}', "2026-11-28 1{0}:48:46,877 INFO mmdyn 0.{0}.0: 4 asks",
        "reading: 109/109 ({0}9.7/s, 0 s left)", '{{"scorer": "mdk12@{0}", "version": {0}}}', '{{"version": "0.{0}.0"}}',
    )  # fmt: skip
    old, new = ("\n".join(line.format(digit) for line in lines).encode() for digit in "12")
    write(tmp_path, "run/log.txt", old, new)
    write(tmp_path, "run/records/main.lock", b"1", b"2")
    count, said = differing(tmp_path, capsys)
    assert (count, said.count("(1 times)")) == (0, 4), said
    assert "versions of pieces of code (2 times)" in said


def test_records_are_compared_whatever_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [("record", "k1", {"text": "A"}), ("score", "k1", {"value": 1.0})]
    store(tmp_path / "old/main.sqlite", *records)
    store(tmp_path / "new/main.sqlite", *reversed(records))
    write(tmp_path, "printed/sets-01.txt", b"$ mmdyn data\nexit status 2", b"$ mmdyn data\nexit status 2")
    assert differing(tmp_path, capsys)[0] == 0
    store(tmp_path / "old/other.sqlite", *records)
    store(tmp_path / "new/other.sqlite", records[0], ("score", "k1", {"value": 0.0}))
    count, said = differing(tmp_path, capsys)
    assert "ended with another status than 0: sets-01" in said
    assert count == 1 and '    -score k1 {"value": 1.0}\n    +score k1 {"value": 0.0}' in said


@pytest.mark.slow
def test_a_tree_does_as_itself_and_a_changed_one_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert BENCH.main(["--checkout", str(ROOT), "--only", "sets"]) == 0
    assert "\n0 of " in capsys.readouterr().out
    for package in BENCH.PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    changed = tmp_path / "mmdyn" / "data" / "set_folder.py"
    changed.write_text(changed.read_text("utf-8").replace("SCHEMA = 1", "SCHEMA = 2"), "utf-8")
    assert BENCH.main(["--checkout", str(tmp_path), "--only", "sets"]) == 1
    said = capsys.readouterr().out
    assert "*questions/set.json: 2 lines differ" in said and '-  "schema": 2' in said and '+  "schema": 1' in said


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="git has no commit 'nowhere' here: name another with --commit"):
        BENCH.main(["--commit", "nowhere", "--only", "sets"])
    with pytest.raises(SystemExit, match="is there already: name a new folder with --keep"):
        BENCH.main(["--keep", str(tmp_path)])
    with pytest.raises(SystemExit, match="there is no part me: demo, help, graded, sets, "):
        BENCH.main(["--only", "sets,me"])
