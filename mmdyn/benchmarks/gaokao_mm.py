"""GAOKAO-MM: Chinese college-entrance questions with pictures."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, choice_type, noted, sample_id
from mmdyn.benchmarks._gaokao import name_by_file, paper_fields
from mmdyn.data import RawRow
from mmdyn.keys import digest
from mmdyn.sample import Option, Sample
from mmdyn.text import options_are_letters, question_range, read_letters, split_options, strip_question_number

_TABLE_ROW = re.compile(r"\\hline\s*\$?(?:\\mathrm\{~?)?([A-E])\}?\$?\s*(?:[.．]\s*)?&")


class _Question(Struct):
    id: str
    subject: str
    year: str
    category: str
    question: str
    answer: list[str] | str
    score: float
    picture: list[str]
    analysis: str = ""


class GaokaoMm(Benchmark[_Question]):
    """GAOKAO-MM (Zong and Qiu 2024, arXiv:2402.15745; github.com/OpenMOSS/GAOKAO-MM; Apache-2.0).

    Reads `questions.jsonl` beside `images/`, or the release: `Data`, a file a subject beside its pictures. Options are
    taken off the stem's end; the leading question number and points mark (`1. (6 分)`) go, unless the text is for
    questions a to b and the number tells which one is asked. Several letters in the answer make a multi_select; `score`
    is the points. No picture is marked in the text, so they come first.

    Where the words hold no options they are printed in the pictures, each with its letter, and the pictures do not come
    in the letters' order (D, A, B, C is found): so all of them stay the question's, and A to D have `options_in_image`.
    Where the stem holds a table with a row A to D, each option says its letter. Questions on one passage share a
    `group`.
    """

    name = "gaokao_mm"
    contrasts = ("variant", "style")
    row = _Question
    published = (("Data/20*.json",),)

    def adapt(self, raw: RawRow) -> dict[str, Any]:
        """A row of the release is called by its file, without the years, and its index."""
        return name_by_file(raw, raw.file.stem.partition("_")[2])

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        if not row.picture:
            raise ValueError("names no picture: add it to the list `picture`")
        fields = paper_fields(row.subject, row.year, row.category)
        said = "".join(row.answer)
        stem, options, in_image, mended = _options(row.question, said)
        answer = read_letters(said, options)
        return Sample(
            id=sample_id("gaokao_mm", row.id),
            question=strip_question_number(stem),
            task_type=choice_type(options, answer),
            answer=answer,
            language="zh",
            options=options,
            options_in_image=in_image,
            images=tuple(put(name.removeprefix("../Data/")) for name in row.picture),
            group=_group(stem, fields),
            fields=fields | {"modality": "multimodal"},
            explanation=row.analysis.strip(),
            points=row.score,
            meta=noted(mended, said, answer),
        )


def _options(text: str, answer: str) -> tuple[str, tuple[Option, ...], bool, tuple[str, ...]]:
    """Stem, options, whether the options stand in the pictures, what was mended."""
    stem, options, mended = split_options(text)
    if options and not options_are_letters(options):
        return stem, options, False, mended
    rows = _TABLE_ROW.findall(stem)
    if rows:
        if "".join(rows) not in ("ABCD", "ABCDE") or len(rows) < len(options):
            raise ValueError(f"the table's rows are {', '.join(rows)}: options must run A, B, C, …")
        return stem, tuple(Option(label, label) for label in rows), False, mended
    labels = [option.label for option in options] or ["A", "B", "C", "D", *(["E"] if "E" in answer else [])]
    return stem, tuple(Option(label) for label in labels), True, mended


def _group(stem: str, fields: dict[str, str | int | float]) -> str | None:
    """One passage, one group: Chinese papers have one such text; elsewhere the text names its questions or itself."""
    paper = f"gaokao-mm-{fields['discipline']}-{fields['year']}-{fields['category']}"
    asked = question_range(stem)
    if fields["discipline"] == "chinese":
        return paper
    if asked:
        return f"{paper}-{asked[0]}-{asked[1]}"
    if re.search(r"完成(?:下面|下列)?各?小?题", stem):
        begin = re.sub(r"\s", "", stem)[:12]
        return f"{paper}-{digest(begin, 4)}"
    return None
