"""A real run for each analysis of `mmdyn report --why`: public sets, factorial variants, draws, repetitions, a ladder of
contexts and doses of three operators, asked of models whose abilities and weaknesses are known.

    python -P bench/why_runs.py DATA FOLDER     makes FOLDER; DATA holds the releases of we_math and scemqa

The models know each question's answer. With a set chance each they see, know and reason on it; a caption stands in for
seeing, knowledge points for knowing. Where one is wanting they guess. An operator breaks an answer with a set chance.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from making_views import StandIn

from mmdyn.data import SampleSet, convert
from mmdyn.keys import stream
from mmdyn.models import ImagePart, Message
from mmdyn.record import Reply, Usage
from mmdyn.run import ConditionSpec, Execution, ScoringConfig, evaluate
from mmdyn.sample import Sample
from mmdyn.testing import FakeServer
from perturb import perturb

HOW_MANY = {"we_math": 150, "scemqa": 120}
FACTORS = "pad,invert,salt_pepper,substitute,paraphrase"
DOSES = [f"{name}@{level}" for name in ("salt_pepper", "blur", "substitute") for level in "12345"]
LADDER = "no-picture,caption,none,kprag,caption+kprag"


class Able(StandIn):
    """A model with chances to see, to know and to reason, and what operators do to it.

    breaks: by an operator's name the chance that it breaks an answer; `a x b` where both together do. noise: the chance
    that an answer is a slip, anew each time that it is asked.
    """

    def __init__(
        self, label: str, sets: Sequence[SampleSet], abilities: tuple[float, float, float], noise: float,
        breaks: Mapping[str, float],
    ) -> None:  # fmt: skip
        super().__init__(label, sets)
        self._abilities, self._noise, self._breaks, self._asked = abilities, noise, breaks, dict[str, int]()

    def ask(self, messages: tuple[Message, ...]) -> Reply:
        """The reply to what is shown, which differs from the last one where it slips."""
        text = "\n".join(message.text for message in messages)
        sample = self.asked(messages)
        shown = any(isinstance(part, ImagePart) for message in messages for part in message.parts)
        helped = (not shown and "[" in text and "caption" in str(sample.meta), _has_points(sample, text), False)
        draws = stream("abilities", self.label, sample.parent).random(3)
        able = [draw < chance for draw, chance in zip(draws, self._abilities, strict=True)]
        able[0] = able[0] and (shown or not sample.all_images)
        again = self._asked[text] = self._asked.get(text, 0) + 1
        luck = stream("luck", self.label, sample.id, len(text), again).random(2)
        right = all(one or other for one, other in zip(able, helped, strict=True)) and not self._is_broken(sample)
        right = right and luck[0] >= self._noise
        guessed = luck[1] < 1 / max(len(sample.options), 4)
        usage = Usage(prompt_tokens=len(text) // 3, completion_tokens=20)
        return self.said(sample, right=right or guessed, usage=usage)

    def _is_broken(self, sample: Sample) -> bool:
        if sample.variant is None:
            return False
        names = sample.variant.chain.split("+")
        for key, chance in self._breaks.items():
            dose = max((int(name.partition("@")[2] or 5) for name in names if name.partition("@")[0] in key), default=0)
            there = all(any(name.partition("@")[0] == one for name in names) for one in key.split(" x "))
            if there and stream("breaks", self.label, key, sample.parent).random() < chance * dose / 5:
                return True
        return False


def _has_points(sample: Sample, text: str) -> bool:
    return (
        bool(sample.knowledge_points)
        and any(f"{name}" in text for name in sample.knowledge_points)
        and ("nowledge" in text)
    )
