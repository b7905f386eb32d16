"""A question in another form, with its ground truth: as a claim, as a choice, as a blank, openly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from numpy.random import Generator

from mmdyn.sample import IMAGE_MARK, Answer, Language, Match, Option, Sample, TaskType
from mmdyn.text import BLANK, count_blanks, names_a_label, unwrapped_text, without_form_notes
from perturb.item import NotApplicable
from perturb.short_answers import LONGEST, answer_of, differ, equal
from perturb.text._produced import claimed_alone, produced, says_none
from perturb.text._stem import GAP, asks, wants_reasons, with_blank

LABELS = "ABCD"

_BREAKS_OFF = tuple(",，、=＝:：(（")
_TRUE_FALSE: dict[Language, tuple[str, str]] = {"en": ("True", "False"), "zh": ("正确", "错误")}
_CLAIM: dict[Language, tuple[str, str]] = {
    "en": ("Claim: the right answer is {}.", "Claim: one of the right answers is {}."),
    "zh": ("断言：本题应选{}。", "断言：本题的正确答案之一是{}。"),
}
_FILLED: dict[Language, tuple[str, str]] = {
    "en": ("Claim: the answer is {}.", "Claim: {} belongs in the blank."),
    "zh": ("断言：本题的答案是{}。", "断言：空白处应填{}。"),
}
_TRUE_OR_FALSE: dict[Language, str] = {"en": " Is this claim true or false?", "zh": "这一断言是否正确？"}
_STATE: dict[Language, str] = {"en": "State what belongs in the blank.", "zh": "请写出空白处应填的内容。"}


def draw_claim(stream: Generator, sample: Sample) -> str | NotApplicable:
    """The label to claim: a right one with chance 1/2, else a wrong one, uniformly, that says more than that there is
    none where one does. Not applicable where none is wrong."""
    right = right_labels(sample)
    others = [option for option in sample.options if option.label not in right]
    wrong = [option.label for option in others if not says_none(option.text)] or [option.label for option in others]
    if not wrong:
        return NotApplicable("no option is wrong")
    claimed = right if stream.integers(2) else wrong
    return claimed[stream.integers(len(claimed))]


def as_claim(sample: Sample, label: str) -> Sample:
    """The question with the claim that an option is right, which names what the option says.

    The options stay listed where the claim may hang on them; option pictures become pictures of the question, and are
    named by their letters. They are not listed where none says more than its letter: what they stand for is in the stem
    or in the picture.

    Raises ValueError where an option marks a picture that is not there.
    """
    (claimed,) = (option for option in sample.options if option.label == label)
    several, right = sample.task_type == "multi_select", label in right_labels(sample)
    alone = _says_more(claimed) and claimed_alone(sample, claimed)
    words = _FILLED[sample.language][bool(count_blanks(sample.question))]
    words = words if alone and not several else _CLAIM[sample.language][several]
    images, lines = list(sample.images), [sample.question]
    for option in sample.options if any(map(_says_more, sample.options)) and not alone else ():
        mark = ""
        if option.image:
            images.append(option.image)
            mark = f"<image {len(images)}>"
        lines.append(" ".join(part for part in (f"{option.label}.", option.text, mark) if part))
    claim = words.replace("{}", _name(claimed))
    question = "\n".join(lines) + f"\n\n{claim}{_TRUE_OR_FALSE[sample.language]}"
    return _converted(sample, "true_false", right, question, images=tuple(images), options_in_image=False)


def as_filled_claim(sample: Sample, answer: str, right: str) -> Sample:
    """A question with a short answer and the claim that the answer is `answer`: true where that is the right one."""
    claim = _FILLED[sample.language][bool(count_blanks(sample.question))].replace("{}", answer)
    question = f"{sample.question}\n\n{claim}{_TRUE_OR_FALSE[sample.language]}"
    return _converted(sample, "true_false", answer == right, question)


def as_choice(sample: Sample, right: str, wrong: Sequence[str], place: int) -> Sample | NotApplicable:
    """A question with a short answer as a single_choice in which the right answer stands at `place`, from 0.

    Not applicable where two options say the same.
    """
    texts = [*wrong[:place], right, *wrong[place:]]
    pairs = combinations([answer_of(text) for text in texts], 2)
    if not 0 <= place < len(texts) <= len(LABELS) or any(equal(*pair) for pair in pairs):
        return NotApplicable("two options say the same")
    return _converted(sample, "single_choice", (LABELS[place],), options=_labelled(texts))


def as_either(sample: Sample, true_first: bool) -> Sample:
    """A true_false as a single_choice between the two words."""
    texts = _TRUE_FALSE[sample.language][:: 1 if true_first else -1]
    answer = "A" if sample.answer is true_first else "B"
    return _converted(sample, "single_choice", (answer,), options=_labelled(texts))


def as_blank(sample: Sample) -> Sample | NotApplicable:
    """A single choice as a fill_in_the_blank of which the right option is the answer, or why that may be wrong: the
    right option can be produced from the stem alone, and the stem has one blank or asks one question."""
    if sample.task_type != "single_choice":
        return NotApplicable("several options may be right")
    (gold,) = (option for option in sample.options if option.label in right_labels(sample))
    made = produced(sample, gold)
    if isinstance(made, NotApplicable):
        return made
    question = with_blank(sample.question, len(made.texts))
    if question is None:
        return NotApplicable("the stem has not exactly one blank or question")
    question = question.replace(GAP, GAP + made.note, 1)
    return as_filled(sample, question, tuple((text,) for text in made.texts), made.tolerance)


def as_filled(
    sample: Sample, question: str, accepted: tuple[tuple[str, ...], ...], tolerance: float | None = None
) -> Sample:
    """A choice question as this fill_in_the_blank, with what is `accepted` for each blank."""
    return _converted(sample, "fill_in_the_blank", accepted, question, match=Match(tolerance=tolerance))


class Short(Struct, frozen=True):
    """The one answer of a question, and every text that is accepted for it (the answer first)."""

    text: str
    accepted: tuple[str, ...]


def with_one_blank(sample: Sample, place: int) -> Sample | NotApplicable:
    """A fill_in_the_blank of several blanks in which all but the one at `place`, from 0, are filled in."""
    assert isinstance(sample.answer, tuple)
    question, blanks = sample.question, list(BLANK.finditer(sample.question))
    if len(blanks) != len(sample.answer):
        return NotApplicable("the question has several blanks")
    for number in reversed(range(len(blanks))):
        start, end = blanks[number].span()
        if number != place:
            text = sample.answer[number][0].strip()
            text = text.strip("$") if question[:start].count("$") % 2 else text
            question = question[:start] + text + question[end:]
    return replace(sample, question=question, answer=(sample.answer[place],))


def short_answer(sample: Sample) -> Short | NotApplicable:
    """The answer of a blank or an open question, where it is one and short."""
    if sample.task_type == "open_ended":
        return _open_answer(sample)
    assert isinstance(sample.answer, tuple)
    if len(sample.answer) > 1 or count_blanks(sample.question) > 1:
        return NotApplicable("the question has several blanks")
    accepted = tuple(text.strip() for text in sample.answer[0])
    if not 0 < len(accepted[0]) <= LONGEST or "\n" in accepted[0]:
        return NotApplicable("the answer is not short")
    return Short(accepted[0], accepted)


def as_open(sample: Sample) -> Sample | NotApplicable:
    """A fill_in_the_blank as an open question: a blank after what asks already is left out, any other is asked for.

    Not applicable where the words would stay as they are.
    """
    short = short_answer(sample)
    if isinstance(short, NotApplicable):
        return short
    right = answer_of(short.text)
    if any(differ(right, answer_of(text)) for text in short.accepted[1:]):
        return NotApplicable("several answers are accepted")
    question = sample.question.rstrip()
    question = question if count_blanks(question) else with_blank(question) or question
    stem = question.removesuffix(GAP).rstrip()
    if asks(stem) and not stem.rstrip(" $").endswith(_BREAKS_OFF):
        question = stem
    if count_blanks(question):
        question = f"{question}\n{_STATE[sample.language]}"
    if question == sample.question.rstrip():
        return NotApplicable("the question shows no blank and asks openly already")
    return _converted(sample, "open_ended", short.text, question, match=sample.match)


def with_gap(sample: Sample) -> Sample | NotApplicable:
    """An open question as a fill_in_the_blank."""
    short = short_answer(sample)
    if isinstance(short, NotApplicable):
        return short
    question = with_blank(sample.question)
    return _converted(sample, "fill_in_the_blank", (short.accepted,), question, match=sample.match)


def changed(sample: Sample, **changes: Any) -> Sample:
    """A sample of which letters or form changed, without what may be stale then.

    The explanation is left out, and so is every hint and checklist item in which an option's letter or place is named.
    """
    labels = sample.labels
    hints = {name: text for name, text in sample.hints.items() if not names_a_label(text, labels)}
    checklist = tuple(text for text in sample.checklist if not names_a_label(text, labels))
    return replace(sample, explanation="", hints=hints, checklist=checklist, **changes)


def without_notes(sample: Sample) -> Sample:
    """The sample without the notes in its question that prescribe the form of the answer, which another task type
    belies.

    Notes on rounding and units stay, and so does a question that is nothing but such a note.
    """
    question = without_form_notes(sample.question)
    return sample if question == sample.question else replace(sample, question=question)


def alike(options: Iterable[Option]) -> bool:
    """Whether two options that are not empty read and look the same, so that letters alone tell them apart."""
    shown = [(option.text.strip(), option.image) for option in options if option.text.strip() or option.image]
    return len(set(shown)) < len(shown)


def right_labels(sample: Sample) -> tuple[str, ...]:
    """The labels of a choice question's right options, in the options' order."""
    assert isinstance(sample.answer, tuple)
    return tuple(option.label for option in sample.options if option.label in sample.answer)


def _converted(
    sample: Sample,
    task_type: TaskType,
    answer: Answer,
    question: str | None = None,
    *,
    options: tuple[Option, ...] = (),
    match: Match | None = None,
    **more: Any,
) -> Sample:
    question = sample.question if question is None else question
    form = {"task_type": task_type, "answer": answer, "options": options, "match": match or Match()}
    return changed(sample, question=question, **form, **more)


def _labelled(texts: Sequence[str]) -> tuple[Option, ...]:
    return tuple(Option(label, text) for label, text in zip(LABELS, texts, strict=False))


def _name(option: Option) -> str:
    """How a claim names an option: a value as it stands, other words in quotation marks, a picture by its letter."""
    text = option.text.strip().rstrip("。．.,，;；")
    if option.image or IMAGE_MARK.search(text) or not _says_more(option):
        return option.label
    return text if answer_of(text).value is not None else f"“{text}”"


def _says_more(option: Option) -> bool:
    return bool(option.image) or unwrapped_text(option.text) not in ("", option.label)


def _open_answer(sample: Sample) -> Short | NotApplicable:
    text = str(sample.answer).strip()
    if not answer_of(text).kind:
        return NotApplicable("the answer is not short and definite")
    if wants_reasons(sample.question):
        return NotApplicable("the question asks for reasons or a drawing")
    if with_blank(sample.question) is None:
        return NotApplicable("the stem has not exactly one blank or question")
    return Short(text, (text,))
