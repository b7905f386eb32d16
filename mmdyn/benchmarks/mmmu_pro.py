"""MMMU-Pro: university questions of thirty subjects with pictures: ten options, four options, or all in one picture."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from mmdyn.benchmarks._benchmark import HubBenchmark, sample_id
from mmdyn.data import OPTION_LETTERS, RawRow, read_list_cell
from mmdyn.sample import Option, Sample

_PICTURES = ("image", *(f"image_{number}" for number in range(1, 8)))


class MmmuPro(HubBenchmark):
    """MMMU-Pro (Yue et al. 2024, arXiv:2409.02813; huggingface.co/datasets/MMMU/MMMU_Pro and
    github.com/MMMU-Benchmark/MMMU; Apache-2.0).

    Reads the folders of the configs `standard (10 options)`, `standard (4 options)` and `vision`, or one of them. The
    folder's name is the field `config` and in the id; a question has the same `group` in all of them. Marks `<image 1>`
    are the pictures' places. A `vision` row is a picture of the question with its options (`options_in_image`), whose
    words stay in `meta`. The subject is the discipline.
    """

    name = "mmmu_pro"
    contrasts = ("variant", "style")
    published = (("standard (10 options)/*.parquet", "standard (4 options)/*.parquet", "vision/*.parquet"),)
    columns: ClassVar = {
        "id": "id", "group": "group", "question": "question", "options": "options", "answer_letter": "answer",
        "language": "en", "image": "+".join(_PICTURES), "explanation": "explanation",
        "field.config": "config", "field.discipline": "subject", "field.difficulty": "topic_difficulty",
    }  # fmt: skip

    def adapt(self, raw: RawRow) -> dict[str, Any]:
        """A row with the columns that only other configs have, empty; of `vision` with letters for its options."""
        values = dict.fromkeys((*_PICTURES, "question", "explanation", "topic_difficulty")) | raw.values
        said = [*read_list_cell(str(values.get("options")))]
        return {
            **values,
            "group": f"mmmu-pro-{values.get('id')}",
            "options": said if values["question"] else [*OPTION_LETTERS[: len(said)]],
            "said": said,
            "config": raw.file.parent.name,
            "topic_difficulty": str(values["topic_difficulty"] or "").lower(),
        }

    def finish(self, sample: Sample, values: Mapping[str, Any]) -> Sample:
        """The sample with its config in the id; of `vision` with its options in the picture."""
        config = re.sub(r"\W+", "-", values["config"]).strip("-")
        sample = replace(sample, id=sample_id("mmmu_pro", config, str(values["id"])))
        if sample.question:
            return sample
        options = tuple(Option(option.label) for option in sample.options)
        return replace(sample, options=options, options_in_image=True, meta={"options": values["said"]})
