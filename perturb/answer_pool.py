"""Other samples' answers by knowledge point: where wrong answers come from that look right."""

from __future__ import annotations

import os
from collections.abc import Iterable
from heapq import heappush, heappushpop
from pathlib import Path

import msgspec
from msgspec import Struct
from numpy.random import Generator

from mmdyn.errors import InputError
from mmdyn.keys import canonical, digest
from mmdyn.sample import Sample
from perturb.short_answers import LONGEST, Answer, answer_of, differ, resembles, spread

MOST_POINTS, MOST_ANSWERS = 20_000, 64
"""Knowledge points, and answers of each, that are kept: those of the smallest digests, so that the order does not
matter."""


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """As it lies on disk: language -> knowledge point -> answers, sorted."""

    points: dict[str, dict[str, tuple[str, ...]]]


class Pool:
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
    def load(file: Path) -> Pool:
        """Read what `build` wrote. Raises InputError."""
        try:
            return Pool(msgspec.json.decode(file.read_bytes(), type=_File).points)
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


def _fits(right: Answer, other: Answer, apart: float) -> bool:
    return resembles(right, other) and differ(right, other, apart)


def _texts(sample: Sample) -> list[str]:
    """The answers that a sample shows or has: its options' texts, its one blank's first accepted text, its open
    answer."""
    answer = sample.answer
    if isinstance(answer, str):
        return [answer]
    if sample.task_type == "fill_in_the_blank" and isinstance(answer, tuple):
        return [answer[0][0]] if len(answer) == 1 else []
    return [option.text for option in sample.options]


class _Smallest:
    """The points of the smallest digests, and of each the short answers of the smallest digests."""

    def __init__(self, most_points: int) -> None:
        self._most_points = most_points
        self._heap: list[tuple[int, str, str]] = []
        self._answers: dict[tuple[str, str], list[tuple[int, str]]] = {}

    def add(self, language: str, point: str, texts: list[str]) -> None:
        """Take answers in, as far as the point and they are among the smallest."""
        heap = self._answers.get((language, point))
        if heap is None:
            heap = self._admitted(language, point)
        for text in (text.strip() for text in texts if len(text) <= LONGEST):
            entry = (-_order(text), text)
            full = len(heap) == MOST_ANSWERS
            if (full and entry < heap[0]) or entry in heap or not answer_of(text).kind:
                continue
            if full:
                heappushpop(heap, entry)
            else:
                heappush(heap, entry)

    def points(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """What was kept, sorted."""
        made: dict[str, dict[str, tuple[str, ...]]] = {}
        for (language, point), heap in sorted(self._answers.items()):
            if heap:
                made.setdefault(language, {})[point] = tuple(sorted(text for _, text in heap))
        return made

    def _admitted(self, language: str, point: str) -> list[tuple[int, str]]:
        """The place of a new point, where it takes one; else a place that is thrown away."""
        entry = (-_order(language + point), language, point)
        if len(self._heap) < self._most_points:
            heappush(self._heap, entry)
        else:
            _, *largest = heappushpop(self._heap, entry)
            if tuple(largest) == (language, point):
                return []
            del self._answers[largest[0], largest[1]]
        return self._answers.setdefault((language, point), [])


def _order(text: str) -> int:
    return int(digest(text, 8), 16)
