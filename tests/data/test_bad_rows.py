"""Bad rows of every kind: each one ends in a sentence with its file, its line and how to mend it, in every format."""

from __future__ import annotations

import base64
import json
import os
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from making import picture
from mmdyn.data import convert, validate
from mmdyn.data.rows import MAX_TEXT
from mmdyn.errors import InputError

GOOD = {"question": "Which?", "answer": "A", "A": "x", "B": "y"}


def bomb(side: int = 30_000) -> bytes:
    """A PNG of 30,000 x 30,000 pixels in a few kilobytes: its header says so, and its data would unpack to
    gigabytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1 << 20)))
        + chunk(b"IEND", b"")
    )


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


JPEG = picture(320, 240, format="JPEG")
NO_PICTURE = b"%PDF-1.7 " + bytes(100)

# (cells, what the problem begins with)
TSV = [
    ({"image": "%%%" + b64(JPEG)}, "the picture's base64 is broken or cut off: encode the file again"),
    ({"image": b64(JPEG)[:-3]}, "the picture's base64 is broken or cut off: encode the file again"),
    ({"image": b64(JPEG[: len(JPEG) // 2])}, "the picture is broken or cut off ("),
    ({"image": b64(bomb())}, "the picture has "),
    ({"image": b64(NO_PICTURE)}, "not a picture that can be read (PNG, JPEG, GIF, WEBP, BMP, TIFF are): replace the file"),
    ({"image": "99"}, "image '99' is neither a picture in base64 nor the index of a row that has one: correct the cell"),
    ({"image": f"['{b64(JPEG)}', '{b64(JPEG)}"}, "the list \"['"),
    ({"image": f"['{b64(JPEG)}' + open('x')]"}, "the list \"['"),
    ({"image": f"['{b64(JPEG)}', 3]"}, "the list \"['"),
    ({"image_path": "../secret.png"}, "image path '../secret.png' leaves the folder: name pictures relative to "),
    ({"image_path": "none.png"}, "image 'none.png' is missing: put the file into "),
    ({"answer": "E"}, "the answer 'E' is no option: the options are A, B"),
    ({"answer": ""}, "the answer is empty: fill it in"),
    ({"A": "x", "B": "", "C": "z"}, "option C is given but B is empty: fill B or close the gap"),
    ({"B": ""}, "a single_choice needs at least two options, 1 given"),
    ({"question": " "}, "the question is empty: give it words or a picture"),
    ({"question": "See <image 2>.", "image": b64(JPEG)}, "the question marks <image 2> but 1 images are given"),
    ({"question": "x" * (MAX_TEXT + 1)}, "a text has 1,000,001 characters, at most 1,000,000 are taken: shorten it"),
    ({"task_type": "single_chioce"}, "the task type 'single_chioce' is unknown (did you mean 'single_choice'?): use one of "),
    ({"task_type": "true_false", "A": "", "B": ""}, "the answer of a true_false must be true or false; 'A' given"),
    ({"language": "fr"}, "the language 'fr' is unknown: use en or zh"),
    ({"index": "1"}, "the id '1' is given twice: every sample needs an id of its own"),
    ({"index": ""}, "id is empty: give every sample an id of its own"),
    ({"question": "one\ttab"}, "11 cells where the header has 10: quote a cell that holds a tab or a new line"),
    ({"question": 'a "quoted"'}, None),
    ({"question": '"a "quoted" word"'}, 'a quote is not closed, or not doubled inside a quoted cell: write "" for'),
    ({"question": "nul\0"}, "line 29 holds a NUL character: remove it"),
    ({"question": "latin-\udce9"}, "line 30 is not UTF-8 (byte 10 of the line): save the file as UTF-8"),
    ({"question": '"never closed'}, "a quote is not closed, or not doubled inside a quoted cell (lines 31 to 32 cannot be read)"),
]  # fmt: skip


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder for data with a link in it that leads out."""
    (tmp_path / "secret.png").write_bytes(picture())
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "link.png").symlink_to("../secret.png")
    return folder


