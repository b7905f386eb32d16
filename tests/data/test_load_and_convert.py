"""Any path becomes a set; a set becomes any file; done again, nothing is done again."""

from __future__ import annotations

import json
import os
from contextlib import chdir
from pathlib import Path

import pytest
from filelock import FileLock

from making import choice, image_ref, open_ended, picture, write_set
from mmdyn.data import Dropped, KnowledgePoint, Origin, SampleSet, SetWriter, convert, load
from mmdyn.errors import Busy, InputError, PluginError, UserError
from perturb import perturb

PNG = picture()
SAMPLES = [choice("a", images=(image_ref(PNG),)), open_ended("b"), open_ended("c")]


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    return write_set(tmp_path / "source", SAMPLES, images=[PNG])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("ending", [".tsv", ".jsonl", ".parquet", ".TSV"])
def test_a_file_is_loaded_as_a_set(source: SampleSet, tmp_path: Path, ending: str) -> None:
    file = tmp_path / "out" / f"mine{ending}"
    assert convert(source.folder, file).folder == source.folder
    loaded = load(file)
    assert (loaded.name, list(loaded), loaded.manifest.digest) == ("mine", SAMPLES, source.manifest.digest)
    assert not loaded.folder.is_relative_to(tmp_path)
    assert loaded.images.read(image_ref(PNG)) == PNG


def test_a_set_folder_is_opened_where_it_is(source: SampleSet, tmp_path: Path) -> None:
    assert load(source.folder, into=tmp_path / "unused").folder == source.folder
    assert not (tmp_path / "unused").exists()


def test_an_import_is_made_again_and_notices_a_changed_picture(tmp_path: Path) -> None:
    file, into = tmp_path / "s.jsonl", tmp_path / "into"
    (tmp_path / "p.png").write_bytes(PNG)
    lines = [{"id": id, "question": "q", "task_type": "true_false", "answer": True, "images": ["p.png"]} for id in "ab"]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert load(file, into).manifest.made["source"]["name"] == "s.jsonl"  # type: ignore[index,call-overload]
    other = picture(text="another")
    (tmp_path / "p.png").write_bytes(other)
    assert [sample.images for sample in load(file, into)] == [(image_ref(other),)] * 2
    file.write_bytes(file.read_bytes().splitlines(keepends=True)[1])
    assert [sample.id for sample in load(file, into)] == ["b"]
    assert sorted(contents(into)) == [image_ref(other), "samples.jsonl", "set.json"]


def test_folders_that_hold_anything_else_are_left_alone(source: SampleSet, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    convert(source.folder, file)
    with pytest.raises(UserError, match="already holds another set"):
        load(file, into=source.folder)
    with pytest.raises(UserError, match=r"holds other files \(notes.txt, …\): choose a new folder"):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "notes.txt").write_text("keep")
        convert(file, tmp_path / "mine")
    with pytest.raises(UserError, match="holds files that no run of this command left"):
        (tmp_path / "pics" / "images").mkdir(parents=True)
        convert(file, tmp_path / "pics")
    with pytest.raises(UserError, match=r"holds other files \(notes.txt, …\): choose a new folder"):
        perturb(source.folder, tmp_path / "mine", ops="pad")
    with pytest.raises(UserError, match=r"holds other files \(notes.txt, …\): choose a new folder"):
        perturb(file, tmp_path / "mine", ops="pad")
    with pytest.raises(UserError, match=r"\. holds other files \(mine, …\): choose a new folder"), chdir(tmp_path):
        convert(file, Path())
    with pytest.raises(UserError, match="is the source itself"):
        convert(file, file)
    assert [(path.name, path.read_text()) for path in (tmp_path / "mine").iterdir()] == [("notes.txt", "keep")]
    assert list(SampleSet(source.folder)) == SAMPLES


