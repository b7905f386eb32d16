"""Runs for `mmdyn report --why`: public sets with factorial variants, draws, repetitions, a ladder of contexts and
doses of three operators, asked of models whose abilities and weaknesses are known, and of the baselines.

    python -P bench/why_runs.py DATA FOLDER     makes FOLDER; DATA holds the releases of we_math and scemqa
    mmdyn report FOLDER/runs/we_math-factorial --why

Each model sees, knows and can reason on a question with set chances; a caption stands in for seeing, knowledge points
stand in for knowing; where one is wanting, or an operator broke the question, it guesses one of four. Its answers slip
with a set chance, anew each time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from making_views import StandIn, answer_of

from mmdyn.build import build
from mmdyn.data import SampleSet, convert
from mmdyn.keys import stream
from mmdyn.models import ImagePart, Message
from mmdyn.record import Reply, Usage
from mmdyn.run import ConditionSpec, Execution, evaluate
from mmdyn.sample import Sample
from perturb import perturb

HOW_MANY = {"we_math": 150, "scemqa": 120}
FACTORS = "pad,invert,salt_pepper,substitute,paraphrase"
CHAINS = "salt_pepper+paraphrase,pad+substitute"
DOSES = ",".join(f"{name}@{level}" for name in ("salt_pepper", "blur", "substitute") for level in "12345")
LADDER = ("no-picture", "caption", "none", "kprag", "caption+kprag")
BASELINES = ["baseline:random", "baseline:lexical"]


class Traits(NamedTuple):
    """Chances in [0, 1]: to see, to know and to reason on a question, and that an answer slips. breaks: that an
    operator breaks a question, by its name; `a x b` where it takes both. At level 1 to 5 a fifth of it to all of it."""

    sees: float
    knows: float
    reasons: float
    slips: float
    breaks: Mapping[str, float]


MODELS = {
    "fails-under-noise": Traits(0.85, 0.8, 0.9, 0.05, {"salt_pepper": 0.3, "blur": 0.6}),
    "fails-under-paraphrase": Traits(0.95, 0.6, 0.95, 0.05, {"paraphrase": 0.3, "substitute": 0.0}),
    "fails-under-a-pair": Traits(0.7, 0.95, 0.85, 0.1, {"salt_pepper x substitute": 0.4}),
}


class Able(StandIn):
    """A model of these traits."""

    def __init__(self, label: str, sets: Sequence[SampleSet], traits: Traits) -> None:
        super().__init__(label, sets)
        self._traits, self._times = traits, dict[tuple[str, str], int]()

    def ask(self, messages: tuple[Message, ...]) -> Reply:
        """The reply to what is shown."""
        text, sample = "\n".join(message.text for message in messages), self.asked(messages)
        shown = any(isinstance(part, ImagePart) for message in messages for part in message.parts)
        place = sample.id, text
        self._times[place] = time = self._times.get(place, 0) + 1
        sees, knows, reasons = stream("abilities", self.label, sample.parent).random(3) < self._traits[:3]
        sees = (sees and shown) or any(caption in text for caption in sample.captions) or not sample.all_images
        knows = knows or ("knowledge points" in text and bool(sample.knowledge_points))
        slip, guess = stream("luck", self.label, sample.id, len(text), time).random(2)
        able = sees and knows and reasons and not self._is_broken(sample) and slip >= self._traits.slips
        said = f"Answer: {answer_of(sample, bool(able or guess < 0.25))}"
        return Reply(said, "stop", Usage(prompt_tokens=len(text) // 3, completion_tokens=8))

    def _is_broken(self, sample: Sample) -> bool:
        parts = sample.variant.chain.split("+") if sample.variant else []
        levels = {name: int(level or 5) for name, _, level in (part.partition("@") for part in parts)}
        return any(
            levels.keys() >= {*key.split(" x ")}
            and stream("breaks", self.label, key, sample.parent).random()
            < chance * min(levels[name] for name in key.split(" x ")) / 5
            for key, chance in self._traits.breaks.items()
        )


def main(data: Path, folder: Path) -> None:
    """The sets, and four runs of each."""
    for name, count in HOW_MANY.items():
        sets, limit = folder / "sets", {"limit": count, "quiet": True}
        whole = convert(data / name.replace("_", "-"), sets / name, benchmark=name, name=name, skip_bad=True)
        standard = build("caption", whole, sets / f"{name}-captioned", model=_captioner(folder), **limit)
        factorial = perturb(standard, sets / f"{name}-factorial", ops=FACTORS, factorial=True, **limit)
        draws = perturb(standard, sets / f"{name}-draws", ops=CHAINS, draws=3, **limit)
        doses = perturb(standard, sets / f"{name}-doses", ops=DOSES, **limit)
        dynamic: dict[str, tuple[list[SampleSet], dict[str, Any]]] = {
            "factorial": ([standard, factorial], {"modes": "standard,dynamic", "epochs": 2}),
            "draws": ([standard, draws], {"modes": "standard,dynamic", "epochs": 3}),
            "doses": ([standard, doses], {"modes": "standard,dynamic"}),
            "ladder": ([standard], {"modes": "standard", "contexts": LADDER, "epochs": 3}),
        }
        for kind, (asked, how) in dynamic.items():
            models = [Able(label, asked, traits) for label, traits in MODELS.items()]
            run = folder / "runs" / f"{name}-{kind}"
            execution = Execution(quiet=True, cache="none")
            evaluate(asked, [*models, *BASELINES], run, conditions=ConditionSpec(**how), execution=execution)


def _captioner(folder: Path) -> str:
    """A script that has a caption for each picture of up to nine."""
    lines = [
        {"match": f"There are {many},", "reply": json.dumps({"captions": ["A drawing, with labels in ink."] * many})}
        for many in range(1, 10)
    ]
    file = folder / "captions.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return f"scripted:{file}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
