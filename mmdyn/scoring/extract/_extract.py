"""One response, read by the reader of its task type."""

from __future__ import annotations

from msgspec.structs import replace

from mmdyn.sample import Language, TaskType
from mmdyn.scoring.extract.choice import read_choice
from mmdyn.scoring.extract.response import Asked, Extraction, Response
from mmdyn.scoring.extract.texts import read_blanks, read_open, read_whole
from mmdyn.scoring.extract.true_false import read_true_false

_READERS = {
    "single_choice": read_choice,
    "multi_select": read_choice,
    "true_false": read_true_false,
    "fill_in_the_blank": read_blanks,
    "open_ended": read_open,
}


def extract(
    task_type: TaskType,
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
    extraction = _READERS[task_type](read, asked)
    return replace(extraction, whole=read_whole(read)) if task_type == "open_ended" else extraction
