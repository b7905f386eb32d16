"""What a kind of evidence is asked with, and the words of a question that it is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.models import Asker
from mmdyn.run.render import replace_pictures
from mmdyn.run.verdicts import NoVerdict
from mmdyn.sample import Sample

KIND = "probe"
"""Where the words of the prompts lie."""

J = TypeVar("J")
V = TypeVar("V", bound=Struct)
D = TypeVar("D", bound=Struct)


class Asked(NamedTuple, Generic[D, J]):
    """What is asked of a set.

    design: What was chosen to be asked; `kind` is the store's kind for what models say of it.
    jobs: By what tells them apart, which is a part of the key under which the answer is kept.
    """

    design: D
    kind: str
    jobs: Mapping[str, J]


class Probe(Protocol[D, J, V]):
    """A kind of evidence that models are asked for, and its settings. Each file of this folder has one."""

    what: str
    """What is counted, such as orders."""

    weighs: bool
    """Whether it takes log-probabilities of texts."""

    verdict: type[V]
    """What is kept of an answer."""

    @property
    def designs(self) -> str:
        """The store's kind for what was chosen to be asked."""

    def check(self, sets: Sequence[SampleSet]) -> None:
        """Raise UserError where a setting names what the run's standard sets do not have."""

    def choose(self, source: SampleSet, variants: Iterable[SampleSet]) -> Asked[D, J]:
        """Choose what is asked of a standard set, of which the run has variants. Raises UserError where it has too few
        questions."""

    async def ask(self, asker: Asker, job: J) -> V | NoVerdict:
        """Ask a model once."""


def text_of(sample: Sample) -> str:
    """A question with its options; empty where it cannot be asked without its pictures."""
    bare = replace_pictures(sample, "withheld")
    if bare is None:
        return ""
    options = [f"{option.label}. {option.text}" for option in bare.options if option.text]
    return "\n".join([*[turn.text for turn in bare.turns], bare.question, *options])
