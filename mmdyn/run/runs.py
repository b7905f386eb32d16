"""Whole runs: listed with how far they are and what they cost, and merged into one."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import reduce
from itertools import chain, groupby
from operator import or_
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError, no_such_path
from mmdyn.keys import Json
from mmdyn.record import Record, Usage
from mmdyn.sample import from_json
from mmdyn.tables import Spending
from mmdyn.work import (
    COMPARISON,
    EXPANSION,
    FAILURE,
    RECORD,
    RUN,
    JudgeEntry,
    Reader,
    RunConfig,
    RunFolder,
    SetEntry,
    Store,
    cache_use,
    is_held,
    judged_kind,
    score_kind,
    scored_records,
    spelt,
    unjudged_kind,
    write_config,
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


EQUAL = ("epochs", "limit", "prompts", "prompt", "ops", "scorer", "judges", "judge_mode", "under_way", "evaluators")
"""What of run.json must be the same in all runs."""
JOINED = ("instructions", "knowledge", "library", "examples")
"""What comes together key by key."""

_Part: TypeAlias = Callable[[Any], object]


def merge_runs(runs: Sequence[str | Path], out: str | Path) -> tuple[RunFolder, int]:
    """Bring the records of runs, with their samples, scores, verdicts and labels, together in a new run `out`; it, and
    how many replies were left out because they differ from one that stays.

    Sets, models and conditions come together; all else that was asked for must be the same. Where runs have different
    replies to one ask, that of the run named first stays, with its scores. Sets that lie in a run are copied. No model
    is opened. Called again with the same runs it goes on, and takes over what they have by now. Raises UserError for
    runs that do not fit, and where `out` holds another run; InputError for what is no run.
    """
    opened, out = [RunFolder(run) for run in runs], Path(out)
    if len(opened) < 2:
        raise UserError("one run alone cannot be merged: name two or more")
    before = RunFolder(out).config if (out / RUN).exists() else None
    if before and before.merged_from != tuple(map(str, runs)):
        raise UserError(f"{out} holds a run already: choose another -o")
    config = replace(_config(opened, out), merged_from=tuple(map(str, runs)))
    if before and replace(before, cache=config.cache) != config:
        raise UserError(f"{out} holds a run that was changed since these were merged: choose another -o")
    with Store(out / "records") as store:
        differing = sum(_take(run, store) for run in opened)
    with Reader(out / "records") as reader:
        write_config(out, replace(config, cache=cache_use(reader)))
    return RunFolder(out), differing


def _config(runs: Sequence[RunFolder], out: Path) -> RunConfig:
    first = runs[0].config
    for run in runs[1:]:
        if differing := [name for name in EQUAL if getattr(run.config, name) != getattr(first, name)]:
            what = f"{run.folder} has other {' and '.join(differing)} than {runs[0].folder}"
            raise UserError(f"{what}: merge runs that were asked and scored alike")
    sets = _union(runs, "sets", lambda entry: entry.name, lambda entry: (entry.digest, entry.answers))
    asked = {  # numbers of one model, which add up over what it was asked
        (model.label, tuple(entry.digest for entry in run.config.sets), run.config.conditions): run.config
        for run in runs
        for model in run.config.models
    }
    skipped = defaultdict[str, Counter[str]](Counter)
    for (model, *_), config in asked.items():
        skipped[model].update(config.skipped)
    return replace(
        first,
        sets=tuple(_placed(entry, runs, out) for entry in sets),
        models=_union(runs, "models", lambda model: model.label, lambda model: model.identity),
        conditions=_union(runs, "conditions", lambda condition: condition),
        planned=sum(config.planned // len(config.models) for config in asked.values()),
        skipped=dict(reduce(or_, skipped.values())),
        beside=tuple(dict.fromkeys(name for run in runs for name in run.config.beside or ())) or UNSET,
        served={name: _served(runs, name) for run in runs for name in run.config.served},
        **{name: reduce(_joined, (getattr(run.config, name) for run in runs)) for name in JOINED},
    )


def _union(runs: Sequence[RunFolder], what: str, name: _Part, identity: _Part = lambda one: one) -> tuple[Any, ...]:
    """What runs have, each once. Raises UserError where one has something else by the same name."""
    found = dict[object, Any]()
    for run in runs:
        for one in getattr(run.config, what):
            if identity(found.setdefault(name(one), one)) != identity(one):
                raise UserError(
                    f"{run.folder} has another {name(one)} among its {what} than a run before it: leave it out"
                )
    return tuple(found.values())


def _served(runs: Sequence[RunFolder], name: str) -> tuple[dict[str, Json], ...]:
    """What servers listed of a model in all runs, each entry once."""
    entries = chain.from_iterable(run.config.served.get(name, ()) for run in runs)
    return tuple({spelt(entry): entry for entry in entries}.values())


def _joined(known: Json, other: Json) -> Any:
    if not (isinstance(known, dict) and isinstance(other, dict)):
        if known != other:
            raise UserError("the runs laid other knowledge beside their questions: merge those that were asked alike")
        return known
    return {**known, **{key: _joined(known.get(key, value), value) for key, value in other.items()}}


def _placed(entry: SetEntry, runs: Sequence[RunFolder], out: Path) -> SetEntry:
    """A set where it is found, by the runs that asked it; one that lies in a run is copied."""
    for run in runs:
        for one in run.config.sets:
            folder = run.set_folder(one).resolve()
            if one.name == entry.name and folder.is_dir():
                if not Path(one.folder).is_absolute() and folder.is_relative_to(run.folder.resolve()):
                    _copy_set(folder, out / one.folder)
                return one
    return entry


def _copy_set(folder: Path, out: Path) -> None:
    """Copy a set. Raises InputError where it has a line that cannot be read."""
    opened = SampleSet(folder)
    for _ in chain(opened, opened.dropped()):
        pass
    shutil.copytree(folder, out, symlinks=True, dirs_exist_ok=True)


def _take(run: RunFolder, store: Store) -> int:
    """Take over what a run's store holds, without what belongs to records that differ from those that are there; how
    many these are."""
    with Reader(run.records_folder) as reader:
        there = store.get_all(RECORD, reader.items(RECORD))
        try:
            differing = {key for key, value, kept in there if kept and _said(kept) != _said(value)}
        except ValueError as error:
            raise InputError(run.folder, None, f"holds a record that cannot be read ({error}): leave it out") from None
        for kind in reader.kinds():
            for key, value in reader.items(kind):
                if re.split("[@:]", key)[0] not in differing:
                    store.put(kind, key, value)
    return len(differing)


def _said(record: bytes) -> tuple[str, str]:
    """What two records of one ask must agree in."""
    reply = from_json(record, Record).reply
    return reply.text, reply.reasoning
