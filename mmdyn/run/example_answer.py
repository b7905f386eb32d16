"""What is said in the place of a model: an example's answer, and the beginning of one in the base form."""

from __future__ import annotations

from mmdyn.prompts import template
from mmdyn.sample import Language, Sample

_SEPARATOR: dict[Language, str] = {"en": "; ", "zh": "；"}
COT = "cot"


def example_answer(sample: Sample, style: str, *, base: bool) -> str:
    """An example's answer in the form that its task's instruction asks for; in style cot behind its explanation, if it
    has one. Of a blank the first accepted string is told."""
    line = spoken(template("lead_in", sample.language).text, _answer(sample), sample.language)
    reasons = sample.explanation.strip() if style == COT else ""
    if reasons and base:
        reasons = spoken(lead(sample.language, style), reasons, sample.language)
    return f"{reasons}\n\n{line}" if reasons else line


def lead(language: Language, style: str) -> str:
    """What an answer in the base form begins with, for a model that goes on with the text."""
    return (template("reasoning", language, "shots") if style == COT else template("lead_in", language)).text


def spoken(lead_in: str, text: str, language: Language) -> str:
    """A text behind its lead-in."""
    return f"{lead_in}{' ' if language == 'en' else ''}{text}"


def first_answer(text: str, language: Language) -> str:
    """What a model wrote in the base form, up to a further question of its own."""
    heading = template("base", language, "shots").text.partition("\n")[0]
    return text.partition(f"\n{heading}")[0].rstrip()


def _answer(sample: Sample) -> str:
    answer = sample.answer
    if isinstance(answer, bool):
        return template("verdicts", sample.language).text.split("\n")[not answer]
    if isinstance(answer, str):
        return answer
    separator = _SEPARATOR[sample.language] if sample.task_type == "fill_in_the_blank" else ""
    return separator.join(part if isinstance(part, str) else part[0] for part in answer)
