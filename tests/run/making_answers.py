"""Runs whose answers are given, and scripts for judges of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from tables.making_runs import answer, write_run

from making import open_ended
from mmdyn.record import Record, Reply
from mmdyn.sample import Sample
from mmdyn.scoring.pairwise import pair_sheet
from mmdyn.work import RunFolder

Say = Callable[[str, str, str], int]
"""A sample's id and the replies that come first and second -> 1, 2 or 0; another number is no verdict."""


def question(id: str, **more: Any) -> Sample:
    """An open question of this id."""
    return open_ended(id, question=f"Why {id}?", **more)


def replied(sample: Sample, reply: str | Reply, value: float = 0.0, **more: Any) -> Record:
    """A record of a reply to a sample."""
    made = answer(sample.id, value, sample=sample, task_type=sample.task_type, parent_type=sample.task_type, **more)
    return msgspec.structs.replace(made, reply=Reply(text=reply) if isinstance(reply, str) else reply)


def answered(folder: Path, texts: Mapping[str, str], **more: Any) -> RunFolder:
    """A run in which each question, by its id, has a reply."""
    samples = [question(id) for id in texts]
    records = [replied(sample, texts[sample.id], **more) for sample in samples]
    return write_run(folder, records, samples=samples)


def judging(file: Path, a: Mapping[str, str], b: Mapping[str, str], say: Say, **shown: Any) -> str:
    """The scripted MODEL that says so of each pair, in both orders."""
    lines = list[dict[str, str]]()
    for id in a.keys() & b.keys():
        for one, other in ((a[id], b[id]), (b[id], a[id])):
            code = pair_sheet(question(id), one, other, **shown).code
            reply = json.dumps({"code": code, "why": "so", "better": say(id, one, other)})
            lines.append({"match": code, "reply": reply})
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return f"scripted:{file},max_tries=1"
