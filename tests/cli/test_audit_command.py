"""mmdyn data show of a dynamic set."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from making_sets import make_set, tree

from mmdyn.cli import commands
from mmdyn.data.set_folder import SampleSet
from perturb.pipeline import perturb


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
    assert len(rows) == 1 and rows[0].count("answer:") == 2
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


def test_without_its_parent_a_variant_is_shown_alone_unless_it_is_needed(dynamic: SampleSet, tmp_path: Path) -> None:
    alone = shutil.copytree(dynamic.folder, tmp_path / "alone")
    result = show(alone, "en-choice~pad~0")
    assert result.exit_code == 0 and "the variants are shown alone" in result.output
    assert "variant of en-choice: pad" in result.output
    result = show(alone, "en-choice~pad~0", "--replay")
    assert "is not beside it: name it with --parent" in str(result.exception)
    result = show(alone, "en-choice~pad~0", "--replay", "--parent", dynamic.folder.parent / "source")
    assert result.exit_code == 0, result.output
