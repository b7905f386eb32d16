"""The structure of two texts, without knowing their words: how much of one is in the other, and whether roles were
swapped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

from perturb.judge._judge import AskedForm, Doubt, plain_text

LONGEST = 200
"""How many words of a changed stretch are looked at for two that traded places."""

_TOKEN = re.compile(r"[A-Za-z0-9À-ɏα-ωΑ-Ω]+(?:\.\d+)?|[\u4e00-\u9fff]|[，。；;,.?？!！:：、\n]")
_ARTICLE = re.compile(r"(?<![a-z,] )\bA(?= [a-z])")
_FRAME = re.compile("关于|有关|对于|而言|下列|下面|以下|如图(?:所示)?")
"""Words that say of what a sentence speaks, or point at what follows: they may stand anywhere in it."""
_HAN, _BETWEEN_HAN = re.compile(r"[\u4e00-\u9fff]"), re.compile(r"(?<=[\u4e00-\u9fff]) ")
_MARKS = frozenset("，。；;,.?？!！:：、\n")
_ENDS = frozenset("。；;.?？!！\n")
_ARTICLES = frozenset({"a", "an", "the"})
_LISTING = frozenset({*_MARKS, *"和与及或", "and", "or"})
_JOINING = _LISTING | {*"是还", "is", "are", "was", "were", "equal", "to"}
"""What may stand between two words that can be named in either order."""
_OPENING = frozenset({*"若如当设", "if", "when", "given", "suppose", "because", "since", "as", "after", "before"})
"""What begins a clause that may stand before or behind another."""
_ENDINGS = re.compile(r"(?<=[a-z]{4})(?:ing|ed|es|s|ly)$")

_MOST_LEFT_OUT, _MOST_PUT_IN = {1: 3, 2: 5}, {1: 2, 2: 4}
"""How many words, or Chinese characters, one text may have more than the other without putting them into other words:
where words changed, and where one text is the other with something put in."""

SENTENCE_END = re.compile(
    r"(?<=[。！？；!?;\n)）])|(?<=\.)(?=[\s\u4e00-\u9fff])|(?=[(（](?:[\u4e00-\u9fff]|[A-Za-z]{3}))"
)
"""Where a text is parted into sentences; what stands in brackets counts as one."""

_LEAST_OVERLAP = 0.3
_UNSURE = 0.75


def check_structure(a: AskedForm, b: AskedForm) -> Doubt | None:
    """What in the build of a variant's words speaks against it, certain of nothing; None where nothing does."""
    if a.stem == b.stem:
        return None
    before, after = plain_text(a.stem), plain_text(b.stem)
    if overlap(before, after) < _LEAST_OVERLAP:
        return Doubt("hardly a word is the same", certain=False, confidence=_UNSURE)
    if (a.form, a.sample.task_type) != (b.form, b.sample.task_type):
        return None
    if pair := swapped(before, after):
        return Doubt(f"{pair[0][:40]} and {pair[1][:40]} traded places", certain=False, confidence=_UNSURE)
    gone, new = unmatched(before, after)
    most = _MOST_PUT_IN if _holds(before, after) or _holds(after, before) else _MOST_LEFT_OUT
    few = 2 * min(gone, new) <= abs(gone - new) > most[_words(before)[1]]
    if few or _stands_alone(after, before) or _stands_alone(before, after):
        return Doubt(f"words were {'left out' if gone > new else 'added'}", certain=False, confidence=_UNSURE)
    return None


def swapped(before: str, after: str) -> tuple[str, str] | None:
    """The words, or runs of words, that traded places such as the arguments of "A is larger than B"; None where none
    did.

    They did where a clause, a sentence or the whole of one text reads A M B, of the other B M A, and M does not
    join them as items of a list or sides of an equation. Clauses that move as a whole, and roles that turn with
    their verb ("B is smaller than A"), are no swaps.
    """
    for ends in (_MARKS, _ENDS, frozenset[str]()):
        old, new = _stretches(before, ends), _stretches(after, ends)
        for words, stretch in old.items():
            if words in new and (pair := _exchanged(stretch, new[words])):
                return pair
    return None


