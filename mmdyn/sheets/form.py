"""What a sheet asks people about each sample."""

from __future__ import annotations

from msgspec import Struct

from mmdyn import plugins
from mmdyn.data import SampleSet, stages


class Form(Struct, frozen=True):
    """A question about each sample, and criteria by which people answer it. A step says it by `asks_people`.

    question: What keep and reject decide.
    criteria: By a word that marks name it by: what holds of a sample that is kept. 19 have keys.
    refused: Whether people also see what the step refused, as it was before: for steps that change nothing.
    """

    question: str = "Should each question stay in the set?"
    criteria: dict[str, str] = {}
    refused: bool = False


def form_of(step: str) -> Form | None:
    """What a step asks people; None where it asks nothing, or is not installed."""
    found = getattr(plugins.load("steps", step), "asks_people", None) if step in plugins.names("steps") else None
    return found if isinstance(found, Form) else None


def form_of_set(made: SampleSet) -> Form:
    """What the last step asks that asks people, of those that made a set; keep or reject alone where none does."""
    return next(filter(None, (form_of(stage.step) for stage in reversed(stages(made)))), Form())
