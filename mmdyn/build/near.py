"""Texts that are nearly the same, among many: MinHash and locality-sensitive hashing, by datasketch."""

from __future__ import annotations

import re
from typing import Any

from mmdyn.errors import MissingExtra
from mmdyn.text import fold

PERMUTATIONS = 128
_GRAMS = 3
_HAN = re.compile(r"[\u3400-\u9fff]")
_HAN_OR_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+|[^\w\s]")


class NearTexts:
    """Texts under their ids; those are alike that have a share of word triples in common (Broder 1997).

    Characters stand for words in Chinese and in a text without spaces. The share is measured on the triples themselves:
    hashing only finds whom to compare. Raises MissingExtra.
    """

    def __init__(self, likeness: float) -> None:
        try:
            import datasketch
        except ModuleNotFoundError:
            raise MissingExtra("datasketch", "build") from None
        self._hashed: Any = datasketch.MinHash
        self._index: Any = datasketch.MinHashLSH(threshold=max(0.05, likeness - 0.1), num_perm=PERMUTATIONS)
        self._likeness, self._grams = likeness, dict[str, frozenset[str]]()

    def near(self, text: str) -> list[str]:
        """The ids of texts that are alike, the most alike first."""
        grams = _grams_of(text)
        shares = {str(other): _share(grams, self._grams[other]) for other in self._index.query(self._sketch(grams))}
        return sorted((id for id, share in shares.items() if share >= self._likeness), key=lambda id: (-shares[id], id))

    def add(self, id: str, text: str) -> None:
        """Take a text in."""
        self._grams[id] = _grams_of(text)
        self._index.insert(id, self._sketch(self._grams[id]))

    def _sketch(self, grams: frozenset[str]) -> Any:
        sketch = self._hashed(num_perm=PERMUTATIONS)
        sketch.update_batch([gram.encode() for gram in grams])
        return sketch


def _grams_of(text: str) -> frozenset[str]:
    folded = fold(text).casefold()
    chinese, spaced = _HAN.search(folded), " " in folded
    words = _HAN_OR_WORD.findall(folded) if chinese else folded.split() if spaced else list(folded)
    return frozenset(" ".join(words[at : at + _GRAMS]) for at in range(max(1, len(words) - _GRAMS + 1)))


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)
