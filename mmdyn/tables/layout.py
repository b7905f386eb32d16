"""Tables laid out as text that fits a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from operator import itemgetter

from rich.cells import cell_len
from rich.text import Text

from mmdyn.tables.grid import COUNTS, Grid
from mmdyn.tables.terminal import GAP, clean, open_console, wrapped

NARROWEST = 10
"""What a label has at least where there is little room, unless there are very many."""

Table = Sequence[Sequence[str]]


def laid_out(grid: Grid) -> Iterator[str]:
    """Lay a table out in columns.

    Where it is wider than the terminal, heads take two lines, those of chains more; then the labels that several lines
    share stand above these lines; then labels are narrowed; then the table stands in several pieces.
    """
    room, grid = open_console().width - 1, _said_once(grid)  # a blank stands before each line
    labels, notes, above = grid.labels, grid.notes, 0
    lines = [[clean(word.text).plain for word in line] for line in grid.lines]
    names = [clean(head).plain for head in grid.heads]
    heads = [names]
    if _width(_widths(heads, lines)) > room:
        split = [_split(name, place < labels, [line[place] for line in lines]) for place, name in enumerate(names)]
        heads = [*map(list, zip_longest(*map(reversed, split), fillvalue=""))][::-1]
    while above < labels - 1 and _width(_widths(heads, lines)[above:]) > room:
        if 2 * len([*groupby(lines, itemgetter(slice(above + 1)))]) > len(lines):
            break
        room, above = room - GAP * (not above), above + 1
    heads, labels, margin = [head[above:] for head in heads], labels - above, " " * (1 + GAP * bool(above))
    widths = _narrowed(heads, [line[above:] for line in lines], labels, room)
    pieces = [*_pieces(widths, labels, room)]
    if len(pieces) > 1 and len(pieces[-1]) == labels + 1 and not any("[" in line[-1] for line in lines):
        pieces, notes = pieces[:-1], [_counts(grid, len(names) - 1), *notes]
    yield from wrapped([grid.title])
    for piece in pieces if lines else ():
        yield ""
        yield from (row for head in heads for row in _row(head, piece, widths, labels, margin) if row)
        yield f" {'─' * (_width([widths[place] for place in piece]) + len(margin) - 1)}"
        for shared, group in groupby(lines, itemgetter(slice(above))):
            yield from wrapped([f" {(' ' * GAP).join(shared)}"] * bool(above))
            yield from (row for line in group for row in _row(line[above:], piece, widths, labels, margin))
    yield from ("", *wrapped(notes), "")


def _said_once(grid: Grid) -> Grid:
    """The table without columns that say the same in all lines, and without counts that are 0 in most: notes say what
    they hold. The last label and the first number stay."""
    kept, same, notes = list[int](), list[str](), list[str]()
    for place, head in enumerate(grid.heads):
        cells = Counter(line[place].text for line in grid.lines)
        is_same = len(cells) == 1 and (len(grid.lines) > 2 or not {*cells} - {"0", "-"})
        is_rare = head in COUNTS.values() and 4 * (cells.total() - cells["0"]) <= cells.total()
        stays = place == grid.labels - 1 or (place == grid.labels and "-" not in cells)
        if stays or any("[" in cell for cell in cells) or not (is_same or is_rare):
            kept.append(place)
        elif is_same:
            same += [f"{head} {cell}" for cell in cells]
        else:
            notes.append(_counts(grid, place))
    notes += [f"{'in all rows: ' * (len(grid.lines) > 1)}{', '.join(same)}"] * bool(same)
    lines = [[line[place] for place in kept] for line in grid.lines]
    labels = sum(place < grid.labels for place in kept)
    return Grid(grid.title, labels, [grid.heads[place] for place in kept], lines, [*notes, *grid.notes])


def _counts(grid: Grid, place: int) -> str:
    """The numbers of a column that are not 0, with the lines that have them: by the last label where that tells all."""
    last = {(line[grid.labels - 1], line[place]) for line in grid.lines}
    first = grid.labels - 1 if len(last) == len({label for label, _ in last}) else 0
    names = dict[str, dict[str, None]]()
    for line in grid.lines:
        names.setdefault(line[place].text, {})[" ".join(word.text for word in line[first : grid.labels])] = None
    told = [f"{text} in {', '.join(lines)}" for text, lines in names.items() if text not in "0-"]
    return f"{grid.heads[place]}: {'; '.join(told)}{'; 0 in all other rows' * ('0' in names)}"


def _split(head: str, is_label: bool, column: Sequence[str]) -> list[str]:
    """The lines of a head: a chain in parts as wide as its numbers, other words in two; a label's in one."""
    if "+" in head:
        return _broken(head, max(NARROWEST, *map(cell_len, (*column, *head.replace("+", "+ ").split()))))
    return [head] if is_label else [*filter(None, head.rpartition(" ")[::2])]


