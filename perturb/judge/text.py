"""The structure of two texts, without knowing their words: how much of one is in the other, and whether roles were
swapped."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from perturb.judge._forms import AskedForm
from perturb.judge._judge import Doubt

WINDOW = 12
"""How many words, or Chinese characters, of its clause are a word's surroundings, to either side."""

LONGEST = 600
"""How many words of a changed stretch are looked at: a variant rearranges sentences, not whole texts."""

_PASSIVE = re.compile("被")
"""Who turns a sentence into the passive swaps its roles rightly."""

STRENGTH = {1: 1, 2: 2}
FIT = 0.4
"""What a swap of words, or of pairs of Chinese characters, needs: neighbours gained, and their share of the
surroundings.

Both are the best on one half of PAWS-X (bench/judging.py prints how they do on the other); in Chinese a strength of 1
is right a little more often there, but rejects more exam questions that were only put into another order.
"""

_TOKEN = re.compile(r"[A-Za-z0-9À-ɏα-ωΑ-Ω]+(?:\.\d+)?|[\u4e00-\u9fff]|[，。；;,.?？!！:：\n]")
_ARTICLE = re.compile(r"(?<![a-z,] )\bA(?= [a-z])")
_FRAME = re.compile("关于|有关|对于|而言|下列|下面|以下|如图(?:所示)?")
"""Words that say of what a sentence speaks, or point at what follows: they may stand anywhere in it."""
_EITHER = re.compile(r"([\u4e00-\u9fff]{2})还是会?([\u4e00-\u9fff]{2})")
"""Two answers to choose from, in either order: 增大还是减小."""
_HAN = re.compile(r"[\u4e00-\u9fff]")
_MARKS = frozenset("，。；;,.?？!！:：\n")
_LISTING = frozenset({",", "and", "or"})
_ENDINGS = re.compile(r"(?<=[a-z]{4})(?:ing|ed|es|s|ly)$")

_MOST_LEFT_OUT, _MOST_PUT_IN = {1: 3, 2: 5}, {1: 2, 2: 4}
"""How many words, or Chinese characters, one text may have more than the other without putting them into other words:
where words changed, and where one text is the other with something put in."""

SENTENCE_END = re.compile(r"(?<=[。！？；!?;\n)）])|(?<=\.)(?=\s)|(?=[(（])")
"""Where a text is parted into sentences; what stands in brackets counts as one."""

_LEAST_OVERLAP = 0.3
_UNSURE = 0.75


def check_structure(a: AskedForm, b: AskedForm) -> Doubt | None:
    """What in the build of a variant's words speaks against it, certain of nothing; None where nothing does."""
    if a.stem == b.stem:
        return None
    if overlap(a.stem, b.stem) < _LEAST_OVERLAP:
        return Doubt("hardly a word is the same", certain=False, confidence=_UNSURE)
    if (a.form, a.sample.task_type) != (b.form, b.sample.task_type):
        return None
    if pair := swapped(a.stem, b.stem):
        return Doubt(f"{pair[0]} and {pair[1]} traded places", certain=False, confidence=_UNSURE)
    gone, new = unmatched(a.stem, b.stem)
    most = _MOST_PUT_IN if _holds(a.stem, b.stem) or _holds(b.stem, a.stem) else _MOST_LEFT_OUT
    few = 2 * min(gone, new) <= abs(gone - new) > most[_words(a.stem).size]
    if few or _stands_alone(b.stem, a.stem) or _stands_alone(a.stem, b.stem):
        return Doubt(f"words were {'left out' if gone > new else 'added'}", certain=False, confidence=_UNSURE)
    return None


