"""Runs of several machines as one run, which goes on like any other."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain
from operator import or_
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from mmdyn.errors import InputError, UserError
from mmdyn.keys import Json
from mmdyn.record import Record
from mmdyn.sample import from_json
from mmdyn.work import RECORD, RUN, Reader, RunConfig, RunFolder, SetEntry, Store, spelt, write_config

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
    is opened. Raises UserError for runs that do not fit, and where `out` holds a run; InputError for what is no run.
    """
    opened, out = [RunFolder(run) for run in runs], Path(out)
    if len(opened) < 2:
        raise UserError("one run alone cannot be merged: name two or more")
    if (out / RUN).exists():
        raise UserError(f"{out} holds a run already: choose another -o")
    config = _config(opened, out)
    with Store(out / "records") as store:
        differing = sum(_take(run, store) for run in opened)
    write_config(out, config)
    merged = RunFolder(out)
    merged.note_cache()
    return merged, differing


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
                    shutil.copytree(folder, out / one.folder, symlinks=True, dirs_exist_ok=True)
                return one
    return entry


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
