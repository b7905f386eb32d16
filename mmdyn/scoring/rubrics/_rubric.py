"""The contract of a rubric, and the sheet on which a judge finds what it is asked.

A reply is put between lines that begin with a code, and a verdict counts only where it holds that code. The code is a
digest of all that is shown, the reply among it, so that equal questions stay equal, and a reply that held its own code
would be a fixed point of the digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from mmdyn.keys import Json, digest
from mmdyn.prompts import filled
from mmdyn.sample import Language, Sample

KIND = "rubrics"
"""The kind of our rubrics' prompts."""

LONGEST = 20_000
"""Characters of a reply that are shown: of a longer one the first half and the last half of so many."""

LONGEST_REASON = 300
_CODE_BYTES = 12
"""What is shown of a reply has room for some 2^10 codes, so that finding a fixed point takes some 2^86 digests."""


class Sheet(Struct, frozen=True):
    """What a judge is asked, as text, and the code that its verdict must hold."""

    text: str
    code: str


class RubricVerdict(Struct, frozen=True):
    """One vote. `grades` in [0, 1], of each part, at least one: their mean is what the reply is worth.

    `items`: whether each item beside them is met.
    """

    grades: tuple[float, ...]
    items: tuple[bool, ...] = ()
    reason: str = ""


class Rubric(Protocol):
    """What is asked about a reply. One public class a file under scoring/rubrics, constructed without arguments.

    Every method raises ValueError, with a reason, for a sample that it cannot be used for.
    """

    identity: Json
    """What of it decides verdicts: a digest of its prompts, and a number that goes up when they are read otherwise."""

    def sheet(self, sample: Sample, reply: str, pictures: bool) -> Sheet:
        """What to ask about a reply that is not empty, in the sample's language. `pictures`: the sample's are shown
        before."""

    def read(self, sample: Sample, said: str, code: str) -> RubricVerdict:
        """The verdict in what a judge said. Raises ValueError where it is none, with a reason that the judge is
        told."""

    def nothing(self, sample: Sample) -> RubricVerdict:
        """The verdict on an empty reply, about which no judge is asked."""


def fill(
    name: str, sample: Sample, pictures: bool, replies: Mapping[str, str], *, about: str = "pictures", **values: str
) -> Sheet:
    """A sheet out of the template `name` of our prompts, which has places for these replies and values, pictures and
    code.

    A reply that is too long is cut in the middle, with a mark that holds the code. `pictures`: they are shown before;
    `about` is the template that says so, or that they are not.
    """
    language = sample.language
    told = filled(KIND, about, language).split("\n")[pictures] if sample.all_images else ""
    said = {place: reply.encode("utf-8", "replace").decode() for place, reply in replies.items()}
    code = digest([name, language, told, said, values], _CODE_BYTES)
    shown = {place: _cut(reply, code, language) for place, reply in said.items()}
    return Sheet(filled(KIND, name, language, code=code, pictures=told, **shown, **values), code)


def one_line(reason: str) -> str:
    """A judge's words on one line, cut."""
    return " ".join(reason.split())[:LONGEST_REASON]


def check_numbers(numbers: list[int], count: int, what: str) -> None:
    """Raises ValueError where verdicts are not numbered 1 to `count` in order."""
    if numbers != list(range(1, count + 1)):
        given = f"{len(numbers)} given" if len(numbers) != count else "they are numbered otherwise"
        raise ValueError(f"it must hold one verdict for each of the {count} {what}, numbered from 1 in order; {given}")


def _cut(reply: str, code: str, language: Language) -> str:
    spare = len(reply) - LONGEST
    if spare <= 0:
        return reply
    mark = filled(KIND, "cut", language, code=code, count=f"{spare:,}")
    return f"{reply[: LONGEST // 2]}\n{mark}\n{reply[-LONGEST // 2 :]}"
