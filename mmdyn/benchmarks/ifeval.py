"""IFEval: prompts with instructions on the form of the reply that rules can verify, in English, text only."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, sample_id
from mmdyn.keys import Json
from mmdyn.sample import Sample
from mmdyn.text import spell_instruction


class _Prompt(Struct):
    key: int
    prompt: str
    instruction_id_list: list[str]
    kwargs: list[dict[str, Json]]


class Ifeval(Benchmark[_Prompt]):
    """IFEval (Zhou et al. 2023, arXiv:2311.07911; huggingface.co/datasets/google/IFEval and
    github.com/google-research/google-research/tree/master/instruction_following_eval; Apache-2.0).

    Reads `questions.jsonl`, the hub's `ifeval_input_data.jsonl`, or the paper's `data/input_data.jsonl`. The answer is
    the instructions, each with its kwargs; what is null there is not given.
    """

    name = "ifeval"
    contrasts = ("variant",)
    row = _Prompt
    published = (("ifeval_input_data.jsonl",), ("data/input_data.jsonl",))

    def sample(self, row: _Prompt, put: PutPicture) -> Sample:
        """The sample of a row."""
        kinds, given = row.instruction_id_list, row.kwargs
        if len(kinds) != len(given) or not kinds:
            raise ValueError(
                f"the prompt {row.key} has {len(kinds)} instructions and {len(given)} kwargs: give one each"
            )
        return Sample(
            id=sample_id(self.name, str(row.key)),
            question=row.prompt,
            task_type="instructions",
            answer=tuple(spell_instruction(kind, kwargs) for kind, kwargs in zip(kinds, given, strict=True)),
            fields={"modality": "text"},
        )
