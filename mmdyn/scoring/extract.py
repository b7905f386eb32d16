"""What a response answers: the one way into the readers of the five task types. No model is asked, nothing is guessed."""

from __future__ import annotations

from mmdyn.sample import Language, TaskType
from mmdyn.scoring.reading.blanks import read_blanks
from mmdyn.scoring.reading.choice import read_choice
from mmdyn.scoring.reading.extraction import Extraction
from mmdyn.scoring.reading.open_answers import read_open
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.true_false import read_true_false

__all__ = ["Extraction", "extract"]


def extract(
    task_type: TaskType,
    response: str,
    *,
    labels: tuple[str, ...] = (),
    option_texts: tuple[str, ...] = (),
    language: Language = "en",
    blanks: int = 1,
    truncated: bool = False,
) -> Extraction:
    """Read the answer out of a response, in English and Chinese alike, whatever the question's language.

    `labels` and `option_texts` are the options' (a choice needs labels; an option without a text has ""), `blanks` is how
    many blanks are to be filled. `language` decides only what an x alone means for a true/false question: wrong in Chinese,
    nothing in English. Of a `truncated` response (stopped at the length limit) only declared answers count. Of responses longer than 20,000 characters the last 20,000 are read.
    """
    read = Response.of(response, truncated)
    if task_type in ("single_choice", "multi_select"):
        return read_choice(read, labels, option_texts, several=task_type == "multi_select")
    if task_type == "true_false":
        return read_true_false(read, crosses=language == "zh")
    if task_type == "fill_in_the_blank":
        return read_blanks(read, blanks)
    return read_open(read)
