"""Texts as words, for metrics that count words and sequences of them."""

from __future__ import annotations

import re
from collections import Counter

from mmdyn.text import CHINESE, one_spelling, plain_words

_ARTICLES = frozenset({"a", "an", "the"})
_THOUSANDS, _LISTED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), re.compile(r"(?<=\d),(?=\d)")
_SIGNS = (
    r"-(?=\.?\d)|(?<!\w)-(?=\w)",  # minus, not a hyphen
    r"(?<=\d)[.:](?=\d)|(?<!\w)\.(?=\d)|(?<=\d)%",
    r"(?<=[^\W_])[*/^+](?=[^\W_])|[<=>]",
)
_MARKS = (
    r"[!-/:-@\[-`{-~\u00a1\u00a7\u00ab\u00b6\u00b7\u00bb\u00bf\u2010-\u2027\u2030-\u205e"
    r"\u3001-\u3003\u3008-\u3011\u3014-\u301f]"
)
_SIGN_OR_MARK = re.compile(rf"({'|'.join(_SIGNS)})|{_MARKS}")
_WIDE_MARK = re.compile(r"[，。、；？！]|：(?!\d)")
"""Between words of Chinese texts there is no space, but where one of these stands."""

_IDEOGRAPH = re.compile(f"([{CHINESE}])")


def normal_words(text: str) -> list[str]:
    """Words as SQuAD compares them: small letters, no punctuation, no articles (Rajpurkar et al. 2016, section 6.1).

    Other than there, what makes another number or relation stays (-5, 3.5, 1/2, 50%, x<2), a Chinese character is a
    word (as in CMRC 2018: Cui et al. 2019), and a text of nothing but articles or punctuation keeps them, so that a
    text which is not blank always has words.
    """
    spelt = one_spelling(_WIDE_MARK.sub(" ", text)).lower()
    bare = _SIGN_OR_MARK.sub(lambda found: found[1] or "", _LISTED.sub(" ", _THOUSANDS.sub("", spelt)))
    words = _IDEOGRAPH.sub(r" \1 ", bare).split()
    return [word for word in words if word not in _ARTICLES] or words or text.split()


def rouge_n(given: str, gold: str, n: int) -> float:
    """The F measure over sequences of n words, each counted as often as it stands (Lin 2004, section 2, with the
    precision that ROUGE 1.5.5 gives beside the recall, weighed equally). Where `gold` has fewer than n words, the
    sequences are as long as it is.
    """
    words, right = plain_words(given), plain_words(gold)
    n = min(n, len(right))
    counts = [Counter(zip(*(each[start:] for start in range(n)), strict=False)) for each in (words, right)]
    return 2 * (counts[0] & counts[1]).total() / (counts[0].total() + counts[1].total())
