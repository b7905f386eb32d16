"""An option's own words in a response."""

from __future__ import annotations

import re
from functools import cached_property

from mmdyn.scoring.extract.labels import labels_of
from mmdyn.text import fold, visible_text

_LEADING = re.compile(r"[\s(\[【*]{0,6}([A-Z])(?![A-Za-z0-9])[*)\]】.:、,\s]{0,4}")
_PARTED = re.compile(r"[,;、，；\n](?:\s*+and\s)?|(?<=\s)and\s|和|与|以及")
_LONGEST = 400


class OptionTexts:
    """The options' own words, compared as answers are; they are folded when the first response needs it."""

    def __init__(self, labels: tuple[str, ...], texts: tuple[str, ...]) -> None:
        self._labels, self._given = labels, texts

    def exact(self, text: str) -> str | None:
        """The label of the one option whose text this is; None where none or several are."""
        if not text.strip() or len(text) > _LONGEST:
            return None
        fits = self._folded.get(fold(text), [])
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

    def mentioned(self, low: str) -> set[str]:
        """The labels of the options whose text occurs, as whole words, in a lower-cased text."""
        written = ((label, re.escape(text.lower().strip())) for label, text in self._texts)
        return {label for label, words in written if re.search(rf"\b{words}(?![a-z0-9])", low)}

    @cached_property
    def _texts(self) -> tuple[tuple[str, str], ...]:
        given = zip(self._labels, self._given, strict=False)
        return tuple((label, cleaned) for label, text in given if (cleaned := visible_text(text)).strip())

    @cached_property
    def _folded(self) -> dict[str, list[str]]:
        forms: dict[str, list[str]] = {}
        for label, text in self._texts:
            forms.setdefault(fold(text), []).append(label)
        forms.pop("", None)
        return forms
