"""Runs at a glance: what was asked, how far each one is and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from mmdyn.errors import InputError, UserError
from mmdyn.record import Usage
from mmdyn.reporting.spending import Spending
from mmdyn.work.run_folder import FAILURE, RECORD, RUN, RunFolder
from mmdyn.work.store import Reader, is_held

DEPTH = 3
"""How many folders down runs are looked for."""


class Glance(Struct, frozen=True):
    """One run. `changed` is when its last record was saved (UTC, ISO 8601); `failed`: asked and never answered."""

    name: str
    folder: str
    changed: str
    state: Literal["finished", "going on", "not finished"]
    models: list[str]
    sets: list[str]
    modes: list[str]
    planned: int
    answered: int
    failed: int
    spending: list[Spending]


class _Reply(Struct):
    usage: Usage = Usage()
    cost: float | None = None
    currency: str = ""


class _Record(Struct):
    """As much of a record as is counted."""

    model: str
    reply: _Reply


def find_runs(folder: Path) -> Iterator[Path]:
    """The run folders in a folder, or the folder itself. Raises InputError where there is no such folder."""
    if not folder.is_dir():
        raise InputError(folder, None, "no such folder: name a run, or a folder with runs in it")
    yield from _find(folder, DEPTH)


def glance(folder: Path) -> Glance:
    """Count a run's records. Raises UserError where they cannot be read."""
    run = RunFolder(folder)
    spending = {entry.label: Spending(entry.label) for entry in run.config.models}
    with Reader(run.records_folder) as reader:
        try:
            for _, value in reader.items(RECORD):
                record = msgspec.json.decode(value, type=_Record)
                by_model = spending.setdefault(record.model, Spending(record.model))
                by_model.add(record.reply.usage, record.reply.cost, record.reply.currency)
        except msgspec.DecodeError as error:
            raise UserError(f"{folder} holds a record that cannot be read ({error})") from None
        keys = groupby(reader.items(FAILURE), lambda item: item[0].partition(":")[0])
        failed = sum(reader.get(RECORD, key) is None for key, _ in keys)
    answered = sum(one.replies for one in spending.values())
    config = run.config
    return Glance(
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
        spending=[one.rounded for one in spending.values()],
    )


def _find(folder: Path, depth: int) -> Iterator[Path]:
    if (folder / RUN).is_file():
        yield folder
    elif depth:
        for inside in sorted(folder.iterdir()):
            if inside.is_dir() and not inside.is_symlink() and not inside.name.startswith("."):
                yield from _find(inside, depth - 1)


def _state(run: RunFolder, answered: int) -> Literal["finished", "going on", "not finished"]:
    if any(is_held(run.records_folder, file.stem) for file in run.records_folder.glob("*.sqlite")):
        return "going on"
    return "finished" if answered >= run.config.planned else "not finished"


def _changed(run: RunFolder) -> datetime:
    files = [run.folder / RUN, *run.records_folder.glob("*.sqlite")]
    return datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC)
