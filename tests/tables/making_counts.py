"""Runs whose tables are known: cells of so many right answers of so many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tables.making_runs import answer, write_run

from mmdyn.record import Condition, Record
from mmdyn.sample import Sample
from mmdyn.work import RunFolder

Cell: TypeAlias = tuple[Mapping[str, Any], int, int]
"""What all answers of a cell have in common, how many are right, and how many there are."""

CONDITION = ("variant", "chain", "context", "style")
TOLD = ("model", "set", "language", "task_type", "parent_type", "draw", "epoch", "status", "weight", "chance", "error")


def counted(cells: Iterable[Cell], **more: Any) -> list[Record]:
    """One record an answer; the right ones come first.

    A cell's factors are parts of the condition, what `answer` takes (TOLD), or else fields. Its questions are named
    after its fields and its language: cells that agree in these ask the same questions, of which `parent` can choose
    others. `group` is a text whose {} is the place in the cell: "q{}" makes question 7 of either language group q7.
    """
    made = list[Record]()
    for factors, right, n in cells:
        fields = dict(factors)
        condition = Condition(**{name: fields.pop(name) for name in CONDITION if name in fields})
        told = {name: fields.pop(name) for name in TOLD if name in fields}
        group, parent = fields.pop("group", None), fields.pop("parent", "")
        name = parent or "-".join(str(part) for part in (*fields.values(), told.get("language")) if part is not None)
        for place in range(n):
            hangs = {} if group is None else {"group": group.format(place)}
            kept = {"fields": fields, **hangs, **told, **more}
            made.append(answer(f"{name or 's'}-{place:04}", float(place < right), condition, **kept))
    return made


def counted_run(folder: Path, cells: Iterable[Cell], *, samples: Iterable[Sample] = (), **config: Any) -> RunFolder:
    """A run folder of these cells: counted_run(tmp_path / "run", [({"model": "m1", "discipline": "math"}, 12, 20)])."""
    return write_run(folder, counted(cells), samples=samples, **config)
