"""A TSV of VLMEvalKit by name: where it lies, and its pictures as VLMEvalKit finds them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from making import image_ref, picture
from mmdyn.data import SampleSet, convert
from mmdyn.errors import InputError

PNG, JPG = picture(), picture(format="JPEG")


@pytest.fixture
def lmu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "LMU"
    folder.mkdir()
    monkeypatch.setenv("LMUData", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


def tsv(file: Path, *rows: dict[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    table = [rows[0].keys(), *(row.values() for row in rows)]
    file.write_text("".join("\t".join(cells) + "\n" for cells in table))


def named(name: str, tmp_path: Path) -> SampleSet:
    return convert(None, tmp_path / "out", benchmark=f"vlmeval:{name}")


def test_rows_and_pictures_in_base64_and_by_index(lmu: Path, tmp_path: Path) -> None:
    row = {
        "index": "1",
        "question": "Which?",
        "hint": "Look.",
        "A": "cat",
        "B": "dog",
        "answer": "B",
        "category": "pets",
        "split": "dev",
    }
    again = {"index": "1000001", "A": "dog", "B": "cat", "answer": "A", "image": "1"}
    tsv(lmu / "MMBench_DEV_EN.tsv", row | {"image": base64.b64encode(PNG).decode()}, row | again)
    first, second = named("MMBench_DEV_EN", tmp_path)
    assert (first.id, first.question, first.answer) == ("1", "Look.\nWhich?", ("B",))
    assert first.fields == {"category": "pets", "split": "dev"}
    assert first.images == second.images == (image_ref(PNG),), "a cell of 64 characters or fewer names another row"


def test_pictures_by_path(lmu: Path, tmp_path: Path) -> None:
    own = lmu / "images" / "Own_Set"
    (own / "sub").mkdir(parents=True)
    (own / "a.png").write_bytes(PNG)
    (own / "sub" / "b.jpg").write_bytes(JPG)
    (lmu / "beside.png").write_bytes(PNG)
    paths = ["a.png", "['a.png', 'sub/b.jpg']", "images/Own_Set/a.png", str(own / "sub" / "b.jpg"), "beside.png"]
    rows = [{"index": str(n), "question": "q", "answer": "a", "image_path": path} for n, path in enumerate(paths)]
    tsv(lmu / "Own_Set.tsv", *rows)
    png, jpg = image_ref(PNG), image_ref(JPG, "jpg")
    assert [sample.images for sample in named("Own_Set", tmp_path)] == [(png,), (png, jpg), (png,), (jpg,), (png,)]


@pytest.mark.parametrize("path", ["../secret.png", "{tmp}/secret.png", "../../secret.png", "images/../../secret.png"])
def test_a_path_out_of_the_folder_is_refused(path: str, lmu: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(PNG)
    tsv(lmu / "X.tsv", {"index": "1", "question": "q", "answer": "a", "image_path": path.format(tmp=tmp_path)})
    with pytest.raises(InputError, match="leaves the folder"):
        named("X", tmp_path)


def test_one_that_is_not_there_says_how_to_fetch_it(lmu: Path, tmp_path: Path) -> None:
    (lmu / "MMBench_DEV_EN.tsv").touch()
    with pytest.raises(InputError) as refused:
        named("MMBench_DEV_CN", tmp_path)
    fetch = "python -c \"from vlmeval.dataset import build_dataset; build_dataset('MMBench_DEV_CN')\""
    assert str(refused.value) == (
        f"{lmu}/MMBench_DEV_CN.tsv: no such file (did you mean 'MMBench_DEV_EN'?): put the TSV of MMBench_DEV_CN there, "
        f"or fetch it with an installed VLMEvalKit: {fetch}"
    )


def test_without_the_variables_folder_it_is_in_the_home(
    lmu: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tsv(tmp_path / "home/LMUData/X.tsv", {"index": "1", "question": "q", "answer": "a"})
    for value in (str(tmp_path / "gone"), ""):
        monkeypatch.setenv("LMUData", value)
        assert [sample.id for sample in named("X", tmp_path)] == ["1"]
