"""Rows of plain cells as data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mmdyn.errors import MissingExtra

if TYPE_CHECKING:
    import pandas
    import pyarrow

DTYPES = {str: "string", int: "Int64", float: "float64", bool: "boolean"}
"""What pandas calls each kind of column; all but floats tell an empty cell from a value."""


class Frame(NamedTuple):
    """Columns by name, each of str, int, float or bool, and the rows: what a row lacks is an empty cell."""

    columns: Mapping[str, type]
    rows: Iterable[Mapping[str, Any]]


class Framed:
    """What is a data frame, too."""

    __slots__ = ()

    def frame(self) -> Frame:
        """The columns and rows."""
        raise NotImplementedError

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table: string, int64, double and bool. Raises MissingExtra without pyarrow."""
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("pyarrow", "parquet") from None
        found = self.frame()
        return pyarrow.Table.from_pylist(list(_cells(found)), arrow_schema(found.columns))

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame: string, Int64, float64 and boolean. Raises MissingExtra without pandas."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", "pandas") from None
        found = self.frame()
        rows = list(_cells(found))
        columns = {name: [row.get(name) for row in rows] for name in found.columns}
        return pandas.DataFrame(
            {name: pandas.Series(cells, dtype=DTYPES[found.columns[name]]) for name, cells in columns.items()}
        )


def arrow_schema(columns: Mapping[str, type]) -> pyarrow.Schema:
    """The Arrow types of columns."""
    import pyarrow

    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    return pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])


def field_columns(every: Iterable[Mapping[str, str | int | float]]) -> dict[str, type]:
    """A column field.NAME for each field that anything has: of numbers where all its values are."""
    kinds = dict[str, set[type]]()
    for fields in every:
        for name, value in fields.items():
            kinds.setdefault(f"field.{name}", set()).add(type(value))
    return {name: str if str in found else float if float in found else int for name, found in sorted(kinds.items())}


def field_cells(fields: Mapping[str, str | int | float], columns: Mapping[str, type]) -> dict[str, Any]:
    """The cells of these columns."""
    return {f"field.{name}": columns[f"field.{name}"](value) for name, value in fields.items()}


def _cells(found: Frame) -> Iterator[dict[str, Any]]:
    """Every row's cells as their columns have them, an empty text of a number's as none."""
    for row in found.rows:
        given = {name: row[name] for name in found.columns if row.get(name) is not None}
        yield {
            name: found.columns[name](cell) for name, cell in given.items() if cell != "" or found.columns[name] is str
        }