def test_converting_again_finds_it_done(source: SampleSet, tmp_path: Path) -> None:
    file, out = tmp_path / "s.tsv", tmp_path / "out"
    convert(source.folder, file)
    seen = list[object]()
    made = convert(file, out, name="mine", on_row=seen.append)
    assert (made.name, list(made), len(seen)) == ("mine", SAMPLES, 3)
    assert {key: made.manifest.made[key] for key in ("command", "benchmark", "limit")} == {
        "command": "mmdyn data convert",
        "benchmark": None,
        "limit": None,
    }
    before = contents(out)
    convert(file, out, name="mine", on_row=seen.append)
    assert (contents(out), len(seen)) == (before, 3)
    with pytest.raises(UserError, match=r"already holds another set \(mine\)"):
        convert(file, out, name="mine", limit=1)


@pytest.mark.parametrize(
    "left", [["samples.jsonl.part"], ["samples.jsonl", "set.json.part"], ["set.json.part", "samples.jsonl.part"]]
)
def test_what_an_interrupted_run_left_is_done_again(source: SampleSet, tmp_path: Path, left: list[str]) -> None:
    file = tmp_path / "s.jsonl"
    convert(source.folder, file)
    whole, out = tmp_path / "whole", tmp_path / "out"
    convert(file, whole, name="s")
    (out / "images" / "00").mkdir(parents=True)
    (out / "images" / "00" / "half.png").write_bytes(b"half")
    for name in left:
        (out / name).write_bytes(b'{"id": "ha')
    convert(file, out, name="s")
    assert contents(out) == contents(whole)


def test_rejected_rows_are_listed_and_mended_rows_are_taken_the_next_time(tmp_path: Path) -> None:
    file, out = tmp_path / "s.tsv", tmp_path / "out"
    rows = "index\tquestion\tanswer\timage_path\n1\tq\ta\tp.png\n2\tq\ta\t\n"
    file.write_text(rows)
    made = convert(file, out, skip_bad=True)
    assert made.manifest.counts == {"rejected": 1, "samples": 1}
    assert json.loads((out / "rejected.jsonl").read_bytes()) == {
        "file": str(file),
        "line": 2,
        "problem": f"image 'p.png' is missing: put the file into {tmp_path}",
    }
    convert(file, tmp_path / "out.parquet", skip_bad=True)
    assert (tmp_path / "out.rejected.jsonl").read_bytes() == (out / "rejected.jsonl").read_bytes()
    (tmp_path / "p.png").write_bytes(PNG)
    assert convert(file, out, skip_bad=True).manifest.counts == {"samples": 2}
    assert not (out / "rejected.jsonl").exists()


def test_what_a_set_brings_besides_goes_with_it(tmp_path: Path) -> None:
    dropped = Dropped("a~pad~0", "a", "pad", 0, 1, "unchanged", "no picture")
    with SetWriter(tmp_path / "dynamic", "dynamic", parent=Origin("standard", "00")) as writer:
        writer.add(open_ended("a"))
        writer.drop(dropped)
        writer.know(KnowledgePoint("gravity", "Masses attract each other."))
    copy = convert(tmp_path / "dynamic", tmp_path / "copy")
    assert (list(copy.dropped()), copy.root) == ([dropped], "standard")
    assert [point.point for point in copy.knowledge()] == ["gravity"]
    assert copy.manifest.counts == {"samples": 1, "unchanged": 1}


def test_a_set_written_by_hand_gets_its_pictures_named(tmp_path: Path) -> None:
    hand = tmp_path / "hand"
    hand.mkdir()
    (hand / "cat.png").write_bytes(picture(format="JPEG"))
    line = {"id": "a", "question": "q", "task_type": "open_ended", "answer": "a", "images": ["cat.png"]}
    (hand / "samples.jsonl").write_text(json.dumps(line) + "\n\n" + json.dumps({**line, "id": "b"}))
    opened = SampleSet(hand)
    assert (opened.name, len(opened), opened.manifest.counts) == ("hand", 2, {"samples": 2})
    (ref,) = next(iter(convert(hand, tmp_path / "out"))).images
    assert ref == image_ref(picture(format="JPEG"), "jpg")


