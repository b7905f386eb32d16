"""Samples as rows of plain cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mmdyn.frame import Frame, field_cells, field_columns
from mmdyn.keys import canonical
from mmdyn.sample import Sample

TEXTS = ("id", "question", "task_type", "language", "group", "explanation")
AS_JSON = ("answer", "options", "images", "knowledge_points")
VARIANT: dict[str, type] = {"parent": str, "chain": str, "draw": int, "seed": int}
MEASURED: dict[str, type] = {"verdict": str, "tokens_changed": float, "ssim": float}


def set_frame(samples: Iterable[Sample]) -> Frame:
    """A row a sample: its texts, what has parts as JSON text, of a variant where it comes from and how far it is from
    there, and its fields."""
    fields = field_columns(sample.fields for sample in samples)
    columns: dict[str, type] = dict.fromkeys((*TEXTS, *AS_JSON), str) | {"points": float} | VARIANT | MEASURED | fields
    return Frame(columns, _rows(samples, fields))


def _rows(samples: Iterable[Sample], fields: dict[str, type]) -> Iterator[dict[str, Any]]:
    for sample in samples:
        row = {name: getattr(sample, name) for name in (*TEXTS, "points")}
        row |= {name: canonical(getattr(sample, name)).decode() for name in AS_JSON}
        if made := sample.variant:
            row |= {name: getattr(made, name) for name in VARIANT} | {"verdict": made.verdict.status}
            if made.strength:
                row |= {"tokens_changed": made.strength.tokens, "ssim": made.strength.ssim}
        yield row | field_cells(sample.fields, fields)
