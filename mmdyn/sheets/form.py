"""What a sheet asks people about each sample."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn import plugins
from mmdyn.data import SampleSet, stages
from mmdyn.errors import InputError


class Form(Struct, frozen=True, forbid_unknown_fields=True):
    """A question about each sample, and criteria by which people answer it: what a file NAME.toml beside a step's says.

    question: What keep and reject decide.
    criteria: By a word that marks name it by: what holds of a sample that is kept. 19 have keys.
    refused: Whether people also see what the step refused, as it was before: for steps that change nothing.
    """

    question: str = "Should each question stay in the set?"
    criteria: dict[str, str] = {}
    refused: bool = False


def form_of(step: str) -> Form | None:
    """What a step asks people; None where it asks nothing, or is not installed. Raises InputError."""
    spec = find_spec(plugins.names("steps")[step].partition(":")[0]) if step in plugins.names("steps") else None
    file = Path(spec.origin).with_suffix(".toml") if spec and spec.origin else Path()
    try:
        return msgspec.toml.decode(file.read_bytes(), type=Form) if file.is_file() else None
    except msgspec.DecodeError as error:
        raise InputError(file, None, f"is no form of a sheet ({error})") from None


def form_of_set(made: SampleSet) -> Form:
    """What the last step asks that asks people, of those that made a set; keep or reject alone where none does."""
    return next(filter(None, (form_of(stage.step) for stage in reversed(stages(made)))), Form())
