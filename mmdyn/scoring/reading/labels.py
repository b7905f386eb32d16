"""Option labels in a response: one, or several in any style (A, C and D; ACD; A、C)."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from mmdyn.scoring.reading import languages
from mmdyn.text.normalise import clean

_OPEN = r"[\s(\[{<'【〔:\\]{0,9}"
_CLOSE = r"[\s)\]}>'】〕]{0,6}"
_WORD = (
    r"(?:(?:(?i:both|all\sof|only)|只有)\s{0,3})?"
    r"(?:(?:(?i:options?|choices?|answers?|letters?|statements?)|选项|选|项)\s{0,3})?"
)
_APART = r"(?![A-Za-z0-9À-ɏ_^]|['’][A-Za-z]|-[A-Za-z0-9]|\s?[=≈∩∪^×÷]|\s[<>]\s|\.\s?e\.)"
_ENDED = rf"(?={_CLOSE}(?:[.,;:。、]|$|\n|<))"
_AND = r"(?:and\s(?:also\s)?|as\swell\sas\s|along\swith\s|together\swith\s|plus\s|but\salso\s|和|与|以及|及|还有)"
_SEPARATOR = re.compile(rf"{_CLOSE}(?:(?:[,、;&+]|(?=\())\s{{0,3}}{_AND}?|(?:{_AND}|{languages.AND}))")
_HEDGE = re.compile(
    rf"{_CLOSE}(?:,\s?)?(?:or\b(?:\s(?:maybe|possibly|perhaps|probably|even|rather|else))?|then\b|to\b|through\b|(?:and\s|but\s)?(?:maybe|possibly|perhaps|probably)\b|还是(?:应该?)?选?|(?:也|还)?(?:有可能|可能|或许)(?:也?是|为|选)?|或者?(?:可能|许)?(?:是|选)?|至|到|/|[–—~](?=\s?[A-Z](?:[)\]\s]{{0,3}}(?:[.,;。]|$|\n)|\s?(?:are|all)\b|[都均全皆]))|{languages.OR})"
)
_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NTH = rf"(?:{'|'.join(_WORDS)}|[1-9]\d?(?:st|nd|rd|th))"
_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ZH = r"(?:[一二三四五六七八九十]|[1-9]\d?)"
_ALONE = r"(?=[)\]\s]{0,3}(?:[.,;:。、]|$|\n)|\s(?:is|and|because|since|as)\b|是|正确|错误)"
_ORDINAL = (
    rf"(?:(?P<list>(?i:(?:options|choices|alternatives)\s(?:numbers?\s)?[1-9]\d?(?:(?:,\s?(?:and\s)?|\s?&\s?|\sand\s)[1-9]\d?)+)(?![\d%°]|\.\d)"
    rf"|(?i:(?:the\s)?{_NTH}(?:(?:,\s(?:and\s)?|\sand\s)(?:the\s)?{_NTH})+\s(?:options|choices|alternatives)\b)"
    rf"|第\s?{_ZH}(?:[、,和与及]\s?第?\s?{_ZH})+\s?(?:个?选项|项|个(?=[\s。.,;]|$))|选项\s?{_ZH}(?:[、,和与及]\s?(?:选项\s?)?{_ZH})+{_ALONE})"
    rf"|(?i:(?:the\s)?(?P<word>{'|'.join(_WORDS)})\s(?:option|choice|alternative)\b)"
    r"|(?i:(?:the\s)?(?P<nth>[1-9]\d?)(?:st|nd|rd|th)\s(?:option|choice|alternative)\b)"
    rf"|(?i:(?:option|choice)\s(?P<cardinal>{'|'.join(_CARDINALS)})){_ALONE}"
    r"|(?i:(?:option|choice)\s(?:number\s|no\.?\s?|\#\s?)?)(?P<number>[1-9]\d?)(?![\d%°]|\.\d)"
    rf"|选项\s?(?P<named>{_ZH}){_ALONE}"
    r"|第\s?(?P<zh>[一二三四五六七八九十]|[1-9]\d?)\s?(?:个?选项|项|个(?=[\s。.,;]|$)))"
    r"(?!\s?(?:,|、|and\b|or\b|和|与|或)\s?(?:the\s)?(?:第|\d))"
)
_COUNTS = re.compile(rf"{'|'.join(_WORDS)}|[一二三四五六七八九十]|\d{{1,2}}", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[ \t]{1,3}([a-z']+)")
_JOINS_A_LABEL = frozenset({
    "because", "since", "as", "is", "are", "was", "were", "and", "or", "for", "due", "but", "not", "which",
    "being", "seems", "with", "by", "option", "along", "together", *languages.JOINS_A_LABEL,
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
_NUMBERS = {word: n for words in (_WORDS, _CARDINALS, "一二三四五六七八九十") for n, word in enumerate(words, 1)}


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
        """The options that their numbers name; None where there are not so many."""
        found = self._ordinal.match(flat, at) if self._ordinal else None
        if not found:
            return None
        written = _COUNTS.findall(found["list"]) if found["list"] else [found[found.lastgroup or 0]]
        numbers = [_NUMBERS.get(each.lower()) or int(each) for each in written]
        if max(numbers) > len(self.labels):
            return None
        return Picks(tuple(self.labels[number - 1] for number in numbers), found.start(), found.end())

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
