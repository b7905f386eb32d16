"""MATH-Vision: competition mathematics with pictures, in English."""

from __future__ import annotations

import re

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, choice_type, noted, sample_id
from mmdyn.sample import Option, Sample
from mmdyn.text import options_are_letters, read_letters, read_options

_DIFFICULTY = {1: "easy", 2: "easy", 3: "medium", 4: "hard", 5: "hard"}
_MARK = re.compile(r"<image(\d+)>")


class _Question(Struct):
    id: str
    question: str
    answer: str
    level: int
    subject: str
    image: str
    options: list[str] = []
    solution: str = ""


class MathVision(Benchmark[_Question]):
    """MATH-Vision (Wang et al. 2024, arXiv:2402.14804; github.com/mathllm/MATH-V; MIT).

    Reads `questions.jsonl` beside `images/`, or the release: `data/test.jsonl`, or else its part `data/testmini.jsonl`,
    and `images/`. A row has one picture. Where one mark `<image1>` is in the row it becomes
    the picture's place, `<image 1>`. Where there are several, the picture holds all the parts, each captioned
    `<image1>:`, `<image2>:`, and so on: the picture comes first, and the marks stay in the words as the parts' names.

    Without options it is one blank. Options that say nothing but their letters, or are marks, stand in the picture
    (`options_in_image`). `level` 1–2 is easy, 3 medium, 4–5 hard.
    """

    name = "math_vision"
    contrasts = ("variant", "style")
    row = _Question
    published = (("data/test.jsonl",), ("data/testmini.jsonl",))
    pictures = ("", "..")

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        if row.level not in _DIFFICULTY:
            raise ValueError(f"the level {row.level} is not one of 1 to 5: correct it")
        options, mended = read_options([text.strip() for text in row.options])
        in_image = options_are_letters(options) or any(_MARK.fullmatch(option.text) for option in options)
        if options_are_letters(options):
            options = tuple(Option(option.label) for option in options)
        letters = read_letters(row.answer, options) if options else ()
        return Sample(
            id=sample_id("math_vision", row.id),
            question=_place(row.question.strip(), row.options),
            task_type=choice_type(options, letters) if options else "fill_in_the_blank",
            answer=letters or ((row.answer.strip(),),),
            options=options,
            options_in_image=in_image,
            images=(put(row.image),),
            fields={
                "discipline": "math",
                "subject": row.subject,
                "level": row.level,
                "difficulty": _DIFFICULTY[row.level],
                "modality": "multimodal",
            },
            explanation=row.solution.strip(),
            meta=noted(mended, row.answer, letters) if options else {},
        )


def _place(question: str, options: list[str]) -> str:
    """The question with a single mark in our writing; several marks are names of the picture's parts and stay."""
    marks = _MARK.findall(" ".join([question, *options]))
    return question.replace("<image1>", "<image 1>") if marks == ["1"] else question
