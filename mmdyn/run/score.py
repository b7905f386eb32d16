"""Score the records of a run again. No model is asked; the scores of before stay in the store under their scorer's name."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from mmdyn.errors import InputError
from mmdyn.keys import canonical
from mmdyn.record import Record, Score
from mmdyn.sample import Sample, from_json
from mmdyn.scoring.scorer import Scorer
from mmdyn.work.run_folder import RECORD, SAMPLE, RunFolder, score_kind
from mmdyn.work.store import Reader, Store


class Change(Struct, frozen=True):
    """A record whose score is another one now; scores in [0, 1], `before` None where it had none."""

    model: str
    sample: str
    mode: str
    before: float | None
    after: float | None


def score(run: RunFolder | str | Path, policy: str = "mdk12") -> list[Change]:
    """Score every answered record by a policy, make its scores the ones in force, and return what changed.

    Raises Busy while the run is going on, UserError for an unknown policy.
    """
    run = run if isinstance(run, RunFolder) else RunFolder(run)
    scorer = Scorer(policy)
    changes = list[Change]()
    with Store(run.records_folder) as store, Reader(run.records_folder) as reader:
        config = RunFolder(run.folder).config
        kinds = score_kind(config.scorer), score_kind(scorer.name)
        for key, value in reader.items(RECORD):
            record = msgspec.json.decode(value, type=Record)
            before, after = (_read(store, kind, key) for kind in kinds)
            if after is None:
                after = scorer.score(_sample(store, record, run), record.reply)
                store.put(kinds[1], key, canonical(after))
            if before is None or before.value != after.value:
                mode = record.condition.mode
                changes.append(Change(record.model, record.sample, mode, before.value if before else None, after.value))
        store.flush()
        run.write_config(msgspec.structs.replace(config, scorer=scorer.name))
    return changes


def _read(store: Store, kind: str, key: str) -> Score | None:
    value = store.get(kind, key)
    return msgspec.json.decode(value, type=Score) if value is not None else None


def _sample(store: Store, record: Record, run: RunFolder) -> Sample:
    value = store.get(SAMPLE, record.digest)
    if value is None:
        raise InputError(run.folder, None, f"the store has lost the sample {record.sample}: run the evaluation again")
    return from_json(value, Sample)
