"""Questions that tell models apart no more, whose key models contradict, or that people reject, leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from msgspec import Struct

from mmdyn.build.build import Files, Runs, listed
from mmdyn.build.kept import answers_of
from mmdyn.data import SampleSet
from mmdyn.keys import canonical
from mmdyn.record import Record
from mmdyn.sample import Sample
from mmdyn.sheets import marks_of_set, rejection


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is called saturated or faulty.

    runs: Runs that asked the set, with commas between.
    marks: Files that people's sheets saved, with commas between.
    models: So many must have answered a question.
    saturated: A mean score over models from which on a question is saturated; above 1 keeps such questions.
    contradicted: Share of models that give one and the same wrong answer, from which on the key is in doubt.
    """

    runs: Runs = Runs("")
    marks: Files = Files("")
    models: int = 3
    saturated: float = 1.0
    contradicted: float = 0.75


class Retire:
    """Take out questions that every model answers, those of which most models give one and the same other answer than
    the key's, and those that at least half of the people who marked them reject.

    \b
    mmdyn build retire mmdyn-demo/set -o left --runs mmdyn-demo/run

    The reason says who answered what: people should look at the second kind, as the models may be wrong together.
    Variants count for nothing: runs are read where they asked the questions as they are.
    """

    version: ClassVar[int] = 2
    Settings: ClassVar[type[Struct]] = _Settings

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def refuse(self, source: SampleSet) -> Iterator[tuple[str, str]]:
        """The ids of questions that leave. Raises UserError for a run that did not ask the set, for marks of another
        set, and where neither is named."""
        runs, marks = listed(self._settings.runs), listed(self._settings.marks)
        answered = answers_of(runs, source) if runs or not marks else {}
        given = marks_of_set(marks, source) if marks else {}
        for sample in source:
            people = given.get(sample.id, [])
            faulty = people and 2 * sum(mark.label == "reject" for mark in people) >= len(people)
            by_model = dict[str, list[Record]]()
            for record in answered.get(sample.id, ()):
                by_model.setdefault(record.model, []).append(record)
            told = [self._problem(by_model, sample) if len(by_model) >= self._settings.models else ""]
            if why := "; ".join(filter(None, [*told, f"faulty: {rejection(people)}" if faulty else ""])):
                yield sample.id, why

    def _problem(self, by_model: dict[str, list[Record]], sample: Sample) -> str:
        models = len(by_model)
        values = [[record.score.value or 0.0 for record in each if record.score] for each in by_model.values()]
        mean = sum(sum(each) / len(each) for each in values) / models
        if mean >= self._settings.saturated:
            return f"saturated: {models} models score {100 * mean:.0f} % on the mean ({_quoted(by_model)})"
        wrong = {model: said for model, each in by_model.items() if (said := _wrong_answer(each))}
        said, count = Counter(wrong.values()).most_common(1)[0] if wrong else ("", 0)
        if count >= self._settings.contradicted * models:
            who, key = _quoted(model for model in wrong if wrong[model] == said), canonical(sample.answer).decode()
            return f"in doubt: {count} of {models} models ({who}) answer {said}, and the key says {key}"
        return ""


def _quoted(models: Iterable[str]) -> str:
    """Names in one pair of quotation marks, which the counts of reasons leave out."""
    return f"'{', '.join(sorted(models))}'"


def _wrong_answer(records: Sequence[Record]) -> str:
    """What a model answers where it says the same each time, and that is wrong; empty else."""
    said = {
        canonical(record.score.extracted).decode() for record in records if record.score and record.score.value == 0
    }
    read = all(record.score and record.score.extracted is not None and record.score.value == 0 for record in records)
    return said.pop() if read and len(said) == 1 else ""
