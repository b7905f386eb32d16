"""What models answered to the questions of a set, out of runs."""

from __future__ import annotations

from collections.abc import Sequence

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.record import Record
from mmdyn.work import RunFolder


def answers_of(runs: Sequence[str], source: SampleSet, model: str = "") -> dict[str, list[Record]]:
    """The scored records of a set's questions, asked as they are and with nothing beside them, by the questions' ids.

    Args:
        runs: Folders that `mmdyn eval` made.
        source: The set; a run must have asked it, or another version of it in which a question is the same.
        model: A model's label; empty for all.

    Raises:
        UserError: No run is named, a run did not ask a set of this name, or has no such model.
    """
    if not any(runs):
        raise UserError("no run is named: give the folder that `mmdyn eval` made")
    digests, found = {sample.id: sample.digest for sample in source}, dict[str, list[Record]]()
    for folder in runs:
        run = RunFolder(folder)
        models = [entry.label for entry in run.config.models]
        if model and model not in models:
            raise UserError(f"{folder} has no model {model!r}: it has {', '.join(models)}")
        asked = 0
        for record in run.records():
            condition = record.condition
            plain = condition.variant == "standard" and condition.context == "none" and record.score is not None
            if plain and model in ("", record.model) and digests.get(record.sample) == record.digest:
                found.setdefault(record.sample, []).append(record)
                asked += 1
        if not asked:
            raise UserError(f"{folder} has no scored answer to a question of {source.folder}: give a run that asked it")
    return found
