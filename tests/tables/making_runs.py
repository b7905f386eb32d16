"""What report tests make: run folders, written with the store, without a model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from making import choice
from mmdyn.keys import canonical, digest
from mmdyn.record import Condition, Record, Reply, Score
from mmdyn.sample import Sample
from mmdyn.work import (
    FAILURE,
    RECORD,
    SAMPLE,
    ModelEntry,
    RunConfig,
    RunFolder,
    SetEntry,
    Store,
    score_kind,
    write_config,
)

STANDARD, DYNAMIC = Condition(), Condition("dynamic", "pad")
SETS = (SetEntry("exam", "exam", "sets/exam", "d0"), SetEntry("exam-dynamic", "exam", "sets/exam-dynamic", "d1"))


def answer(
    parent: str,
    value: float | None,
    condition: Condition = STANDARD,
    *,
    model: str = "m1",
    draw: int = 0,
    epoch: int = 0,
    status: Any = "ok",
    weight: float = 1.0,
    extracted: Any = "A",
    error: str = "",
    rule: str = "",
    scored: bool = True,
    set: str = "exam",
    sample: Sample | None = None,
    **more: Any,
) -> Record:
    """A record with its score; `error` makes it a failure, `scored=False` leaves the score out."""
    id = parent if condition.variant == "standard" else f"{parent}~{condition.chain}~{draw}"
    key = digest([set, id, condition, epoch, model])
    score = Score("failed", None) if error else Score(status, value, extracted, rule, weight=weight)
    kinds = {"task_type": "single_choice", "parent_type": "single_choice"}
    fields: dict[str, Any] = {**kinds, "language": "en", "digest": digest(sample or id)} | more
    return Record(
        key=key,
        request=key,
        model=model,
        set=set,
        sample=id,
        parent=parent,
        condition=condition,
        reply=Reply("" if error else "The answer is A.", error=error),
        draw=draw,
        epoch=epoch,
        score=score if scored else None,
        **fields,
    )


def answers(values: str, condition: Condition = STANDARD, **more: Any) -> list[Record]:
    """One record a character: 1 right, 0 wrong, u unparsed, r refused, x failed, . not asked. Parents are s00, s01,
    …"""
    statuses = {"u": "unparsed", "r": "refused"}
    made = list[Record]()
    for place, mark in enumerate(values):
        parent = f"s{place:02}"
        if mark == "x":
            made.append(answer(parent, None, condition, error="the server said 500", **more))
        elif mark != ".":
            value = 1.0 if mark == "1" else 0.0
            made.append(answer(parent, value, condition, status=statuses.get(mark, "ok"), **more))
    return made


def write_run(
    folder: Path, records: Iterable[Record], *, samples: Iterable[Sample] = (), keep_samples: bool = True, **config: Any
) -> RunFolder:
    """Write run.json and the store. `planned` is the number of records unless given; samples are made up unless
    given."""
    kind = score_kind(config.get("scorer", "mdk12"))
    models, count = dict[str, None](), 0
    with Store(folder / "records") as store:
        for sample in samples:
            store.put(SAMPLE, digest(sample), canonical(sample))
        for record in records:
            count += 1
            models[record.model] = None
            if record.reply.error:
                store.put(FAILURE, f"{record.key}:1", canonical(record))
                continue
            store.put(RECORD, record.key, canonical(msgspec.structs.replace(record, score=None)))
            if keep_samples:
                store.put(SAMPLE, record.digest, canonical(choice(record.sample)))
            if record.score:
                store.put(kind, record.key, canonical(record.score))
    settings: dict[str, Any] = {
        "sets": SETS,
        "models": tuple(ModelEntry(label, {"name": label}) for label in models),
        "conditions": (Condition(), Condition("dynamic")),
        "epochs": 1,
        "limit": None,
        "prompts": "",
        "ops": "",
        "versions": {},
        "planned": count,
    }
    write_config(folder, RunConfig(**(settings | config)))
    return RunFolder(folder)
