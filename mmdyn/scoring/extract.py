"""What a response answers: the one way into the readers of the five task types. No model is asked, nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Callable

from mmdyn.sample import Language, TaskType
from mmdyn.scoring.reading.asked_sum import asked_sum
from mmdyn.scoring.reading.blanks import read_blanks
from mmdyn.scoring.reading.choice import read_choice
from mmdyn.scoring.reading.extraction import Extraction, found, nothing
from mmdyn.scoring.reading.open_answers import read_open
from mmdyn.scoring.reading.programs import Program, output_of, program_in
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.restated import restated_label
from mmdyn.scoring.reading.restated_number import restated_value
from mmdyn.scoring.reading.true_false import read_true_false

__all__ = ["Extraction", "extract"]

Reader = Callable[[Response], Extraction]

_BY_FORM = ("none", "last_words", "last_line", "first_line")
"""Nothing was read, or what the form of a line suggests: a line that says the question as a statement goes before these."""

_FORM_ASKED = re.compile(
    r"simplif|simplest|\bforms?\b|rationali[sz]|\bexpress|\bexpand|\bfactor|\bconvert|\bwrit|化简|化[成为]|写成|表示|展开|分解",
    re.IGNORECASE,
)
"""Does a question ask how a value is written? Then another way to write it is another answer."""

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
    if program and _close(program.source) in _close(question):
        program = None
    if program and program.whole:
        return _printed(reply, program, read, option_texts) or nothing(reply)
    extraction = read(reply)
    one_text = task_type == "open_ended" or (task_type == "fill_in_the_blank" and blanks == 1)
    if extraction.rule == "conflict" and one_text and (place := asked_sum(reply, question)):
        text = reply.text[slice(*place)]
        return found(reply, text if task_type == "open_ended" else (text,), "boxed", *place)
    if extraction.rule == "value" and extraction.span:  # the question's own formula has the right option's value
        said = _close(response[slice(*extraction.span)]).strip("$.。")
        return nothing(reply) if _FORM_ASKED.search(question) or said in _close(question) else extraction
    if extraction.rule not in _BY_FORM:
        return extraction
    if task_type == "single_choice" and (choice := restated_label(reply, question, labels, option_texts)):
        label, start, end = choice
        return found(reply, (label,), "restated", start, end)
    if task_type == "fill_in_the_blank" and blanks == 1 and (place := restated_value(reply, question)):
        return found(reply, (reply.text[slice(*place)],), "restated", *place)
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


def _close(text: str) -> str:
    """Without spaces."""
    return "".join(text.split())
