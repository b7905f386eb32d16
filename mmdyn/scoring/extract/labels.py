"""Option labels and options' own words in a response: one, or several in any style (A, C and D; ACD; A、C)."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from msgspec import Struct

from mmdyn.scoring.extract.tables import pattern, words
from mmdyn.text import fold, read_number, visible_text

_OPEN = r"[\s(\[{<'【〔:\\]{0,9}"
_CLOSE = r"[\s)\]}>'】〕]{0,6}"
_WORD, _AND, _OR = (pattern(f"labels.{name}").pattern for name in ("word", "and", "hedge"))
_AT = r"\((?:[-\d.]{1,9}|[a-z])(?:\s?,\s?(?:[-\d.]{1,9}|[a-z])){1,3}\)"
_APART = (
    rf"(?![A-Za-z0-9À-ɏ_^]|['’][A-Za-z]|-[A-Za-z0-9]|\s?[=≈∩∪^×÷+]|\s[<>]\s|\.\s?e\.|{_AT}"
    r"|点|组|级|型|班|细胞|语言|极)"
)
"""A letter that stands alone: no part of a name or a formula, as in the point A(2,3) or C(n,k)."""
_ENDED = rf"(?={_CLOSE}(?:[.,;:。、!]|$|\n|<))"
_GLOSS = r"(?:\s?\([^()\n]{2,40}\))?"
_SEPARATOR = re.compile(
    rf"{_CLOSE}{_GLOSS}\s{{0,3}}(?:(?:[,、;&]|(?=\())\s{{0,3}}(?:{_AND})?|{_AND}|\s{{1,3}}(?=[A-Z](?:[\s.。,;]|$)))"
)
_ANOTHER = re.compile(
    rf"[^\S\n]{{0,3}}[)\]}}>'】〕]{{0,3}}{_GLOSS}(?:(?:[^\S\n]|[,;、&+/(–—~-]|{pattern('labels.more').pattern}){{1,12}}"
    rf"[A-Z](?![A-Za-z0-9À-ɏ_^'’-]|\s?[=≈]|\s[a-z])|\.[^\S\n]?[A-Z](?=\W*(?:\n|$)))"
)
"""A further letter in the same breath, which may be no option's."""
_HEDGE = re.compile(rf"{_CLOSE}(?:,\s?)?(?:{_OR})")
_NEXT_WORD = re.compile(r"[ \t]{1,3}([a-z']+)")
_JOINS_A_LABEL = words("labels.joins").english


class Picks(Struct, frozen=True, gc=False):
    """The labels that stand from `start` to `end`, in the order of the options. Empty where they are hedged ("A or
    B")."""

    labels: tuple[str, ...]
    start: int
    end: int


