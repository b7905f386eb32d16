"""The contract of a judge."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from msgspec import Struct

from mmdyn.keys import Json
from mmdyn.sample import Sample, Verdict
from perturb._operator import Picture


class Look(Struct, frozen=True, eq=False):
    """One picture of a sample before and after. `after` is without the chain's noise; the files are what models are
    asked."""

    before: Picture
    after: Picture
    before_file: Path
    after_file: Path


class Case(Struct, frozen=True, eq=False):
    """A variant beside its parent: words before and after, and the pictures that changed."""

    before: Sample
    after: Sample
    looks: tuple[Look, ...] = ()


class Doubt(Struct, frozen=True):
    """What a cheap check holds against a variant: `certain` rejects it, otherwise a judge model is asked where there is
    one."""

    reason: str
    certain: bool
    confidence: float


class Judge(Protocol):
    """Says whether a variant still asks the same and has the same answer. Used from several threads at a time."""

    label: str
    """What a verdict names it by: `embedded`, or the model's label."""
    identity: Json
    """What of it decides its verdicts (never a key or token): goes into the set's manifest."""
    waits: bool
    """Whether it waits for a server, so that many should be asked at a time."""

    def judge(self, case: Case) -> Verdict:
        """A verdict of status `kept` or `rejected`, with reason and confidence. Raises ValueError where none could be
        had."""

    def close(self) -> None:
        """Let go of connections and memory."""
