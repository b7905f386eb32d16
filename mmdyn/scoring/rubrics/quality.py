"""Quality without a golden answer: ratings of a reply on several dimensions."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.keys import Json
from mmdyn.models import prompts_digest
from mmdyn.prompts import read_coded
from mmdyn.sample import Sample
from mmdyn.scoring.rubrics._rubric import KIND, RubricVerdict, Sheet, check_numbers, fill, one_line, question

DIMENSIONS = ("relevance", "correctness", "reasoning", "completeness", "clarity")
"""What is rated, in the order of the grades."""

LEAST, MOST = 1, 10


class _Ratings(Struct, frozen=True):
    code: str
    ratings: tuple[tuple[int, str, int], ...]


class Quality:
    """A rating from 1 to 10 for each of DIMENSIONS; its grade is (rating - 1) / 9. The golden answer is not shown.

    Source: OpenCompass's subjective mode, in which a judge rates open replies on several dimensions.
    """

    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.identity: Json = {"reading": 1, "prompts": prompts_digest(KIND, "quality", "pictures_alone", "cut")}

    def sheet(self, sample: Sample, reply: str, pictures: bool) -> Sheet:
        """Question and reply, and what each dimension and rating stands for."""
        values = {"question": question(sample), "count": str(len(DIMENSIONS))}
        return fill("quality", sample, pictures, {"answer": reply}, about="pictures_alone", **values)

    def read(self, sample: Sample, said: str, code: str) -> RubricVerdict:
        """One whole number from 1 to 10 for each dimension, in order."""
        ratings = read_coded(said, _Ratings, code).ratings
        check_numbers([number for number, _, _ in ratings], len(DIMENSIONS), "dimensions")
        if any(not LEAST <= rating <= MOST for _, _, rating in ratings):
            raise ValueError("each rating must be a whole number from 1 to 10")
        reasons = "; ".join(reason for _, reason, _ in ratings)
        return RubricVerdict(
            tuple((rating - LEAST) / (MOST - LEAST) for _, _, rating in ratings), reason=one_line(reasons)
        )

    def nothing(self, sample: Sample) -> RubricVerdict:
        """The least on every dimension."""
        return RubricVerdict((0.0,) * len(DIMENSIONS), reason="the reply is empty")
