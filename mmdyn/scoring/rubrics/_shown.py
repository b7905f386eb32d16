"""A question and its golden answer as a judge reads them."""

from __future__ import annotations

from mmdyn.data import ImageFolder
from mmdyn.errors import UserError
from mmdyn.keys import sha256
from mmdyn.models import ImagePart
from mmdyn.prompts import filled, template
from mmdyn.sample import Language, Match, Option, Sample
from mmdyn.scoring.rubrics._rubric import KIND

_OR: dict[Language, str] = {"en": " or ", "zh": " 或 "}


def question(sample: Sample) -> str:
    """The question with its options, behind what was said before it. Pictures are named as marks name them: <image N>,
    the options' after the question's."""
    earlier = [f"[{turn.role}] {turn.text}" for turn in sample.turns]
    return "\n".join([*earlier, sample.question, *(_option(sample, option) for option in sample.options)])


def golden(sample: Sample) -> tuple[str, ...]:
    """The golden answer by its parts: one for each blank, else one. A chosen option comes with its text."""
    answer = sample.answer
    if isinstance(answer, bool):
        return (template("verdicts", sample.language).text.split("\n")[not answer],)
    if isinstance(answer, str):
        return (answer,)
    if sample.task_type == "fill_in_the_blank":
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
