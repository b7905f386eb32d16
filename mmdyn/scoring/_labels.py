"""Option labels in a response: one, or several in any style (A, C and D; ACD; A、C), and an option's own words."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from msgspec import Struct

from mmdyn.scoring.match import same_number
from mmdyn.text.fold import fold
from mmdyn.text.normalise import clean
from mmdyn.text.numbers import Number, read_number

_OPEN = r"[\s(\[{<'【〔:\\]{0,9}"
_CLOSE = r"[\s)\]}>'】〕]{0,6}"
_WORD = r"(?:(?:(?i:options?|choices?|answers?|letters?|statements?)|选项|选|项)\s{0,3})?"
_APART = r"(?![A-Za-z0-9À-ɏ_^]|['’][A-Za-z]|-[A-Za-z0-9]|\s?[=≈∩∪^×÷]|\s[<>]\s)"
_ENDED = rf"(?={_CLOSE}(?:[.,;:。、]|$|\n|<))"
_SEPARATOR = re.compile(rf"{_CLOSE}(?:(?:[,、;&+]|(?=\())\s{{0,3}}(?:and\s|和|与|以及|及)?|(?:and\s|和|与|以及|及))")
_HEDGE = re.compile(rf"{_CLOSE}(?:,\s?)?(?:or\b|then\b|或|/)")
_NEXT_WORD = re.compile(r"[ \t]{1,3}([a-z']+)")
_JOINS_A_LABEL = frozenset({
    "because", "since", "as", "is", "are", "was", "were", "and", "or", "for", "due", "but", "not", "which",
    "being", "seems", "with", "by", "option",
})  # fmt: skip
_DENIES = re.compile(
    rf"{_CLOSE}(?:选项|两项|项|都|均|皆|的?说法){{0,3}}\s?"
    r"(?:(?:is|are|was|were|must\sbe|seems?)(?:\s(?:also|both|all|clearly|therefore))?"
    r"(?:n't|\s(?:not|incorrect|wrong|false|invalid|impossible))"
    r"|(?:是|都|均)?(?:错|不正确|不对|不符|不成立|有误|不选|排除))"
)
_PREDICATE = re.compile(
    rf"{_CLOSE}(?:选项|两?项|都|均|皆|是)*(?:\s?(?P<one>is|was)\b|\s?(?:are|were)\b|错|不|正确|有误)"
)
_BRACKETS = " ()[]（）【】"
_LONGEST_OPTION = 2_000


class Picks(Struct, frozen=True):
    """The labels that stand from `start` to `end`, in the order of the options. Empty where they are hedged ("A or B")."""

    labels: tuple[str, ...]
    start: int
    end: int


class Labels:
    """Reads the labels of one question. Single capital letters may be run together and, where nothing else fits, be small."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.labels = labels
        self._named = {clean(label).strip(): label for label in labels if clean(label).strip()}
        self._lowered = {name.lower(): label for name, label in self._named.items()}
        self.letters = all(len(label) == 1 and "A" <= label <= "Z" for label in labels)
        names = "|".join(map(re.escape, sorted(self._named, key=len, reverse=True))) or "(?!)"
        one = rf"[{''.join(labels)}]{{1,{len(labels)}}}" if self.letters else names
        self._label = re.compile(rf"{_OPEN}{_WORD}{_OPEN}(?P<label>{one}){_APART}")
        self._small = re.compile(rf"{_OPEN}{_WORD}{_OPEN}(?P<label>{one.lower()}){_ENDED}") if self.letters else None
        self.mention = re.compile(rf"(?<![A-Za-z0-9À-ɏ_])(?:{one}){_APART}")
        self.leading = re.compile(
            rf"[\s(\[【*]{{0,6}}{_WORD}(?P<label>(?i:{names}))(?:(?![A-Za-z0-9])[*)\]】.:、,\s]{{0,4}})"
        )
        self.listed = re.compile(rf"(?<![A-Za-z0-9])(?P<label>{names})[.:)、\]】]\s?(?=\w)")
        self.led = re.compile(
            rf"^[ \t\-•>#(\[【'+.\d]{{0,6}}{_WORD}(?P<label>{names})(?=[ \t)\]】'}}]{{0,3}}(?:[.:、。)\]】]|$))",
            re.MULTILINE,
        )

    def read(self, flat: str, at: int, as_subject: bool = False) -> Picks | None:
        """The list of labels that begins at a place; None where no label stands there.

        Of "C, A and B are wrong" it reads C, unless the list is wanted `as_subject` of what is said of it.
        """
        found = self._one(flat, at)
        if found is None:
            return None
        groups, separators, hedged = [found], list[str](), False
        while True:
            end = groups[-1].end
            hedge = _HEDGE.match(flat, end)
            between = hedge or _SEPARATOR.match(flat, end)
            further = self._one(flat, between.end()) if between else None
            if not between or not further:
                break
            hedged = hedged or bool(hedge)
            separators.append(between[0])
            groups.append(further)
        if not hedged and not as_subject:
            groups = _asserted(flat, groups, separators)
        picked = [label for group in groups for label in group.labels]
        if hedged or not groups or len(set(picked)) < len(picked):
            return Picks((), found.start, groups[-1].end if groups else found.end)
        return Picks(self.ordered(picked), found.start, groups[-1].end)

    def alone(self, flat: str) -> Picks | None:
        """The labels that a text is, as a whole, but for brackets, spaces and a full stop."""
        found = self.read(flat, 0)
        if found and not flat[found.end :].strip(" \t\n)]}>'】〕.。,;:、\\"):
            return found
        spaced = flat.strip().strip(".。").split()
        if self.letters and 1 < len(spaced) <= len(self.labels) and all(part in self.labels for part in spaced):
            return Picks(self.ordered(spaced) if len(set(spaced)) == len(spaced) else (), 0, len(flat))
        return None

    def denied(self, flat: str, end: int) -> bool:
        """Is what ends here called wrong right away ("A is wrong", "A错误")?"""
        return bool(_DENIES.match(flat, end))

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
        picked = tuple(found["label"].upper()) if self.letters else (self._named[found["label"]],)
        return Picks(picked, found.start("label"), found.end())

    def _is_word(self, flat: str, found: re.Match[str]) -> bool:
        """The article A, the pronoun I, and capitals such as DC before a small word are no labels."""
        if not self.letters or (found["label"] not in "AI" and len(found["label"]) == 1):
            return False
        following = _NEXT_WORD.match(flat, found.end())
        return following is not None and following[1] not in _JOINS_A_LABEL

    def named(self, written: str) -> str:
        """The label that is written so, or so but for its case."""
        return self._named.get(written) or self._lowered[written.lower()]

    def ordered(self, picked: list[str]) -> tuple[str, ...]:
        """Labels in the order of the options."""
        return tuple(sorted(picked, key=self.labels.index))


