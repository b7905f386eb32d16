"""What a response answers: the one way into the readers of the five task types. No model is asked, nothing is guessed."""

from __future__ import annotations

from mmdyn.sample import Language, TaskType
from mmdyn.scoring.reading.asked import Asked
from mmdyn.scoring.reading.blanks import read_blanks
from mmdyn.scoring.reading.choice import read_choice
from mmdyn.scoring.reading.extraction import Extraction, found, nothing
from mmdyn.scoring.reading.further import further_question
from mmdyn.scoring.reading.open_answers import read_open
from mmdyn.scoring.reading.programs import Program, output_of, program_in
from mmdyn.scoring.reading.questioned import BY_FORM, close, questioned
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.true_false import read_true_false

__all__ = ["Extraction", "extract"]

_TRUTH = {"True": "Yes", "False": "No"}
"""What Python prints, where the options are yes and no."""


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

    `labels` and `option_texts` are the options' (a choice needs labels; an option without a text has ""), `blanks` is how
    many blanks are to be filled. `language` decides only what an x alone means for a true/false question: wrong in Chinese,
    nothing in English. Of a `truncated` response (stopped at the length limit) only declared answers count. Of responses longer
    than 20,000 characters the last 20,000 are read. A response that declares nothing and says the `question` as a statement
    answers by that. A response that is a program in Python answers by what it prints, unless an open answer is asked for.
    """

    asked = Asked(task_type, question, labels, option_texts, language, blanks)
    reply = Response.of(response, truncated)
    extraction = _extract(reply, asked)
    further = further_question(reply, weak=extraction.rule in BY_FORM) if blanks == 1 else None
    if further is None:
        return extraction
    place, surely = further
    own = _extract(Response.of(response[: reply.span(0, place)[1]], truncated), asked)
    return own if surely or own.found is not None else extraction


def _extract(reply: Response, asked: Asked) -> Extraction:
    program = program_in(reply) if asked.task_type != "open_ended" else None
    if program and close(program.source) in close(asked.question):
        program = None
    if program and program.whole:
        return _printed(reply, program, asked) or nothing(reply)
    extraction = questioned(_read(reply, asked), reply, asked)
    if program and extraction.rule in ("none", "first_line"):  # a line that leads to the program
        return _printed(reply, program, asked) or extraction
    return extraction


def _read(text: Response, asked: Asked) -> Extraction:
    """What the reader of the task type finds, whatever was asked."""
    if asked.task_type in ("single_choice", "multi_select"):
        return read_choice(text, asked.labels, asked.option_texts, several=asked.task_type == "multi_select")
    if asked.task_type == "true_false":
        return read_true_false(text, crosses=asked.language == "zh")
    if asked.task_type == "fill_in_the_blank":
        return read_blanks(text, asked.blanks)
    return read_open(text)


def _printed(reply: Response, program: Program, asked: Asked) -> Extraction | None:
    """What is read in the one line that a program prints, or in the several that give several answers; else None: which of
    them is the answer is not known."""
    lines = output_of(program)
    if not lines or lines == ("None",):
        return None
    if lines[0] in _TRUTH and {text.strip().lower() for text in asked.option_texts} == {"yes", "no"}:
        lines = (_TRUTH[lines[0]], *lines[1:])
    answer = _read(Response.of("\n".join(lines)), asked).found
    if answer is None or (len(lines) > 1 and not (isinstance(answer, tuple) and len(answer) == len(lines))):
        return None
    return found(reply, answer, "printed", program.start, program.end)
