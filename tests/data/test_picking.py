"""Samples by number, id and slice; sets out of samples in memory."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from making_sets import make_set

from making import choice, image_ref, picture, write_set
from mmdyn.data import KnowledgePoint, SampleSet, SetWriter, load
from mmdyn.errors import InputError, UserError

LINE = {"id": "q1", "question": "How many?", "task_type": "fill_in_the_blank", "answer": [["4", "four"]]}


def test_numbers_and_ids(tmp_path: Path) -> None:
    opened = make_set(tmp_path / "mixed")
    every = list(opened)
    assert (opened[0], opened[-1], opened["zh-true"]) == (every[0], every[-1], every[9])
    with pytest.raises(IndexError, match="the set has 12 samples, so there is no number 12"):
        _ = opened[12]
    with pytest.raises(UserError, match=r"no sample 'zh-tru' \(did you mean 'zh-true'\?\): give one of its ids"):
        _ = opened["zh-tru"]


def test_a_set_that_was_written_by_hand_is_indexed_too(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text(
        '\n{"id": "ä", "question": "?", "task_type": "true_false", "answer": true}\n', "utf-8"
    )
    assert SampleSet(tmp_path)["ä"].answer is True


def test_a_slice_is_a_set_with_its_pictures_and_knowledge(tmp_path: Path) -> None:
    data = picture(text="7")
    with SetWriter(tmp_path / "whole", "exam") as writer:
        ref = writer.images.put(data)
        for number in range(4):
            writer.add(choice(f"s{number}", images=(ref,)))
        writer.know(KnowledgePoint("Polygons", "many sides"))
    whole = SampleSet(tmp_path / "whole")
    part = whole[1:3]
    assert ([sample.id for sample in part], part.name, len(part)) == (["s1", "s2"], "exam", 2)
    assert part.images.read(part[0].images[0]) == data
    assert [point.text for point in part.knowledge()] == ["many sides"]
    assert [sample.id for sample in whole[["s3", "s0", "s3"]]] == ["s3", "s0"]
    assert [sample.id for sample in whole[[-1, 0]]] == ["s3", "s0"]
    assert (len(whole[9:]), [sample.id for sample in part[::-1]]) == (0, ["s2", "s1"])
    assert part.manifest.digest == whole[["s2", "s1"]].manifest.digest != whole.manifest.digest


def test_samples_in_memory_are_a_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = picture(text="9")
    Path("9.png").write_bytes(data)
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    made = load([LINE | {"images": ["9.png"]}, LINE | {"id": "q2", "images": [url]}, choice("q3")])
    assert [(sample.id, sample.images) for sample in made] == [
        ("q1", (image_ref(data),)),
        ("q2", (image_ref(data),)),
        ("q3", ()),
    ]
    assert (made.name, load(made)) == ("samples", made)


def test_a_bad_sample_in_memory_is_named_by_its_place() -> None:
    with pytest.raises(InputError, match=r"the given samples:2: unknown key 'anwser' \(did you mean 'answer'\?\)"):
        load([LINE, {"id": "q2", "anwser": True}])
    with pytest.raises(UserError, match="the given samples hold what JSON has no form for"):
        load([LINE | {"fields": {"year": object()}}])


def test_what_is_gone_later_is_copied_where_it_is_to_stay(tmp_path: Path) -> None:
    kept = write_set(tmp_path / "kept", [choice("s0"), choice("s1")], "exam")
    copy = load(kept[:1], into=tmp_path / "copy")
    assert (copy.folder, copy.name, [sample.id for sample in copy]) == (tmp_path / "copy", "exam", ["s0"])
    assert load(kept, into=tmp_path / "other").folder == kept.folder
    assert not (tmp_path / "other").exists()
