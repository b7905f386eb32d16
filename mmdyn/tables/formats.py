"""The rows of tables as text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TextIO

from mmdyn.frame import Frame
from mmdyn.html import Html, html_table, markup
from mmdyn.tables.blocks import Row, TablePart
from mmdyn.tables.grid import BEST, UNITS, Grid, Word, grid_of
from mmdyn.tables.layout import laid_out
from mmdyn.tables.run_state import RunState
from mmdyn.tables.terminal import clean


class Tables(Protocol):
    """What is printed: a report (results.py)."""

    @property
    def title(self) -> str:
        """What stands above all of it."""
        ...

    @property
    def failed(self) -> int:
        """How many records failed."""
        ...

    @property
    def runs(self) -> list[RunState]:
        """How far each run is."""
        ...

    @property
    def parts(self) -> list[TablePart]:
        """The tables."""
        ...

    def rows(self, kind: str, quantity: str = "") -> list[Row]:
        """The rows of all tables of a kind; of a quantity where one is named."""
        ...

    def of_parts(self, parts: Sequence[TablePart]) -> Tables:
        """The same with other tables."""
        ...

    def to_json(self) -> bytes:
        """All of it as JSON."""
        ...


STARS = {"": "", "best": "*", "second": "+"}
MARKDOWN = {"": "{}", "best": "**{}**", "second": "<u>{}</u>"}
MARKED = {"": "{}", "best": "<b>{}</b>", "second": "<u>{}</u>"}
LATEX = {"": "{}", "best": r"\textbf{{{}}}", "second": r"\underline{{{}}}"}
SHOWN = "{}: best, {}: second best, each where a paired test tells it apart from the next (Holm, 5 %)"
"""What a table says of how it marks the best."""

ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in "\\|*_`["} | {"<": "&lt;"})
TEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "|": r"\textbar{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "\N{EN DASH}": "--", "\N{EM DASH}": "---", "\u2212": "$-$"}
    | {"\N{RIGHTWARDS ARROW}": r"$\rightarrow$", "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$", "\u2264": r"$\leq$"}
    | {"\N{MULTIPLICATION SIGN}": r"$\times$", "\N{PLUS-MINUS SIGN}": r"$\pm$", "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}"}
)
MINUS = re.compile(r"(?<![\w.+-])-(?=[\d ])")
BEYOND_LATIN = re.compile(r"[^\u0000-\u024f\u2010-\u2026\u2190-\u21ff\u2200-\u22ff]")
"""What pdfLaTeX's usual fonts do not have."""


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What makes a spreadsheet take a cell for a formula, or for two cells."""


def _text(grid: Grid) -> Iterator[str]:
    starred = [[Word(word.text + STARS[word.mark]) for word in line] for line in grid.lines]
    return laid_out(grid._replace(lines=starred, notes=_shown(grid, STARS["best"], STARS["second"])))


def _markdown(grid: Grid) -> Iterator[str]:
    def told(text: str) -> str:
        return clean(text).plain.translate(ESCAPED)

    yield from (f"**{told(grid.title)}**", "", f"| {' | '.join(map(told, grid.heads))} |")
    yield "|" + "---|" * grid.labels + "---:|" * (len(grid.heads) - grid.labels)
    for line in grid.lines:
        yield f"| {' | '.join(MARKDOWN[word.mark].format(told(word.text)) for word in line)} |"
    yield from ("", *(f"- {told(note)}" for note in _shown(grid, "bold", "underlined")), "")


def _latex(grid: Grid) -> Iterator[str]:
    """A float whose caption says what it shows, in what units, and what marks mean; what else is to be known stands
    below."""

    def told(text: str) -> str:
        return MINUS.sub("$-$", clean(text).plain.translate(TEX))

    said = _shown(grid, "Bold", "underlined")
    of_caption = [f"Numbers are {note}" if note.startswith(UNITS) else note for note in said if _is_of_caption(note)]
    caption = " ".join(f"{text.rstrip('.')}." for text in (grid.title, *of_caption))
    columns = "l" * grid.labels + "r" * (len(grid.heads) - grid.labels)
    beyond = BEYOND_LATIN.search(
        "".join([grid.title, *grid.heads, *(word.text for line in grid.lines for word in line)])
    )
    yield f"% needs booktabs{', and XeLaTeX or LuaLaTeX with a font that has its letters' * bool(beyond)}"
    yield from (r"\begin{table}", r"\centering", f"\\caption{{{told(caption)}}}", f"\\begin{{tabular}}{{{columns}}}")
    yield from (r"\toprule", f"{' & '.join(map(told, grid.heads))} \\\\", r"\midrule")
    for line in grid.lines:
        yield f"{' & '.join(LATEX[word.mark].format(told(word.text)) for word in line)} \\\\"
    yield from (r"\bottomrule", r"\end{tabular}")
    if below := r" \\ ".join(told(note) for note in said if not _is_of_caption(note)):
        yield from (r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {below}}}")
    yield from (r"\end{table}", "")


def _is_of_caption(note: str) -> bool:
    return note.startswith((UNITS, "Bold:"))


def _shown(grid: Grid, best: str, second: str) -> list[str]:
    """The notes, with how this format marks the best."""
    return [SHOWN.format(best, second) if note == BEST else note for note in grid.notes]


def _of_grids(lines: Callable[[Grid], Iterator[str]]) -> Callable[[Tables], str]:
    def written(tables: Tables) -> str:
        grids = (grid_of(part) for part in tables.parts if part.rows or part.notes)
        titled = (grid._replace(title=": ".join(filter(None, (tables.title, grid.title)))) for grid in grids)
        return "".join(f"{line}\n" for grid in titled for line in lines(grid))

    return written


def _html(grid: Grid) -> Iterator[str]:
    """Best and second best as in Markdown."""
    lines = ([Html(MARKED[word.mark].format(markup(word.text))) for word in line] for line in grid.lines)
    yield html_table(grid.heads, lines, grid.title, _shown(grid, "bold", "underlined"))


def table_frame(parts: Sequence[TablePart]) -> Frame:
    """Every row: its factors as columns, then its numbers, shares in [0, 1]."""
    factors = dict.fromkeys((name for part in parts for row in part.rows for name in row.factors), str)
    kinds = {"int": int, "float | None": float}
    fields = {name: kinds.get(str(kind), str) for name, kind in Row.__annotations__.items()}
    fields = {name: kind for name, kind in fields.items() if name not in ("factors", "quantity", "ci95")}
    heads: dict[str, type] = {"part": int, "kind": str, "title": str, **factors, "quantity": str, "low": float}
    return Frame(heads | {"high": float} | fields, _table_rows(parts, fields))


def _table_rows(parts: Sequence[TablePart], fields: Iterable[str]) -> Iterator[dict[str, object]]:
    for place, part in enumerate(parts):
        for row in part.rows:
            ends = dict(zip(("low", "high"), row.ci95 or (), strict=False))
            cells = {name: getattr(row, name) for name in ("quantity", *fields)} | {"differs": ", ".join(row.differs)}
            yield {"part": place, "kind": part.kind, "title": part.title} | row.factors | cells | ends


def safe_cell(cell: object) -> object:
    """Make a cell safe for spreadsheets: a text that would run as a formula gets a leading apostrophe.

    >>> safe_cell("=1+1"), safe_cell(-1)
    ("'=1+1", -1)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _csv(tables: Tables) -> str:
    heads, rows = table_frame(tables.parts)
    writer = csv.DictWriter(out := io.StringIO(), heads, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: safe_cell(cell) for name, cell in row.items()})
    return out.getvalue()


FORMATS: dict[str, Callable[[Tables], str]] = {
    "text": _of_grids(_text),
    "json": lambda tables: tables.to_json().decode(),
    "csv": _csv,
    "markdown": _of_grids(_markdown),
    "latex": _of_grids(_latex),
    "html": _of_grids(_html),
}
"""The formats of tables by name. Markdown and LaTeX (booktabs) set the best in bold, and underline the second best."""


def print_grid(title: str, rows: Sequence[Mapping[str, object]], notes: Sequence[str] = (), labels: int = 1) -> None:
    """Print rows of cells (dictionaries by column) as a table; the first `labels` columns are aligned to the left."""
    lines = [[Word(str(cell)) for cell in row.values()] for row in rows]
    _print(Grid(title, labels, [*rows[0]], lines, [*notes]))


def print_parts(*parts: TablePart) -> None:
    """Print tables to standard output."""
    for part in parts:
        _print(grid_of(part))


def _print(grid: Grid) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in _text(grid)))


def print_report(tables: Tables, file: TextIO | None = None) -> None:
    """Write the tables of a report as text to `file`, standard output by default."""
    (file or sys.stdout).write(FORMATS["text"](tables))
