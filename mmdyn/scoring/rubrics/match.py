"""Graded match: how much of the golden answer a reply says."""

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
    golden,
    one_line,
    question,
)

SCALE = (0.0, 0.25, 0.5, 0.75, 1.0)
"""People's marks of short answers mostly lie on quarters; docs/appendix/judging.md: what a coarser scale costs."""


class _Grades(Struct, frozen=True):
    code: str
    grades: tuple[tuple[int, str, float], ...]


class Match:
    """A mark in quarters for each part of the golden answer (each blank; one part for any other task type)."""

    def __init__(self) -> None:
        self.identity: Json = {"reading": 1, "prompts": prompts_digest(KIND, "match", "notes", "pictures", "cut")}

    def sheet(self, sample: Sample, reply: str, pictures: bool) -> Sheet:
        """Question, golden answer and reply, and what each mark stands for."""
        values = {"question": question(sample), "gold": gold(sample), "count": str(len(golden(sample)))}
        return fill("match", sample, pictures, {"answer": reply}, **values)

    def read(self, sample: Sample, said: str, code: str) -> RubricVerdict:
        """One mark of SCALE for each part, in order."""
        grades = read_coded(said, _Grades, code).grades
        check_numbers([number for number, _, _ in grades], len(golden(sample)), "part(s)")
        if any(mark not in SCALE for _, _, mark in grades):
            raise ValueError("each mark must be 0, 0.25, 0.5, 0.75 or 1")
        reasons = "; ".join(reason for _, reason, _ in grades)
        return RubricVerdict(tuple(mark for _, _, mark in grades), reason=one_line(reasons))

    def nothing(self, sample: Sample) -> RubricVerdict:
        """No mark for any part."""
        return RubricVerdict((0.0,) * len(golden(sample)), reason="the reply is empty")
