"""True statements beside false ones that were made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build.step import Asked, Draws, Refused
from mmdyn.sample import Sample
from mmdyn.text import fold

ErrorType = Literal[
    "concept substitution",
    "causal inversion",
    "detail falsification",
    "temporal dislocation",
    "logical paradox",
    "scope modification",
]
"""How a statement becomes false (Encyclo-K, section 3.1.2)."""


class _Falsified(Struct, forbid_unknown_fields=True):
    statement: str
    error_type: ErrorType
    why: str


class _Judged(Struct, forbid_unknown_fields=True):
    definite: bool
    professional: bool
    consistent: bool
    central: bool
    why: str


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """How false statements are made.

    each: So many of each true one.
    unjudged: Do not have the model judge whether what it made is surely false, professional, consistent and central.
    """

    each: int = 1
    unjudged: bool = False


class Falsify:
    """Keep true statements, and add false ones that a model makes of them.

    \b
    mmdyn build falsify mmdyn-demo/set -o falsified -m openai:gpt-4o

    Each is of one of six types, says why it is false, and names the true statement as its pair. The criteria are those
    of Encyclo-K (section 3.1.2): a definite error in a professional, consistent statement, at a point that matters.
    A true statement of which no such false one could be made stays alone, and the refusal is told.
    """

    version: ClassVar[int] = 2
    asks: ClassVar[tuple[str, ...]] = ("falsify", "judge_false")
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._settings, self._asked = settings, asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The true statement and false ones. Raises Refused for what is no true statement and, at the end, where a
        false one would not do; ValueError as `ask`."""
        if sample.answer is not True:
            raise Refused("it is no true statement")
        yield sample
        refused = list[str]()
        for number in range(1, self._settings.each + 1):
            try:
                yield self._false_one(sample, draws, number)
            except Refused as error:
                refused.append(str(error))
        if refused:
            raise Refused("; ".join(refused))

    def _false_one(self, sample: Sample, draws: Draws, number: int) -> Sample:
        before = sample.question

        def read(reply: _Falsified) -> _Falsified:
            text = reply.statement.strip()
            if fold(text) == fold(before):
                raise ValueError("the statement was not changed")
            if not 0.5 * len(before) <= len(text) <= 2 * len(before) + 20:
                raise ValueError("the statement is far shorter or longer than the true one, which tells it")
            return reply

        wanted = draws.one(get_args(ErrorType))
        data = {"statement": before}
        types = ", ".join(get_args(ErrorType))
        found = self._asked.ask("falsify", sample.language, draws, data, _Falsified, read, types=types, wanted=wanted)
        if not self._settings.unjudged:
            data = {"statement": before, "falsified": found.statement}
            judged = self._asked.ask("judge_false", sample.language, draws, data, _Judged, lambda reply: reply)
            if failed := [
                name for name in ("definite", "professional", "consistent", "central") if not getattr(judged, name)
            ]:
                raise Refused(
                    f"the false statement is not {' and '.join(failed)} ({' '.join(judged.why.split())[:120]})"
                )
        meta = sample.meta | {"pair": sample.id, "error_type": found.error_type, "why": found.why}
        return replace(
            sample, id=f"{sample.id}-false-{number}", question=found.statement.strip(), answer=False, meta=meta
        )