def _asserted(flat: str, groups: list[Picks], separators: list[str]) -> list[Picks]:
    """The list without the part that a predicate claims for itself: of "C, A and B are wrong" the C."""
    predicate = _PREDICATE.match(flat, groups[-1].end) if len(groups) > 1 else None
    if not predicate:
        return groups
    if predicate["one"]:
        return groups[:-1]
    commas = [at for at, separator in enumerate(separators) if "," in separator]
    return groups[: commas[-1] + 1] if commas else groups[:1]


@lru_cache(maxsize=256)
def labels_of(labels: tuple[str, ...]) -> Labels:
    """The reader of a question's labels."""
    return Labels(labels)


class Options:
    """The options' own words, compared as answers are."""

    def __init__(self, labels: tuple[str, ...], texts: tuple[str, ...]) -> None:
        self._labels = labels_of(labels)
        self._texts = tuple((label, text) for label, text in zip(labels, texts, strict=False) if clean(text).strip())
        self._longest = min(_LONGEST_OPTION, 40 + 3 * max((len(text) for _, text in self._texts), default=-40))

    def exact(self, text: str) -> str | None:
        """The label of the one option whose text this is; None where none or several are."""
        if len(text) > self._longest or not text.strip():
            return None
        bare = text.strip(_BRACKETS)
        fits = self._folded.get(fold(text)) or (self._folded.get(fold(bare)) if bare != text.strip() else None)
        number = None if fits else read_number(text)
        if not fits:
            fits = [label for label, option in self._numbers if same_number(number, option)] if number else []
        return fits[0] if len(fits) == 1 else None

    def led(self, text: str) -> str | None:
        """The label that a text begins with, if all that follows is that option's text ("A Paris")."""
        led = self._labels.leading.match(text)
        if not led or len(text) > self._longest:
            return None
        label = self._labels.named(led["label"])
        return label if label in self._folded.get(fold(text[led.end() :]), []) else None

    @cached_property
    def like_labels(self) -> bool:
        """Does any option's text begin as a label does ("C major", "A and B")?"""
        return any(self._labels.leading.match(clean(text)) for _, text in self._texts)

    @cached_property
    def _folded(self) -> dict[str, list[str]]:
        forms: dict[str, list[str]] = {}
        for label, text in self._texts:
            forms.setdefault(fold(text), []).append(label)
        forms.pop("", None)
        return forms

    @cached_property
    def _numbers(self) -> list[tuple[str, Number]]:
        read = [(label, read_number(text)) for label, text in self._texts]
        return [(label, number) for label, number in read if number]

    def mentioned(self, low: str) -> set[str]:
        """The labels of the options whose text occurs, as whole words, in a lower-cased text."""
        return {label for label, text in self._texts if _occurs(clean(text).lower().strip(), low)}


def _occurs(words: str, low: str) -> bool:
    at = low.find(words)
    while at >= 0:
        around = low[at - 1 : at] + words[0], words[-1] + low[at + len(words) : at + len(words) + 1]
        if not any(pair.isascii() and pair.isalnum() and len(pair) == 2 for pair in around):
            return True
        at = low.find(words, at + 1)
    return False


@lru_cache(maxsize=1024)
def options_of(labels: tuple[str, ...], texts: tuple[str, ...]) -> Options:
    """The reader of a question's option texts."""
    return Options(labels, texts)
