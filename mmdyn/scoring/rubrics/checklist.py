"""Golden answer and checklist."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.keys import Json
from mmdyn.models import prompts_digest
from mmdyn.prompts import read_coded
from mmdyn.sample import Sample
from mmdyn.scoring.rubrics._rubric import (
    KIND,
    RubricVerdict,
    Sheet,
    check_numbers,
    fill,
    gold,
    numbered,
    one_line,
    question,
)


class _Verdicts(Struct, frozen=True):
    code: str
    golden: tuple[str, bool]
    items: tuple[tuple[int, str, bool], ...]


class Checklist:
    """Whether the reply meets the golden answer (the grade, 1 or 0), and beside it each item of the sample's checklist.

    Source: AcadReason, section 3.4: the mean of the grades over questions is its pass rate R_p, the share of items that
        are met, over the items of all questions, its checklist score R_j. Its judge sees hints too; ours does not.
    """

    def __init__(self) -> None:
        self.identity: Json = {"reading": 1, "prompts": prompts_digest(KIND, "checklist", "notes", "pictures", "cut")}

    def sheet(self, sample: Sample, reply: str, pictures: bool) -> Sheet:
        """Question, golden answer, checklist and reply."""
        items, values = _items(sample), {"question": question(sample), "gold": gold(sample)}
        values |= {"checklist": numbered(items), "count": str(len(items))}
        return fill("checklist", sample, pictures, {"answer": reply}, **values)

    def read(self, sample: Sample, said: str, code: str) -> RubricVerdict:
        """One verdict on the golden answer, and as many as the checklist has items."""
        verdicts = read_coded(said, _Verdicts, code)
        check_numbers([number for number, _, _ in verdicts.items], len(_items(sample)), "items")
        reason, met = verdicts.golden
        return RubricVerdict((float(met),), tuple(met for _, _, met in verdicts.items), one_line(reason))

    def nothing(self, sample: Sample) -> RubricVerdict:
        """Nothing is met."""
        return RubricVerdict((0.0,), (False,) * len(_items(sample)), "the reply is empty")


def _items(sample: Sample) -> tuple[str, ...]:
    if not sample.checklist:
        raise ValueError("the sample has no checklist: give it one, or choose the rubric match")
    return sample.checklist
