"""What report tests make: run folders, written with the store, without a model."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from making import choice
from mmdyn.keys import canonical, digest
from mmdyn.record import Condition, Judgement, Record, Reply, Score, Usage
from mmdyn.sample import Sample
from mmdyn.tables import Report, Row, print_report
from mmdyn.work import (
    FAILURE,
    RECORD,
    SAMPLE,
    JudgeEntry,
    ModelEntry,
    RunConfig,
    RunFolder,
    SetEntry,
    Store,
    judged_kind,
    score_kind,
    unjudged_kind,
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
    chance: float = 0.0,
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
    score = Score("failed", None) if error else Score(status, value, extracted, rule, weight=weight, chance=chance)
    kinds = {"task_type": "single_choice", "parent_type": "single_choice"}
    fields: dict[str, Any] = {**kinds, "language": "en", "digest": digest(sample or id)} | more
    fields |= {"draw": draw, "epoch": epoch, "score": score if scored else None}
    reply = Reply("" if error else "The answer is A.", error=error)
    return Record(key, key, model=model, set=set, sample=id, parent=parent, condition=condition, reply=reply, **fields)


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
    labels = tuple(ModelEntry(label, {"name": label}) for label in models)
    conditions = (Condition(), Condition("dynamic"))
    settings: dict[str, Any] = {"sets": SETS, "models": labels, "conditions": conditions, "planned": count}
    settings |= {"epochs": 1, "limit": None, "prompts": "", "ops": "", "versions": {}}
    write_config(folder, RunConfig(**(settings | config)))
    return RunFolder(folder)


CHEAP, STRONG = JudgeEntry("cheap", "aaaa", {}), JudgeEntry("strong", "bbbb", {})
RULES = "mdk12@3"
Said = dict[str, float | Judgement]


def judged_run(
    folder: Path, records: Iterable[Record], cheap: Said, strong: Said, combined: dict[str, float], mode: str = "wrong"
) -> RunFolder:
    """A run whose records hold the rules' scores; the others by sample. A Judgement without value is a failed ask."""
    made = list(records)
    kind = f"{RULES}+wrong({CHEAP.id},{STRONG.id})"
    run = write_run(folder, made, scorer=RULES)
    with Store(run.records_folder) as store:
        for record in made:
            for entry, said in ((CHEAP, cheap), (STRONG, strong)):
                found = said.get(record.sample)
                if isinstance(found, float):
                    found = Judgement(found, (found,), requests=1, usage=Usage(100, 10), cost=0.5, currency="USD")
                if found is None:
                    continue
                if found.value is None:
                    store.put(unjudged_kind(entry.id), f"{record.key}:17", canonical(found))
                else:
                    store.put(judged_kind(entry.id), record.key, canonical(found))
            if record.sample in combined and record.score:
                settled = replace(record.score, value=combined[record.sample], needs_judge=False, lower_bound=False)
                store.put(score_kind(kind), record.key, canonical(settled))
    run.write_config(replace(run.config, scorer=kind, judges=(CHEAP, STRONG), judge_mode=mode))
    return run


def rows(report: Report, table: str, quantity: str, by: str = "", **factors: str) -> list[Row]:
    """The rows of a quantity in the tables of a kind, by a field or of the whole, that have these factors."""
    tables = [part for part in report.parts if (part.kind, part.by) == (table, by)]
    found = [row for part in tables for row in part.rows if row.quantity == quantity]
    return [row for row in found if factors.items() <= row.factors.items()]


def scores(report: Report, quantity: str = "score", by: str = "", **factors: str) -> list[Row]:
    """The scores of conditions, or another number of them."""
    return rows(report, "scores", quantity, by, **factors)


def score(report: Report, quantity: str = "score", by: str = "", **factors: str) -> Row:
    """That of the one condition that has these factors."""
    (found,) = scores(report, quantity, by, **factors)
    return found


def changes(report: Report, quantity: str = "difference", by: str = "", **factors: str) -> list[Row]:
    """The differences of contrasts, or another number of them."""
    return rows(report, "contrasts", quantity, by, **factors)


def change(report: Report, quantity: str = "difference", by: str = "", **factors: str) -> Row:
    """That of the one contrast that has these factors."""
    (found,) = changes(report, quantity, by, **factors)
    return found


def lines_of(found: Report, kind: str) -> list[dict[str, Row]]:
    """The rows of a kind of table that have the same factors, by quantity."""
    lines = dict[tuple[tuple[str, str], ...], dict[str, Row]]()
    for row in found.rows(kind):
        lines.setdefault(tuple(row.factors.items()), {})[row.quantity] = row
    return list(lines.values())


def printed(what: Any, show: Callable[..., None] = print_report) -> list[str]:
    """The lines of a summary, or of something else, for people, without superfluous blanks."""
    show(what, out := io.StringIO())
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def csv_rows(file: Path, kind: str = "") -> list[dict[str, str]]:
    """The rows of a CSV file, of one kind or all."""
    with file.open(encoding="utf-8", newline="") as handle:
        return [row for row in csv.DictReader(handle) if kind in ("", row["kind"])]
