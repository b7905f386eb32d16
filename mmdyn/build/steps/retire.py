"""Questions that tell models apart no more, or whose key all models contradict, leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.answered import answers_of
from mmdyn.build.settings_files import Runs, listed
from mmdyn.data import SampleSet
from mmdyn.keys import canonical
from mmdyn.record import Record


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is called saturated or faulty.

    runs: Runs that asked the set, with commas between.
    models: So many must have answered a question.
    saturated: A mean score over models from which on a question is saturated; above 1 keeps such questions.
    contradicted: Share of models that give one and the same wrong answer, from which on the key is in doubt.
    """

    runs: Runs = Runs("")
    models: int = 3
    saturated: float = 1.0
    contradicted: float = 0.75


class Retire:
    """Take out questions that every model answers, and those of which most models give one and the same other answer
    than the key's.

    The reason says what was answered: people should look at the second kind, as the models may be wrong together.
    """

    version: ClassVar[int] = 1
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of questions that leave. Raises UserError for a run that did not ask the set."""
        for id, records in answers_of(listed(self._settings.runs), source).items():
            by_model = dict[str, list[Record]]()
            for record in records:
                by_model.setdefault(record.model, []).append(record)
            if len(by_model) >= self._settings.models and (problem := self._problem(list(by_model.values()))):
                yield id, problem

    def _problem(self, models: Sequence[list[Record]]) -> str:
        values = [[record.score.value or 0.0 for record in each if record.score] for each in models]
        mean = sum(sum(each) / len(each) for each in values) / len(models)
        if mean >= self._settings.saturated:
            return f"saturated: {len(models)} models score {100 * mean:.0f} % on the mean"
        wrong = Counter(said for each in models if (said := _wrong_answer(each)))
        said, count = wrong.most_common(1)[0] if wrong else ("", 0)
        if count >= self._settings.contradicted * len(models):
            return f"in doubt: {count} of {len(models)} models answer {said}, which the key calls wrong"
        return ""


def _wrong_answer(records: Sequence[Record]) -> str:
    """What a model answers where it says the same each time, and that is wrong; empty else."""
    said = {
        canonical(record.score.extracted).decode() for record in records if record.score and record.score.value == 0
    }
    read = all(record.score and record.score.extracted is not None and record.score.value == 0 for record in records)
    return said.pop() if read and len(said) == 1 else ""