def rejected(out: Path) -> list[tuple[str, int, str]]:
    lines = [json.loads(line) for line in (out / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(line["file"], line["line"], line["problem"]) for line in lines]


def assert_listed(source: Path, out: Path, expected: list[tuple[int, str]]) -> None:
    """Every expected problem, in order, by `convert --skip-bad`, by `validate`, and counted by `convert`."""
    seen = list[str]()
    made = convert(source, out, skip_bad=True, on_row=lambda row: seen.append(row.problem))
    found = rejected(out)
    for (file, line, problem), (wanted_line, wanted) in zip(found, expected, strict=True):
        assert (file, line, problem[: len(wanted)]) == (str(source), wanted_line, wanted)
    assert made.manifest.counts["rejected"] == len(expected)
    assert [problem for problem in seen if problem] == [problem for _, _, problem in found]
    listed = [(row.file, row.line, row.problem) for row in validate(source) if row.problem]
    assert listed == found
    with pytest.raises(InputError) as caught:
        convert(source, out.with_name("other"))
    assert str(caught.value).startswith(f"{source}:{expected[0][0]}: {len(expected)} rows are bad (")
    counts = re.findall(r"[(;] ?(\d+) × ", str(caught.value))
    assert sum(map(int, counts)) == len(expected) and str(caught.value).endswith(
        " (`mmdyn data convert`, `perturb`, `build STEP` and `eval` leave such rows out with --skip-bad)"
    )
    assert not out.with_name("other").exists()


def test_tsv(outside: Path, tmp_path: Path) -> None:
    columns = ["index", "question", "answer", "A", "B", "C", "task_type", "language", "image_path", "image"]
    lines = ["\t".join(columns), "\t".join([{"index": "1", **GOOD}.get(name, "") for name in columns])]
    for index, (cells, _) in enumerate(TSV, 2):
        row = {"index": str(index), **GOOD, **cells}
        lines.append("\t".join(row.get(name, "") for name in columns))
    source = outside / "bad.tsv"
    source.write_text("\n".join([*lines, "last\tline"]), encoding="utf-8", errors="surrogateescape")
    problems = [(line, problem) for line, (_, problem) in enumerate(TSV, 3) if problem]
    assert_listed(source, tmp_path / "out", problems)


LINES = [
    ('{"id": "a", "question": "q", "task_type": "open_ended"', "not valid JSON (Input data was truncated): write one"),
    ("[1, 2]", "the line is no JSON object: write one sample a line"),
    ("nonsense", "not valid JSON (JSON is malformed: "),
    ({"qestion": "q"}, "unknown key 'qestion' (did you mean 'question'?); free keys belong inside \"meta\""),
    ({"task_type": "open-ended"}, "task_type 'open-ended' is unknown (did you mean 'open_ended'?): use one of single_choice, "),
    ({"language": "fr"}, "language 'fr' is unknown: use one of en, zh"),
    ({"answer": None}, "the key 'answer' is missing: add it"),
    ({"points": 0}, "points is 0: it must be a positive number"),
    ({"id": 5}, "id must be a text, a whole number given"),
    ({"images": "a.png"}, "images must be a list, a text given"),
    ({"images": [5]}, "images[0] must be a text, a whole number given"),
    ({"images": ["none.png"]}, "image 'none.png' is missing: put the file into "),
    ({"images": ["../secret.png"]}, "image path '../secret.png' leaves the folder: name pictures relative to "),
    ({"images": ["bad.jsonl"]}, "not a picture that can be read"),
    ({"images": ["data:image/png;base64," + b64(JPEG[:900])]}, "the picture is broken or cut off ("),
    ({"question": ""}, "the question is empty: give it words or a picture"),
    ({"question": "<image 1>"}, "the question marks <image 1> but 0 images are given"),
    ({"explanation": "x" * (MAX_TEXT + 1)}, "a text has 1,000,001 characters"),
    ({"options": [{"label": "A", "txt": "x"}]}, "unknown key 'txt' in options[0] (did you mean 'text'?)"),
    ({"options": [{"label": "A", "text": "x"}]}, "a open_ended takes no options, 1 given: drop them or change task_type"),
    ({"id": "first"}, "the id 'first' is given twice: every sample needs an id of its own"),
    (b'{"id": "\xff"}', "is not UTF-8 (byte 9 of the line): save the file as UTF-8"),
    (b'{"id": "\0"}', "holds a NUL character: remove it"),
    ("[" * 100_000, "not valid JSON ("),
]  # fmt: skip


def test_jsonl(outside: Path, tmp_path: Path) -> None:
    base = {"question": "q", "task_type": "open_ended", "answer": "a"}
    lines = [json.dumps({"id": "first", **base}).encode(), b""]
    for number, (content, _) in enumerate(LINES, 3):
        whole = {"id": f"line {number}", **base, **content} if isinstance(content, dict) else content
        text = json.dumps(whole) if isinstance(whole, dict) else whole
        lines.append(text.encode() if isinstance(text, str) else text)
    source = outside / "bad.jsonl"
    source.write_bytes(b"\n".join(lines))
    assert_listed(source, tmp_path / "out", [(line, problem) for line, (_, problem) in enumerate(LINES, 3)])


ROWS: list[tuple[dict[str, Any], str]] = [
    ({"images": [{"bytes": JPEG[:900], "path": None}]}, "the picture is broken or cut off ("),
    ({"images": [{"bytes": None, "path": "../secret.png"}]}, "image path '../secret.png' leaves the folder: name pictures"),
    ({"images": [{"bytes": None, "path": None}]}, "a picture is empty: give struct{bytes, path} with one of the two filled"),
    ({"answer": "D"}, "the answer 'D' is no option: the options are A, B"),
    ({"answer": None}, "answer is empty: give every sample one"),
    ({"points": float("nan")}, "points is nan: it must be a positive number"),
    ({"fields": "{'a': 1}"}, "the column 'fields' is not valid JSON ("),
    ({"fields": '{"a": {"b": 1}}'}, "fields[...] must be a whole number or a number or a text, an object given"),
    ({"match": '{"unt": "m"}'}, "unknown key 'unt' in match (did you mean 'unit'?)"),
    ({"task_type": "choice"}, "the task type 'choice' is unknown"),
    ({"question": "", "images": []}, "the question is empty: give it words or a picture"),
    ({"id": "1"}, "the id '1' is given twice: every sample needs an id of its own"),
]  # fmt: skip


def test_parquet(outside: Path, tmp_path: Path) -> None:
    image = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    kinds = {"points": pyarrow.float64(), "images": pyarrow.list_(image), "options": pyarrow.list_(pyarrow.string())}
    names = ("id", "question", "task_type", "answer", "points", "fields", "match", "images", "options")
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in names])
    base = {"question": "q", "task_type": "single_choice", "answer": "A", "options": ["x", "y"], "points": 1.0}
    rows = [{"id": str(number), **base, **changes} for number, (changes, _) in enumerate([({}, ""), *ROWS], 1)]
    source = outside / "bad.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), source)
    assert_listed(source, tmp_path / "out", [(number, problem) for number, (_, problem) in enumerate(ROWS, 2)])


