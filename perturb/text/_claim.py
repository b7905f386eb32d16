"""A question as a claim about its answer that is true or false."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmdyn.sample import Match, Option, Sample
from mmdyn.text import count_blanks, unwrapped_text
from perturb.text._wording import changed, claim, filled_claim, right_labels

if TYPE_CHECKING:
    from numpy.random import Generator


def draw_claim(stream: Generator, sample: Sample) -> tuple[str, ...]:
    """Labels to claim: the right ones with chance 1/2, else wrong ones, uniformly.

    Wrong labels are as many as the right ones, so that their number tells nothing; where all options are right, one
    less.
    """
    right, known = right_labels(sample), sample.labels
    if stream.integers(2):
        return right
    size = len(right) if len(right) < len(known) else len(right) - 1
    labels = right
    while labels == right:
        labels = tuple(known[place] for place in sorted(stream.permutation(len(known))[:size]))
    return labels


def as_claim(sample: Sample, labels: tuple[str, ...]) -> Sample:
    """The question with its options listed in it and the claim that `labels` are right; option pictures become its own.

    Options are not listed where none says more than its letter: what they stand for is in the stem or in the picture.

    Raises ValueError where an option marks a picture that is not there.
    """
    images, lines = list(sample.images), [sample.question]
    for option in sample.options if any(map(_says_more, sample.options)) else ():
        mark = ""
        if option.image:
            images.append(option.image)
            mark = f"<image {len(images)}>"
        lines.append(_line(option, mark))
    several = sample.task_type == "multi_select"
    return changed(
        sample,
        question="\n".join(lines) + "\n\n" + claim(sample.language, labels, several=several),
        task_type="true_false",
        answer=labels == right_labels(sample),
        options=(),
        options_in_image=False,
        images=tuple(images),
        match=Match(),
    )


def as_filled_claim(sample: Sample, answer: str, right: str) -> Sample:
    """A question with a short answer and the claim that the answer is `answer`: true where that is the right one."""
    sentence = filled_claim(sample.language, answer, blank=bool(count_blanks(sample.question)))
    return changed(
        sample,
        question=f"{sample.question}\n\n{sentence}",
        task_type="true_false",
        answer=answer == right,
        match=Match(),
    )


def _says_more(option: Option) -> bool:
    return bool(option.image) or unwrapped_text(option.text) not in ("", option.label)


def _line(option: Option, mark: str) -> str:
    return " ".join(part for part in (f"{option.label}.", option.text, mark) if part)
