"""Runs for the viewer: public sets with their variants, and models that answer some of them wrongly, in words of their
own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from mmdyn.data import SampleSet
from mmdyn.keys import digest, stream
from mmdyn.models import ImagePart, Message, pictures_of
from mmdyn.record import Reply, Usage
from mmdyn.run import ConditionSpec, Execution, KnowledgeConfig, Limits, ScoringConfig, evaluate
from mmdyn.sample import Sample
from mmdyn.work import RunFolder

CHAINS = "image.invert,image.pad,text.shuffle,text.paraphrase,image.salt_pepper+text.substitute"
"""Five chains: of the picture, of the words, and of both."""

WORDS = {
    "en": ("Let me look at the figure first.\nFrom what is given, $x^2 + y^2 = r^2$ holds.", "Answer: {}"),
    "zh": ("先看图中给出的条件。\n由题意可知 $F = ma$，代入数据即可。", "答案：{}"),
}


class StandIn:
    """Answers as a model would that has some share of the standard questions right, and loses some under a chain."""

    def __init__(self, label: str, sets: Iterable[SampleSet], right: float = 0.85, lost: float = 0.3) -> None:
        self.label = self.identity = label
        self._right, self._lost = right, lost
        self._samples: dict[str, list[Sample]] = {}
        for opened in sets:
            for sample in opened:
                self._samples.setdefault(_first_line(sample.question), []).append(sample)

    def ask(self, messages: tuple[Message, ...]) -> Reply:
        """The reply; a share is cut off before it answers, or declines to."""
        text, sample = "\n".join(message.text for message in messages), self.asked(messages)
        draws = stream("stand-in", self.label, sample.id, len(text)).random(2)
        chance = self._right - self._lost * (sample.variant is not None) * float(draws[1])
        pictures = sum(isinstance(part, ImagePart) for message in messages for part in message.parts)
        usage = Usage(prompt_tokens=len(text) // 3 + 400 * pictures, completion_tokens=60)
        if draws[1] > 0.985:
            return Reply("I cannot help with that.", "refusal", usage, cost=0.0004, currency="$")
        why, said = WORDS[sample.language]
        if draws[1] > 0.96:
            return Reply(why, "length", usage, cost=0.0009, currency="$")
        return Reply(
            f"{why}\n{said.format(answer_of(sample, draws[0] < chance))}", "stop", usage, cost=0.0007, currency="$"
        )

    def asked(self, messages: tuple[Message, ...]) -> Sample:
        """The sample that is asked, by its words and its pictures."""
        text, shown = "\n".join(message.text for message in messages), pictures_of(messages)
        fitting = [one for line, some in self._samples.items() if line in text for one in some if _is_asked(one, text)]
        return max(fitting, key=lambda one: (_pictures(one) == shown, len(one.question)))


def make_run(
    sets: Sequence[SampleSet], out: Path, *models: StandIn, modes: str = "standard,dynamic", judge: str = "", n: int = 0
) -> RunFolder:
    """A run of some models on some sets with their variants, the knowledge beside the question for `kprag`."""
    return evaluate(
        sets, list(models), out, conditions=ConditionSpec(modes=modes), limits=Limits(n=n or None),
        scoring=ScoringConfig(judges=[judge] if judge else []), knowledge=KnowledgeConfig(),
        execution=Execution(quiet=True, cache="none"),
    )  # fmt: skip


def _first_line(question: str) -> str:
    return max((line for line in question.split("\n") if "<image" not in line), key=len, default=question)


def _is_asked(sample: Sample, text: str) -> bool:
    return all(f"{option.label}. {option.text}" in text for option in sample.options if option.text)


def _pictures(sample: Sample) -> str:
    """As `pictures_of` has it of a request."""
    return digest(sorted({Path(ref).stem for ref in sample.all_images}), 8) if sample.all_images else ""


def answer_of(sample: Sample, right: bool) -> str:
    """A right answer, or a wrong one."""
    answer = sample.answer
    if isinstance(answer, bool):
        return str(answer is right)
    if sample.options:
        assert isinstance(answer, tuple)
        return "".join(map(str, answer)) if right else next((one for one in sample.labels if one not in answer), "A")
    first = (
        answer if isinstance(answer, str) else "; ".join(part if isinstance(part, str) else part[0] for part in answer)
    )
    return first if right else f"{first} + 1"
