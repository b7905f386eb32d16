"""Retrieval by words: what the words of a text are, BM25 over them, and fused with retrieval by meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mmdyn.errors import MissingExtra
from mmdyn.text import one_spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]
    from mmdyn.models import Vectors

_RUN = re.compile(r"[^\W\d_\u3400-\u9fff]+|[\u3400-\u9fff]+")
_HAN = "\u3400", "\u9fff"
Stem = Callable[[list[str]], list[str]]

K1, B = 1.5, 0.75
"""How soon a word's repetition stops to count, and how much long texts pay for their length: the usual values."""


class Lexical:
    """BM25 over passages; a query's words count once each, however often it says them.

    Source: Robertson and Zaragoza, Foundations and Trends in Information Retrieval 3 (2009) 333; the form of the
        inverse document frequency that is never negative (Lucene's).
    """

    def __init__(self, index: Any, count: int) -> None:
        self._index, self._count = index, count

    @staticmethod
    def build(passages: Sequence[Sequence[str]]) -> Lexical:
        """An index of passages, each given as its words. Raises MissingExtra."""
        index = _bm25s().BM25(k1=K1, b=B, method="lucene")
        if any(passages):
            index.index([list(passage) for passage in passages], show_progress=False)
        return Lexical(index, len(passages))

    def scores(self, query: str) -> Scores:
        """Float32 of shape (passages,), from 0 to less than 1: how well each passage fits a text.

        It is the share of the score that a passage with endless repetitions of each of the text's words would have.
        Words that no passage has are among them, and are the rarest.
        """
        vocabulary: dict[str, int] = getattr(self._index, "vocab_dict", {})
        asked = dict.fromkeys(words(query))
        known = [vocabulary[word] for word in asked if word in vocabulary]
        if not known:
            return np.zeros(self._count, np.float32)
        found = np.asarray(self._index.get_scores_from_ids(known), np.float32)
        return found / self._most(known, len(asked) - len(known))

    def _most(self, known: Sequence[int], unknown: int) -> float:
        """The sum of the inverse document frequencies of some words, of which some are in no passage."""
        starts, places = self._index.scores["indptr"], np.array(known)
        holding = np.append(starts[places + 1] - starts[places], np.zeros(unknown))
        return float(np.log(1 + (self._count - holding + 0.5) / (holding + 0.5)).sum())

    def save(self, folder: Path) -> None:
        """Write the index: arrays in NumPy's format and JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        if hasattr(self._index, "vocab_dict"):
            self._index.save(str(folder), show_progress=False)

    @staticmethod
    def load(folder: Path, count: int) -> Lexical:
        """Open what `save` wrote for so many passages. Raises MissingExtra, and OSError or ValueError for damaged
        files."""
        bm25s = _bm25s()
        saved = (folder / "params.index.json").is_file()
        return Lexical(bm25s.BM25.load(str(folder)) if saved else bm25s.BM25(), count)


def _bm25s() -> Any:
    if not find_spec("bm25s"):
        raise MissingExtra("bm25s", "knowledge")
    import bm25s

    return bm25s


def words(text: str) -> list[str]:
    """The words of a text in any mix of languages, in order.

    Words in letters are folded to lower case and stemmed by the rules for English (Porter2), without those that only
    join others; Chinese becomes pairs of neighbouring characters. Numbers are left out: those of a question are no
    knowledge. Raises MissingExtra.
    """
    found: list[str] = []
    stops, stem = _stop_words(), _stemmer()
    for run in _RUN.findall(one_spelling(text).lower()):
        if _HAN[0] <= run[0] <= _HAN[1]:
            found += [run[start : start + 2] for start in range(len(run) - 1)] or [run]
        elif run not in stops:
            found.append(run)
    return stem(found)


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(files("mmdyn.text").joinpath("stopwords.txt").read_text(encoding="utf-8").split())


@cache
def _stemmer() -> Stem:
    if not find_spec("Stemmer"):
        raise MissingExtra("PyStemmer", "knowledge")
    from Stemmer import Stemmer

    stem: Stem = Stemmer("english").stemWords
    return stem


SHARE, POWER = 0.1, 1.5
"""The share of a question's words that counts as much as one standard deviation of meaning, and how steeply larger ones
count
more: a word that is met by chance is next to nothing. Why these: docs/knowledge.md."""


def dense_scores(vectors: Vectors, query: Vectors) -> Scores:
    """Float32 of shape (passages,), from 0: how far the cosine with a query is above the mean over all passages.

    Args:
        vectors: of length 1, float32 of shape (passages, dimensions); they may lie in a file.
        query: of length 1, float32 of shape (dimensions,).
    """
    cosines: Scores = vectors @ query
    above: Scores = np.maximum(cosines - cosines.mean(), 0)
    return above


def fused(lexical: Scores, dense: Scores) -> Scores:
    """What words and vectors say of the same points, as one.

    `lexical` are shares (`Lexical.scores`), so words count as far as they cover the question; in standard deviations,
    the single word that a short name has in common with it would stand out as much as a text that covers it. `dense` is
    in standard deviations from its mean over the points, since cosines have no such scale. Source: Bruch, Gai and
    Ingber, ACM TOIS 42 (2023) 20, on scores by their theoretical bounds; the power is our own.
    """
    return (lexical / SHARE) ** POWER + _standard(dense)


def _standard(scores: Scores) -> Scores:
    """Zeros where all scores are equal: such a retriever has nothing to say."""
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread > 0 else scores * 0
