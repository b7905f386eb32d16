"""One test over all file formats, other packages' too: there and back, and what every reader does with a bad file."""

from __future__ import annotations

from pathlib import Path

import pytest

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn import plugins
from mmdyn.data import ImageFolder
from mmdyn.errors import InputError

OURS = ["jsonl", "parquet", "tsv"]


def test_all_formats_are_listed() -> None:
    assert set(OURS) <= set(plugins.names("formats"))


@pytest.mark.parametrize("name", OURS)
def test_every_task_type_comes_back_equal(tmp_path: Path, name: str) -> None:
    data = picture()
    samples = [choice(images=(image_ref(data),)), multi(), blank(), true_false(answer=False), open_ended(language="zh")]
    source = write_set(tmp_path / "set", samples, images=[data])
    format = plugins.load("formats", name)()
    file = tmp_path / f"out{format.suffixes[0]}"
    format.write(source, file)
    images = ImageFolder(tmp_path / "back")
    rows = list(format.read(file, images))
    assert [row.problem for row in rows] == [""] * 5
    assert [row.sample for row in rows] == samples
    assert images.read(image_ref(data)) == data


@pytest.mark.parametrize("name", OURS)
def test_an_empty_or_foreign_file_is_told(tmp_path: Path, name: str) -> None:
    format = plugins.load("formats", name)()
    file = tmp_path / f"bad{format.suffixes[0]}"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(InputError) as caught:
        list(format.read(file, ImageFolder(tmp_path)))
    assert str(file) in str(caught.value)
