"""We-Math: visual mathematics, composed problems beside the one-step problems that they are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from mmdyn.benchmarks._benchmark import Benchmark, PutPicture, choice_type, noted, sample_id
from mmdyn.data import KnowledgePoint
from mmdyn.sample import Sample
from mmdyn.text import read_letters, split_options

_KEY = re.compile(r"(\d)steps_(\d|multi)")


class _Question(Struct):
    group: str = field(name="ID")
    key: str
    concepts: str = field(name="knowledge concept")
    descriptions: str = field(name="knowledge concept description")
    question: str
    option: str
    answer: str
    image_path: str


class WeMath(Benchmark[_Question]):
    """We-Math (Qiao et al. 2024, arXiv:2407.01284; github.com/We-Math/We-Math; CC BY-NC 4.0).

    Reads `questions.jsonl`, or the release's `data/testmini.json`, beside the pictures. `option` is one string (`A.
    …;B. …; E. No correct answer`). A problem and its one-step sub-problems share the `group`; the field `steps` counts
    the knowledge concepts that a problem takes, `key` says which part it is. Concepts are knowledge points; their
    descriptions are `knowledge`.
    """

    name = "we_math"
    contrasts = ("variant", "context")
    row = _Question
    published = (("data/testmini.json",),)

    def knowledge(self, source: Path) -> Iterator[KnowledgePoint]:
        """Each concept once, with its description, in the order of the questions. Raises InputError for a bad row."""
        known: set[str] = set()
        for row in self.rows(source):
            for concept, text in _descriptions(row).items():
                if concept not in known:
                    known.add(concept)
                    yield KnowledgePoint(concept, text)

    def sample(self, row: _Question, put: PutPicture) -> Sample:
        """The sample of a row."""
        key = _KEY.fullmatch(row.key)
        if not key:
            raise ValueError(
                f"the key {row.key[:40]!r} is none of the set's, such as 2steps_1 or 3steps_multi: correct it"
            )
        before, options, mended = split_options(row.option, least=3)
        if before or not options:
            raise ValueError(f"the options {row.option[:40]!r} do not run A, B, C, …: write A. …; B. …")
        answer = read_letters(row.answer, options)
        return Sample(
            id=sample_id("we_math", row.group, key[2]),
            question=row.question.strip(),
            task_type=choice_type(options, answer),
            answer=answer,
            options=options,
            images=(put(row.image_path),),
            group=f"we-math-{row.group}",
            fields={
                "discipline": "math",
                "modality": "multimodal",
                "steps": int(key[1]) if key[2] == "multi" else 1,
                "key": row.key,
            },
            knowledge_points=_concepts(row),
            meta=noted(mended, row.answer, answer),
        )


def _concepts(row: _Question) -> tuple[str, ...]:
    return tuple(dict.fromkeys(concept.strip() for concept in row.concepts.split(";") if concept.strip()))


def _descriptions(row: _Question) -> dict[str, str]:
    """Each concept's description: what follows its name and a colon, up to the next concept's."""
    texts: dict[str, str] = {}
    heads = "|".join(re.escape(concept) for concept in _concepts(row))
    parts = re.split(rf"^({heads}):[ \t]*$", row.descriptions, flags=re.MULTILINE) if heads else []
    for concept, text in zip(parts[1::2], parts[2::2], strict=True):
        texts.setdefault(concept, text.strip())
    return texts