def unmatched(before: str, after: str) -> tuple[int, int]:
    """How many words (or Chinese characters) of each text, stop words apart, the other one does not have."""
    a, b = (set(_words(text)[0]) - _stopwords() for text in (before, after))
    return len(a - b), len(b - a)


def _stands_alone(text: str, other: str) -> bool:
    """Whether a text has more sentences than another one, and a sentence that shares no word with it, such as a
    hint."""
    size = _words(text)[1]
    sentences, others = _sentences(text, size), _sentences(other, size)
    known = _content(other, size)
    return len(sentences) > len(others) and any(known.isdisjoint(sentence) for sentence in sentences)


def _sentences(text: str, size: int) -> list[set[tuple[str, ...]]]:
    """What each sentence says, but for those of one word."""
    found = (_content(part, size) for part in SENTENCE_END.split(text))
    return [sentence for sentence in found if len(sentence) > size]


def _content(text: str, size: int) -> set[tuple[str, ...]]:
    """The words of a text, or its pairs of characters for a `size` of 2, without those of stop words alone."""
    tokens = _words(text)[0]
    grams = zip(*(tokens[shift:] for shift in range(size)), strict=False)
    return {gram for gram in grams if not _stopwords().issuperset(gram)}


def _holds(text: str, other: str) -> bool:
    """Whether all words of the other stand in a text in their order."""
    words = iter(_words(text)[0])
    return all(word in words for word in _words(other)[0])


def overlap(before: str, after: str) -> float:
    """The share of the shorter text's words (or characters) that the other one has too, in [0, 1]; 1 for no words."""
    a, b = Counter(_words(before)[0]), Counter(_words(after)[0])
    least = min(a.total(), b.total())
    return (a & b).total() / least if least else 1.0


@lru_cache(maxsize=512)
def _words(text: str) -> tuple[tuple[str, ...], int]:
    """A text's words in order without marks, and how many make one that is compared: of Chinese characters two, of
    words, stop words apart, one."""
    found = [token for token in _tokens(text) if token not in _MARKS]
    if 2 * sum(map(bool, map(_HAN.match, found))) > len(found):
        return tuple(found), 2
    return tuple(_ENDINGS.sub("", token) for token in found if token not in _stopwords()), 1


@lru_cache(maxsize=512)
def _tokens(text: str) -> tuple[str, ...]:
    text = _FRAME.sub("", _ARTICLE.sub("a", text))
    return tuple(token if len(token) == 1 else token.lower() for token in _TOKEN.findall(text))


def _stretches(text: str, ends: frozenset[str]) -> dict[tuple[str, ...], list[str]]:
    """The stretches of a text between marks, by their words in alphabetical order."""
    stretches = list[list[str]]([[]])
    for token in _tokens(text):
        if token in ends:
            stretches.append([])
        elif token not in _ARTICLES:
            stretches[-1].append(_ENDINGS.sub("", token))
    return {tuple(sorted(stretch)): stretch for stretch in stretches}


def _exchanged(before: list[str], after: list[str]) -> tuple[str, str] | None:
    """What stands first and last in a stretch whose other order is the same but for those two."""
    ahead, behind = shared_ends(before, after)
    a, b = before[ahead : len(before) - behind], after[ahead : len(after) - behind]
    if len(a) > LONGEST or not _OPENING.isdisjoint(a[:1] + b[:1]):
        return None
    for first in range(1, len(a) - 1):
        if a[:first] != b[-first:]:
            continue
        for last in range(1, len(a) - first):
            between = a[first:-last]
            listed = _JOINING.issuperset(between) or _LISTING.issuperset((between[0], between[-1]))
            if a[-last:] == b[:last] and between == b[last:-first] and not listed:
                return _BETWEEN_HAN.sub("", " ".join(a[:first])), _BETWEEN_HAN.sub("", " ".join(a[-last:]))
    return None


def shared_ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """How many words, or sentences, two texts share at their beginning and at their end: those did not trade places."""
    least = min(len(a), len(b))
    ahead = next((place for place in range(least) if a[place] != b[place]), least)
    behind = next((place for place in range(least - ahead) if a[-1 - place] != b[-1 - place]), least - ahead)
    return ahead, behind


@cache
def _stopwords() -> frozenset[str]:
    return frozenset(files("mmdyn.text").joinpath("stopwords.txt").read_text(encoding="utf-8").split())
