"""Texts that are nearly the same, among many: MinHash and locality-sensitive hashing, by datasketch."""

from __future__ import annotations

import re
from hashlib import sha1
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mmdyn.errors import MissingExtra
from mmdyn.text import fold

PERMUTATIONS = 128
_GRAMS = 3
_HAN = re.compile(r"[\u3400-\u9fff]")
_HAN_OR_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+|[^\w\s]")


class Sketch(Struct, frozen=True):
    """A text as it is looked up and taken in: its word triples, sorted, as 64-bit hashes, and their MinHash."""

    triples: NDArray[np.uint64]
    hashed: Any


class NearTexts:
    """Texts under their ids; those are alike that have a share of word triples in common (Broder 1997).

    Characters stand for words in Chinese and in a text without spaces. The share is measured on the triples themselves,
    as 64-bit hashes: MinHash only finds whom to compare. Raises MissingExtra.
    """

    def __init__(self, likeness: float) -> None:
        try:
            import datasketch
        except ModuleNotFoundError:
            raise MissingExtra("datasketch", "build") from None
        self._hashed: Any = datasketch.MinHash
        self._index: Any = datasketch.MinHashLSH(threshold=max(0.05, likeness - 0.1), num_perm=PERMUTATIONS)
        self._likeness, self._triples = likeness, dict[str, NDArray[np.uint64]]()

    def sketch(self, text: str) -> Sketch:
        """What a text is looked up and taken in by."""
        digests = [sha1(gram.encode(), usedforsecurity=False).digest()[:8] for gram in _grams_of(text)]
        triples = np.unique(np.frombuffer(b"".join(digests), np.uint64))
        hashed = self._hashed(num_perm=PERMUTATIONS, hashfunc=lambda triple: triple & 0xFFFFFFFF)
        hashed.update_batch(triples.tolist())
        return Sketch(triples, hashed)

    def near(self, text: Sketch) -> dict[str, float]:
        """The ids of texts that are alike, each with the share of triples in common; the most alike first."""
        shares = {str(other): _share(text.triples, self._triples[other]) for other in self._index.query(text.hashed)}
        alike = sorted((id for id in shares if shares[id] >= self._likeness), key=lambda id: (-shares[id], id))
        return {id: shares[id] for id in alike}

    def add(self, id: str, text: Sketch) -> None:
        """Take a text in."""
        self._triples[id] = text.triples
        self._index.insert(id, text.hashed)


def _grams_of(text: str) -> frozenset[str]:
    folded = fold(text).casefold()
    chinese, spaced = _HAN.search(folded), " " in folded
    words = _HAN_OR_WORD.findall(folded) if chinese else folded.split() if spaced else list(folded)
    return frozenset(" ".join(words[at : at + _GRAMS]) for at in range(max(1, len(words) - _GRAMS + 1)))


def _share(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)
