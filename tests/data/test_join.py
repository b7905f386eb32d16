"""Several sets become one whose ids and groups stay apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from shell import mmdyn

from making import choice, image_ref, picture, write_set
from mmdyn.data import KnowledgePoint, PictureForm, SampleSet, convert, join, stages, validate
from mmdyn.errors import UserError
from perturb import perturb

ONE, TWO = picture(text="1"), picture(text="2")


def joined(folder: Path, *sets: SampleSet) -> SampleSet:
    return join([one.folder for one in sets], folder / "joined")


def test_ids_and_groups_that_several_sets_have_are_kept_apart(tmp_path: Path) -> None:
    a = write_set(tmp_path / "a", [choice("q1", group="p"), choice("q2", group="own"), choice("q3")], "a")
    b = write_set(tmp_path / "b", [choice("q1", group="p"), choice("q4", group="q3"), choice("q5")], "b")
    made = joined(tmp_path, a, b)
    assert [(one.id, one.group) for one in made] == [
        ("a/q1", "a/p"), ("q2", "own"), ("a/q3", None), ("b/q1", "b/p"), ("q4", "b/q3"), ("q5", None)
    ]  # fmt: skip
    back = [
        replace(one, id=one.id.removeprefix("a/"), group=one.group and one.group.removeprefix("a/")) for one in made
    ]
    assert back[:3] == [*a], "nothing else of them changes"
    assert made.name == "joined" and [row.problem for row in validate(made.folder) if row.problem] == []
    assert made.manifest.made["sources"] == [{"name": one.name, "digest": one.manifest.digest} for one in (a, b)]


def test_sets_that_share_no_name_stay_as_they_are(tmp_path: Path) -> None:
    a, b = write_set(tmp_path / "a", [choice("x")], "a"), write_set(tmp_path / "b", [choice("y"), choice("z")], "b")
    assert [*joined(tmp_path, a, b)] == [*a, *b]
    assert [stage.step for stage in stages(joined(tmp_path, a, b))] == ["data join"]


def test_pictures_and_knowledge_come_along(tmp_path: Path) -> None:
    a = write_set(tmp_path / "a", [choice("q", images=(image_ref(ONE),))], "a", images=[ONE])
    b = write_set(tmp_path / "b", [choice("q", images=(image_ref(TWO), image_ref(ONE)))], "b", images=[ONE, TWO])
    points = (KnowledgePoint("sums", "Add."), KnowledgePoint("primes")), (KnowledgePoint("sums"), KnowledgePoint("primes", "Two.", ("maths",)))  # fmt: skip
    for one, known in zip((a, b), points, strict=True):
        lines = [json.dumps({"point": point.point, "text": point.text, "route": point.route}) for point in known]
        (one.folder / "knowledge.jsonl").write_text("\n".join(lines) + "\n")
    made = joined(tmp_path, a, b)
    assert [[made.images.read(ref) for ref in one.images] for one in made] == [[ONE], [TWO, ONE]]
    assert made.manifest.pictures == PictureForm(normal=True)
    assert [*made.knowledge()] == [
        KnowledgePoint("sums", "Add."), KnowledgePoint("primes", "Two."), KnowledgePoint("primes", "Two.", ("maths",))
    ]  # fmt: skip


def test_pictures_stay_the_files_that_they_are(tmp_path: Path) -> None:
    gif = picture(format="GIF", mode="P")
    (tmp_path / "p.gif").write_bytes(gif)
    line = {"id": "q", "question": "q", "task_type": "true_false", "answer": True, "images": ["p.gif"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    kept = convert(tmp_path / "a.jsonl", tmp_path / "kept", keep_files=True)
    made = joined(tmp_path, kept, write_set(tmp_path / "b", [choice("x")], "b"))
    assert made.images.read(made["q"].images[0]) == gif and not made.manifest.pictures.normal


def test_variants_of_a_joined_set_know_their_parents(tmp_path: Path) -> None:
    a, b = (write_set(tmp_path / name, [choice("q")], name) for name in "ab")
    made = perturb(joined(tmp_path, a, b), tmp_path / "dynamic", ops="shuffle", quiet=True)
    assert {one.parent for one in made} == {"a/q", "b/q"}


def test_the_command(tmp_path: Path) -> None:
    a, b = (write_set(tmp_path / name, [choice("q")], name) for name in "ab")
    words = ("data", "join", a.folder, b.folder, "-o", tmp_path / "both", "--name", "exams")
    for _ in range(2):
        done = mmdyn(*words)
        assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'both'}: 2 samples of 2 sets\n")
    assert SampleSet(tmp_path / "both").name == "exams"
    again = mmdyn(*words[:-1], "others")
    assert again.returncode == 2 and "already holds another set (exams)" in again.stderr


def test_what_cannot_be_joined(tmp_path: Path) -> None:
    a, b = (write_set(tmp_path / name, [choice("q")], name) for name in "ab")
    other, taken = write_set(tmp_path / "c", [choice("x")], "a"), write_set(tmp_path / "d", [choice("a/q")], "d")
    dynamic = perturb(a, tmp_path / "dynamic", ops="shuffle", quiet=True)
    for sets, problem in (
        ((a,), "one set is nothing to join: give two or more"),
        ((a, other), "are both called a: `mmdyn data convert --name` gives one of them another name"),
        ((a, a), "are both called a: "),
        ((a, dynamic), "is a set of variants: join the sets that they were made of, and perturb that"),
        ((a, b, taken), "'a/q' is another's id or group: `mmdyn data convert --name` names the set otherwise"),
    ):
        with pytest.raises(UserError, match=problem):
            joined(tmp_path, *sets)
        assert not (tmp_path / "joined").exists()
    for one, text in ((a, "Add."), (b, "Count.")):
        (one.folder / "knowledge.jsonl").write_text(json.dumps({"point": "sums", "text": text}) + "\n")
    with pytest.raises(UserError, match="have different texts for the knowledge point 'sums': make them equal in"):
        joined(tmp_path, a, b)
    with pytest.raises(UserError, match="no such file"):
        join([a.folder, tmp_path / "nothing"], tmp_path / "joined")
