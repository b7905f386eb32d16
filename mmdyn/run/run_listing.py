"""Runs at a glance: what was asked, how far each one is and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from mmdyn.errors import InputError, UserError, no_such_path
from mmdyn.record import Usage
from mmdyn.tables import Spending
from mmdyn.work import (
    COMPARISON,
    EXPANSION,
    FAILURE,
    RECORD,
    RUN,
    JudgeEntry,
    Reader,
    RunFolder,
    is_held,
    judged_kind,
    score_kind,
    scored_records,
    unjudged_kind,
)

DEPTH = 3
"""How many folders down runs are looked for."""


State = Literal["finished", "going on", "not finished", "comparison", "unreadable"]


class Scored(Struct, frozen=True):
    """Scores of a run by their scorer's name: so many answers have none, or one that needs a judge. `in_force`: they
    are what reports show."""

    scorer: str
    active: bool
    unscored: int
    needs_judge: int


class RunSummary(Struct, frozen=True):
    """One run. `changed` is when its last record was saved (UTC, ISO 8601); `failed`: asked and never answered.

    scores: those in force, then those under way. spending: of each model. judges: of each judge of these scores, whose
        `replies` are asks, of one request or several.

    Of a `comparison`, the folder of `mmdyn compare`, only its place is told; of an unreadable folder its place and the
    `problem`.
    """

    name: str
    folder: str
    changed: str
    state: State
    models: list[str] = []
    sets: list[str] = []
    modes: list[str] = []
    planned: int = 0
    answered: int = 0
    failed: int = 0
    scores: list[Scored] = []
    spending: list[Spending] = []
    judges: list[Spending] = []
    problem: str = ""


class _Score(Struct):
    needs_judge: bool = False


class _Reply(Struct):
    usage: Usage = Usage()
    cost: float | None = None
    currency: str = ""


class _Judgement(_Reply):
    requests: int = 0


class _Record(Struct):
    """As much of a record as is counted."""

    model: str
    reply: _Reply
    set: str = ""


def look(folder: Path) -> Iterator[RunSummary]:
    """The runs in a folder, or the folder itself; what cannot be read, or is another program's, is among them with what
    is wrong.

    Raises InputError where there is no such folder.
    """
    if not folder.exists():
        raise no_such_path(folder)
    if not folder.is_dir():
        raise InputError(folder, None, "is no folder: name a run, or a folder with runs in it")
    yield from _look(folder, DEPTH)


def summarise_run(folder: Path) -> RunSummary:
    """Count a run's records. Raises UserError where they cannot be read."""
    run = RunFolder(folder)
    spending = {entry.label: Spending(entry.label) for entry in run.config.models}
    every = run.config.by_root.values()
    scorers = dict.fromkeys(scoring.scorer for evaluator in every for scoring in evaluator.scorings)
    unscored, needs_judge, answered = Counter[str](), Counter[str](), 0
    with Reader(run.records_folder) as reader:
        try:
            for key, value in scored_records(reader, run.config.sets):
                answered += 1
                record = msgspec.json.decode(value, type=_Record)
                for scorer in [scoring.scorer for scoring in run.config.evaluator(record.set).scorings]:
                    score = reader.get(score_kind(scorer), key)
                    unscored[scorer] += score is None
                    needs_judge[scorer] += score is not None and msgspec.json.decode(score, type=_Score).needs_judge
                by_model = spending.setdefault(record.model, Spending(record.model))
                by_model.add(record.reply.usage, record.reply.cost, record.reply.currency)
            for _, value in reader.items(EXPANSION):
                found = msgspec.json.decode(value, type=_Record)
                by_model = spending.setdefault(found.model, Spending(found.model))
                by_model.add(found.reply.usage, found.reply.cost, found.reply.currency)
            judges = [_judging(reader, entry) for entry in run.config.all_judges]
        except msgspec.DecodeError as error:
            raise UserError(f"{folder} holds a record that cannot be read ({error})") from None
        keys = groupby(reader.items(FAILURE), lambda item: item[0].partition(":")[0])
        failed = sum(reader.get(RECORD, key) is None for key, _ in keys)
    config = run.config
    return RunSummary(
        name=run.name,
        folder=str(folder),
        changed=_changed(run).isoformat(timespec="seconds"),
        state=_state(run, answered),
        models=[entry.label for entry in config.models],
        sets=list(dict.fromkeys(entry.root for entry in config.sets)),
        modes=list(dict.fromkeys(condition.mode for condition in config.conditions)),
        planned=config.planned,
        answered=answered,
        failed=failed,
        scores=[
            Scored(scorer, scorer in run.config.scorers, unscored[scorer], needs_judge[scorer]) for scorer in scorers
        ],
        spending=[one.rounded for one in spending.values()],
        judges=[one.rounded for one in judges],
    )


def _judging(reader: Reader, entry: JudgeEntry) -> Spending:
    """What a judge took, its asks without a verdict too."""
    spending = Spending(entry.label)
    for kind in (judged_kind(entry.id), unjudged_kind(entry.id)):
        for _, value in reader.items(kind):
            judgement = msgspec.json.decode(value, type=_Judgement)
            if judgement.requests:
                spending.add(judgement.usage, judgement.cost, judgement.currency)
    return spending


def _look(folder: Path, depth: int) -> Iterator[RunSummary]:
    try:
        if (folder / RUN).is_file():
            found, inside = [summarise_run(folder)], list[Path]()
        elif (folder / COMPARISON).is_file():
            found, inside = [RunSummary(folder.resolve().name, str(folder), "", "comparison")], []
        else:
            found, inside = [], sorted(one for one in folder.iterdir() if _is_searched(one)) if depth else []
    except UserError as error:
        found, inside = [_unreadable(folder, str(error))], []
    except OSError as error:
        problem = f"{error.filename or folder}: {error.strerror or error}"
        found, inside = [_unreadable(folder, problem)], []
    yield from found
    for one in inside:
        yield from _look(one, depth - 1)


def _is_searched(inside: Path) -> bool:
    return inside.is_dir() and not inside.is_symlink() and not inside.name.startswith(".")


def _unreadable(folder: Path, problem: str) -> RunSummary:
    return RunSummary(folder.resolve().name, str(folder), "", "unreadable", problem=problem)


def _state(run: RunFolder, answered: int) -> State:
    if any(is_held(run.records_folder, file.stem) for file in run.records_folder.glob("*.sqlite")):
        return "going on"
    return "finished" if answered >= run.config.planned else "not finished"


def _changed(run: RunFolder) -> datetime:
    files = [run.folder / RUN, *run.records_folder.glob("*.sqlite")]
    return datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC)
