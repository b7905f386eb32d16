"""One response, read by the reader of its task type."""

from __future__ import annotations

from msgspec.structs import replace

from mmdyn.plugins import attribute
from mmdyn.sample import Language
from mmdyn.scoring.extract.response import Asked, Extraction, Response
from mmdyn.scoring.extract.texts import read_whole
from mmdyn.task_types import kind_of


def extract(
    task_type: str,
    response: str,
    *,
    question: str = "",
    labels: tuple[str, ...] = (),
    option_texts: tuple[str, ...] = (),
    language: Language = "en",
    blanks: int = 1,
    truncated: bool = False,
) -> Extraction:
    """Read the answer out of a response, in English and Chinese alike, whatever the question's language.

    Args:
        labels, option_texts: the options' (a choice needs labels; an option without a text has "").
        question: tells whether the right or the wrong options are asked for, where a response only judges them.
        language: decides only what an x alone means for a true/false question: wrong in Chinese, nothing in English.
        blanks: how many blanks are to be filled.
        truncated: the response was stopped at the length limit, so that only announced answers count.

    Returns:
        What was read, or why nothing was. Of responses longer than 20,000 characters the last 20,000 are read.
    """
    asked = Asked(task_type, question, labels, option_texts, language, blanks)
    read = Response.of(response, truncated)
    kind = kind_of(task_type)
    extraction: Extraction = attribute(kind.reader, f"the reader of {task_type}")(read, asked)
    return replace(extraction, whole=read_whole(read)) if kind.form == "open" else extraction
