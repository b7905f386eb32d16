"""Option labels in a response: one, or several in any style (A, C and D; ACD; A、C), and an option's own words."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from msgspec import Struct

from mmdyn.scoring.equal.formulas import same_formula
from mmdyn.scoring.equal.lists import joined
from mmdyn.scoring.match import PLAIN, same_number, unwrapped
from mmdyn.scoring.reading import languages
from mmdyn.text.fold import fold
from mmdyn.text.maths import spelled
from mmdyn.text.normalise import clean
from mmdyn.text.numbers import Number, read_number

_OPEN = r"[\s(\[{<'【〔:\\]{0,9}"
_CLOSE = r"[\s)\]}>'】〕]{0,6}"
_WORD = (
    r"(?:(?:(?i:both|all\sof|only)|只有)\s{0,3})?"
    r"(?:(?:(?i:options?|choices?|answers?|letters?|statements?)|选项|选|项)\s{0,3})?"
)
_APART = r"(?![A-Za-z0-9À-ɏ_^]|['’][A-Za-z]|-[A-Za-z0-9]|\s?[=≈∩∪^×÷]|\s[<>]\s|\.\s?e\.)"
_ENDED = rf"(?={_CLOSE}(?:[.,;:。、]|$|\n|<))"
_SEPARATOR = re.compile(
    rf"{_CLOSE}(?:(?:[,、;&+]|(?=\())\s{{0,3}}(?:and\s|和|与|以及|及)?|(?:and\s|和|与|以及|及|{languages.AND}))"
)
_HEDGE = re.compile(
    rf"{_CLOSE}(?:,\s?)?(?:or\b(?:\s(?:maybe|possibly|perhaps|probably|even|rather|else))?|then\b|to\b|through\b|(?:and\s|but\s)?(?:maybe|possibly|perhaps|probably)\b|还是(?:应该?)?选?|(?:也|还)?(?:有可能|可能|或许)(?:也?是|为|选)?|或者?(?:可能|许)?(?:是|选)?|至|到|/|{languages.OR})"
)
_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = (
    rf"(?:(?i:(?:the\s)?(?P<word>{'|'.join(_WORDS)})\s(?:option|choice|alternative)\b)"
    r"|(?i:(?:option|choice)\s(?:number\s|no\.?\s?|\#\s?)?)(?P<number>[1-9]\d?)(?![\d%°]|\.\d)"
    r"|第\s?(?P<zh>[一二三四五六七八九十]|[1-9]\d?)\s?(?:个?选项|项|个(?=[\s。.,;]|$)))"
    r"(?!\s?(?:,|、|and\b|or\b|和|与|或)\s?(?:the\s)?(?:第|\d))"
)
_NEXT_WORD = re.compile(r"[ \t]{1,3}([a-z']+)")
_JOINS_A_LABEL = frozenset({
    "because", "since", "as", "is", "are", "was", "were", "and", "or", "for", "due", "but", "not", "which",
    "being", "seems", "with", "by", "option", *languages.JOINS_A_LABEL,
})  # fmt: skip
_DENIES = re.compile(
    rf"{_CLOSE}(?:选项|两项|项|都|均|皆|的?说法){{0,3}}\s?"
    r"(?:(?:is|are|was|were|must\sbe|seems?)(?:\s(?:also|both|all|clearly|therefore))?"
    r"(?:n't|\s(?:not|incorrect|wrong|false|invalid|impossible|excluded|eliminated|ruled\sout))"
    rf"|(?:是|都|均)?(?:错|不正确|不对|不符|不成立|有误|不选|排除)|{languages.DENIED_BEHIND})"
)
_PREDICATE = re.compile(
    rf"{_CLOSE}(?:选项|两?项|都|均|皆|是)*(?:\s?(?P<one>is|was)\b|\s?(?:are|were)\b|错|不|(?P<right>正确)|有误)"
)
_NUMBERS = {word: n for words in (_WORDS, "一二三四五六七八九十") for n, word in enumerate(words, 1)}
_BRACKETS = " ()[]（）【】"
_AFTER_LABEL = re.compile(r"[).:\]】、\s]{1,5}")
_NUMBERED = re.compile(r"\W{0,3}(?:\d|[ivxIVX]{1,4}\b|[①-⑳一二三四五六七八九十])")
_COUNT = re.compile(r"[\s(]{0,3}(\d{1,2})[).:、\]]\s{0,3}(?=\D)")
_LONG_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{5,}")
_DIGIT = re.compile(r"[\dπ√]|\\(?:pi|sqrt)")
_PROSE = re.compile(r"(?<![\\A-Za-z{])(?!sqrt|sin|cos|tan|log)[A-Za-z]{3,}|[A-Za-z]{2,}\s[A-Za-z]{2,}|[\u3400-\u9fff]{2}")
_LONGEST_OPTION, _LONGER = 2_000, 40


class Picks(Struct, frozen=True):
    """The labels that stand from `start` to `end`, in the order of the options. Empty where they are hedged ("A or B")."""

    labels: tuple[str, ...]
    start: int
    end: int


class Labels:
    """Reads the labels of one question. Single capital letters may be run together and, where nothing else fits, be small.

    `counted`: an option may also be named by its number ("option 2", "the second option", 第二项).
    """

    def __init__(self, labels: tuple[str, ...], counted: bool = False) -> None:
        self.labels = labels
        self._named = {clean(label).strip(): label for label in labels if clean(label).strip()}
        self._lowered = {name.lower(): label for name, label in self._named.items()}
        self.letters = all(len(label) == 1 and "A" <= label <= "Z" for label in labels)
        names = "|".join(map(re.escape, sorted(self._named, key=len, reverse=True))) or "(?!)"
        one = rf"[{''.join(labels)}]{{1,{len(labels)}}}" if self.letters else names
        self._label = re.compile(rf"{_OPEN}{_WORD}{_OPEN}(?P<label>{one}){_APART}")
        self._small = re.compile(rf"{_OPEN}{_WORD}{_OPEN}(?P<label>{one.lower()}){_ENDED}") if self.letters else None
        self._ordinal = re.compile(_OPEN + _ORDINAL) if self.letters and counted else None
        counts = f"|{_ORDINAL}" if self._ordinal else ""
        self.mention = re.compile(rf"(?<![A-Za-z0-9À-ɏ_])(?:(?:{one}){_APART}{counts})")
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
            return self._by_number(flat, at)
        picked = tuple(found["label"].upper()) if self.letters else (self._named[found["label"]],)
        return Picks(picked, found.start("label"), found.end())

    def _by_number(self, flat: str, at: int) -> Picks | None:
        """The option that its number names; None where there are not so many."""
        found = self._ordinal.match(flat, at) if self._ordinal else None
        if not found:
            return None
        written = found[found.lastgroup or 0].lower()
        number = _NUMBERS.get(written) or int(written)
        return Picks((self.labels[number - 1],), found.start(), found.end()) if number <= len(self.labels) else None

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
    if predicate["right"] and not any("," in separator for separator in separators):
        return groups
    commas = [at for at, separator in enumerate(separators) if "," in separator]
    return groups[: commas[-1] + 1] if commas else groups[:1]


@lru_cache(maxsize=256)
def labels_of(labels: tuple[str, ...], counted: bool = False) -> Labels:
    """The reader of a question's labels."""
    return Labels(labels, counted)


