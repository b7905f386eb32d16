"""R-Bench: graduate-level choices in English and Chinese, one part text only, one with pictures."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, choice_type, sample_id
from mmdyn.data import RawRow
from mmdyn.sample import Language, Option, Sample
from mmdyn.table import NamedTable, Paired, Pivot, Spread, Where
from mmdyn.text import read_letters

_CONFIG = re.compile(r"rbench-([tm])_(en|zh)")
_LANGUAGES: dict[str, Language] = {"en": "en", "zh": "zh"}
_MODALITIES = {"t": "text", "m": "multimodal"}
_LABELS = ("A", "B", "C", "D", "E", "F")

_T: Where = {"modality": ("text",)}
_M: Where = {"modality": ("multimodal",)}
_EN: Where = {"language": ("en",)}
_COURSES = ("department", "subject", "modality")
_TIMES = tuple(Pivot(by=("model", "set"), measure=measure) for measure in ("seconds", "reasoning_tokens"))
_DEPARTMENTS = Pivot(by=("department", "model"), where=_T | _EN), Spread(factor="department", where=_T | _EN)
_TABLES = (
    NamedTable.of("table4", "Thinking time", *_TIMES),
    NamedTable.of("table5", "R-Bench-T by language", Pivot(by=("model", "language"), where=_T)),
    NamedTable.of("table6", "R-Bench-M by language", Pivot(by=("model", "language"), where=_M)),
    NamedTable.of("table7", "Chain of thought", Paired(factor="style", a="direct", b="cot", where=_T | _EN)),
    NamedTable.of("table8", "Courses of R-Bench-T", Pivot(by=_COURSES, measure="questions", where=_T | _EN)),
    NamedTable.of("table9", "Courses of R-Bench-M", Pivot(by=_COURSES, measure="questions", where=_M | _EN)),
    NamedTable.of("figure5", "Languages", Paired(factor="language", a="en", b="zh", pair="group", where=_T)),
    NamedTable.of("figure6", "Departments", *_DEPARTMENTS),
    NamedTable.of("subjects", "Subjects", Pivot(by=("department", "subject", "model"), where=_EN)),
)


class _Question(Struct):
    question: str
    A: str
    B: str
    answer: str
    config: str
    index: str | int
    C: str | None = None
    D: str | None = None
    E: str | None = None
    F: str | None = None
    department: str | None = None
    subject: str | None = None
    image: Any = None


class RBench(Benchmark[_Question]):
    """R-Bench (Guo et al. 2025, arXiv:2505.02018; evalmodels.github.io/rbench, huggingface.co/datasets/R-Bench/R-Bench;
    Apache-2.0).

    Reads the configs rbench-t_en, rbench-t_zh, rbench-m_en and rbench-m_zh, those that are there, out of folders or
    files of these names. Part t is text only, part m has a picture a question (`image`, or a list of them): the field
    `modality` is text or multimodal. An option without words is left out. The two languages of a question have one
    `index` (without it, one place in their files), which makes the samples' group.
    """

    name = "r_bench"
    contrasts = ("language", "style")
    tables = _TABLES
    row = _Question
    files = tuple(f"rbench-{part}_{language}.jsonl" for part in _MODALITIES for language in _LANGUAGES)
    published = (("rbench-[tm]_[ez][nh]/*.parquet",), ("rbench-[tm]_[ez][nh]/*.jsonl",), ("rbench-*.parquet",))
    pictures = ("", "..")

    def adapt(self, raw: RawRow) -> dict[str, Any]:
        """The config is that of the file's or its folder's name."""
        found = _CONFIG.search(raw.file.name) or _CONFIG.search(raw.file.parent.name)
        return {"index": raw.line - 1, **raw.values, "config": found[0] if found else ""}

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        config = _CONFIG.fullmatch(row.config)
        if not config:
            raise ValueError(
                "neither the file nor its folder is named as a config: name it rbench-t_en, rbench-m_zh, …"
            )
        part, language = config.groups()
        texts = {label: (getattr(row, label) or "").strip() for label in _LABELS}
        options = tuple(Option(label, text) for label, text in texts.items() if text)
        answer = read_letters(row.answer)
        pictures = row.image if isinstance(row.image, list) else [row.image] if row.image else []
        if part == "m" and not pictures:
            raise ValueError("a question of part m has no picture: give its image")
        places = {"department": row.department, "subject": row.subject, "modality": _MODALITIES[part]}
        return Sample(
            id=sample_id("r_bench", part, language, str(row.index)),
            question=row.question.strip(),
            task_type=choice_type(options, answer),
            answer=answer,
            language=_LANGUAGES[language],
            options=options,
            images=tuple(map(put, pictures)),
            group=f"r-bench-{part}-{row.index}",
            fields={name: value.strip() for name, value in places.items() if value},
        )
