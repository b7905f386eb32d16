"""The knowledge beside a question: its knowledge points with their texts (MDK12-Bench, "Evaluation Methods", KP-RAG)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mmdyn.sample import Sample


def knowledge_block(sample: Sample, texts: Mapping[str, str]) -> str:
    """The sample's own knowledge points, a paragraph each, with the text that `texts` holds for a point's name.

    Empty where the sample names no points: such a sample cannot be asked with knowledge beside it.
    """
    return "\n".join(_paragraph(point, texts.get(point, "")) for point in sample.knowledge_points)


def _paragraph(point: str, text: str) -> str:
    body = text.strip()
    if re.match(re.escape(point) + r"\s*[:：\n]", body):
        body = body[len(point) :].lstrip(" \t:：\n")
    return f"- {point}: {body}" if body else f"- {point}"
