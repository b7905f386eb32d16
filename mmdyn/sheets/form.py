"""What a sheet asks people about each sample."""

from __future__ import annotations

from msgspec import Struct


class Form(Struct, frozen=True):
    """A question about each sample, and criteria by which people answer it.

    question: What keep and reject decide.
    criteria: By a word that marks name it by: what holds of a sample that is kept. 18 at most, one for each free key.
    """

    question: str
    criteria: dict[str, str] = {}
