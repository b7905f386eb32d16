"""Score the records of a run again. No model is asked; the scores of before stay in the store under their scorer's name."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mmdyn.errors import InputError
from mmdyn.keys import canonical
from mmdyn.record import Record, Score
from mmdyn.sample import Sample, from_json
from mmdyn.scoring.scorer import Scorer
from mmdyn.work.run_folder import RECORD, SAMPLE, RunFolder, score_kind
from mmdyn.work.store import Reader, Store


class Change(msgspec.Struct, frozen=True):
    """A record whose score is another one now."""

    record: Record
    before: Score | None
    after: Score


def score(run: RunFolder | str | Path, policy: str = "mdk12") -> list[Change]:
    """Score every answered record by a policy, make its scores the ones in force, and return what changed.

    Raises Busy while the run is going on, UserError for an unknown policy.
    """
    run = run if isinstance(run, RunFolder) else RunFolder(run)
    scorer = Scorer(policy)
    before, after = score_kind(run.config.scorer), score_kind(scorer.name)
    changes = list[Change]()
    with Store(run.records_folder) as store, Reader(run.records_folder) as reader:
        for key, value in reader.items(RECORD):
            record = from_json(value, Record)
            sample = store.get(SAMPLE, record.digest)
            if sample is None:
                raise InputError(
                    run.folder, None, f"the sample {record.sample} is not in the store: run `mmdyn eval` once more"
                )
            old = store.get(before, key)
            new = store.get(after, key)
            fresh = from_json(new, Score) if new else scorer.score(from_json(sample, Sample), record.reply)
            if new is None:
                store.put(after, key, canonical(fresh))
            if old != canonical(fresh):
                changes.append(Change(record, from_json(old, Score) if old else None, fresh))
    run.write_config(msgspec.structs.replace(run.config, scorer=scorer.name))
    return changes
