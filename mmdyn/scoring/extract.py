"""What a response answers: the one way into the readers of the five task types. No model is asked, nothing is guessed."""

from __future__ import annotations

from collections.abc import Callable

from mmdyn.sample import Language, TaskType
from mmdyn.scoring.reading.blanks import read_blanks
from mmdyn.scoring.reading.choice import read_choice
from mmdyn.scoring.reading.extraction import Extraction, found, nothing
from mmdyn.scoring.reading.open_answers import read_open
from mmdyn.scoring.reading.programs import Program, output_of, program_in
from mmdyn.scoring.reading.questioned import close, questioned
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.true_false import read_true_false

__all__ = ["Extraction", "extract"]

Reader = Callable[[Response], Extraction]

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

    def read(text: Response) -> Extraction:
        if task_type in ("single_choice", "multi_select"):
            return read_choice(text, labels, option_texts, several=task_type == "multi_select")
        if task_type == "true_false":
            return read_true_false(text, crosses=language == "zh")
        if task_type == "fill_in_the_blank":
            return read_blanks(text, blanks)
        return read_open(text)

    reply = Response.of(response, truncated)
    program = program_in(reply) if task_type != "open_ended" else None
    if program and close(program.source) in close(question):
        program = None
    if program and program.whole:
        return _printed(reply, program, read, option_texts) or nothing(reply)
    extraction = questioned(read(reply), reply, question, task_type, labels, option_texts, blanks)
    if program and extraction.rule in ("none", "first_line"):  # a line that leads to the program
        return _printed(reply, program, read, option_texts) or extraction
    return extraction


def _printed(reply: Response, program: Program, read: Reader, option_texts: tuple[str, ...]) -> Extraction | None:
    """What is read in the one line that a program prints, or in the several that give several answers; else None: which of
    them is the answer is not known."""
    lines = output_of(program)
    if not lines or lines == ("None",):
        return None
    if lines[0] in _TRUTH and {text.strip().lower() for text in option_texts} == {"yes", "no"}:
        lines = (_TRUTH[lines[0]], *lines[1:])
    answer = read(Response.of("\n".join(lines))).found
    if answer is None or (len(lines) > 1 and not (isinstance(answer, tuple) and len(answer) == len(lines))):
        return None
    return found(reply, answer, "printed", program.start, program.end)
