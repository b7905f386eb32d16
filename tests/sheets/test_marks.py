"""Files of marks: who marked what, and which mark counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mmdyn.errors import InputError
from mmdyn.sheets import read_marks

OLD = {"set": "/sets/out", "parent_set": "/sets/in", "id": "q1~pad~0", "attempt": 1, "digest": "ab", "label": "reject"}


def written(file: Path, *rows: dict[str, Any]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_marks_say_who_marked_and_what_failed(tmp_path: Path) -> None:
    old = written(tmp_path / "old.jsonl", OLD, {**OLD, "id": "q2", "attempt": 0, "label": True})
    new = written(tmp_path / "new.jsonl", {**OLD, "by": " Li Wei ", "failed": ["names"], "note": "p. 3"})
    found = read_marks([old, new])
    assert list(found) == [("q1~pad~0", 1), ("q2", 0)]
    assert list(found["q1~pad~0", 1]) == [str(old), "Li Wei"], "the file's path stands for a name that is not given"
    mark = found["q1~pad~0", 1]["Li Wei"]
    assert (mark.label, mark.by, mark.failed, mark.note) == ("reject", "Li Wei", ("names",), "p. 3")
    assert found["q2", 0][str(old)].label == "keep" and found["q2", 0][str(old)].failed == ()


def test_a_reviewer_s_last_mark_counts(tmp_path: Path) -> None:
    first = written(tmp_path / "a.jsonl", {**OLD, "by": "x"}, {**OLD, "by": "y"})
    again = written(tmp_path / "b.jsonl", {**OLD, "by": "x", "label": "keep"})
    found = read_marks([first, again])["q1~pad~0", 1]
    assert {name: mark.label for name, mark in found.items()} == {"x": "keep", "y": "reject"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"digest": "cd"}, "marked in two versions"),
        ({"failed": "names"}, "failed must be a list, a text given"),
        ({"label": "maybe"}, '"label" must be true (keep) or false (reject)'),
        ({"id": 7}, "is no mark of an audit sheet"),
    ],
)
def test_lines_that_do_not_do_are_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        read_marks([written(tmp_path / "a.jsonl", OLD, {**OLD, **change})])
    assert "a.jsonl:2" in str(caught.value) and told in str(caught.value)
