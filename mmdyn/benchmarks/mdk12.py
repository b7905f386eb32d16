"""MDK12-Bench: K-12 examinations of six disciplines, in VLMEvalKit's TSV."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.benchmarks._benchmark import Benchmark, sample_id
from mmdyn.data import ImageFolder, Row, TsvRow, read_list_cell, read_task_type, read_tsv_rows, sample_of_tsv_row
from mmdyn.errors import InputError, no_such_path
from mmdyn.keys import canonical
from mmdyn.sample import Sample
from mmdyn.table import ErrorKinds, Gap, NamedTable, Paired, Pivot, Ranking, Trend, Where
from mmdyn.task_types import kind_of

_GRADES = {"G": "primary", "M": "middle", "H": "high"}
_DISCIPLINES = {
    "MA": "math", "PH": "physics", "CH": "chemistry", "GE": "geography", "BI": "biology", "IT": "information_science",
}  # fmt: skip
_TASK_TYPES = ("single_answer_choice", "multiple_answer_choice", "calculation", "fill_in_the_blank", "true_false")
"""As MDK12-Bench calls them."""
_MODALITIES = {"multi": "multimodal", "single": "text"}
_YEAR = re.compile(r"(\d{4})(?:\.0|年)?")
_NAME = re.compile(
    rf"([GMH])S({'|'.join(_DISCIPLINES)})_({'|'.join(_TASK_TYPES)})_(multi|single)_modal\.tsv", re.IGNORECASE
)


_STANDARD: Where = {"mode": ("standard",)}
_PLAIN: Where = {"variant": ("standard",)}
_ALONE: Where = {"context": ("none",)}
_LEVELS = ("model", "difficulty")
_LEVEL = ("difficulty",)
_ALIKE = ("family", "size")
_CELLS = ("discipline", "difficulty")
_TABLES = (
    NamedTable.of("table3", "Accuracy", Pivot(by=("model", *_CELLS), macro=_CELLS, where=_STANDARD)),
    NamedTable.of(
        "figure3",
        "Disciplines and difficulty",
        Pivot(by=("model", "discipline"), where=_STANDARD),
        Pivot(by=_LEVELS, where=_STANDARD),
        Gap(factor="difficulty", a="hard", b="easy", where=_STANDARD),
        Gap(factor="difficulty", a="hard", b="easy", by=(), where=_STANDARD),
    ),
    NamedTable.of(
        "table4",
        "Standard and dynamic",
        Paired(factor="variant", a="dynamic", b="standard", where=_ALONE),
        Paired(factor="variant", a="dynamic", b="standard", by=_LEVELS, where=_ALONE),
    ),
    NamedTable.of(
        "modality",
        "Image, text and both",
        Pivot(by=("model", "changed"), where=_ALONE),
        *(Paired(factor="changed", a=what, b="nothing", where=_ALONE) for what in ("image", "text", "both")),
    ),
    NamedTable.of(
        "figure4",
        "Years",
        Pivot(by=(*_LEVELS, "year"), where=_STANDARD),
        Trend(factor="year", where=_STANDARD),
        Gap(factor="year", a="last", b="first", where=_STANDARD),
        Gap(factor="year", a="last", b="first", by=_LEVELS, where=_STANDARD),
        Gap(factor="year", a="last", b="first", by=_LEVEL, where=_STANDARD),
    ),
    NamedTable.of(
        "figure5",
        "KP-RAG",
        *(
            Paired(factor="context", a="none", b=way, by=by, where=_PLAIN)
            for way in ("kprag", "kprag:inline")
            for by in (_LEVELS, _LEVEL)
        ),
    ),
    NamedTable.of("figure6", "Kinds of error", ErrorKinds(by=("variant", "context"))),
    NamedTable.of(
        "reasoning",
        "Reasoning and chat",
        *(
            Paired(factor="kind", a="chat", b="reasoning", by=by, where=_STANDARD)
            for by in (_ALIKE, (*_ALIKE, "difficulty"))
        ),
    ),
    NamedTable.of(
        "sizes",
        "Sizes of a family",
        Pivot(by=("family", "kind", "size"), where=_STANDARD),
        Trend(factor="size", by=("family", "kind"), where=_STANDARD),
    ),
    NamedTable.of(
        "mini_full",
        "Mini and full",
        Pivot(by=("model", "set"), where=_STANDARD),
        Gap(factor="set", a="first", b="last", where=_STANDARD),
        Ranking(over="set", where=_STANDARD),
    ),
)


class _Part(Struct, frozen=True):
    """What a file's name says of all its rows."""

    name: str
    task_type: str
    fields: dict[str, str | int | float]


