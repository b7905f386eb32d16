"""A paper's own numbers beside the user's, and the tables that have names."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from mmdyn.benchmarks._opencompass import OPENCOMPASS
from mmdyn.errors import UserError, did_you_mean
from mmdyn.plugins import load, names
from mmdyn.table import NamedTable
from mmdyn.tables.blocks import APART, MACRO, TOTAL, Row, TablePart
from mmdyn.tables.factors import ModelFacts, plain_model, read_model_facts

MAIN = ("difference", "slope", "range", "tau")
"""The quantities that a paper's number stands for where it names none, in a row that is no mean."""


OWN = ("part", "quantity", "value")
"""Columns that are no factors."""


class Number(NamedTuple):
    """A number of a paper, in percent where it is a share. `part` is the part of the table; an empty `quantity` stands
    for the row's main one."""

    part: int
    quantity: str
    factors: dict[str, str]
    value: float


class Published:
    """A paper's numbers for one table.

    Args:
        lines: The lines of a CSV file with the columns part, value and the factors, and quantity where some rows are of
            one side of a difference.
        model: The paper's model to compare with; if empty, the user's own model where the paper has it, else the
            paper's best.

    Raises:
        UserError: The paper has no such model.
    """

    def __init__(self, lines: Iterable[str], model: str = "") -> None:
        self._numbers = list[Number]()
        for line in csv.DictReader(lines):
            factors = {name: value for name, value in line.items() if name not in OWN and value}
            number = Number(int(line["part"]), line.get("quantity") or "", factors, float(line["value"]))
            self._numbers.append(number)
        self._models = list(dict.fromkeys(one.factors["model"] for one in self._numbers if "model" in one.factors))
        found = [name for name in self._models if plain_model(name) == plain_model(model)]
        if model and not found:
            raise UserError(
                f"the paper has no model {model!r}{did_you_mean(model, self._models)}: give one of"
                f" {', '.join(self._models)}"
            )
        self._named = found[0] if found else ""

    def beside(self, part: TablePart, place: int) -> TablePart:
        """Add the paper's numbers to the rows of a part, which is number `place` of the table."""
        plain = part.kind in ("pivot", "leaderboard")
        return replace(part, rows=[self._row(row, place, plain=plain) for row in part.rows])

    def _row(self, row: Row, place: int, *, plain: bool) -> Row:
        main = row.quantity in MAIN or (plain and row.quantity != "rank")
        model = self._model(row)
        for number in self._numbers:
            own = {"model": model} if "model" in number.factors else {}
            same = (number.part, number.quantity) in [(place, row.quantity), *([(place, "")] * main)]
            fits = same and number.factors.items() <= (row.factors | own).items()
            if fits and row.factors.keys() - number.factors.keys() <= {*APART}:
                value = number.value / 100 if row.unit in ("share", "points") else number.value
                return replace(row, paper=round(value, 6), paper_model=own.get("model", ""))
        return row

    def _model(self, row: Row) -> str:
        if self._named:
            return self._named
        own = plain_model(row.factors.get("model", ""))
        return next((name for name in self._models if plain_model(name) == own), self._best)

    @property
    def _best(self) -> str:
        """The model with the highest number of the first part that is of the whole, or else with the highest mean."""
        found = dict[str, list[float]]()
        for number in self._numbers:
            if "model" in number.factors:
                whole = all(value in (TOTAL, MACRO) for name, value in number.factors.items() if name != "model")
                found.setdefault(number.factors["model"], []).append(number.value + 1000 * whole * (number.part == 0))
        return max(found, key=lambda name: max(found[name]), default="")


PUBLISHED = Path(str(resources.files("mmdyn.benchmarks"))) / "published"
"""The folder of papers' numbers, and of facts on their models."""


def named_tables() -> dict[str, NamedTable]:
    """Every table that a benchmark declares, by BENCHMARK.NAME, and those of OpenCompass."""
    found = {f"{name}.{table.name}": table for name in names("benchmarks") for table in load("benchmarks", name).tables}
    return found | {f"opencompass.{table.name}": table for table in OPENCOMPASS}


def named_table(name: str, model: str = "") -> tuple[NamedTable, Published | None]:
    """The table of a name, and the paper's numbers; None where the package does not have them.

    Args:
        name: Such as `mdk12.table4`.
        model: The paper's model to compare with, as in Published.

    Raises:
        UserError: There is no such table, or the paper has no such model.
    """
    known = named_tables()
    if name not in known:
        raise UserError(f"there is no table {name!r}{did_you_mean(name, known)}: `mmdyn list tables` names them all")
    file = PUBLISHED / f"{name}.csv"
    if not file.is_file():
        if model:
            raise UserError(f"the paper's own numbers of {name} are not at hand: leave --paper out")
        return known[name], None
    return known[name], Published(file.read_text(encoding="utf-8").splitlines(), model)


def models_of(name: str) -> ModelFacts:
    """Facts on the models of the paper that a table is from; empty where the package has none."""
    file = PUBLISHED / f"{name.partition('.')[0]}.models.csv"
    return read_model_facts(file) if file.is_file() else {}
