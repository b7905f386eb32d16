"""validate names every problem of a set with its place."""

from __future__ import annotations

from pathlib import Path

from making import choice, image_ref, multi, open_ended, picture, write_set
from mmdyn.data import Dropped, KnowledgePoint, Row, RowTally, SetWriter, validate

PNG, JPG = picture(), picture(text="8", format="JPEG")


def problems(path: Path) -> list[tuple[str, int | None, str]]:
    return [(Path(row.file).name, row.line, row.problem) for row in validate(path) if row.problem]


def test_a_good_set_has_none_and_is_counted(tmp_path: Path) -> None:
    samples = [
        choice("a", images=(image_ref(PNG),)),
        multi("b", images=(image_ref(PNG), image_ref(JPG, "jpg"))),
        open_ended("c", language="zh"),
    ]
    tally = RowTally()
    for row in validate(write_set(tmp_path / "set", samples, images=[PNG, JPG]).folder):
        tally.add(row)
    assert tally.summary() == {
        "samples": 3,
        "problems": 0,
        "task_types": {"multi_select": 1, "open_ended": 1, "single_choice": 1},
        "languages": {"en": 2, "zh": 1},
        "with_images": 2,
        "images": 3,
    }


def test_every_picture_is_looked_at(tmp_path: Path) -> None:
    one, two = image_ref(PNG), image_ref(JPG, "jpg")
    images = ("images/aa/none.png", one, two, "images/named.png")
    folder = write_set(
        tmp_path / "set", [choice("a", images=images), choice("b", images=(one,))], images=[PNG, JPG]
    ).folder
    (folder / one).write_bytes(picture(text="changed"))
    (folder / two).write_bytes(JPG[:900])
    (folder / "images" / "named.png").write_bytes(JPG)
    found = problems(folder)
    changed = f"image {one} is named by a SHA-256 that is not its bytes': the file was changed; put the right one back"
    assert [(file, line) for file, line, _ in found] == [("samples.jsonl", 1)] * 4 + [("samples.jsonl", 2)]
    assert found[0][2].startswith("image 'images/aa/none.png' is missing: put the file into ")
    assert found[1][2] == found[4][2] == changed
    assert found[2][2].startswith(f"image {two}: the picture is broken or cut off (")
    assert found[3][2] == (
        "image images/named.png is named .png and is .jpg: rename it, or import the set with `mmdyn data convert`"
    )


def test_the_manifest_is_counted_again(tmp_path: Path) -> None:
    with SetWriter(tmp_path / "set", "set") as writer:
        writer.add(open_ended("a"))
        writer.add(open_ended("b"))
        writer.drop(Dropped("a~pad~0", "a", "pad", 0, 1, "failed", "why"))
        writer.reject(Row("x.tsv", 3, problem="bad"))
        writer.know(KnowledgePoint("p"))
    folder = tmp_path / "set"
    assert problems(folder) == []
    assert (folder / "rejected.jsonl").read_text().splitlines() == ['{"file":"x.tsv","line":3,"problem":"bad"}']
    lines = (folder / "samples.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "samples.jsonl").write_bytes(lines[0])
    (folder / "dropped.jsonl").unlink()
    assert problems(folder) == [
        ("set.json", None, "counts 1 failed where there are 0: lines were added or lost; write the set again"),
        ("set.json", None, "counts 2 samples where there are 1: lines were added or lost; write the set again"),
        ("set.json", None, "the digest is not that of the samples: they were changed; write the set again"),
    ]
    (folder / "knowledge.jsonl").write_text('{"point": "p"}\n\n{"pont": "q"}\n')
    (found,) = problems(folder)
    assert found == ("knowledge.jsonl", 3, "unknown key 'pont' (did you mean 'point'?)")
    (folder / "knowledge.jsonl").unlink()
    (folder / "set.json").write_text('{"schema": 2, "name": "n", "counts": {}, "digest": ""}')
    assert problems(folder) == [("set.json", None, "the schema is 2, 1 is read: upgrade mmdyn")]


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    assert problems(tmp_path / "none.tsv") == [("none.tsv", None, "no such file or folder: check the path")]
