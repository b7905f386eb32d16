"""What a reader hands back, and how sure each rule is."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from mmdyn.sample import Answer
from mmdyn.scoring.extract.response import Response

CONFIDENCE = {
    "alone": 1.0, "slot": 0.99, "boxed": 0.99, "sentence": 0.98, "corrected": 0.95, "numbered": 0.95, "json": 0.99,
    "opening": 0.95, "concluded": 0.93, "separated": 0.93, "bold": 0.93, "table": 0.93, "judged": 0.92,
    "option_text": 0.92, "line": 0.9, "stated": 0.9, "said": 0.85, "last_value": 0.85,
}  # fmt: skip
"""By rule, in [0, 1]: an ordering with round figures, set after what the rules got right on stored replies
(docs/scoring.md)."""


class Whole(Struct, frozen=True, gc=False):
    """All that a response answers: what follows its last slot (rule `slot`), else the response without its reasoning
    (`whole`), which is `said`."""

    text: str
    said: str
    rule: str
    span: tuple[int, int]


class Extraction(Struct, frozen=True, gc=False):
    """What was read in a response: as a sample's answer is written (labels, a bool, one text a blank, a text).

    `found` is None unless `status` is `ok`. `rule` names what decided, or why nothing was read (`empty`, `conflict`,
    `cut_off`, `none`, `refused`). `span` counts characters of the response as it came. `confidence` lies in [0, 1].
    Answers to open questions have a `whole`.
    """

    found: Answer | None
    status: Literal["ok", "unparsed", "refused"]
    rule: str
    span: tuple[int, int] | None = None
    confidence: float = 0.0
    whole: Whole | None = None


def found(response: Response, answer: Answer, rule: str, start: int, end: int) -> Extraction:
    """An answer that stands from `start` to `end` of the response's text."""
    return Extraction(answer, "ok", rule, response.span(start, end), CONFIDENCE[rule])


def conflict() -> Extraction:
    """Final answers that differ, or one that is taken back: no answer is chosen among them."""
    return Extraction(None, "unparsed", "conflict")


def nothing(response: Response) -> Extraction:
    """No answer: the model declined, was cut off while reasoning, said nothing, or nothing that could be read."""
    if response.declined and not response.cut_off:
        return Extraction(None, "refused", "refused")
    if response.cut_off or response.truncated:
        return Extraction(None, "unparsed", "cut_off")
    said = response.flat.strip() or response.offset  # behind a thought, in which a judge may find the answer
    return Extraction(None, "unparsed", "none" if said else "empty")
