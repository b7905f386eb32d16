"""The contract of a metric: how near an answer's text comes to one that is accepted; and how a sample is credited by
it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, runtime_checkable

from mmdyn.sample import Answer, Sample

_EDGES = " \t\r\n\u3000*`\"'“”‘’,;:。、，；："


@runtime_checkable
class Metric(Protocol):
    """A comparison of two texts. One public class a file under scoring/metrics, constructed without arguments.

    `whole`: to an open question it compares all that was answered, not the short answer that was read out of it.
    Constructing it raises MissingExtra where its library is not installed.
    """

    whole: ClassVar[bool]

    def compare(self, given: str, gold: str) -> float:
        """How near `given` is to `gold`, in [0, 1]: 1 for the same text, 0 for an empty one. `gold` is never empty.

        Pure, and callable from several threads at once.
        """


def credit_by_metric(metric: Metric, sample: Sample, found: Answer) -> tuple[float, tuple[float, ...]]:
    """The value in [0, 1] of an answer to an open question or to blanks, and for blanks the value of each.

    A blank is worth the best of its accepted texts, the sample the mean over its blanks. With `match.ordered` false the
    blanks are met in the order that is worth most. More answers than blanks are worth nothing. Readers leave out quotes
    and closing marks around an answer, so that these count on neither side.
    """
    if isinstance(sample.answer, str):
        return _compared(metric, str(found), (sample.answer,)), ()
    assert isinstance(sample.answer, tuple) and isinstance(found, tuple)
    accepted = [(blank,) if isinstance(blank, str) else blank for blank in sample.answer]
    if len(found) > len(accepted):
        return 0.0, (0.0,) * len(accepted)
    table = [[_compared(metric, str(text), texts) for texts in accepted] for text in found]
    parts = _in_order(table, len(accepted)) if sample.match.ordered else _at_best(table, len(accepted))
    return sum(parts) / len(parts), parts


def _compared(metric: Metric, given: str, accepted: Sequence[str]) -> float:
    return max(metric.compare(_bare(given), _bare(gold)) for gold in accepted)


def _bare(text: str) -> str:
    bare = text.lstrip(_EDGES).rstrip(f"{_EDGES}.…")
    return bare if bare.strip() else text


def _in_order(table: Sequence[Sequence[float]], blanks: int) -> tuple[float, ...]:
    return tuple(table[place][place] if place < len(table) else 0.0 for place in range(blanks))


def _at_best(table: Sequence[Sequence[float]], blanks: int) -> tuple[float, ...]:
    from scipy.optimize import linear_sum_assignment

    parts = [0.0] * blanks
    if table:
        for row, column in zip(*linear_sum_assignment(table, maximize=True), strict=True):
            parts[column] = table[row][column]
    return tuple(parts)
