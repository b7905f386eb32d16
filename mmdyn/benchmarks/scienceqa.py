"""ScienceQA: American school science, social science and language, each question with its skill, lecture and
solution."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, choice_type, noted, sample_id
from mmdyn.data import KnowledgePoint, RawRow
from mmdyn.sample import Sample
from mmdyn.text import read_options, visible_text

_GRADE = re.compile(r"grade(\d{1,2})")


class _Question(Struct):
    id: str
    question: str
    choices: list[str]
    answer: int
    grade: str
    subject: str
    topic: str
    category: str
    split: str
    hint: str = ""
    image: str = ""
    skill: str = ""
    lecture: str = ""
    solution: str = ""


class Scienceqa(Benchmark[_Question]):
    """ScienceQA (Lu et al. 2022, arXiv:2209.09513; github.com/lupantech/ScienceQA; CC BY-NC-SA 4.0).

    Reads `questions.jsonl`: one question a line with its `id`, or the release's `data/scienceqa/problems.json`. The
    hint is the passage that a question is about and stands before it. A picture is `images/SPLIT/ID/NAME`, beside the
    file. `grade` is primary (1 to 6), middle (7 to 9) or high (10 to 12), `grade_level` the number; the subject is the
    discipline.

    The skill is the knowledge point, its lecture the text; a skill that is taught in several lectures has them all, a
    blank line between. The route to it is subject, topic, category. The solution is the explanation.
    """

    name = "scienceqa"
    contrasts = ("context", "variant")
    pictures = ("images",)
    row = _Question
    published = (("data/scienceqa/problems.json",),)

    def adapt(self, raw: RawRow) -> dict[str, Any]:
        """The release holds a question under its id."""
        return {"id": raw.section, **raw.values} if raw.section else raw.values

    def knowledge(self, source: Path) -> Iterator[KnowledgePoint]:
        """Each skill with its lectures, once for each route to it, in the order of the questions. Raises InputError."""
        lectures: dict[str, dict[str, None]] = {}
        routes: dict[tuple[str, tuple[str, ...]], None] = {}
        for row in self.rows(source):
            if skill := row.skill.strip():
                above = (row.subject, row.topic, row.category)
                routes[skill, tuple(name.strip() for name in above if name.strip())] = None
                lectures.setdefault(skill, {}).setdefault(visible_text(row.lecture).strip())
        for skill, route in routes:
            yield KnowledgePoint(skill, "\n\n".join(filter(None, lectures[skill])), route)

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        grade = _GRADE.fullmatch(row.grade)
        if not grade or not 1 <= int(grade[1]) <= 12:
            raise ValueError(f"the grade {row.grade[:20]!r} is not one of grade1 to grade12: correct it")
        if not 0 <= row.answer < len(row.choices):
            raise ValueError(
                f"the answer {row.answer} is the number of none of {len(row.choices)} choices, from 0: correct it"
            )
        options, mended = read_options([visible_text(text).strip() for text in row.choices])
        answer = (options[row.answer].label,)
        level = int(grade[1])
        return Sample(
            id=sample_id("scienceqa", row.id),
            question="\n\n".join(filter(None, (visible_text(row.hint).strip(), visible_text(row.question).strip()))),
            task_type=choice_type(options, answer),
            answer=answer,
            options=options,
            images=(put(f"{row.split}/{row.id}/{row.image}"),) if row.image else (),
            fields={
                "discipline": row.subject.strip(),
                "grade": "primary" if level <= 6 else "middle" if level <= 9 else "high",
                "grade_level": level,
                "topic": row.topic.strip(),
                "category": row.category.strip(),
                "modality": "multimodal" if row.image else "text",
            },
            knowledge_points=(row.skill.strip(),) if row.skill.strip() else (),
            explanation=visible_text(row.solution).strip(),
            meta=noted(mended),
        )