def swapped(before: str, after: str) -> tuple[str, str] | None:
    """The two words that traded places, such as the arguments of "A is larger than B"; None where none did.

    Two words, or in Chinese two pairs of characters, traded places where each has gained STRENGTH neighbours of the
    other's clause over its own and shares FIT of them; and, of words, where one took over a word right beside the other
    ("than"). So a clause that moves as a whole is no swap, for its words keep their neighbours, nor is another order of
    a list, nor the passive in Chinese. The pairs of PAWS (Zhang et al., NAACL 2019) differ by such swaps.
    """
    if len(_PASSIVE.findall(before)) != len(_PASSIVE.findall(after)):
        return None
    a, b = _words(before), _words(after)
    ahead, behind = shared_ends(a.tokens, b.tokens)
    first, second = _places(a, ahead, behind), _places(b, ahead, behind)
    count, again = Counter(gram for gram, _ in first), Counter(gram for gram, _ in second)
    shared = [word for word in first if word in second and count[word[0]] == again[word[0]]]
    old, new = [first[word] for word in shared], [second[word] for word in shared]
    order = np.array(new)
    if len(shared) < 2 or bool((np.diff(order) > 0).all()):
        return None
    gain = np.where(np.triu(order[:, None] > order[None, :], 1), _gains(a, b, old, new), 0)
    for best in np.argsort(-gain, axis=None, kind="stable"):
        one, other = divmod(int(best), len(shared))
        if gain[one, other] < STRENGTH[a.size]:
            return None
        if a.size == 2 or _took_over(a, b, (old[one], old[other]), (new[one], new[other])):
            return "".join(shared[one][0]), "".join(shared[other][0])
    return None


def unmatched(before: str, after: str) -> tuple[int, int]:
    """How many words (or Chinese characters) of each text, stop words apart, the other one does not have."""
    a, b = (set(_words(text).tokens) - _stopwords() for text in (before, after))
    return len(a - b), len(b - a)


def _stands_alone(text: str, other: str) -> bool:
    """Whether a text has more sentences than another one, and a sentence that shares no word with it, such as a
    hint."""
    size = _words(text).size
    sentences, others = _sentences(text, size), _sentences(other, size)
    known = _content(other, size)
    return len(sentences) > len(others) and any(known.isdisjoint(sentence) for sentence in sentences)


def _sentences(text: str, size: int) -> list[set[tuple[str, ...]]]:
    """What each sentence says, but for those of one word."""
    found = (_content(part, size) for part in SENTENCE_END.split(text))
    return [sentence for sentence in found if len(sentence) > size]


def _content(text: str, size: int) -> set[tuple[str, ...]]:
    """The words of a text, or its pairs of characters for a `size` of 2, without those of stop words alone."""
    tokens = _words(text).tokens
    grams = zip(*(tokens[shift:] for shift in range(size)), strict=False)
    return {gram for gram in grams if not _stopwords().issuperset(gram)}


def _holds(text: str, other: str) -> bool:
    """Whether all words of the other stand in a text in their order."""
    words = iter(_words(text).tokens)
    return all(word in words for word in _words(other).tokens)


def overlap(before: str, after: str) -> float:
    """The share of the shorter text's words (or characters) that the other one has too, in [0, 1]; 1 for no words."""
    a, b = Counter(_words(before).tokens), Counter(_words(after).tokens)
    least = min(a.total(), b.total())
    return (a & b).total() / least if least else 1.0


class _Words(Struct, frozen=True, eq=False):
    """A text's words in order, each with its clause and with what stands before it and is none: stop words and marks.

    `size`: how many words make one that is compared.
    """

    tokens: tuple[str, ...]
    clauses: tuple[int, ...]
    gaps: tuple[tuple[str, ...], ...]
    size: int


Word: TypeAlias = tuple[tuple[str, ...], int]
"""A word, or a pair of characters, and which one it is of those that are alike, from 0."""


@lru_cache(maxsize=512)
def _words(text: str) -> _Words:
    text = _FRAME.sub("", _ARTICLE.sub("a", _EITHER.sub(lambda found: "还是".join(sorted(found.groups())), text)))
    found = [token if len(token) == 1 else token.lower() for token in _TOKEN.findall(text)]
    size = 2 if 2 * sum(map(bool, map(_HAN.match, found))) > len(found) else 1
    tokens, clauses, gaps, clause = list[str](), list[int](), list[tuple[str, ...]](), 0
    gap = list[str]()
    for token in found:
        if token in _MARKS or (size == 1 and token in _stopwords()):
            clause += token in _MARKS
            gap.append(token)
            continue
        tokens.append(token if size == 2 else _ENDINGS.sub("", token))
        clauses.append(clause)
        gaps.append(tuple(gap))
        gap = []
    gaps.append(tuple(gap))
    return _Words(tuple(tokens), tuple(clauses), tuple(gaps), size)


