"""Where LaTeX stands in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

Span = tuple[int, int]


def latex_spans(text: str) -> Iterator[Span]:
    """Half-open spans, in order: what stands between delimiters, environments, and commands with their arguments.

    A delimiter, environment or brace that is opened and never closed reaches to the end of its line. `$5 and $7`
    delimits nothing where every dollar sign of the text stands before a number. The time is linear in the length.
    """
    return _Reader(text).spans() if "$" in text or "\\" in text else iter(())


_OPENED = re.compile(r"\$\$?|\\(?:[(\[]|begin\b|[A-Za-z]+\*?|(?s:.)|\Z)")
_CLOSED = {
    "$$": re.compile(r"(?:[^$\\]|\\.|\$(?!\$))*+\$\$", re.DOTALL),
    "$": re.compile(r"(?:[^$\\\n]|\\.|\n(?![^\S\n]*\n))*+\$", re.DOTALL),
    r"\(": re.compile(r"(?:[^\\]|\\[^)])*+\\\)"),
    r"\[": re.compile(r"(?:[^\\]|\\[^\]])*+\\\]"),
}
_PRICES = re.compile(r"(?:[^$]*+(?<![^\s(（“])\$[0-9])++[^$]*+")
_ENVIRONMENT = re.compile(r"\\(begin|end)\b(?:\s?\{[^{}]{0,40}\})?")
_BRACE = re.compile(r"\\.|([{])|[}]", re.DOTALL)
_TAIL = re.compile(
    r"(?:\s?(?=[{\[]))?(?:\[[^\[\]\n]{0,80}\]|[^\s\\{}$\u3000-\u9fff\uff01-\uffef]{1,80}(?<![.,;:?!\[]))"
)


class _Reader:
    """Goes once through a text and finds where LaTeX begins and ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.prices = bool(_PRICES.fullmatch(text))  # "$5 and $7" delimits nothing
        self.never_closed: set[str] = set()

    @cached_property
    def environments(self) -> dict[int, int]:
        """Where each \\begin that has an \\end begins -> where that ends."""
        return _pairs(_ENVIRONMENT.finditer(self.text), "begin")

    @cached_property
    def groups(self) -> dict[int, int]:
        """Where each brace that is closed opens -> where its group ends."""
        return _pairs((brace for brace in _BRACE.finditer(self.text) if brace[0][0] != "\\"), "{")

    def spans(self) -> Iterator[Span]:
        at = 0
        while opened := _OPENED.search(self.text, at):
            at = self._end(opened[0], opened.start(), opened.end())
            if not (opened[0] == "$" and self.prices):
                yield opened.start(), at

    def _end(self, token: str, start: int, after: int) -> int:
        if token == "$" and self.prices:
            return after
        if token in _CLOSED:
            return self._closed(token, after)
        if token == r"\begin":
            return self.environments.get(start) or self._line_end(after)
        return self._arguments(after) if token[1:2].isalpha() else after

    def _closed(self, token: str, after: int) -> int:
        if token not in self.never_closed:
            if found := _CLOSED[token].match(self.text, after):
                return found.end()
            if token != "$":  # which is looked for in its paragraph only
                self.never_closed.add(token)
        return self._line_end(after)

    def _arguments(self, at: int) -> int:
        """The end of a command's groups and of the formula that goes on without a space."""
        while True:
            brace = at + 1 if self.text[at : at + 2] == " {" else at
            if self.text[brace : brace + 1] == "{":
                at = self.groups.get(brace) or self._line_end(at)
            elif tail := _TAIL.match(self.text, at):
                at = tail.end()
            else:
                return at

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end


def _pairs(found: Iterable[re.Match[str]], opening: str) -> dict[int, int]:
    ends: dict[int, int] = {}
    opened: list[int] = []
    for match in found:
        if match[1] == opening:
            opened.append(match.start())
        elif opened:
            ends[opened.pop()] = match.end()
    return ends
