"""MMLU-Pro: university questions of fourteen subjects with up to ten options, in English, text only."""

from __future__ import annotations

from typing import ClassVar

from mmdyn.benchmarks._benchmark import HubBenchmark


class MmluPro(HubBenchmark):
    """MMLU-Pro (Wang et al. 2024, arXiv:2406.01574; huggingface.co/datasets/TIGER-Lab/MMLU-Pro and
    github.com/TIGER-AI-Lab/MMLU-Pro; MIT).

    Reads `data/test-*.parquet`, or else `data/validation-*.parquet`, five examples a subject with reasoning, which is
    the explanation. The category is the discipline; `source` says which set a question is from.
    """

    name = "mmlu_pro"
    contrasts = ("variant", "style")
    published = (("data/test-*.parquet",), ("data/validation-*.parquet",))
    columns: ClassVar = {
        "id": "question_id", "question": "question", "options": "options",
        "answer_letter": "answer", "language": "en", "explanation": "cot_content",
        "field.discipline": "category", "field.source": "src",
    }  # fmt: skip
