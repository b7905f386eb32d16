"""The contract of a rubric, and what a judge is shown.

A reply is put between lines that begin with a code, and a verdict counts only where it holds that code. The code is a
digest of all that is shown, the reply among it, so that equal questions stay equal, and a reply that held its own code
would be a fixed point of the digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from mmdyn.data import ImageFolder
from mmdyn.errors import UserError
from mmdyn.keys import Json, digest, sha256
from mmdyn.models import ImagePart
from mmdyn.prompts import filled, template
from mmdyn.sample import Language, Match, Option, Sample

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

    Where every verdict's grades are of the same dimensions, an attribute `dimensions` names these for reports.
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


_OR: dict[Language, str] = {"en": " or ", "zh": " 或 "}


def question(sample: Sample) -> str:
    """The question with its options, behind what was said before it. Pictures are named as marks name them: <image N>,
    the options' after the question's."""
    earlier = [f"[{turn.role}] {turn.text}" for turn in sample.turns]
    return "\n".join([*earlier, sample.question, *(_option(sample, option) for option in sample.options)])


def golden(sample: Sample) -> tuple[str, ...]:
    """The golden answer by its parts: one for each blank, else one. A chosen option comes with its text. Raises
    ValueError for instructions."""
    answer = sample.answer
    if sample.instructions:
        raise ValueError("whether a reply follows instructions is a matter of rules: ask no judge")
    if isinstance(answer, bool):
        return (template("verdicts", sample.language).text.split("\n")[not answer],)
    if isinstance(answer, str):
        return (answer,)
    if sample.kind.form == "blank":
        either = _OR[sample.language]
        return tuple(blank if isinstance(blank, str) else either.join(blank) for blank in answer)
    return ("\n".join(_option(sample, option) for option in sample.options if option.label in answer),)


def gold(sample: Sample) -> str:
    """The golden answer, its parts numbered where they are several, and what the sample allows in comparing."""
    parts = golden(sample)
    lines = [f"({number}) {part}" for number, part in enumerate(parts, 1)] if len(parts) > 1 else list(parts)
    return "\n".join([*lines, *_notes(sample, len(parts))])


def pictures(sample: Sample, images: ImageFolder | None) -> tuple[ImagePart, ...]:
    """The sample's pictures in order, out of the folder in which they lie.

    Raises UserError where there is no folder, ValueError where a picture cannot be read.
    """
    if not sample.all_images:
        return ()
    if images is None:
        raise UserError(
            f"the pictures of {sample.id} are not at hand: judge with the set's folder, or without pictures"
        )
    return tuple(ImagePart(images.path(ref), sha256(images.read(ref))) for ref in sample.all_images)


def numbered(texts: tuple[str, ...]) -> str:
    """Texts as a numbered list."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def _option(sample: Sample, option: Option) -> str:
    picture = f" <image {sample.all_images.index(option.image) + 1}>" if option.image else ""
    return f"{option.label}. {option.text}{picture}"


def _notes(sample: Sample, parts: int) -> list[str]:
    match: Match = sample.match
    values = {"tolerance": f"{match.tolerance:g}" if match.tolerance else "", "unit": match.unit or ""}
    any_order, tolerance, unit = filled(KIND, "notes", sample.language, **values).split("\n")
    told = ((any_order, parts > 1 and not match.ordered), (tolerance, match.tolerance), (unit, match.unit))
    return [note for note, holds in told if holds]