def shared_ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """How many words, or sentences, two texts share at their beginning and at their end: those did not trade places."""
    least = min(len(a), len(b))
    ahead = next((place for place in range(least) if a[place] != b[place]), least)
    behind = next((place for place in range(least - ahead) if a[-1 - place] != b[-1 - place]), least - ahead)
    return ahead, behind


def _places(words: _Words, ahead: int, behind: int) -> dict[Word, int]:
    """Where the words between two ends begin, LONGEST of them at most; a pair of characters stands in one clause."""
    places, count = dict[Word, int](), Counter[tuple[str, ...]]()
    last = words.size - 1
    begin = max(0, ahead - last)
    for place in range(begin, min(begin + LONGEST, len(words.tokens) - max(behind, last))):
        if words.clauses[place] == words.clauses[place + last]:
            gram = words.tokens[place : place + words.size]
            places[gram, count[gram]] = place
            count[gram] += 1
    return places


def _gains(a: _Words, b: _Words, old: list[int], new: list[int]) -> NDArray[np.float32]:
    """How many neighbours words i and j gain by standing in each other's place: shape (n, n); 0 where they do not
    fit."""
    one = a.tokens[max(0, min(old) - WINDOW) : max(old) + WINDOW + 2]
    other = b.tokens[max(0, min(new) - WINDOW) : max(new) + WINDOW + 2]
    known = {token: number for number, token in enumerate(dict.fromkeys(one + other))}
    home, away = _surroundings(a, old, known), _surroundings(b, new, known)
    near = home @ away.T
    both, fewest = near + near.T, np.minimum(home.sum(1)[:, None], away.sum(1)[None, :])
    kept = np.diag(near)
    return np.where(both >= FIT * (fewest + fewest.T), both - kept[:, None] - kept[None, :], 0)


def _surroundings(words: _Words, places: list[int], known: dict[str, int]) -> NDArray[np.float32]:
    """Which tokens of its clause stand left and right of the word at each place: shape (places, 2 * tokens), of zeros
    and ones."""
    table = np.zeros((len(places), 2, len(known)), np.float32)
    numbers = [known.get(token, 0) for token in words.tokens]
    for row, place in enumerate(places):
        clause = words.clauses[place]
        begin = max(bisect_left(words.clauses, clause), place - WINDOW)
        end = min(bisect_right(words.clauses, clause), place + words.size + WINDOW)
        table[row, 0, numbers[begin:place]] = 1
        table[row, 1, numbers[place + words.size : end]] = 1
    return table.reshape(len(places), -1)


def _took_over(a: _Words, b: _Words, old: tuple[int, int], new: tuple[int, int]) -> bool:
    """Whether one of two words has a word beside it that the other one had, and they are no items of one list."""
    if all(gap and _LISTING.issuperset(gap) for gap in a.gaps[old[0] + 1 : old[1] + 1]):
        return False
    had, have = [_beside(a, place) for place in old], [_beside(b, place) for place in new]
    return any(x and x == y for x, y in zip(had[0] + had[1], have[1] + have[0], strict=True))


def _beside(words: _Words, place: int) -> tuple[str, str]:
    """The word right before and the one right after a word, stop words too; the empty string where a clause ends."""
    before, after = words.gaps[place], words.gaps[place + 1]
    left = before[-1] if before else words.tokens[place - 1] if place else ""
    right = after[0] if after else words.tokens[place + 1] if place + 1 < len(words.tokens) else ""
    return ("" if left in _MARKS else left), ("" if right in _MARKS else right)


@cache
def _stopwords() -> frozenset[str]:
    return frozenset(files("mmdyn.text").joinpath("stopwords.txt").read_text(encoding="utf-8").split())
