"""A step of building that asks a model; its prompt lies beside this file, in prompts/en/gist.txt."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from mmdyn.build import Asked, Draws
from mmdyn.sample import Sample


class _Said(Struct, forbid_unknown_fields=True):
    gist: str


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """It has no options."""


class Gist:
    """Write what a question is about into its field gist."""

    version = 1
    asks = ("gist",)
    Settings = _Settings

    def __init__(self, settings: _Settings, asked: Asked) -> None:
        self._asked = asked

    def make(self, sample: Sample, draws: Draws) -> Iterator[Sample]:
        """The sample with it."""
        data = {"question": sample.question}
        gist = self._asked.ask("gist", sample.language, draws, data, _Said, lambda said: said.gist)
        yield replace(sample, fields=sample.fields | {"gist": gist})
