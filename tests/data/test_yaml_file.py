"""YAML that harms: every kind is refused in a sentence, and what is common is read."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mmdyn.data import read_yaml
from mmdyn.errors import InputError

LAUGHS = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(9))


@pytest.mark.parametrize(("text", "says"), [
    ("a: 2020-13-45", r"holds a value that is not read \(month must be in 1..12\): put it in quotation marks"),
    ("a: !!timestamp x", "holds a value that is not read"),
    ("a: !!int x", "holds a value that is not read"),
    ("a: !!bool x", "holds a value that is not read"),
    ("a: !!float x", "holds a value that is not read"),
    ("a: !!python/object/apply:os.system [x]", ":1: is not YAML: mend the line"),
    ("a: " + "9" * 6000, "holds a value that is not read"),
    ("a: 0x" + "f" * 6000, r"\(a number of more than 64 bits\)"),
    (LAUGHS, "holds more than 100,000 values, what aliases stand for counted each time"),
    ("a: &a [*a]", "holds more than 100,000 values"),
    ("a: &a {b: *a}", "holds more than 100,000 values"),
    ("a: " + "[" * 60 + "]" * 60, "is nested too deeply"),
    ("[" * 5000, "is nested too deeply"),
    ("a: 1\nb:\n  c: 1\n  c: 2", ":4: the key 'c' is given twice: keep one of them"),
    ("{? [a]: 1}", ":1: is not YAML: mend the line"),
    ("a: *nowhere", ":1: is not YAML: mend the line"),
    ("a: \0", "holds a value that is not read"),
    ("a: [", "is not YAML: mend the line"),
])  # fmt: skip
def test_each_kind_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    began = time.monotonic()
    with pytest.raises(InputError, match=says) as told:
        read_yaml(tmp_path / "c.yaml", "give a YAML file")
    assert time.monotonic() - began < 5 and len(str(told.value).splitlines()) == 1


def test_what_is_no_file_of_text_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    (tmp_path / "latin").write_bytes("naïf: 1".encode("latin-1"))
    (tmp_path / "large").write_bytes(b"#" * (1 << 23))
    says = {"pipe": "is no file", "zeros": "is no file", "latin": "cannot be read", "large": "has more than 524,288"}
    for name, why in [*says.items(), (".", "is no file"), ("nowhere", "no such file")]:
        with pytest.raises(InputError, match=why):
            read_yaml(tmp_path / name, "give a YAML file")


def test_aliases_and_merged_keys_are_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "a: &a {x: 1, y: 2}\nb: &b {<<: *a, y: 3}\nc: {<<: *b, z: [*a, *a]}\n", "utf-8-sig"
    )
    found = read_yaml(tmp_path / "c.yaml", "")
    assert found["c"] == {"x": 1, "y": 3, "z": [{"x": 1, "y": 2}] * 2}
