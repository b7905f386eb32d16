"""What was read of a reply, reconsidered with its question in view: a statement of it, a sum or a form that it asks for, a count."""

from __future__ import annotations

import re
from bisect import bisect_left

from mmdyn.scoring.reading.asked import Asked
from mmdyn.scoring.reading.asked_sum import asked_sum
from mmdyn.scoring.reading.extraction import Extraction, found, nothing
from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.restated import restated_label
from mmdyn.scoring.reading.restated_number import restated_value
from mmdyn.text import numerals

BY_FORM = ("none", "last_words", "last_line", "first_line")
"""Nothing was read, or what the form of a line suggests: a line that says the question as a statement goes before these."""
_FORM_ASKED = re.compile(
    r"simplif|simplest|\bforms?\b|rationali[sz]|\bexpress|\bexpand|\bfactor|\bconvert|\bwrit|化简|化[成为]|写成|表示|展开|分解",
    re.IGNORECASE,
)
"""Does a question ask how a value is written? Then another way to write it is another answer."""
_COUNT_ASKED = re.compile(r"\bhow\smany\b|几[个只条张位]|多少[个只条张位]", re.IGNORECASE)
_COUNT = re.compile(rf"\d|\b(?:{'|'.join(numerals.WORDS)}|no|none|nil|all|both)\b|[{numerals.HAN}无没]", re.IGNORECASE)


def questioned(extraction: Extraction, reply: Response, asked: Asked) -> Extraction:
    """The reading itself, or another one that the question makes certain, or none where it makes the reading doubtful."""
    question = asked.question
    if extraction.rule == "conflict" and asked.one_text and (place := asked_sum(reply, question)):
        text = reply.text[slice(*place)]
        return found(reply, text if asked.task_type == "open_ended" else (text,), "boxed", *place)
    if extraction.rule == "value":
        return nothing(reply) if _FORM_ASKED.search(question) or _echoes(extraction, reply, question) else extraction
    if extraction.rule not in BY_FORM:
        return extraction
    if asked.task_type == "single_choice":
        choice = restated_label(reply, question, asked.labels, asked.option_texts)
        return found(reply, (choice[0],), "restated", *choice[1:]) if choice else extraction
    if not asked.one_text or asked.task_type == "open_ended":
        return extraction
    if place := restated_value(reply, question):
        return found(reply, (reply.text[slice(*place)],), "restated", *place)
    uncounted = (
        extraction.rule == "last_words" and _COUNT_ASKED.search(question) and not _COUNT.search(str(extraction.found))
    )
    return nothing(reply) if uncounted else extraction


def close(text: str) -> str:
    """A text without spaces."""
    return "".join(text.split())


def _echoes(extraction: Extraction, reply: Response, question: str) -> bool:
    """Does the value that was read stand in the question? The question's own formula has the right option's value."""
    if not extraction.span:
        return False
    start, end = (at - reply.offset - bisect_left(reply.gaps, at - reply.offset) for at in extraction.span)
    return close(reply.text[start:end]).strip("$.。") in close(question)
