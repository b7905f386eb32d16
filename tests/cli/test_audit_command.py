"""mmdyn data show of a dynamic set."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from making_sets import make_set, tree

from making import choice, image_ref, picture, write_set
from mmdyn.cli import commands
from mmdyn.data import SampleSet
from mmdyn.sample import Sample, Variant, Verdict
from perturb import folder_name, perturb


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    folder = tmp_path_factory.mktemp("audit")
    return perturb(make_set(folder / "source"), folder / "out", ops="pad,shuffle", draws=2, seed=1, quiet=True)


def show(*arguments: object) -> Result:
    return CliRunner().invoke(commands, ["data", "show", *map(str, arguments)], env={"COLUMNS": "120"})


def test_before_and_after_stand_side_by_side(dynamic: SampleSet) -> None:
    result = show(dynamic.folder, "en-choice~shuffle~0")
    assert result.exit_code == 0, result.output
    rows = [line for line in result.output.splitlines() if "answer:" in line]
    assert len(rows) == 2 and rows[0].count("answer:") == 2
    assert rows[1] == "  answer: [-B-]{+A+}"
    assert "variant of en-choice: shuffle, draw 0, seed 1; unjudged" in result.output
    assert "text.shuffle" in result.output


def test_a_parents_id_shows_all_its_variants_and_no_id_the_first(dynamic: SampleSet) -> None:
    assert show(dynamic.folder, "en-choice").output.count("variant of en-choice:") == 4
    assert show(dynamic.folder, "-n", 3).output.count("variant of ") == 3
    result = show(dynamic.folder, "nobody")
    assert "there is no sample 'nobody' in" in str(result.exception)


def test_pictures_are_copied_in_pairs(dynamic: SampleSet, tmp_path: Path) -> None:
    result = show(dynamic.folder, "en-multi~pad~1", "--pictures", tmp_path / "looks")
    assert result.exit_code == 0, result.output
    files = tree(tmp_path / "looks")
    names = ["1-after.png", "1-before.png", "2-after.jpg", "2-before.jpg"]
    assert sorted(files) == [f"en-multi~pad~1/{name}" for name in names]
    (sample,) = (sample for sample in dynamic if sample.id == "en-multi~pad~1")
    assert files["en-multi~pad~1/2-after.jpg"] == dynamic.images.read(sample.all_images[1])


def test_replaying_says_whether_the_bytes_are_equal(dynamic: SampleSet, tmp_path: Path) -> None:
    result = show(dynamic.folder, "en-choice", "--replay")
    assert result.exit_code == 0 and result.output.count("replayed: equal, byte for byte") == 4
    folder = shutil.copytree(dynamic.folder.parent, tmp_path / "copy") / "out"
    lines = (folder / "samples.jsonl").read_text("utf-8").splitlines()
    changed = [json.loads(line) for line in lines]
    for sample in changed:
        if sample["id"] == "en-choice~pad~0":
            sample["variant"]["steps"][0]["params"]["left"] += 0.1
    (folder / "samples.jsonl").write_text("\n".join(json.dumps(sample) for sample in changed), "utf-8")
    result = show(folder, "en-choice", "--replay")
    assert result.exit_code == 1
    assert "replayed: picture 1 differ" in result.output and result.output.count("byte for byte") == 3


def test_a_picture_that_was_overwritten_is_told(dynamic: SampleSet, tmp_path: Path) -> None:
    folder = shutil.copytree(dynamic.folder.parent, tmp_path / "copy") / "out"
    (variant,) = (sample for sample in dynamic if sample.id == "en-multi~pad~1")
    first, second = variant.all_images
    shutil.copyfile(folder / second, folder / first)
    result = show(folder, "en-multi~pad~1", "--replay")
    assert result.exit_code == 1 and "replayed: picture 1 differ" in result.output


def test_who_restyled_is_taken_from_the_set(tmp_path: Path) -> None:
    """Unless somebody else is named; here the manifest was changed, and the trail was not."""
    dynamic = perturb(make_set(tmp_path / "source"), tmp_path / "out", ops="style", seed=1, limit=1, quiet=True)
    assert "equal, byte for byte" in show(dynamic.folder, "--replay").output
    file = dynamic.folder / "set.json"
    manifest = json.loads(file.read_text("utf-8"))
    manifest["made"]["styler"]["styler"] = "nobody"
    file.write_text(json.dumps(manifest), "utf-8")
    assert "there is no style backend 'nobody'" in str(show(dynamic.folder, "--replay").exception)
    assert "equal, byte for byte" in show(dynamic.folder, "--replay", "--style-backend", "embedded").output


def test_every_variant_has_a_folder_of_its_own() -> None:
    names = {folder_name(made(id, attempt)) for id in ("a/b", "a_b", "a:b", "a" * 300, "a" * 301) for attempt in (0, 1)}
    assert len(names) == 10 and {"a_b~pad~0", "a_b~pad~0.attempt1"} < names
    assert all(len(name.encode()) < 200 for name in names | {folder_name(made("字" * 300, 3))})


def made(id: str, attempt: int) -> Sample:
    trail = Variant(id, "pad", 0, 1, (), Verdict("unjudged"), attempt)
    return choice(f"{id}~pad~0", variant=trail)


def test_attempts_at_one_draw_are_told_apart(tmp_path: Path) -> None:
    script = tmp_path / "judge.jsonl"
    script.write_text(json.dumps({"reply": '{"same": false, "confidence": 0.9, "reason": "no"}'}), "utf-8")
    data = picture()
    source = write_set(tmp_path / "source", [choice("q1", images=(image_ref(data),))], images=[data])
    judge = f"scripted:{script},max_tries=1"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
        dynamic = perturb(source, tmp_path / "out", ops="pad", seed=1, judge=judge, redraws=1, quiet=True)
    result = show(dynamic.folder, "q1", "--pictures", tmp_path / "looks", "--replay")
    assert result.exit_code == 0 and result.output.count("equal, byte for byte") == 2, result.output
    assert "after, attempt 1" in result.output
    told = "rejected by scripted:judge.jsonl with confidence 0.9: no"
    text = " ".join(result.output.split())
    assert f"variant of q1: pad, draw 0, seed 1; {told}" in text
    assert f"variant of q1: pad, draw 0, attempt 1, seed 1; {told}" in text
    files = tree(tmp_path / "looks")
    assert sorted({name.partition("/")[0] for name in files}) == ["q1~pad~0", "q1~pad~0.attempt1"]
    assert files["q1~pad~0/1-after.png"] != files["q1~pad~0.attempt1/1-after.png"]


def test_without_its_parent_a_variant_is_shown_alone_unless_it_is_needed(dynamic: SampleSet, tmp_path: Path) -> None:
    alone = shutil.copytree(dynamic.folder, tmp_path / "alone")
    result = show(alone, "en-choice~pad~0")
    assert result.exit_code == 0 and "the variants are shown alone" in result.output
    assert "variant of en-choice: pad" in result.output
    result = show(alone, "en-choice~pad~0", "--replay")
    assert "is not beside it: name it with --parent" in str(result.exception)
    result = show(alone, "en-choice~pad~0", "--replay", "--parent", dynamic.folder.parent / "source")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("arguments", [("show", "--pictures", ""), ("audit", "-o", "")])
def test_an_empty_name_is_no_place_to_write_to(
    dynamic: SampleSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, *options = arguments
    result = CliRunner().invoke(commands, ["data", verb, str(dynamic.folder), *options])
    assert result.exit_code == 2 and "it is empty: name a file or folder" in result.output
    assert not list(tmp_path.iterdir())
