"""MathVista: mathematics in charts, figures, photographs and texts, gathered from 31 sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from mmdyn.benchmarks._benchmark import HubBenchmark
from mmdyn.data import RawRow
from mmdyn.sample import Sample


class Mathvista(HubBenchmark):
    """MathVista (Lu et al. 2023, arXiv:2310.02255; huggingface.co/datasets/AI4Math/MathVista and
    github.com/lupantech/MathVista; CC BY-SA 4.0).

    Reads `data/testmini-*.parquet`, or `data/testmini.json` with `images/` beside it or beside `data`. The answer of a
    multi_choice is the text of a choice. A free_form is one blank; its unit, the decimal places or the list that it
    wants stand behind the question in brackets. A question in Persian counts as English.
    """

    name = "mathvista"
    contrasts = ("variant", "style")
    published = (("data/testmini-*.parquet",), ("data/testmini.json",))
    pictures = ("", "..")
    columns: ClassVar = {
        "id": "pid", "question": "question", "options": "choices", "answer": "answer", "answer_text": "choice",
        "task_type": "kind", "image": "picture", "language": "language", "field.skills": "metadata.skills",
        **{f"field.{name}": f"metadata.{name}" for name in ("task", "context", "category", "grade", "source")},
    }  # fmt: skip

    def adapt(self, raw: RawRow) -> dict[str, Any]:
        """A row with its choice by number, and its task type, language and picture by our names."""
        values = raw.values
        choices, answer, about = values.get("choices") or [], values.get("answer"), values.get("metadata") or {}
        return {
            **values,
            "choice": answer if choices else None,
            "kind": "single_choice" if values.get("question_type") == "multi_choice" else "fill_in_the_blank",
            "language": "zh" if about.get("language") == "chinese" else "en",
            "picture": values.get("decoded_image") or values.get("image"),
        }

    def finish(self, sample: Sample, values: Mapping[str, Any]) -> Sample:
        """The sample with its discipline, and what the set's own prompts say of the form of a free answer."""
        sample = replace(sample, fields={"discipline": "math", **sample.fields})
        if sample.options:
            return sample
        unit, places = values.get("unit"), int(values.get("precision") or 0)
        parts = [f"unit: {unit}"] if unit else []
        if values.get("answer_type") == "float" and places:
            parts.append(f"rounded to {places} decimal place{'s' * (places > 1)}")
        if values.get("answer_type") == "list":
            parts.append("a list such as [1, 2, 3]")
        return replace(sample, question=f"{sample.question} ({'; '.join(parts)})") if parts else sample