def test_limit_and_shards(tmp_path: Path, source: SampleSet) -> None:
    assert [sample.id for sample in convert(source.folder, tmp_path / "two", limit=2)] == ["a", "b"]
    for number in (2, 1):
        part = write_set(tmp_path / f"part{number}", [open_ended(f"{number}{letter}") for letter in "xy"])
        convert(part.folder, tmp_path / "shards" / f"train-{number}.parquet")
    assert [sample.id for sample in load(tmp_path / "shards")] == ["1x", "1y", "2x", "2y"]


def test_another_process_at_work_is_told(tmp_path: Path, source: SampleSet) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with FileLock(out / ".lock"), pytest.raises(Busy, match="another process is writing"):
        convert(source.folder, out)
    assert len(convert(source.folder, out)) == 3


def test_paths_that_are_nothing_are_explained(tmp_path: Path, source: SampleSet) -> None:
    (tmp_path / "x.xlsx").touch()
    (tmp_path / "y.tvs").touch()
    (tmp_path / "empty").mkdir()
    for path, problem in {
        "none.tsv": "no such file or folder: check the path",
        "x.xlsx": "is a table of columns, not a set: make one of it first (`mmdyn data convert ",
        "y.tvs": "the ending '.tvs' is of no format (did you mean '.tsv'?): use ",
        "empty": "no set (samples.jsonl is missing) and no *.parquet in it: give a set folder or a file "
        "(a benchmark as it was released becomes a set by `mmdyn data convert --from NAME`)",
    }.items():
        with pytest.raises(InputError) as caught:
            load(tmp_path / path)
        assert str(caught.value).startswith(f"{tmp_path / path}: {problem}")
    with pytest.raises(PluginError, match="there is no format 'tvs'"):
        convert(tmp_path / "y.tvs", tmp_path / "out", format="tvs")
    with pytest.raises(InputError, match="no such file or folder"):
        convert(tmp_path / "none", tmp_path / "out")
    (tmp_path / "header.tsv").write_text("index\tquestion\tanswer\n")
    with pytest.raises(UserError, match=r"there is no sample for .* in the source: give one that holds some"):
        convert(tmp_path / "header.tsv", tmp_path / "out")


def test_a_file_whose_name_lies_is_refused(tmp_path: Path, source: SampleSet) -> None:
    convert(source.folder, tmp_path / "real.parquet")
    os.link(tmp_path / "real.parquet", tmp_path / "lie.tsv")
    (tmp_path / "lie.parquet").write_text("index\tquestion\n")
    with pytest.raises(InputError, match=r"lie.tsv: is a Parquet file: name it .parquet"):
        load(tmp_path / "lie.tsv")
    with pytest.raises(InputError, match=r"lie.parquet: cannot be read as Parquet \(.*\): replace the file"):
        load(tmp_path / "lie.parquet")
    cut = (tmp_path / "real.parquet").read_bytes()[:-20]
    (tmp_path / "cut.parquet").write_bytes(cut)
    with pytest.raises(InputError, match=r"cut.parquet: cannot be read as Parquet"):
        load(tmp_path / "cut.parquet")


def test_a_format_may_be_named(tmp_path: Path) -> None:
    file = tmp_path / "data.txt"
    file.write_text("index\tquestion\tanswer\n1\tq\ta\n")
    assert [sample.id for sample in convert(file, tmp_path / "out", format="tsv")] == ["1"]


@pytest.mark.parametrize("ending", [".csv", ".json", ".xlsx", ".CSV"])
def test_a_table_of_columns_is_told_how_it_becomes_a_set(tmp_path: Path, ending: str) -> None:
    table = tmp_path / f"my lab{ending}"
    table.touch()
    with pytest.raises(InputError) as caught:
        load(table)
    assert str(caught.value).endswith(f"make one of it first (`mmdyn data convert '{table}' -o 'my lab'`)")
