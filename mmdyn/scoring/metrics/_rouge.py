"""ROUGE-N: the overlap of word sequences."""

from __future__ import annotations

from collections import Counter

from mmdyn.scoring.metrics._words import plain_words


def rouge_n(given: str, gold: str, n: int) -> float:
    """The F measure over sequences of n words, each counted as often as it stands (Lin 2004, section 2, with the
    precision that ROUGE 1.5.5 gives beside the recall, weighed equally). Where `gold` has fewer than n words, the
    sequences are as long as it is.
    """
    words, right = plain_words(given), plain_words(gold)
    n = min(n, len(right))
    counts = [Counter(zip(*(each[start:] for start in range(n)), strict=False)) for each in (words, right)]
    return 2 * (counts[0] & counts[1]).total() / (counts[0].total() + counts[1].total())
