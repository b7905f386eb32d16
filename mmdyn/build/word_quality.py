"""Can a question be used as it is written: whole, readable, on its own, with options that differ?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mmdyn.sample import IMAGE_MARK, Sample
from mmdyn.text import BLANK, count_blanks, fold, read_letters

_FIGURES = "figure|diagram|graph|picture|image|map|photograph|chart|drawing|sketch"
_SHOWN = re.compile(
    rf"\b(?:{_FIGURES})s? (?:above|below|shown)\b|\b(?:shown|pictured|illustrated|depicted) (?:in|above|below|here)\b"
    rf"|\b(?:in|from|of|using) (?:the|this|these) (?:{_FIGURES})s?\b"
    r"|[如下上右左见据看]图|图[中示]|图\s?[0-9一二三四甲乙①②]",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"上一?题|[接见据]第\s?\d+\s?题|阅读上文|根据上文|\bprevious (?:question|problem|part|passage)s?\b"
    r"|\bin question \d+|\b(?:passage|text|question)s? above\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"</(?:p|span|div|table|tr|td|font|sub|sup|br|b|i|u|em|strong)>|<(?:br|img|span|div|table|tr|td|font|p|sub|sup)\b[^<>]*>"
    r"|&(?:nbsp|lt|gt|amp|quot|ldquo|rdquo|times|deg);"
)
_CONCLUDES = re.compile(
    r"(?:故本?题?(?:正确)?(?:答案)?选|(?:正确)?答案[是为选]|故选)\s?[:：]?\s?(?P<zh>[A-H]{1,8})(?![A-Za-z])"
    r"|\b(?:correct )?(?:answer|option|choice) is:? \(?(?P<en>[A-H])\)?(?![\w'])"
)
_UNFINISHED = re.compile(
    r"(?:\b(?:the|a|an|of|to|and|or|in|is|are|with|for|from|that|by|on|at|as)|[,，、:：(（—-])$", re.IGNORECASE
)
_SIGN = re.compile(r"[^\W_]|[+<>=≤≥≠×÷±∞∅√−-]")
_LEAST = 4
"""Letters and digits of a question, its number and words of asking aside: fewer ask nothing."""


def shows_nothing(sample: Sample) -> str:
    """It speaks of a picture, and has none."""
    if sample.all_images or sample.options_in_image:
        return ""
    found = _SHOWN.search(sample.question)
    return f"it speaks of a picture ({found[0]!r}) and has none" if found else ""


def asks_nothing(sample: Sample) -> str:
    """It has too few words, or ends in the middle of a sentence."""
    text = IMAGE_MARK.sub("", sample.question).strip()
    if len(re.sub(r"\b(?:question|which|what|problem)\b|^\d+[.、]|[\W_]", "", text, flags=re.IGNORECASE)) < _LEAST:
        return "the question asks nothing"
    blank = BLANK.search(text[-12:]) or sample.task_type == "fill_in_the_blank"
    unclosed = text.count("$") % 2 or any(
        text.count(a) > text.count(b) for a, b in (("(", ")"), ("（", "）"), ("“", "”"), ("{", "}"))
    )
    if (unclosed or (_UNFINISHED.search(text) and not sample.options)) and not blank:
        return f"the question ends in the middle ({text[-20:]!r})"
    return ""


def is_unreadable(sample: Sample) -> str:
    """It was read in a wrong encoding, or holds characters that nobody can read, or markup."""
    from ftfy.badness import is_bad

    for text in (sample.question, *(option.text for option in sample.options)):
        if "\N{REPLACEMENT CHARACTER}" in text or any(0xE000 <= ord(char) < 0xF900 for char in text):
            return "it holds characters that cannot be read"
        if is_bad(text):
            return "it was read in a wrong encoding"
        if found := _MARKUP.search(text):
            return f"it holds markup ({found[0][:20]!r})"
    return ""


def options_fail(sample: Sample) -> str:
    """An option is empty, two are equal, or the options stand in the question, too."""
    texts = [option.text for option in sample.options]
    if any(option.image for option in sample.options) or sample.options_in_image:
        return ""
    spoken = [bool(_SIGN.search(text)) for text in texts]
    if any(spoken) and not all(spoken) and sum(spoken) > len(texts) / 2:
        return f"option {sample.options[spoken.index(False)].label} is empty"
    folded = [fold(text) for text in texts]
    if len(set(folded)) < len(folded):
        return "two options are equal"
    listed = (
        rf"{re.escape(option.label)}\s?[.．、:：)）]\s*{re.escape(option.text.strip())}" for option in sample.options
    )
    if texts and all(re.search(one, sample.question) for one in listed):
        return "the options stand in the question, too"
    return ""


def blanks_differ(sample: Sample) -> str:
    """It shows another number of blanks than its answer has."""
    if sample.task_type != "fill_in_the_blank" or not isinstance(sample.answer, tuple):
        return ""
    shown = count_blanks(sample.question)
    return f"it shows {shown} blanks, and has {len(sample.answer)} answers" if shown > len(sample.answer) else ""


def explained_otherwise(sample: Sample) -> str:
    """Its explanation ends with another letter than its answer; that of a group may speak of all its questions."""
    found = list(_CONCLUDES.finditer(sample.explanation)) if sample.options and not sample.group else []
    if not found:
        return ""
    said = read_letters(found[-1]["zh"] or found[-1]["en"])
    return f"the explanation says {''.join(said)}" if {*said} != {*map(str, sample.answer)} else ""  # type: ignore[arg-type]


def stands_elsewhere(sample: Sample) -> str:
    """It needs another question or a text that is not there."""
    found = _ELSEWHERE.search(sample.question) if sample.group is None or sample.images else None
    return f"it needs what stands elsewhere ({found[0]!r})" if found else ""


RULES: tuple[Callable[[Sample], str], ...] = (
    is_unreadable,
    asks_nothing,
    shows_nothing,
    options_fail,
    blanks_differ,
    explained_otherwise,
    stands_elsewhere,
)


def word_problems(sample: Sample) -> Iterator[str]:
    """What makes a question useless as it is written."""
    return filter(None, (rule(sample) for rule in RULES))
