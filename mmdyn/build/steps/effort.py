"""Questions that a reasoning model answers without effort leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.build import Runs
from mmdyn.build.kept import answers_of
from mmdyn.data import SampleSet
from mmdyn.errors import UserError


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose effort.

    run: A run that asked the set.
    label: The model's, where the run has several.
    least: Tokens of reasoning, or of the whole reply where the server counts none apart.
    """

    run: Runs = Runs("")
    label: str = ""
    least: int = 2000


class Effort:
    """Keep questions that took a reasoning model so many tokens (R-Bench, "Model-screening").

    \b
    mmdyn eval mmdyn-demo/set -m openai:o3 -o runs/o3
    mmdyn build effort mmdyn-demo/set -o hard --run runs/o3
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of questions that took fewer, on the mean of their answers, or have no answer. Raises UserError
        where several models answered and none is named."""
        settings = self._settings
        found = answers_of([settings.run], source, settings.label)
        models = {record.model for records in found.values() for record in records}
        if len(models) > 1:
            raise UserError(f"{settings.run} has several models: name one by --label ({', '.join(sorted(models))})")
        for sample in source:
            counted = [
                record.reply.usage.reasoning_tokens or record.reply.usage.completion_tokens
                for record in found.get(sample.id, ())
            ]
            if not any(counted):
                yield sample.id, "no answer to it says how many tokens it took"
            elif (mean := sum(counted) / len(counted)) < settings.least:
                yield sample.id, f"it took {mean:.0f} tokens"
