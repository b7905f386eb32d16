"""A report: tables of rows with how far the runs are, as text, data, plots, and as what a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.frame import Frame, Framed
from mmdyn.tables.charts import pick_chart, table_charts
from mmdyn.tables.columns import Columns
from mmdyn.tables.formats import FORMATS, table_frame
from mmdyn.tables.plot import Plot, draw_chart
from mmdyn.tables.rows import Row, TablePart, rows_of
from mmdyn.tables.run_state import FailedReply, RunState

SCHEMA = 1
"""Of the JSON form: counted up when what there was means something else, or is gone."""


class Report(Struct, Framed, frozen=True):
    """What `report` and `tabulate` make. Numbers are rounded to six digits.

    complete: False where records are missing or not scored yet. failed: records that failed; failures: the first of
    them. runs: how far each is. parts: the tables.
    """

    schema: int
    title: str
    complete: bool
    failed: int
    runs: list[RunState]
    failures: list[FailedReply]
    parts: list[TablePart]

    @classmethod
    def of(cls, columns: Columns, parts: Sequence[TablePart], title: str = "") -> Report:
        """The tables of some records."""
        complete = all(state.complete for state in columns.states)
        failed = int(columns.flags["failed"].sum())
        return cls(SCHEMA, title, complete, failed, [*columns.states], [*columns.failures], [*parts])

    def rows(self, kind: str, quantity: str = "") -> list[Row]:
        """The rows of all tables of a kind, such as scores or contrasts; of a quantity where one is named."""
        return rows_of(self.parts, kind, quantity)

    def of_parts(self, parts: Sequence[TablePart]) -> Report:
        """The same with other tables."""
        return replace(self, parts=[*parts])

    def to_json(self) -> bytes:
        """The report as JSON text; equal runs give equal bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    def frame(self) -> Frame:
        """A row for each number, as the CSV file has them."""
        return table_frame(self.parts)

    def plot(self, name: str = "", *, columns: int = 1) -> Plot:
        """A plot of a table, as wide as one or two `columns` of a page, by its name, such as `pivot` or `leaderboard`;
        without a name the first. Raises UserError where there is none of it, MissingExtra without matplotlib."""
        return draw_chart(pick_chart(table_charts(self.parts), name), columns)

    def __repr__(self) -> str:
        return FORMATS["text"](self)

    def _repr_html_(self) -> str:
        return FORMATS["html"](self)
