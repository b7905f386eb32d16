"""A report: tables of rows with how far the runs are, as text, data, plots, and as what a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.frame import Frame, Framed
from mmdyn.html import markup
from mmdyn.tables.brief import brief_lines
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
        """Draw a table.

        Args:
            name: `scores`, `changes` (from standard to dynamic, by chain), `scores by FIELD`, `flips`, or the kind of
                another table, such as `pivot`; without a name the first.
            columns: how wide it is, in columns of a page, 1 or 2.

        Raises:
            UserError: where there is no plot of this name.
            MissingExtra: without matplotlib.
        """
        return draw_chart(pick_chart(table_charts(self.parts), name), columns)

    @property
    def _brief(self) -> str:
        """The ten lines of a report that has scores."""
        return "\n".join(brief_lines(self)) if any(part.kind == "scores" for part in self.parts) else ""

    def __repr__(self) -> str:
        return self._brief or FORMATS["text"](self)

    def _repr_html_(self) -> str:
        return f"<pre>{markup(self._brief)}</pre>" * bool(self._brief) + FORMATS["html"](self)
