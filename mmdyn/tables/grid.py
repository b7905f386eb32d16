"""Tables on a terminal: words in the first column, numbers in the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text


class Grid:
    """Rows under names of one or more lines. No number is ever cut or broken: words that have no room beside them get a
    line of their own."""

    def __init__(self, names: Sequence[Sequence[Text]]) -> None:
        self._names = names
        self._rows = list[tuple[Text, ...]]()

    def add_heading(self, text: Text) -> None:
        """Add a line above the rows that follow."""
        self._rows.append((text,))

    def add_row(self, words: Text, *numbers: Text) -> None:
        """Add a row; numbers for all columns but the first."""
        self._rows.append((words, *numbers))

    def print(self, console: Console) -> None:
        """Print the rows, with an empty line above and below."""
        for line in self._lines(console.width):
            console.print(line, soft_wrap=True)

    def _lines(self, width: int) -> Iterator[Text]:
        rows = [row for row in self._rows if len(row) > 1]
        names = [max(line.cell_len for line in name) for name in self._names]
        widths = [max(cells) for cells in zip(names, *([cell.cell_len for cell in row] for row in rows), strict=True)]
        room = width - _total(widths[1:]) - 2
        widths[0] = max(names[0], *(row[0].cell_len for row in rows if row[0].cell_len <= room), 0)
        total, height = _total(widths), max(map(len, self._names))
        yield Text(" " * total)
        for place in range(-height, 0):
            yield _line([name[place] if -place <= len(name) else Text() for name in self._names], widths)
        yield Text(f" {'─' * (total - 2)} ")
        for words, *numbers in self._rows:
            if not numbers:
                yield Text(f" {words.plain}{' ' * (total - 1 - words.cell_len)}", "bold")
            elif words.cell_len <= widths[0]:
                yield _line([words, *numbers], widths)
            else:
                yield Text(f" {words.plain}")
                yield _line([Text(), *numbers], widths)
        yield Text(" " * total)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * len(widths)


def _line(cells: Sequence[Text], widths: Sequence[int]) -> Text:
    gaps = [width - cell.cell_len for cell, width in zip(cells, widths, strict=True)]
    numbers = (f"{' ' * gap}{cell.plain}" for cell, gap in zip(cells[1:], gaps[1:], strict=True))
    return Text(f" {'  '.join((cells[0].plain + ' ' * gaps[0], *numbers))} ")
