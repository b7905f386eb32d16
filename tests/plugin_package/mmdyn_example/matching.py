"""A task type: match each item with an option."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path
from statistics import fmean

from mmdyn.sample import Answer, Sample
from mmdyn.scoring.extract.response import Asked, Extraction, Response, found, nothing
from mmdyn.scoring.policies._policy import Policy
from mmdyn.task_types import TaskType

MATCHING = TaskType(
    title="match each item with an option",
    form="blank",
    options=True,
    prompts=str(Path(__file__).parent / "prompts"),
    signs=(("order of the items",), ("各项的顺序",)),
    reader="mmdyn_example.matching:read",
    credit="mmdyn_example.matching:credit",
    chance="mmdyn_example.matching:chance",
    answer_tokens=24,
)
"""The answer holds, for each item, the labels of the options that fit it: [["B"], ["A"]]."""

_LINE = re.compile(r"^\W{0,9}(?:Answer|答案)\W{0,9}(?<=[:：*])(.*)$", re.MULTILINE)
_LABEL = re.compile(r"[\s,，、;；>→(（*-]{0,9}([A-Z])[)）.*]{0,3}(?![A-Za-z])")


def read(response: Response, asked: Asked) -> Extraction:
    """The labels on the last line that gives an answer, if it is a list of them, as many as the items."""
    line = next(reversed([*_LINE.finditer(response.flat)]), None)
    picked = tuple(_LABEL.findall(line[1])) if line and not _LABEL.sub("", line[1]).strip() else ()
    if not line or len(picked) != asked.blanks or not {*picked} <= {*asked.labels}:
        return nothing(response)
    return found(response, picked, "slot", *line.span(1))


def credit(policy: Policy, sample: Sample, found: Answer) -> tuple[float, tuple[float, ...], bool]:
    """What the policy gives for blanks of which these are right; what each item earned; and that no judge is needed."""
    assert isinstance(sample.answer, tuple) and isinstance(found, tuple)
    correct = tuple(label in accepted for label, accepted in zip(found, sample.answer, strict=True))
    return policy.blanks(correct), tuple(map(float, correct)), False


def chance(policy: Policy, sample: Sample) -> float:
    """The mean credit over all ways to give each item an option of its own."""
    assert isinstance(sample.answer, tuple)
    return fmean(credit(policy, sample, picked)[0] for picked in permutations(sample.labels, len(sample.answer)))