class Labels:
    """Reads the labels of one question. Single capital letters may be run together and, where nothing else fits, be
    small."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.labels = labels
        self.names = {visible_text(label).strip(): label for label in labels if visible_text(label).strip()}
        self.letters = all(len(label) == 1 and "A" <= label <= "Z" for label in labels)
        names = "|".join(map(re.escape, sorted(self.names, key=len, reverse=True))) or "(?!)"
        one = rf"[{''.join(labels)}]{{1,{len(labels)}}}" if self.letters and labels else names
        before = rf"{_OPEN}(?i:{_WORD}){_OPEN}"
        self._label = re.compile(rf"{before}(?P<label>{one}){_APART}")
        self._small = re.compile(rf"{before}(?P<label>{one.lower()}){_ENDED}") if self.letters else None
        self.mention = re.compile(rf"(?<![A-Za-z0-9À-ɏ_\\-])(?:{names}){_APART}")
        self._before_text = re.compile(
            rf"(?<![A-Za-z0-9])(?P<label>{names})[.:)、\]】]{{1,2}}\s{{0,3}}(?=\S)(?!(?:{names}){_APART})"
        )
        self.led = re.compile(
            rf"[ \t\-•>#(\[【'+]{{0,6}}(?:\d{{1,2}}[.)]\s)?(?i:{_WORD})(?P<label>{names})(?=["
            r" \t)\]】'}]{0,3}(?:[.:、。)\]】,]|$))",
            re.MULTILINE,
        )

    def listed(self, flat: str, end: int) -> list[str]:
        """The labels that stand in front of texts of their own behind a label: on its line, or one a line below it."""
        line = flat.find("\n", end)
        line = len(flat) if line < 0 else line
        found = [match["label"] for match in self._before_text.finditer(flat, end, line)]
        while line < len(flat) and (led := self.led.match(flat, line + 1)):
            found.append(led["label"])
            line = flat.find("\n", line + 1)
            line = len(flat) if line < 0 else line
        return [self.names[name] for name in found]

    def read(self, flat: str, at: int) -> Picks | None:
        """The list of labels that begins at a place; None where no label stands there."""
        first = self._one(flat, at)
        read, hedged = [first] if first else [], False
        while read:
            hedge = _HEDGE.match(flat, read[-1].end)
            between = hedge or _SEPARATOR.match(flat, read[-1].end)
            following = self._one(flat, between.end()) if between else None
            if not following:
                break
            read.append(following)
            hedged = hedged or bool(hedge)
        if len(read) < 2:
            return first
        picked = dict.fromkeys(label for each in read for label in each.labels)
        return Picks(() if hedged else self.ordered([*picked]), read[0].start, read[-1].end)

    def another(self, flat: str, end: int) -> int:
        """Where a further letter ends that stands beside those that end at a place ("A and/or C", "A. B."); -1 where
        none does."""
        found = _ANOTHER.match(flat, end) if self.letters else None
        return found.end() if found else -1

    def alone(self, flat: str) -> Picks | None:
        """The labels that a text is, as a whole, but for brackets, spaces and a full stop."""
        found = self.read(flat, 0)
        if found and not flat[found.end :].strip(" \t\n)]}>'】〕.。,;:、\\"):
            return found
        hedged = found and self.another(flat, found.end) >= 0
        return Picks((), found.start, len(flat)) if found and hedged else None

    def ordered(self, picked: list[str]) -> tuple[str, ...]:
        """Labels in the order of the options."""
        return tuple(sorted(picked, key=self.labels.index) if len(picked) > 1 else picked)

    def _one(self, flat: str, at: int) -> Picks | None:
        found = self._label.match(flat, at)
        if found and self._is_word(flat, found):
            found = None
        if not found and self._small:
            found = self._small.match(flat, at)
            if found and list(found["label"]) != sorted(set(found["label"])):
                return None
        if not found:
            return None
        label = found["label"]
        picked = self.ordered([*dict.fromkeys(label.upper())]) if self.letters else (self.names[label],)
        return Picks(picked, found.start("label"), found.end())

    def _is_word(self, flat: str, found: re.Match[str]) -> bool:
        """The article A, the pronoun I, and capitals such as DC before a small word are no labels."""
        if not self.letters or (found["label"] not in "AI" and len(found["label"]) == 1):
            return False
        following = _NEXT_WORD.match(flat, found.end())
        return following is not None and following[1] not in _JOINS_A_LABEL


@lru_cache(maxsize=256)
def labels_of(labels: tuple[str, ...]) -> Labels:
    """The reader of a question's labels."""
    return Labels(labels)


