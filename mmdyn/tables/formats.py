"""The rows of tables as text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

from rich.cells import cell_len

from mmdyn.tables.grid import Grid, Word, grid_of
from mmdyn.tables.rows import Row, Tabulation
from mmdyn.tables.summary_csv import safe_cell
from mmdyn.tables.terminal import clean

LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "\N{EN DASH}": "--"},
}
STARS = {"": "", "best": "*", "second": "+"}


def as_text(tables: Tabulation, width: int = 160) -> str:
    """Tables of at most so many columns of characters, in several pieces where a table is wider."""
    return "\n".join(line for grid in _grids(tables) for line in _text(grid, width))


def as_markdown(tables: Tabulation) -> str:
    """Tables in Markdown; the best in bold type, the second best underlined."""
    marks = {"": "{}", "best": "**{}**", "second": "<u>{}</u>"}

    def lines(grid: Grid) -> Iterator[str]:
        yield f"**{_escaped(grid.title)}**\n"
        yield f"| {' | '.join(map(_escaped, grid.heads))} |"
        yield "|" + "---|" * grid.labels + "---:|" * (len(grid.heads) - grid.labels)
        for line in grid.lines:
            yield f"| {' | '.join(marks[word.mark].format(_escaped(word.text)) for word in line)} |"
        yield from ("", *(f"- {_escaped(note)}" for note in grid.notes), "")

    return "\n".join(line for grid in _grids(tables) for line in lines(grid))


def as_latex(tables: Tabulation) -> str:
    """Tables for LaTeX with the package booktabs; the best in bold type, the second best underlined."""
    marks = {"": "{}", "best": r"\textbf{{{}}}", "second": r"\underline{{{}}}"}

    def lines(grid: Grid) -> Iterator[str]:
        yield r"\begin{table}"
        yield r"\centering"
        yield f"\\caption{{{_tex(grid.title)}}}"
        yield f"\\begin{{tabular}}{{{'l' * grid.labels}{'r' * (len(grid.heads) - grid.labels)}}}"
        yield r"\toprule"
        yield f"{' & '.join(map(_tex, grid.heads))} \\\\"
        yield r"\midrule"
        for line in grid.lines:
            yield f"{' & '.join(marks[word.mark].format(_tex(word.text)) for word in line)} \\\\"
        yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}", *(f"% {note}" for note in grid.notes), "")

    return "\n".join(line for grid in _grids(tables) for line in lines(grid))


def as_csv(tables: Tabulation) -> str:
    """Every row: its factors as columns, then its numbers, shares in [0, 1]."""
    rows = [(part, row) for part in tables.parts for row in part.rows]
    factors = list(dict.fromkeys(name for _, row in rows for name in row.factors))
    fields = [name for name in Row.__struct_fields__ if name not in ("factors", "ci95")]
    place = fields.index("value") + 1
    heads = [*fields[:2], "title", *factors, *fields[2:place], "low", "high", *fields[place:]]
    writer = csv.DictWriter(out := io.StringIO(), heads, restval="", lineterminator="\n")
    writer.writeheader()
    for part, row in rows:
        numbers = {name: getattr(row, name) for name in fields}
        low, high = row.ci95 or (None, None)
        cells = {"title": part.title, "low": low, "high": high, **numbers, **row.factors}
        writer.writerow({name: safe_cell(cell) for name, cell in cells.items()})
    return out.getvalue()


FORMATS: dict[str, Callable[[Tabulation], str]] = {
    "text": as_text,
    "json": lambda tables: tables.to_json().decode(),
    "csv": as_csv,
    "markdown": as_markdown,
    "latex": as_latex,
}
"""How tables are written, by name."""


def _grids(tables: Tabulation) -> Iterator[Grid]:
    for part in tables.parts:
        grid = grid_of(part)
        yield grid._replace(title=": ".join(filter(None, (tables.title, grid.title))))


def _text(grid: Grid, width: int) -> Iterator[str]:
    yield clean(grid.title).plain
    table = [[Word(head) for head in grid.heads], *grid.lines]
    cells = [[clean(word.text + STARS[word.mark]).plain for word in line] for line in table]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    labels = list(range(grid.labels))
    room, columns = width - sum(widths[place] + 2 for place in labels), list(range(grid.labels, len(widths)))
    while columns or (labels and not len(widths) > grid.labels):
        taken = [
            place
            for count, place in enumerate(columns)
            if count == 0 or sum(widths[each] + 2 for each in columns[: count + 1]) <= room
        ]
        columns = columns[len(taken) :]
        yield ""
        for number, line in enumerate(cells):
            words = [line[place] + " " * (widths[place] - cell_len(line[place])) for place in labels]
            words += [" " * (widths[place] - cell_len(line[place])) + line[place] for place in taken]
            yield f" {'  '.join(words)}".rstrip()
            if not number:
                yield f" {chr(0x2500) * (sum(widths[place] + 2 for place in (*labels, *taken)) - 2)}"
    yield from ("", *(clean(note).plain for note in grid.notes), "")


def _escaped(text: str) -> str:
    return (
        clean(text)
        .plain.replace("\\", "\\\\")
        .replace("|", "\\|")
        .replace("*", "\\*")
        .replace("_", "\\_")
        .replace("<", "&lt;")
    )


def _tex(text: str) -> str:
    return "".join(LATEX.get(sign, sign) for sign in clean(text).plain)
