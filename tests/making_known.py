"""Models whose memory and weaknesses are known, and we_math with the variants that `mmdyn report --memory` reads.

Variants go through the real engine; versions with other answers are written and solved by a script, `Reviser`, through
the prompts of rewriters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

from making_views import StandIn
from msgspec.structs import replace

from making import write_set
from mmdyn.data import SampleSet, convert
from mmdyn.keys import Json, digest
from mmdyn.models import Message, pictures_of
from mmdyn.run import Execution, evaluate
from mmdyn.sample import Sample
from mmdyn.tables import Memory, Report, explain_memory, memory_parts, tabulate
from perturb import perturb

CHANGED, CHAINS, DRAWS, NEVER = "counterfactual", "shuffle,pad+paraphrase", 3, "No correct answer"


def chance(*of: Json) -> float:
    """A number in [0, 1) that is fixed by what it is for."""
    return int(digest([*of], 6), 16) / 16**12


class Reviser:
    """A rewriter: writes versions of a question that have other answers, and knows these when it is asked to solve one.

    Args:
        seed: The draw of its answers.
        habit: A letter that it makes right where it can.
    """

    label = "reviser"

    def __init__(self, seed: int, habit: str = "") -> None:
        self._seed, self._habit = seed, habit
        self._times, self._answers = dict[str, int](), dict[str, str]()

    def ask(self, messages: tuple[Message, ...]) -> str:
        """The version, or the answer."""
        parts = re.split(r"^=== \w+ ===(?: options| right answer)?$", messages[-1].text, flags=re.M)
        question, options = parts[1].strip(), re.findall(r"^([A-H])\. (.*)$", parts[2], re.M)
        if question in self._answers:
            return json.dumps({"working": "as above", "answer": self._answers[question]})
        right, time = parts[3].strip(), self._times.get(question, 0) + 1
        self._times[question] = time
        new = f"{question} (Suppose that its figures are those of version {time}.)"
        others = [letter for letter, text in options if letter != right and text != NEVER]
        drawn = others[int(chance("reviser", self._seed, new) * len(others))]
        self._answers[new] = self._habit if self._habit in others else drawn
        return json.dumps({"question": new, "answer": self._answers[new]})


class Asked(NamedTuple):
    """A question as a model sees it.

    labels: Its letters; `plausible`: those whose option is no "No correct answer".
    right: The letter that is right here.
    letter, kept: The letter that was right in the published question, and the one at which that option stands here.
    chain: What was changed; empty for the published question.
    texts: The options here, by letter.
    fields: Of the published question.
    """

    id: str
    parent: str
    labels: tuple[str, ...]
    plausible: tuple[str, ...]
    right: str
    letter: str
    kept: str
    chain: str
    texts: Mapping[str, str]
    fields: Mapping[str, Json]


class Finder(StandIn):
    """Knows which sample is asked; remembers what it found, as all models are asked the same."""

    def __init__(self, standard: SampleSet, sets: Sequence[SampleSet]) -> None:
        super().__init__("finder", [standard, *sets])
        self._published = {sample.id: sample for sample in standard}
        self._found = dict[tuple[str, str], Asked]()

    def found(self, messages: tuple[Message, ...]) -> Asked:
        """What a request asks."""
        key = messages[-1].text, pictures_of(messages)
        if key not in self._found:
            self._found[key] = self._as_asked(self.asked(messages))
        return self._found[key]

    def _as_asked(self, sample: Sample) -> Asked:
        variant = sample.variant
        chain = variant.chain if variant else ""
        published = self._published[variant.parent if variant else sample.id]
        texts = {option.label: option.text for option in published.options}
        letter, right = letter_of(published), letter_of(sample)
        kept = next((one.label for one in sample.options if one.text == texts[letter]), letter)
        plausible = tuple(one.label for one in sample.options if one.text != NEVER)
        here = {option.label: option.text for option in sample.options}
        return Asked(sample.id, published.id, sample.labels, plausible, right, letter, kept, chain, here, sample.fields)


def letter_of(sample: Sample) -> str:
    """The letter that is right."""
    assert isinstance(sample.answer, tuple)
    return str(sample.answer[0])


Answers: TypeAlias = "Callable[[Scripted, Asked], str]"


class Scripted:
    """A model that answers by a rule. seed: the draw of its luck."""

    def __init__(self, name: str, seed: int, rule: Answers, finder: Finder) -> None:
        self.label, self.name, self._seed, self._rule, self._finder = f"{name}:{seed}", name, seed, rule, finder

    def ask(self, messages: tuple[Message, ...]) -> str:
        """The answer to what is shown."""
        return f"Answer: {self._rule(self, self._finder.found(messages))}"

    def chance(self, *of: str) -> float:
        """A number in [0, 1) that is fixed by what it is for."""
        return chance(self.name, self._seed, *of)

    def pick(self, letters: Sequence[str], *of: str) -> str:
        """One of some letters."""
        return letters[int(self.chance("pick", *of) * len(letters))]

    def able(self, asked: Asked, share: float) -> bool:
        """Whether it can answer; half of the questions are as easy or hard in all of their versions."""
        alike = self.chance("alike", asked.parent) < 0.5
        return self.chance("able", asked.parent if alike else asked.id) < share

    def known(self, asked: Asked, share: float) -> bool:
        """Whether it has learned the published question."""
        return self.chance("known", asked.parent) < share

    def answer(self, asked: Asked, share: float, guess: str = "") -> str:
        """The right answer to so many of the questions, else a guess: any letter, unless one is given."""
        return asked.right if self.able(asked, share) else guess or self.pick(asked.labels, asked.id)


def letters_by_heart(share: float, able: float = 0.4) -> Answers:
    """Names the published letter of a share of the questions, whatever is asked."""
    return lambda model, asked: asked.letter if model.known(asked, share) else model.answer(asked, able)


def words_by_heart(share: float, able: float = 0.4) -> Answers:
    """Names the published option of a share of the questions, wherever it stands and whatever is asked."""
    return lambda model, asked: asked.kept if model.known(asked, share) else model.answer(asked, able)


def reads_with_care(model: Scripted, asked: Asked) -> str:
    """Knows 60 % of the published questions in any form, and answers changed ones as one that never saw them."""
    return asked.right if asked.chain != CHANGED and model.known(asked, 0.6) else model.answer(asked, 0.6)


def brittle(model: Scripted, asked: Asked) -> str:
    """Is right in 70 %, and in 50 % of whatever was changed."""
    return model.answer(asked, 0.5 if asked.chain else 0.7)


def inattentive(model: Scripted, asked: Asked) -> str:
    """Overlooks what was changed in 30 % of the questions, which it never saw before, and answers what stood there."""
    overlooks = asked.chain == CHANGED and model.chance("overlooks", asked.parent) < 0.3
    return model.answer(asked._replace(right=asked.letter) if overlooks else asked, 0.75)


def able(share: float) -> Answers:
    """Is right in a share of the questions, and guesses else."""
    return lambda model, asked: model.answer(asked, share)


def favours(letters: str, share: float = 0.4) -> Answers:
    """Guesses one of these letters in four of five cases when it is unsure."""

    def rule(model: Scripted, asked: Asked) -> str:
        liked = model.chance("liked", asked.id) < 0.8
        return model.answer(asked, share, model.pick(letters, asked.id) if liked else "")

    return rule


def plausible(model: Scripted, asked: Asked) -> str:
    """Is right in 40 %, and never guesses that no answer is correct."""
    return model.answer(asked, 0.4, model.pick(asked.plausible, asked.id))


def sticks(model: Scripted, asked: Asked) -> str:
    """Guesses the same letter of a question in all of its forms."""
    return model.answer(asked, 0.4, model.pick(asked.plausible, asked.parent))


def lured(model: Scripted, asked: Asked) -> str:
    """Guesses one and the same wrong option of the published question, wherever it stands."""
    wrong = sorted((text, label) for label, text in asked.texts.items() if label != asked.kept and text != NEVER)
    return model.answer(asked, 0.5, model.pick([label for _, label in wrong], asked.parent))


def mixed(model: Scripted, asked: Asked) -> str:
    """Knows the letters of half of the questions, and falls by 20 points under any change."""
    return asked.letter if model.known(asked, 0.5) else brittle(model, asked)


MODELS: dict[str, Answers] = {
    "letters by heart, 10 %": letters_by_heart(0.1),
    "letters by heart, 30 %": letters_by_heart(0.3),
    "letters by heart, 60 %": letters_by_heart(0.6),
    "words by heart, 10 %": words_by_heart(0.1),
    "words by heart, 30 %": words_by_heart(0.3),
    "words by heart, 60 %": words_by_heart(0.6),
    "half by heart and brittle": mixed,
    "inattentive": inattentive,
    "knows 60 %, reads with care": reads_with_care,
    "none of it": able(0.75),
    "brittle": brittle,
    "weak": able(0.3),
    "never says that none is correct": plausible,
    "favours A": favours("A"),
    "favours B": favours("B"),
    "favours A and B, weak": favours("AB", 0.1),
    "sticks to positions": sticks,
    "drawn to one wrong option": lured,
}
"""By what is known of them: those that remember, then those that do not or that do not show it."""


class World(NamedTuple):
    """The published set and its variants, of one draw."""

    standard: SampleSet
    sets: tuple[SampleSet, ...]
    finder: Finder


Change: TypeAlias = Callable[[Sample], Sample]


def make_world(
    data: Path,
    folder: Path,
    draw: int = 0,
    limit: int | None = None,
    habit: str = "",
    change: Change = lambda sample: sample,
) -> World:
    """Make the sets of we_math, and have its years drawn.

    Args:
        data: The release.
        draw: Of years and variants.
        limit: The number of questions.
        habit: As `Reviser` has it.
        change: What else is done to the published questions.
    """
    whole = convert(data, folder / "released", benchmark="we_math", name="we_math", skip_bad=True)
    dated = [
        change(with_year(sample, 2016 + int(10 * chance("year", draw, sample.id)))) for sample in islice(whole, limit)
    ]
    pictures = [(whole.folder / ref).read_bytes() for one in dated for ref in one.all_images]
    return varied(write_set(folder / "set", dated, "we_math", pictures), folder, draw, habit)


def varied(standard: SampleSet, folder: Path, draw: int = 0, habit: str = "") -> World:
    """Make the variants of a set."""
    rewriter = f"{Path(__file__).resolve()}:Reviser,seed={draw}" + f",habit={habit}" * bool(habit)
    made = [
        perturb(standard, folder / "dynamic", ops=CHAINS, seed=draw, quiet=True),
        perturb(
            standard, folder / "changed", ops=CHANGED, draws=DRAWS, rewriter=rewriter, concurrency=1, cache="none",
            seed=draw, quiet=True,
        ),
    ]  # fmt: skip
    return World(standard, tuple(made), Finder(standard, made))


def with_year(sample: Sample, year: int) -> Sample:
    """A sample of a year."""
    return replace(sample, fields={**sample.fields, "year": year})


def pages(world: World, folder: Path, models: Sequence[Scripted]) -> Iterator[Memory]:
    """Ask all, and make a page for each model, as if it were alone in its run."""
    run = evaluate([world.standard, *world.sets], list(models), folder, execution=Execution(quiet=True, cache="none"))
    report = tabulate([run], memory_parts())
    for model in models:
        yield explain_memory(of_model(report, f"python:{model.label}"), [run])


def of_model(report: Report, label: str) -> Report:
    """The report with the rows of one model."""
    own = [[row for row in part.rows if row.factors.get("model") == label] for part in report.parts]
    return report.of_parts([replace(part, rows=rows) for part, rows in zip(report.parts, own, strict=True)])


def conclusion(page: Memory) -> str:
    """What is said in short of the first model."""
    return re.split(r" on \w+: ", page.sections[0].lines[0].text, maxsplit=1)[1]
