"""No `-o FILE` writes over what its command did not write, unless it is told to."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import mmdyn

from making import choice, write_set

COMMANDS = {
    "report run -q -o out.txt": True, "report run -q -o out.json": True, "report run -q -o out.csv": True, "report run -q -o out.md": True,
    "report run -q -o out.tex": True, "report run -q -o out.html": True, "report run -q --why -o out.json": True,
    "runs export run -o out.csv": True, "runs export run -o out.jsonl": True, "runs export run -o out.parquet": True,
    "data audit set -o out.html": True, "data convert set -o out.tsv": False, "data convert set -o out.jsonl": False,
    "data convert set -o out.parquet": False, "data convert set --kprag -o out.tsv": False,
}  # fmt: skip
"""Whether each knows its own files, and writes over them: a set in a file may be anybody's."""
OTHERS = {
    "notes": b"mine\n", "JSON": b'{\n  "schema": 1,\n  "mine": true\n}', "CSV": b"key,value\na,1\n", "lines": b'{"key": "a"}\n',
    "page": b"<!doctype html>\n<title>Mine</title>", "nothing": b"", "Parquet": b"PAR1....PAR1",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("written")
    points = ("a triangle",)
    write_set(made / "set", [choice(f"q{number}", knowledge_points=points) for number in range(4)])
    assert mmdyn("eval", "set", "-m", "baseline:lexical", "-o", "run", "-q", folder=made).returncode == 0
    return made


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_of_somebody_else_s_stays(folder: Path, command: str) -> None:
    words = command.split()
    out = folder / words[-1]
    for name, data in OTHERS.items():
        out.write_bytes(data)
        done = mmdyn(*words, folder=folder)
        assert done.returncode == 2 and "--force" in done.stderr, (name, done.stderr)
        assert out.read_bytes() == data, name
    forced = mmdyn(*words, "--force", folder=folder)
    if "--kprag" not in words:  # the set has no texts of knowledge: nothing can be written
        assert forced.returncode == 0 and out.read_bytes() not in OTHERS.values(), forced.stderr
        again = mmdyn(*words, folder=folder)
        assert again.returncode == (0 if COMMANDS[command] else 2), again.stderr
    out.unlink()


def test_what_is_no_file_is_never_replaced(folder: Path) -> None:
    (folder / "zero.csv").symlink_to("/dev/null")
    for words in (["runs", "export", "run"], ["report", "run", "-q"]):
        done = mmdyn(*words, "-o", "zero.csv", "--force", folder=folder)
        assert done.returncode == 2 and "zero.csv is no file: choose another name" in done.stderr
    assert (folder / "zero.csv").readlink() == Path("/dev/null")


def test_the_list_of_bad_rows_replaces_nobody_s_file(folder: Path) -> None:
    (folder / "bad.jsonl").write_text('{"id": "a"}\n')
    (folder / "made.rejected.jsonl").write_text("mine\n")
    words = ["data", "convert", "bad.jsonl", "-o", "made.tsv", "--skip-bad"]
    done = mmdyn(*words, folder=folder)
    assert done.returncode == 2 and "made.rejected.jsonl is there already" in done.stderr
    assert (folder / "made.rejected.jsonl").read_text() == "mine\n"
