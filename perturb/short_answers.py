"""Short answers: of what kind one is, whether another may stand beside it as a wrong one, and other samples' answers by
knowledge point, where wrong answers come from that look right."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from heapq import nsmallest
from pathlib import Path

import msgspec
from msgspec import Struct
from numpy.random import Generator

from mmdyn.equal import read_value
from mmdyn.errors import InputError
from mmdyn.keys import canonical, digest
from mmdyn.sample import Sample
from mmdyn.text import Number, fold, known_unit, read_number, spell_formula, without_latex

LONGEST = 60
"""Answers of more characters are not short."""

ROUNDED = 0.1
"""How far, relative to it, a wrong value stays from a right one that was printed with decimals: people round."""

MOST_POINTS, MOST_ANSWERS = 20_000, 64
"""Knowledge points, and answers of each, that are kept: those of the smallest digests, so that the order does not
matter."""

_LONGEST_QUANTITY = 320
_TINY, _HUGE = Fraction(1, 10**100), Fraction(10**100)
_INTEGER = re.compile(r"\${0,2}\s?(-?)(\d{1,9})\s?\${0,2}")
_VAGUE = re.compile(
    r"[①-⓿❶-➓㈠-㉃]|[以之][上下内外前后]|左右|[多余约近超]|\b(?:most|least|more|less|over|under|above|below|about|ago)\b",
    re.IGNORECASE,
)
"""What makes of a number something else: the numbers of statements (①③), bounds, approximations."""

_COUNTED = re.compile(r".*\d\s+[a-z]{3,}(?: [a-z]+)*")
_WORDS = re.compile(r"[^\W\d_\u2e80-\u9fff]{2,}(?:[ '’-][^\W\d_\u2e80-\u9fff]+){0,3}")
_HAN = re.compile(r"[\u4e00-\u9fff]{1,10}")
_SYMBOLS = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9+-]{1,11}")
_JOINED = re.compile(r"[或和与及]")


class ShortAnswer(Struct, frozen=True):
    """A short answer as it is printed. `kind` is `number` with its unit, `value` (a formula such as 2√3), `words`,
    `han` (Chinese words), `symbols` (H2O), or "" for what is none of these: no other answer is known to differ from
    that.

    `rounded`: printed with decimals, so that what comes near may be meant.
    """

    text: str
    folded: str
    kind: str
    value: Fraction | float | None = None
    rounded: bool = False


def answer_of(text: str) -> ShortAnswer:
    """Read a short answer."""
    text = text.strip()
    return _read(text) if 0 < len(text) <= LONGEST else ShortAnswer(text, text, "")


@lru_cache(maxsize=8192)
def _read(text: str) -> ShortAnswer:
    folded = fold(text)
    number = quantity(text)
    if number and (number.value == 0 or _TINY < abs(number.value) < _HUGE):
        return ShortAnswer(text, folded, f"number {number.unit}".strip(), number.value, number.step is not None)
    formal = not _VAGUE.search(text) and not read_number(text)
    if formal and (value := read_value(spell_formula(text))) and not value.unit and abs(value.value) < _HUGE:
        return ShortAnswer(text, folded, "value", float(value.value))
    for kind, pattern in (("words", _WORDS), ("han", _HAN), ("symbols", _SYMBOLS)):
        if pattern.fullmatch(folded) and not (kind == "han" and _JOINED.search(folded)):
            return ShortAnswer(text, folded, kind)
    return ShortAnswer(text, folded, "")


def quantity(text: str) -> Number | None:
    """The one number that a text is, with its unit; None for a bound, an approximation, a list of numbered statements,
    or where what follows the number may be a product of symbols (2mgL) rather than a unit."""
    if whole := _INTEGER.fullmatch(text):
        digits = whole[2]
        return Number(Fraction(-int(digits) if whole[1] else int(digits)), None, len(digits.lstrip("0")))
    return _quantity(text) if len(text) <= _LONGEST_QUANTITY else None


@lru_cache(maxsize=4096)
def _quantity(text: str) -> Number | None:
    if _VAGUE.search(text):
        return None
    value = read_number(text)
    if value is None or not value.unit or not value.unit.isascii() or known_unit(value.unit) or "/" in value.unit:
        return value
    return value if _COUNTED.fullmatch(without_latex(text).strip()) else None


def equal(one: ShortAnswer, other: ShortAnswer) -> bool:
    """Whether two answers are the same text, but for spelling, or the same value in the same unit."""
    if one.folded == other.folded:
        return True
    return one.value is not None and one.value == other.value and _unit(one) == _unit(other)


def differ(right: ShortAnswer, other: ShortAnswer, apart: float = 0.0) -> bool:
    """Whether `other` surely says something else than `right`: another value by more than `apart` (relative to the
    right one), or words of which neither holds the other. Values in different units are not compared."""
    if right.folded == other.folded or not other.folded:
        return False
    if right.value is not None and other.value is not None:
        apart = max(apart, ROUNDED if right.rounded else 0.0)
        return _unit(right) == _unit(other) and _far(right.value, other.value, apart)
    if right.kind == other.kind == "symbols":
        return True
    longer, shorter = sorted((_spaced(right), _spaced(other)), key=len, reverse=True)
    return shorter not in longer


def resembles(right: ShortAnswer, other: ShortAnswer) -> bool:
    """Whether `other` could be taken for the answer: of the same kind, a value of the same sign and size, words as
    long."""
    if not right.kind or right.kind != other.kind:
        return False
    if right.value is None or other.value is None:
        return len(other.folded) <= 2 * len(right.folded) <= 4 * len(other.folded)
    if right.rounded != other.rounded or right.value == 0 or _is_whole(right) != _is_whole(other):
        return False
    return 0.2 <= float(other.value) / float(right.value) <= 5


def spread(stream: Generator, right: ShortAnswer, others: Sequence[ShortAnswer], count: int) -> tuple[str, ...] | None:
    """Draw `count` of the others, each different from the rest; None where there are not so many.

    Of values as many lie below the right one as were drawn beforehand, uniformly where the others allow it: nobody
    finds the right one by its place in the middle.
    """
    drawn = [others[place] for place in stream.permutation(len(others))]
    kept: list[ShortAnswer] = []
    for other in drawn:
        if all(differ(known, other) and differ(other, known) for known in kept):
            kept.append(other)
    if len(kept) < count:
        return None
    values = [other.value for other in kept if other.value is not None]
    if right.value is None or len(values) < len(kept):
        return tuple(other.text for other in kept[:count])
    below = [other for other, value in zip(kept, values, strict=True) if value < right.value]
    above = [other for other in kept if other not in below]
    fewest, most = max(0, count - len(above)), min(count, len(below))
    under = int(stream.integers(fewest, most + 1))
    return tuple(other.text for other in below[:under] + above[: count - under])


def _far(right: Fraction | float, other: Fraction | float, apart: float) -> bool:
    if isinstance(right, Fraction) and isinstance(other, Fraction) and not apart:
        return right != other
    return abs(float(other) - float(right)) > max(apart, 1e-9) * abs(float(right))


def _is_whole(answer: ShortAnswer) -> bool:
    return isinstance(answer.value, Fraction) and answer.value.denominator == 1


def _unit(answer: ShortAnswer) -> str:
    return answer.kind.partition(" ")[2]


def _spaced(answer: ShortAnswer) -> str:
    """The folded text, so that a word is found in another text only as a whole word."""
    return f" {answer.folded} " if answer.kind == "words" else answer.folded


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """As it lies on disk: language -> knowledge point -> answers, sorted."""

    points: dict[str, dict[str, tuple[str, ...]]]


class AnswerPool:
    """Answers and options of a set, by language and knowledge point. Without points it is empty and draws nothing."""

    def __init__(self, points: dict[str, dict[str, tuple[str, ...]]] | None = None) -> None:
        self._points = points or {}
        self.digest = digest(self._points)
        """Hexadecimal digest of all that is in it."""

    @staticmethod
    def build(samples: Iterable[Sample], file: Path, most_points: int = MOST_POINTS) -> None:
        """Go once over a set and write the pool's file; memory is bounded. Raises OSError where it cannot be
        written."""
        kept = _Smallest(most_points)
        for sample in samples:
            for point in sample.knowledge_points:
                kept.add(sample.language, point, _texts(sample))
        unfinished = file.with_name(f"{file.name}.{os.getpid()}.unfinished")
        unfinished.write_bytes(canonical(_File(kept.points())))
        unfinished.replace(file)

    @staticmethod
    def load(file: Path) -> AnswerPool:
        """Read what `build` wrote. Raises InputError."""
        try:
            return AnswerPool(msgspec.json.decode(file.read_bytes(), type=_File).points)
        except OSError as error:
            raise InputError(file, None, f"cannot be read ({error.strerror}): perturb the set again") from None
        except msgspec.DecodeError as error:
            raise InputError(file, None, f"is no pool of answers ({error}): perturb the set again") from None

    def draw(
        self, sample: Sample, answer: str, count: int, stream: Generator, apart: float = 0.0
    ) -> tuple[str, ...] | None:
        """`count` wrong answers that look like the right one, from questions on the same knowledge points; None where
        there are not so many.

        They are in the sample's language and of the right answer's kind, unit and size, say something else than it
        (values by more than `apart`, relative to it) and than each other.
        """
        points = self._points.get(sample.language, {})
        texts = {text for point in sample.knowledge_points for text in points.get(point, ())}
        right = answer_of(answer)
        others = [other for text in sorted(texts) if _fits(right, other := answer_of(text), apart)]
        return spread(stream, right, others, count) if len(others) >= count else None


def _fits(right: ShortAnswer, other: ShortAnswer, apart: float) -> bool:
    return resembles(right, other) and differ(right, other, apart)


def _texts(sample: Sample) -> list[str]:
    """The answers that a sample shows or has: its options' texts, its one blank's first accepted text, its open
    answer."""
    answer = sample.answer
    if isinstance(answer, str):
        return [answer]
    if sample.kind.form == "blank" and isinstance(answer, tuple):
        return [answer[0][0]] if len(answer) == 1 else []
    return [option.text for option in sample.options]


class _Smallest:
    """The points of the smallest digests, and of each the short answers of the smallest digests.

    At most twice as many are held: one that was left out is among the largest, and so it is for good.
    """

    def __init__(self, most_points: int) -> None:
        self._most_points = most_points
        self._answers: dict[tuple[str, str], set[str]] = {}

    def add(self, language: str, point: str, texts: list[str]) -> None:
        """Take answers in, as far as the point and they are among the smallest."""
        answers = self._answers.setdefault((language, point), set())
        answers.update(text.strip() for text in texts if len(text) <= LONGEST and answer_of(text).kind)
        if len(answers) > 2 * MOST_ANSWERS:
            self._answers[language, point] = _smallest(answers)
        if len(self._answers) > 2 * self._most_points:
            self._answers = self._kept()

    def points(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """What was kept, sorted."""
        made: dict[str, dict[str, tuple[str, ...]]] = {}
        for (language, point), answers in sorted(self._kept().items()):
            if answers:
                made.setdefault(language, {})[point] = tuple(sorted(_smallest(answers)))
        return made

    def _kept(self) -> dict[tuple[str, str], set[str]]:
        smallest = nsmallest(self._most_points, self._answers, key=lambda key: _order("".join(key)))
        return {key: self._answers[key] for key in smallest}


def _smallest(answers: set[str]) -> set[str]:
    return set(nsmallest(MOST_ANSWERS, answers, key=_order))


def _order(text: str) -> int:
    return int(digest(text, 8), 16)
