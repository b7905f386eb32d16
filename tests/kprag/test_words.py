"""Texts as the words of the lexical index."""

from __future__ import annotations

import pytest

from kprag.retrieval import words as module
from kprag.retrieval.words import words
from mmdyn.errors import MissingExtra


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The areas of Triangles", ["area", "triangl"]),
        ("三角形的面积", ["三角", "角形", "形的", "的面", "面积"]),
        ("圆", ["圆"]),
        ("求triangle的面积V", ["求", "triangl", "的面", "面积", "v"]),
        ("ＡＲＥＡ　of ２ circles", ["area", "circl"]),
        ("3 + 4.5 = 7_5, x²", ["x"]),
        ("Größe der Straße", ["größe", "der", "straße"]),
        ("", []),
        ("of the and 12", []),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_a_missing_stemmer_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    module._stemmer.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"^PyStemmer is needed .*: pip install 'mmdyn\[knowledge\]'$"):
            words("area")
    finally:
        module._stemmer.cache_clear()