class Options:
    """The options' own words, compared as answers are."""

    def __init__(self, labels: tuple[str, ...], texts: tuple[str, ...]) -> None:
        self._labels = labels_of(labels)
        self._given = labels, texts

    @cached_property
    def _cleaned(self) -> list[str]:
        return [clean(text) for text in self._given[1]]

    @cached_property
    def _texts(self) -> tuple[tuple[str, str], ...]:
        given = zip(*self._given, self._cleaned, strict=False)
        return tuple((label, text) for label, text, cleaned in given if cleaned.strip())

    @cached_property
    def _longest(self) -> int:
        return max((len(text) for _, text in self._texts), default=-_LONGER)

    def too_long(self, text: str) -> bool:
        """Is it longer than any option could be written? A formula may take three times the characters."""
        longest = self._longest * (3 if "\\" in text else 1)
        return len(text) > min(_LONGEST_OPTION, longest + _LONGER)

    def exact(self, text: str) -> str | None:
        """The label of the one option whose text this is; None where none or several are."""
        if self.too_long(text) or not text.strip():
            return None
        bare = text.strip(_BRACKETS)
        fits = self._worded(text) or (self._worded(bare) if bare != text.strip() else None)
        number = read_number(text) if not fits and self._numbers else None
        if not fits:
            fits = [label for label, option in self._numbers if same_number(number, option)] if number else []
        fits = fits or self._valued(text)
        return fits[0] if len(fits) == 1 else None

    def _valued(self, text: str) -> list[str]:
        """The labels of the options that a formula equals by its values at points; no other process is asked."""
        if not self._formulas or not _DIGIT.search(text) or _PROSE.search(text):
            return []
        formula = unwrapped(joined(spelled(text)))
        return [label for label, option in self._formulas if same_formula(formula, option, PLAIN)]

    def _worded(self, text: str) -> list[str]:
        """The labels of the options whose words these are. Folding is dear: a long word that no option has says enough."""
        word = _LONG_WORD.search(text)
        return [] if word and word[0].lower() not in self._written else self._folded.get(fold(text), [])

    def led(self, text: str) -> str | None:
        """The label that a text begins with, if all that follows is that option's text ("A Paris")."""
        led = self._labels.leading.match(text)
        if self.too_long(text):
            return None
        if not led:
            return self._counted(text)
        label = self._labels.named(led["label"])
        return label if label in self._worded(text[led.end() :]) else None

    def behind(self, label: str, flat: str, at: int) -> int:
        """Where an option's text ends that stands behind its label ("C. Rome is correct"); where the label does, if none does."""
        start = _AFTER_LABEL.match(flat, at)
        text = self.text(label) if start else ""
        return start.end() + len(text) if text and start and flat.startswith(text, start.end()) else at

    def text(self, label: str) -> str:
        """An option's own words, "" where it has none."""
        return next((text.strip() for each, text in self._texts if each == label), "")

    def _counted(self, text: str) -> str | None:
        """The option that a text gives with its number ("2) London")."""
        number = _COUNT.match(text)
        label = self.exact(text[number.end() :]) if number else None
        return label if number and label and self._labels.labels.index(label) + 1 == int(number[1]) else None

    @cached_property
    def numbered(self) -> bool:
        """Does any option's text begin with a number, so that "option 2" may mean it?"""
        return any(map(_NUMBERED.match, self._given[1]))

    @cached_property
    def like_labels(self) -> bool:
        """Does any option's text begin as a label does ("C major", "A and B")?"""
        return any(map(self._labels.leading.match, self._cleaned))

    @cached_property
    def _written(self) -> str:
        return " ".join(self._cleaned).lower()

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

    @cached_property
    def _formulas(self) -> list[tuple[str, str]]:
        """The options that are numbers or formulas, spelled; none where all are numbers, which `_numbers` compares."""
        formal = [(label, unwrapped(joined(spelled(text)))) for label, text in self._texts if not _PROSE.search(text)]
        return formal if len(formal) > len(self._numbers) else []

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