class Mdk12(Benchmark[Struct]):
    """MDK12-Bench (Zhou et al. 2025, arXiv:2504.05782 and 2508.06851; github.com/LanceZPF/MDK12, which names no
    licence).

    Reads one TSV or a folder of them, named like `HSPH_multiple_answer_choice_multi_modal.tsv`: grade (GS primary, MS
    middle, HS high school), discipline (MA, PH, CH, GE, BI, IT), task type (`calculation` is open_ended,
    `multiple_answer_choice` multi_select) and modality follow from the name. Files of other names in a folder are
    passed over.

    Columns: index, question, answer; and where they are there category, subfield, curriculum, topic, knowledge,
        analysis, year, grade_level, difficulty_level, image, image_path, A, B, C, … Blanks are a JSON list or stand
        between semicolons, and must be as many as the question shows (`____`), where it shows any.

    The six levels of the taxonomy are the fields discipline, grade, subfield, curriculum, topic and point. `point` is
    the first of the knowledge points, because a question counts once in a table; all of them are the sample's
    knowledge points. `year` is a whole number where the cell reads as one (2021, 2021.0, 2021年).
    """

    name = "mdk12"
    contrasts = ("variant", "context", "style")
    tables = _TABLES

    def read(self, source: Path, images: ImageFolder) -> Iterator[Row]:
        """Stream the rows of every file, in the order of their names."""
        for file, part in _parts(source):
            yield from read_tsv_rows(file, images, partial(_sample, part), ("index", "question", "answer"))


def _parts(source: Path) -> list[tuple[Path, _Part]]:
    if not source.exists():
        raise no_such_path(source)
    files = [source] if source.is_file() else sorted([*source.glob("*.tsv"), *source.glob("dev/*.tsv")])
    parts = [(file, part) for file in files if (part := _part(file))]
    if not parts:
        what = "is not named" if source.is_file() else "holds no file named"
        example = "HSPH_multiple_answer_choice_multi_modal.tsv"
        raise InputError(source, None, f"{what} like {example}, from which grade, discipline and task type follow")
    return parts


def _part(file: Path) -> _Part | None:
    name = _NAME.fullmatch(file.name)
    if not name:
        return None
    grade, discipline, kind, modality = name.groups()
    fields: dict[str, str | int | float] = {
        "discipline": _DISCIPLINES[discipline.upper()],
        "grade": _GRADES[grade.upper()],
        "modality": _MODALITIES[modality.lower()],
    }
    return _Part(file.stem, read_task_type(kind), fields)


def _sample(part: _Part, row: TsvRow) -> Sample:
    if part.fields["modality"] == "multimodal" and not row.images:
        raise ValueError(
            "a row of a multi_modal file without a picture: fill `image`, or move it to a single_modal file"
        )
    cells = {name: text.strip() if name != "image" else text for name, text in row.cells.items()}
    points = _knowledge(cells.get("knowledge", ""))
    cells |= {"knowledge": canonical(points).decode(), "point": cells.get("point") or "".join(points[:1])}
    if kind_of(part.task_type).form == "blank":
        cells["answer"] = canonical(_blanks(cells["answer"], cells["question"])).decode()
    fields = dict(part.fields)
    if cells.get("grade_level"):
        fields["grade_level"] = cells["grade_level"]
    if cells.get("difficulty_level"):
        fields["difficulty"] = cells["difficulty_level"].lower()
    if year := _YEAR.fullmatch(cells.get("year", "")):
        fields["year"] = int(year[1])
    id = sample_id("mdk12", part.name, cells["index"])
    return sample_of_tsv_row(replace(row, cells=cells), id=id, task_type=part.task_type, fields=fields)


def _knowledge(text: str) -> list[str]:
    points = read_list_cell(text) if text.startswith("[") else re.split(r"[;；\n]", text)
    return list(dict.fromkeys(point.strip() for point in points if point.strip()))


def _blanks(text: str, question: str) -> list[str]:
    blanks = list(read_list_cell(text)) if text.startswith("[") else [part.strip() for part in re.split(r"[;；]", text)]
    shown = len(re.findall(r"_{2,}", question))
    if shown and shown != len(blanks):
        raise ValueError(
            f"the question shows {shown} blanks and the answer {len(blanks)}: put a semicolon between blanks"
        )
    return blanks
