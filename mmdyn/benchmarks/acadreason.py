"""AcadReason: research questions of five disciplines with a golden answer, a checklist and three kinds of hints."""

from __future__ import annotations

import re

from msgspec import Struct

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, sample_id
from mmdyn.benchmarks._checklist import lines, split_checklist
from mmdyn.sample import Sample


class _Question(Struct):
    task_id: int
    domain: str
    title: str
    query: str
    golden_truth: str
    checklist: str
    num_checklist: int
    hints_background: str
    hints_definition: str
    hints_methodology: str


class Acadreason(Benchmark[_Question]):
    """AcadReason (OPPO AI Agent Team 2025, arXiv:2510.11652; github.com/OPPO-PersonalAI/Acadreason-benchmark;
    Apache-2.0).

    Reads `questions.jsonl`. Every question is open_ended with the golden answer; the domain is the discipline, the
    title of the paper stays in `meta`. The hints are `background`, `definition` and `methodology`. The checklist is cut
    into exactly `num_checklist` items (`split_checklist`); a list that numbers more keeps the surplus in the last item,
    and `meta` then says how many are numbered. ` | ` where a line ends is a new line.
    """

    name = "acadreason"
    contrasts = ("context",)
    row = _Question

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        try:
            items, numbered = split_checklist(row.checklist, row.num_checklist)
        except ValueError as error:
            raise ValueError(f"task {row.task_id}: {error}") from None
        hints = {
            "background": row.hints_background,
            "definition": row.hints_definition,
            "methodology": row.hints_methodology,
        }
        surplus = {"checklist_numbered": numbered} if numbered > len(items) else {}
        return Sample(
            id=sample_id("acadreason", str(row.task_id)),
            question=lines(row.query),
            task_type="open_ended",
            answer=lines(row.golden_truth),
            fields={"discipline": row.domain.strip().lower(), "modality": "text"},
            hints={name: text for name, hint in hints.items() if (text := lines(hint))},
            checklist=items,
            meta={"title": re.sub(r"\s*\|\s*", " ", row.title).strip(), **surplus},
        )