def _widths(heads: Table, lines: Table) -> list[int]:
    return [max(map(cell_len, column)) for column in zip(*heads, *lines, strict=True)]


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _narrowed(heads: Table, lines: Table, labels: int, room: int) -> list[int]:
    """Widths whose labels are as narrow as it takes for the fewest pieces. The widest ones are narrowed first; where
    there is nothing but labels, words stay whole if they can."""
    widths, least = _widths(heads, lines), min(NARROWEST, room // max(labels, 1) - GAP)
    narrow = [max(min(wide, least), head) for wide, head in zip(widths, _widths(heads, []), strict=True)]
    narrow[labels:] = widths[labels:]
    words = [max(map(cell_len, " ".join(column).split()), default=0) for column in zip(*heads, *lines, strict=True)]
    found, fewest = [*widths], [*_pieces(narrow, labels, room)]
    for floor in (words, narrow) if labels == len(widths) else (narrow,):
        while places := [place for place in range(labels) if found[place] > floor[place]]:
            pieces = [*_pieces(found, labels, room)]
            if pieces == fewest and all(_width([found[place] for place in piece]) <= room for piece in pieces):
                break
            found[max(places, key=found.__getitem__)] -= 1
    return found


def _pieces(widths: Sequence[int], labels: int, room: int) -> Iterator[list[int]]:
    """The columns that stand side by side: the labels, and as many others as there is room for."""
    piece = list(range(labels))
    for place in range(labels, len(widths)):
        if len(piece) > labels and _width([widths[one] for one in (*piece, place)]) > room:
            yield piece
            piece = list(range(labels))
        piece.append(place)
    yield piece


def _row(line: Sequence[str], piece: Sequence[int], widths: Sequence[int], labels: int, margin: str) -> Iterator[str]:
    """The lines of a row: labels that do not fit into two lines of their columns stand above the numbers."""
    cells = [_broken(line[place], widths[place]) for place in piece]
    whole = [
        len(cell) <= 2 and " ".join(cell).replace("+ ", "+") == text
        for cell, text in zip(cells[:labels], line, strict=False)
    ]
    if labels < len(piece) and not all(whole):
        room = open_console().width - len(margin)
        yield from (margin + part for part in _broken((" " * GAP).join(line[:labels]), room))
        cells[:labels] = [[""]] * labels
    for words in zip_longest(*cells, fillvalue=""):
        gaps = [" " * (widths[place] - cell_len(word)) for place, word in zip(piece, words, strict=True)]
        sides = zip(piece, words, gaps, strict=True)
        padded = [word + gap if place < labels else gap + word for place, word, gap in sides]
        yield f"{margin}{(' ' * GAP).join(padded)}".rstrip()


def _broken(text: str, width: int) -> list[str]:
    """The lines of a label; a chain is broken behind a plus before it is broken anywhere."""
    if cell_len(text) <= width:
        return [text]
    lines = Text(text.replace("+", "+ ")).wrap(open_console(), width)
    return [line.plain.rstrip().replace("+ ", "+") for line in lines]
