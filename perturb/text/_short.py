"""Questions with one short answer that is written, not chosen: blanks and open questions."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.sample import Sample
from mmdyn.text import count_blanks
from perturb._operator import NotApplicable
from perturb.answers import LONGEST, answer_of, differ
from perturb.text._stem import GAP, asks, wants_reasons, with_blank
from perturb.text._wording import changed, stating

_BREAKS_OFF = tuple(",，、=＝:：(（")


class Short(Struct, frozen=True):
    """The one answer of a question, and every text that is accepted for it (the answer first)."""

    text: str
    accepted: tuple[str, ...]

    @property
    def one(self) -> bool:
        """Whether all that is accepted says the same, so that one text can stand for it."""
        right = answer_of(self.text)
        return not any(differ(right, answer_of(text)) for text in self.accepted[1:])


def short_answer(sample: Sample) -> Short | NotApplicable:
    """The answer of a blank or an open question, where it is one and short."""
    if sample.task_type == "open_ended":
        return _of_open(sample)
    assert isinstance(sample.answer, tuple)
    if len(sample.answer) > 1 or count_blanks(sample.question) > 1:
        return NotApplicable("the question has several blanks")
    accepted = tuple(text.strip() for text in sample.answer[0])
    if not 0 < len(accepted[0]) <= LONGEST or "\n" in accepted[0]:
        return NotApplicable("the answer is not short")
    return Short(accepted[0], accepted)


def _of_open(sample: Sample) -> Short | NotApplicable:
    text = str(sample.answer).strip()
    if not answer_of(text).kind:
        return NotApplicable("the answer is not short and definite")
    if wants_reasons(sample.question):
        return NotApplicable("the question asks for reasons or a drawing")
    if with_blank(sample.question) is None:
        return NotApplicable("the stem has not exactly one blank or question")
    return Short(text, (text,))


def as_open(sample: Sample) -> Sample | NotApplicable:
    """A fill_in_the_blank as an open question: a blank after what asks already is left out, any other is asked for.

    Not applicable where the words would stay as they are.
    """
    short = short_answer(sample)
    if isinstance(short, NotApplicable):
        return short
    if not short.one:
        return NotApplicable("several answers are accepted")
    question = sample.question.rstrip()
    question = question if count_blanks(question) else with_blank(question) or question
    stem = question.removesuffix(GAP).rstrip()
    if asks(stem) and not stem.rstrip(" $").endswith(_BREAKS_OFF):
        question = stem
    if count_blanks(question):
        question = f"{question}\n{stating(sample.language)}"
    if question == sample.question.rstrip():
        return NotApplicable("the question shows no blank and asks openly already")
    return changed(sample, question=question, task_type="open_ended", answer=short.text)


def as_filled(sample: Sample) -> Sample | NotApplicable:
    """An open question as a fill_in_the_blank."""
    short = short_answer(sample)
    if isinstance(short, NotApplicable):
        return short
    question = with_blank(sample.question)
    return changed(sample, question=question, task_type="fill_in_the_blank", answer=(short.accepted,))
