"""Scores that are not in force yet, as judges owe verdicts: how many."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from mmdyn.work import Reader, RunFolder, Scoring, score_kind, scored_records

BY_JUDGE = "judge:"
"""How the `rule` of a score begins that a judge decided."""


class Waiting(Struct, frozen=True):
    """Scores of judges that wait to come into force: of `due` answers, on which a judge decides, `missing` have no
    verdict.

    judges: their names. in_force: the name of the scores that are in force until then.
    """

    scorer: str
    judges: tuple[str, ...]
    due: int
    missing: int
    active: str

    def __str__(self) -> str:
        who = f"judge{'s' if len(self.judges) > 1 else ''} {' and '.join(self.judges)}"
        stay = f"the scores in force stay those of {self.active}"
        if not self.missing:
            return f"{who} gave a verdict on all {self.due} answers due so far: {stay} until all is asked"
        return (
            f"{who} gave no verdict on {self.missing} of the {self.due} answers due: {stay}; the same command goes on"
        )


class _Rule(Struct):
    rule: str = ""


def find_waiting(run: RunFolder, scoring: Scoring) -> Waiting:
    """What the judges of these scores owe, of all answers of a run."""
    kind, due, missing = score_kind(scoring.scorer), 0, 0
    with Reader(run.records_folder) as reader:
        for key, _ in scored_records(reader, run.config.sets):
            value = reader.get(kind, key)
            missing += value is None
            due += value is None or msgspec.json.decode(value, type=_Rule).rule.startswith(BY_JUDGE)
    return Waiting(scoring.scorer, tuple(entry.name for entry in scoring.judges), due, missing, run.config.scorer)
