"""GAOKAO-Bench: Chinese college-entrance questions of all subjects, text only."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, choice_type, noted, sample_id
from mmdyn.benchmarks._gaokao import blank_numbers, cloze_blanks, math_blanks, name_by_file, paper_fields, verse_blanks
from mmdyn.data import RawRow
from mmdyn.sample import Sample
from mmdyn.text import SplitQuestion, read_letters, split_options, split_questions, strip_question_number


class _Question(Struct):
    id: str
    keyword: str
    year: str
    category: str
    question: str
    answer: list[str] | str
    score: float
    analysis: str = ""


class GaokaoBench(Benchmark[_Question]):
    """GAOKAO-Bench (Zhang et al. 2023, arXiv:2305.12474; github.com/OpenLMLab/GAOKAO-Bench; Apache-2.0).

    Reads `questions.jsonl`, or the release: `Data/Objective_Questions` and `Data/Subjective_Questions`, a file a
    keyword. One answer of letters is a single_choice or multi_select, under the subjective keywords
    too. Several answers are several questions on one passage: each becomes a sample with the passage before it and the
    row's id as its `group` (cloze tests and sentences to fill in are asked blank by blank); `score` is the points of
    each. Fill-in-the-Blank, Cloze_Passage and Dictation are fill_in_the_blank, one entry a blank: blanks are told apart
    by numbers, lines or `;`, and a Dictation whose parts do not match its blanks is refused. All else is open_ended.

    A single question's leading number and points go (`1. (6 分)`). Rows that need a picture or begin in the middle of a
    table are refused. The language is that of the passage; corrections of errors are told in Chinese.
    """

    name = "gaokao_bench"
    contrasts = ("variant", "style")
    row = _Question
    published = (("Data/Objective_Questions/20*.json", "Data/Subjective_Questions/20*.json"),)

    def adapt(self, raw: RawRow) -> dict[str, Any]:
        """A row of the release is called by its file and its index; a subjective answer is its `standard_answer`."""
        return name_by_file(raw, raw.file.stem)

    def samples(self, row: _Question, put: PutPicture) -> list[Sample]:
        """The row's sample, or one for each of its answers where it has several."""
        if "![](" in row.question:
            raise ValueError("the question holds a link to a picture, which the set does not bring: leave the row out")
        if row.question.count(r"\begin{tabular}") != row.question.count(r"\end{tabular}"):
            raise ValueError("the question begins or ends in the middle of a table: complete it")
        if isinstance(row.answer, str):
            return [_written(row, row.answer.replace("【答案】", "").strip())]
        if len(row.answer) == 1:
            return [_choice(row, split_options(row.question), row.answer[0])]
        if not row.answer:
            raise ValueError("the row has no answer: add it")
        return _passage(row)


def _choice(row: _Question, asked: SplitQuestion, answer: str, number: int = 0) -> Sample:
    letters = read_letters(answer, asked.options)
    if not asked.options:
        raise ValueError(f"the answer is {answer.strip()[:20]!r}, but the question has no options: add A. …, B. …")
    if not all(option.text for option in asked.options):
        raise ValueError("the options are empty: fill them")
    return msgspec.structs.replace(
        _open(row, answer, number),
        question=asked.stem if number else strip_question_number(asked.stem),
        task_type=choice_type(asked.options, letters),
        answer=letters,
        options=asked.options,
        meta=noted(asked.mended, answer, letters),
    )


def _open(row: _Question, answer: str, number: int = 0) -> Sample:
    """The row as an open question: what every sample of it shares."""
    section = row.keyword.partition("_")[2]
    fields = paper_fields(section, row.year, row.category)
    foreign = fields["discipline"] == "english" and not section.endswith("Error_Correction")
    return Sample(
        id=sample_id("gaokao_bench", row.id, *([str(number)] if number else [])),
        question=strip_question_number(row.question),
        task_type="open_ended",
        answer=answer,
        language="en" if foreign else "zh",
        group=f"gaokao-bench-{row.id}" if number else None,
        fields=fields | {"section": section, "modality": "text"},
        explanation=row.analysis.strip(),
        points=row.score,
    )


def _passage(row: _Question) -> list[Sample]:
    """One sample for each question on a passage."""
    asked: list[SplitQuestion] = []
    if row.keyword.endswith("English_Cloze_Test"):
        passage, options, mended = split_options(row.question)
        blanks = blank_numbers(passage, len(row.answer))
        asked = [SplitQuestion(f"{passage}\n\nWhich option fits blank {blank}?", options, mended) for blank in blanks]
    else:
        passage, questions = split_questions(row.question, len(row.answer))
        for stem, options, mended in questions:
            blank = re.fullmatch(r"(\d+)\s*[.．、]?", stem)
            stem = f"\nWhich option fits blank {blank[1]}?" if blank else stem
            asked.append(SplitQuestion(f"{passage}\n{stem}", options, mended))
    pairs = zip(asked, row.answer, strict=True)
    return [_choice(row, question, answer, number) for number, (question, answer) in enumerate(pairs, 1)]


def _written(row: _Question, answer: str) -> Sample:
    if not answer:
        raise ValueError("the row has no answer: add it")
    if re.fullmatch(r"[$\sA-H]+", answer):
        return _choice(row, split_options(row.question), answer)
    if row.keyword.endswith("Fill-in-the-Blank"):
        blanks = math_blanks(answer)
    elif row.keyword.endswith("Cloze_Passage"):
        blanks = cloze_blanks(answer, row.question)
    elif row.keyword.endswith("Dictation"):
        blanks = verse_blanks(answer, row.question)
    else:
        return _open(row, answer)
    return msgspec.structs.replace(_open(row, answer), task_type="fill_in_the_blank", answer=blanks)
