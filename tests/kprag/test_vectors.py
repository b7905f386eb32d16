"""Vectors on disk: what is kept, what is embedded again, what is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from making_bases import WordVectors, kept

from kprag.retrieval import vectors as module

TEXTS = ["area of triangles", "volume of cubes", "area of triangles", "圆的面积"]


def test_chunks_are_saved_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 2)
    told: list[int] = []
    model = WordVectors()
    texts = [f"text {letter}" for letter in "abcde"]
    found = kept(tmp_path, model).encode(texts, told.append)
    assert (told, [len(call) for call in model.told]) == ([2, 2, 1], [2, 2, 1])
    np.testing.assert_array_equal(found, WordVectors().encode(texts))
    assert len(list(tmp_path.rglob("*.npy"))) == len(list(tmp_path.rglob("*.json"))) == 3


@pytest.mark.parametrize("damage", ["no listing", "cut off", "no array", "other count", "a pickle"])
def test_a_damaged_chunk_is_embedded_again(tmp_path: Path, damage: str) -> None:
    kept(tmp_path).encode(TEXTS)
    (array,), (listing,) = tmp_path.rglob("*.npy"), tmp_path.rglob("*.json")
    if damage == "no listing":
        listing.unlink()
    elif damage == "cut off":
        listing.write_bytes(listing.read_bytes()[:-5])
    elif damage == "no array":
        array.unlink()
    elif damage == "other count":
        np.save(array, np.zeros((2, 64), np.float32))
    else:
        np.save(array, np.array([{"a": 1}] * 3, dtype=object), allow_pickle=True)
    model = WordVectors()
    np.testing.assert_array_equal(kept(tmp_path, model).encode(TEXTS), WordVectors().encode(TEXTS))
    assert len(model.told) == 1


def test_queries_are_taken_from_disk_and_not_put_there(tmp_path: Path) -> None:
    model = WordVectors()
    some = kept(tmp_path, model)
    some.embed(["a query"])
    assert not list(tmp_path.rglob("*.npy"))
    some.encode(["a query"])
    some.embed(["a query"])
    assert len(model.told) == 2
