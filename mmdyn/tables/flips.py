"""Flips: the questions that a chain turned from right to wrong or back, with what was expected and what was read."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mmdyn.keys import Json, canonical
from mmdyn.record import Record
from mmdyn.sample import Answer, Sample, from_json
from mmdyn.stats import Ints
from mmdyn.table import Flips
from mmdyn.tables.blocks import Block, Numbered, RowWatcher
from mmdyn.tables.contrasts import Sides, find_sides
from mmdyn.tables.keys import POOLED, Key
from mmdyn.tables.labels import ARROW
from mmdyn.tables.pairing import EVEN
from mmdyn.tables.rows import Row
from mmdyn.tables.scores import conditions_of
from mmdyn.work import SAMPLE, Reader, RunFolder

TO_WRONG, TO_RIGHT = "right to wrong", "wrong to right"
LONGEST_QUESTION, LONGEST_ANSWER = 40, 24
"""Characters that are shown."""

NOTHING = "nothing"


class _Flip(NamedTuple):
    """A question that a chain turned: its index, both mean scores, and the records of both sides."""

    sides: Sides
    parent: int
    scores: tuple[float, float]
    records: tuple[Ints, Ints]


class FlipWatcher(RowWatcher):
    """Which sample each record is of, and what was read in its reply."""

    def __init__(self, part: Flips, runs: Mapping[str, RunFolder]) -> None:
        self._samples, self._sample = dict[tuple[str, str], int](), array("i")
        self._answers, self._read = dict[str, int](), array("i")

    def see(self, run: str, key: Key, parent: int, record: Record, reader: Reader) -> None:
        """Note the record."""
        self._sample.append(self._samples.setdefault((run, record.digest), len(self._samples)))
        read = NOTHING if record.score is None or record.score.extracted is None else _spelt(record.score.extracted)
        self._read.append(self._answers.setdefault(_line(read, LONGEST_ANSWER), len(self._answers)))

    def rows(self, block: Block) -> Iterator[Numbered]:
        """Two rows of each question and chain: the mean score of the standard question, and of its variants, of which
        `n` were answered. Of a chain losses stand first."""
        found = list(_flips(block))
        digests, samples = [*self._samples], dict[int, Sample]()
        wanted = {int(self._sample[place]) for flip in found for side in flip.records for place in side.tolist()}
        for name, run in block.columns.runs.items():
            with Reader(run.records_folder) as reader:
                for place in (place for place in wanted if digests[place][0] == name):
                    if stored := reader.get(SAMPLE, digests[place][1]):
                        samples[place] = from_json(stored, Sample)
        for flip in found:
            yield from self._rows(block, flip, samples)

    def notes(self, rows: Sequence[Row]) -> Sequence[str]:
        """How many there are of each kind."""
        ways = Counter(row.factors["direction"] for row in rows if row.quantity == "a score")
        return [", ".join(f"{number} {way}" for way, number in ways.items()) or "no question was turned"]

    def _rows(self, block: Block, flip: _Flip, samples: dict[int, Sample]) -> Iterator[Numbered]:
        columns, answers = block.columns, [*self._answers]
        known = [[samples.get(self._sample[place]) for place in side.tolist()] for side in flip.records]
        expected = [", ".join(dict.fromkeys(_expected(one) for one in side if one)) for side in known]
        read = [
            ", ".join(dict.fromkeys(answers[self._read[place]] for place in side.tolist())) for side in flip.records
        ]
        scores = columns.worth["score"][0][flip.records[1]]
        lost = flip.scores[0] > flip.scores[1]
        turned = int((scores < EVEN).sum() if lost else (scores > EVEN).sum())
        told = {
            "direction": TO_WRONG if lost else TO_RIGHT,
            "question": columns.names[flip.parent],
            "variants": f"{turned} of {len(scores)} {'wrong' if lost else 'right'}",
            "expected": f" {ARROW} ".join(dict.fromkeys(expected)),
            "read": f" {ARROW} ".join(read),
            "asked": next((_line(one.question, LONGEST_QUESTION) for one in known[0] if one), ""),
        }
        here = block._replace(front={**flip.sides.factors(), **told})
        for quantity, score, records in zip(("a score", "b score"), flip.scores, flip.records, strict=True):
            yield here.row((), (), quantity, round(score, 6), n=len(records)), None


def _flips(block: Block) -> Iterator[_Flip]:
    """The flips of each chain, from standard to dynamic."""
    conditions, columns = conditions_of(block), block.columns
    answered = ~(columns.flags["failed"] | columns.flags["unscored"])
    for sides in find_sides(list(conditions)):
        if sides.factor != "variant" or sides.b.chain == POOLED:
            continue
        records = [conditions[key][answered[conditions[key]]] for key in sides[1:]]
        a, b = (block.cell(side) for side in records)
        shared, in_a, in_b = np.intersect1d(a.ids, b.ids, assume_unique=True, return_indices=True)
        before, after = a.values[in_a], b.values[in_b]
        places = np.flatnonzero((before - EVEN) * (after - EVEN) < 0).tolist()
        for place in sorted(
            places, key=lambda place: (before[place] < after[place], columns.names[int(shared[place])])
        ):
            own = [side[columns.parents[side] == shared[place]] for side in records]
            scores = float(before[place]), float(after[place])
            yield _Flip(sides, int(shared[place]), scores, (own[0], own[1]))


def _expected(sample: Sample) -> str:
    """The right answer, with the text of the option that it is."""
    right = sample.answer if isinstance(sample.answer, tuple) else ()
    meant = "; ".join(option.text for option in sample.options if option.label in right and option.text)
    spelt = _line(_spelt(sample.answer), LONGEST_ANSWER)
    return f"{spelt} ({_line(meant, LONGEST_ANSWER)})" if meant else spelt


def _spelt(value: Json | Answer, between: str = ", ") -> str:
    """What was read or is right: labels and blanks with commas between, spellings of one blank with `or`."""
    if isinstance(value, list | tuple):
        return between.join(_spelt(part, " or ") for part in value)
    return value if isinstance(value, str) else canonical(value).decode()


def _line(text: str, most: int) -> str:
    """A text on one line, of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