_LEADING = re.compile(r"[\s(\[【*]{0,6}([A-Z])(?![A-Za-z0-9])[*)\]】.:、,\s]{0,4}")
_CIRCLED = re.compile(r"(?<=[①-⑳])(?=[①-⑳])")
_PARTED = re.compile(r"[,;、，；\n](?:\s*+and\s)?|(?<=\s)and\s|和|与|以及")
_LONGEST = 400
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
_NUMBERS = {mark: number for marks in (_ROMAN, "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳") for number, mark in enumerate(marks, 1)}
"""Of the marks that statements bear."""


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of the statements that a text lists, in its order, 2 and 5 for "ii, v" or "②⑤"; () where it is no
    such list."""
    parts = _PARTED.split(_CIRCLED.sub(",", text.strip(" .。")))
    marks = [part.strip(" ()（）").lower() for part in parts if part.strip()]
    return tuple(_NUMBERS[mark] for mark in marks) if all(mark in _NUMBERS for mark in marks) else ()


class OptionTexts:
    """The options' own words, compared as answers are; they are folded when the first response needs it."""

    def __init__(self, labels: tuple[str, ...], texts: tuple[str, ...]) -> None:
        self._labels, self._given = labels, texts

    def exact(self, text: str) -> str | None:
        """The label of the one option whose text this is; None where none or several are."""
        if not text.strip() or len(text) > _LONGEST:
            return None
        fits = self._folded.get(fold(text), []) or self._by_numbers.get(frozenset(_numbers(text)), [])
        return fits[0] if len(fits) == 1 else None

    def written(self, text: str) -> str | None:
        """The label of the one option whose text this is, letter by letter but for their case."""
        given, low = zip(self._labels, self._given, strict=False), text.lower()
        fits = [label for label, written in given if written.lower().strip(" .。") == low]
        return fits[0] if len(fits) == 1 else None

    def led(self, text: str) -> str | None:
        """The label that a text begins with, if all that follows is that option's text ("A Paris")."""
        led = None if len(text) > _LONGEST else _LEADING.match(text)
        return led[1] if led and led[1] in self._folded.get(fold(text[led.end() :]), []) else None

    def listed(self, text: str) -> tuple[str, ...]:
        """The labels of several options of which a text is a list ("Paris, Rome and Madrid"); () where a part is
        none."""
        found = [self.exact(part) for part in _PARTED.split(text.strip(" .。[]{}()")) if part.strip()]
        known = [label for label in found if label]
        return labels_of(self._labels).ordered(known) if 1 < len(known) == len(found) == len(set(known)) else ()

    def initialled(self, low: str, at: int) -> tuple[str, str] | None:
        """The option whose text is a name with initials that stands at a place, and that text."""
        texts = ((label, text.lower().strip(" .")) for label, text in self._texts if re.match(r"[A-Z]\.", text))
        return next((one for one in texts if re.compile(re.escape(one[1]) + r"(?!\w)").match(low, at)), None)

    def is_name(self, label: str, words: str, *, several: bool) -> bool:
        """Are a label and the words behind it a name, with several initials or one? Not where the words may be those of
        its option; one word alone is one where another option writes the name out."""
        texts = {one: text.lower() for one, text in self._texts}
        own = texts.pop(label, "")
        if any(word[:4] in own for word in words.split()):
            return False
        if several or " " in words:
            return several or (bool(own) and read_number(words) is None)
        full = re.compile(rf"\b{label.lower()}\w*\s(?:\w+\s)?{re.escape(words)}\b")
        return any(map(full.search, texts.values()))

    def mentioned(self, low: str) -> set[str]:
        """The labels of the options whose text occurs, as whole words, in a lower-cased text."""
        written = ((label, re.escape(text.lower().strip())) for label, text in self._texts)
        return {label for label, words in written if re.search(rf"\b{words}(?![a-z0-9])", low)}

    @cached_property
    def _texts(self) -> tuple[tuple[str, str], ...]:
        given = zip(self._labels, self._given, strict=False)
        return tuple((label, cleaned) for label, text in given if (cleaned := visible_text(text)).strip())

    @cached_property
    def _by_numbers(self) -> dict[frozenset[int], list[str]]:
        """The labels by the statements that their texts list; empty unless all list some, each others, in rising order,
        as texts do where their order says nothing."""
        listed = {label: _numbers(text) for label, text in self._texts}
        rising = all(numbers and list(numbers) == sorted(set(numbers)) for numbers in listed.values())
        found = {frozenset(numbers): [label] for label, numbers in listed.items()}
        return found if rising and len(found) == len(listed) else {}

    @cached_property
    def _folded(self) -> dict[str, list[str]]:
        forms: dict[str, list[str]] = {}
        for label, text in self._texts:
            forms.setdefault(fold(text), []).append(label)
        forms.pop("", None)
        return forms
