"""A rubric: is the answer short?"""

from __future__ import annotations

from msgspec import Struct

from mmdyn.keys import Json, digest
from mmdyn.prompts import read_coded
from mmdyn.sample import Sample
from mmdyn.scoring.rubrics._rubric import RubricVerdict, Sheet


class _Said(Struct):
    code: str
    short: bool


class Brevity:
    """1 where the judge calls the answer short, else 0."""

    def __init__(self) -> None:
        self.identity: Json = {"brevity": 1}

    def sheet(self, sample: Sample, reply: str, pictures: bool) -> Sheet:
        """The answer between two lines of its own digest."""
        code = digest(reply, 8)
        wanted = f'{{"code": "{code}", "short": true or false}}'
        return Sheet(f"Is this a short answer?\n=== {code}\n{reply}\n=== {code}\nReply with {wanted}.", code)

    def read(self, sample: Sample, said: str, code: str) -> RubricVerdict:
        """Yes or no."""
        return RubricVerdict((float(read_coded(said, _Said, code).short),))

    def nothing(self, sample: Sample) -> RubricVerdict:
        """Nothing is shorter than nothing."""
        return RubricVerdict((1.0,), reason="the reply is empty")
