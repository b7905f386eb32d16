"""One contract over all benchmarks, other packages' too."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from mmdyn.data import ImageFolder
from mmdyn.errors import InputError
from mmdyn.plugins import load, names

FACTORS = {"variant", "chain", "context", "style", "language"}


@pytest.mark.parametrize("name", names("benchmarks"))
def test_it_is_one_class_made_without_arguments(name: str) -> None:
    benchmark = load("benchmarks", name)()
    assert benchmark.name == name
    assert type(benchmark).__name__.lower() == name.replace("_", "")
    assert isinstance(benchmark.contrasts, tuple) and set(benchmark.contrasts) <= FACTORS and benchmark.contrasts


@pytest.mark.parametrize("name", names("benchmarks"))
def test_it_names_its_source_and_licence(name: str) -> None:
    doc = inspect.getdoc(load("benchmarks", name)) or ""
    assert re.search(r"(github|huggingface)\.com?/\S+", doc) and re.search(r"Apache|MIT|CC BY|licence", doc)
    assert re.search(r"arXiv:\d{4}\.\d{5}|\d{4};", doc)


@pytest.mark.parametrize("name", names("benchmarks"))
def test_a_folder_without_the_data_is_refused(name: str, tmp_path: Path) -> None:
    benchmark = load("benchmarks", name)()
    (tmp_path / "empty").mkdir()
    for source in (tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(InputError) as refused:
            list(benchmark.read(source, ImageFolder(tmp_path)))
        assert str(source) in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("name", names("benchmarks"))
def test_a_file_of_something_else_is_refused(name: str, tmp_path: Path) -> None:
    benchmark = load("benchmarks", name)()
    for content in (b"\x89PNG\r\n\x1a\n", b"", b'{"some": "thing", "else": 1}\n', b"just words\n"):
        file = tmp_path / "file.jsonl"
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"file\.jsonl"):
            list(benchmark.read(file, ImageFolder(tmp_path)))
    for content in (b'[{"some": "thing"}]', b'{"some": [{"else": 1}]}', b'{"1": {"else": 1}}', b"[]", b'"x"', b"[1]"):
        file = tmp_path / "file.json"
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"file\.json"):
            list(benchmark.read(file, ImageFolder(tmp_path)))
    file = tmp_path / "file.parquet"
    parquet.write_table(pa.table({"some": ["thing"], "else": [1]}), file)
    with pytest.raises(InputError, match=r"file\.parquet"):
        list(benchmark.read(file, ImageFolder(tmp_path)))


@pytest.mark.parametrize("name", names("benchmarks"))
def test_its_layouts_are_patterns_from_the_root_of_its_release(name: str) -> None:
    benchmark = load("benchmarks", name)()
    patterns = [pattern for layout in benchmark.published for pattern in layout]
    assert all(isinstance(layout, tuple) and layout for layout in benchmark.published)
    assert not any(pattern.startswith(("/", ".")) or ".." in pattern or "**" in pattern for pattern in patterns)
