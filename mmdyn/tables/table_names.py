"""Tables by name: those of benchmarks' papers, and those that are of no benchmark."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from mmdyn.benchmarks._opencompass import OPENCOMPASS
from mmdyn.errors import UserError, did_you_mean
from mmdyn.plugins import load, names
from mmdyn.table import NamedTable
from mmdyn.tables.factors import ModelFacts, read_model_facts
from mmdyn.tables.published import Published

PUBLISHED = Path(str(resources.files("mmdyn.benchmarks"))) / "published"
"""Numbers that papers print, and what is known of their models."""


def named_tables() -> dict[str, NamedTable]:
    """Every table that a benchmark lists, as BENCHMARK.NAME, and opencompass's."""
    found = {f"{name}.{table.name}": table for name in names("benchmarks") for table in load("benchmarks", name).tables}
    return found | {f"opencompass.{table.name}": table for table in OPENCOMPASS}


def named_table(name: str, model: str = "") -> tuple[NamedTable, Published | None]:
    """A table by its name, and the paper's own numbers where its text has them; those of `model` where it is given.

    Raises UserError where there is no such table, or no such model in the paper."""
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
    """What is known of the models of the paper whose table this is; nothing where no table of the paper needs it."""
    file = PUBLISHED / f"{name.partition('.')[0]}.models.csv"
    return read_model_facts(file) if file.is_file() else {}
