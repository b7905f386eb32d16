"""The sentences that operators write, and what a variant must leave out because it may speak of what changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from mmdyn.sample import Language, Option, Sample
from mmdyn.text import names_a_label, without_form_notes

TRUE_FALSE: dict[Language, tuple[str, str]] = {"en": ("True", "False"), "zh": ("正确", "错误")}

_CLAIM: dict[Language, str] = {
    "en": "Claim: the right answer is {labels}. Is this claim true or false?",
    "zh": "断言：本题应选{labels}。这一断言是否正确？",
}
_CLAIM_OF_SEVERAL: dict[Language, str] = {
    "en": "Claim: the right answer is {labels}, and no other option. Is this claim true or false?",
    "zh": "断言：本题应选{labels}，且不选其他选项。这一断言是否正确？",
}
_FILLED: dict[Language, tuple[str, str]] = {
    "en": ("Claim: {answer} belongs in the blank.", "Claim: the answer is {answer}."),
    "zh": ("断言：空白处应填{answer}。", "断言：本题的答案是{answer}。"),
}
_TRUE_OR_FALSE: dict[Language, str] = {"en": " Is this claim true or false?", "zh": "这一断言是否正确？"}
_STATE: dict[Language, str] = {"en": "State what belongs in the blank.", "zh": "请写出空白处应填的内容。"}
_JOINT: dict[Language, tuple[str, str]] = {"en": (", ", " and "), "zh": ("、", "、")}


def claim(language: Language, labels: tuple[str, ...], *, several: bool) -> str:
    """The sentence that calls labels the right answer; `several` where a question may have more than one."""
    comma, last = _JOINT[language]
    joined = last.join(part for part in (comma.join(labels[:-1]), labels[-1]) if part)
    return (_CLAIM_OF_SEVERAL if several else _CLAIM)[language].format(labels=joined)


def filled_claim(language: Language, answer: str, *, blank: bool) -> str:
    """The sentence that calls a text the right answer; `blank` where the question shows a blank."""
    return _FILLED[language][0 if blank else 1].replace("{answer}", answer) + _TRUE_OR_FALSE[language]


def stating(language: Language) -> str:
    """The sentence that asks for what a blank stands for."""
    return _STATE[language]


def without_notes(sample: Sample) -> Sample:
    """The sample without the notes in its question that prescribe the form of the answer, which another task type
    belies.

    Notes on rounding and units stay, and so does a question that is nothing but such a note.
    """
    question = without_form_notes(sample.question)
    return sample if question == sample.question else msgspec.structs.replace(sample, question=question)


def changed(sample: Sample, **changes: Any) -> Sample:
    """A sample of which letters or form changed, without what may be stale then.

    The explanation is left out, and so is every hint and checklist item in which an option's letter or place is named.
    """
    labels = sample.labels
    return msgspec.structs.replace(
        sample,
        explanation="",
        hints={name: text for name, text in sample.hints.items() if not names_a_label(text, labels)},
        checklist=tuple(text for text in sample.checklist if not names_a_label(text, labels)),
        **changes,
    )


def alike(options: Iterable[Option]) -> bool:
    """Whether two options that are not empty read and look the same, so that letters alone tell them apart."""
    shown = [(option.text.strip(), option.image) for option in options if option.text.strip() or option.image]
    return len(set(shown)) < len(shown)


def right_labels(sample: Sample) -> tuple[str, ...]:
    """The labels of a choice question's right options, in the options' order."""
    assert isinstance(sample.answer, tuple)
    return tuple(option.label for option in sample.options if option.label in sample.answer)
