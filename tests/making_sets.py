"""A small set with every task type, in both languages, with pictures of several kinds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.data import SampleSet
from mmdyn.sample import Option, Sample

PICTURES = [picture(60, 40, text="7"), picture(50, 50, "RGBA", text="8"), picture(80, 30, "L", text="9"), picture(64, 64, format="JPEG", text="3")]  # fmt: skip
REFS = [image_ref(data, "jpg" if data[:2] == b"\xff\xd8" else "png") for data in PICTURES]


def samples() -> list[Sample]:
    """Twelve samples."""
    pictured = tuple(Option(label, "", ref) for label, ref in zip("ABC", REFS, strict=False))
    made = []
    for language in ("en", "zh"):
        made += [
            choice(f"{language}-choice", images=(REFS[0],), language=language, explanation="B, of course."),
            multi(f"{language}-multi", images=(REFS[1], REFS[3]), language=language, group="passage"),
            blank(f"{language}-blank", images=(REFS[2],), language=language),
            true_false(f"{language}-true", language=language),
            open_ended(f"{language}-open", images=(REFS[3],), language=language),
            Sample(f"{language}-pictured", "Which?", "single_choice", ("C",), language, pictured, images=(REFS[3],)),
        ]
    return made


def make_set(folder: Path, *, backwards: bool = False) -> SampleSet:
    """The set, in order or in reversed order."""
    made = samples()
    return write_set(folder, reversed(made) if backwards else made, "mixed", PICTURES)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def marks_of_sheet(page: str) -> list[dict[str, Any]]:
    """What an audit sheet saves of its variants, but for the labels."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return list(json.loads(found[1]))


def write_marks(file: Path, who: str, source: SampleSet, failed: dict[str, str]) -> Path:
    """A reviewer's file: questions in `failed` are rejected for what stands there, the others kept."""
    lines = [
        {"set": str(source.folder), "parent_set": "", "id": one.id, "by": who}
        | ({"label": "reject", "failed": [failed[one.id]]} if one.id in failed else {"label": "keep"})
        for one in source
    ]
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return file
