"""An option's own words in a response, and its value in other words."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from mmdyn.scoring.equal.formulas import same_formula
from mmdyn.scoring.equal.lists import joined
from mmdyn.scoring.equal.numbers import without_unit
from mmdyn.scoring.match import PLAIN, same_number, unwrapped
from mmdyn.scoring.reading.labels import labels_of
from mmdyn.text.fold import fold
from mmdyn.text.formula_values import value_of
from mmdyn.text.maths import spelled
from mmdyn.text.normalise import clean
from mmdyn.text.numbers import Number, read_number

_BRACKETS = " ()[]（）【】"
_AFTER_LABEL = re.compile(r"[).:\]】、\s]{1,5}")
_NUMBERED = re.compile(r"\W{0,3}(?:\d|[ivxIVX]{1,4}\b|[①-⑳一二三四五六七八九十])")
_COUNT = re.compile(r"[\s(]{0,3}(\d{1,2})[).:、\]]\s{0,3}(?=\D)")
_LONG_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{5,}")
_ROOT, _BARE_ROOT = re.compile("[√π]|sqrt"), re.compile(r"(?<!\\)sqrt")
_ITEM = re.compile(r"\s*(?:\(\d+\)|\d+[.)]\s|[-•*]\s)")
_TWO_WAYS = re.compile(r"/\s?\d+(?:\.\d+)?\s?[√π(\\a-z]|\^-?\d+/")
_LONGEST_OPTION, _LONGER, _LONGEST_FORMULA, _NEAR = 2_000, 40, 80, 0.01


class Options:
    """The options' own words, compared as answers are."""

    def __init__(self, labels: tuple[str, ...], texts: tuple[str, ...]) -> None:
        self._labels = labels_of(labels)
        self.labels, self.given = self._given = labels, texts
        self._parts: int | None = None

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
        return fits[0] if len(fits) == 1 else None

    def valued(self, text: str) -> str | None:
        """The label of the one option with a root or a π that a formula or a decimal has the value of: 8 + 2 sqrt(2).

        None where the text begins as an item of a list does, or may be read in two ways (1/2√3).
        """
        if not self._formulas or not 0 < len(text) <= _LONGEST_FORMULA or _ITEM.match(text):
            return None
        formula = _formula(text)
        number = read_number(text)
        value = float(number.value) if number else _value(formula)
        if value is None or _TWO_WAYS.search(formula):
            return None
        near = [(label, option) for label, option, other in self._formulas if abs(value - other) <= _NEAR * abs(other)]
        fits = [label for label, option in near if same_formula(formula, option, PLAIN)]
        return fits[0] if len(fits) == 1 else None

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

    def parts(self, parted: re.Pattern[str]) -> int:
        """How many parts the option's text has that a pattern parts into most."""
        if self._parts is None:
            self._parts = 1 + max((sum(1 for _ in parted.finditer(text)) for _, text in self._texts), default=0)
        return self._parts

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
    def _formulas(self) -> list[tuple[str, str, float]]:
        """The options whose value is no fraction, spelled, and that value."""
        spelt = [(label, _formula(text)) for label, text in self._texts]
        return [
            (label, text, value) for label, text in spelt if _ROOT.search(text) and (value := _value(text)) is not None
        ]

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


def _formula(text: str) -> str:
    return unwrapped(joined(spelled(text)))


def _value(formula: str) -> float | None:
    """What a spelled formula is worth, in whatever unit stands behind it."""
    unit = without_unit(formula)
    return value_of(_BARE_ROOT.sub("√", unit[0] if unit else formula))