def test_set_folder(outside: Path, tmp_path: Path) -> None:
    """A set that was written by hand: the same sentences, by way of `convert`; `validate` adds what it finds in
    pictures."""
    folder = outside / "set"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "out.png").symlink_to("../../link.png")
    (folder / "images" / "cut.jpg").write_bytes(JPEG[:900])
    base = {"question": "q", "task_type": "open_ended", "answer": "a"}
    bad: list[tuple[dict[str, Any] | bytes, str]] = [
        (
            {"images": ["images/out.png"]},
            "image path 'images/out.png' leaves the folder by a link: copy the picture into ",
        ),
        ({"images": ["images/none.png"]}, "image 'images/none.png' is missing: put the file into "),
        (
            {"images": ["../secret.png"]},
            "image path '../secret.png' leaves the folder: name images relative to the set",
        ),
        ({"answer": True}, "the answer of a open_ended must be a string that is not empty; true given"),
        ({"images": ["images/cut.jpg"]}, "the picture is broken or cut off ("),
        ({"question": ""}, "the question is empty: give it words or a picture"),
        ({"idd": "x"}, "unknown key 'idd' (did you mean 'id'?)"),
        ({"id": "1"}, "the id '1' is given twice: every sample needs an id of its own"),
        (b"{", "not valid JSON (Input data was truncated)"),
        (b'{"id": "\xe9"}', "not valid JSON ("),
    ]
    lines = [json.dumps({"id": "1", **base}).encode()]
    for number, (content, _) in enumerate(bad, 2):
        lines.append(
            content if isinstance(content, bytes) else json.dumps({"id": str(number), **base, **content}).encode()
        )
    (folder / "samples.jsonl").write_bytes(b"\n".join(lines))
    made = convert(folder, tmp_path / "out", skip_bad=True)
    found = rejected(tmp_path / "out")
    assert len(made) == 1
    for (file, line, problem), (wanted_line, (_, wanted)) in zip(found, enumerate(bad, 2), strict=True):
        assert (file, line, problem[: len(wanted)]) == (f"{folder}{os.sep}samples.jsonl", wanted_line, wanted)
    listed = {row.line: row.problem for row in validate(folder) if row.problem}
    assert list(listed) == list(range(2, 12))
    assert listed[6].startswith("image images/cut.jpg: the picture is broken or cut off (")
