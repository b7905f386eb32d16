"""Tables on a terminal, wide and narrow."""

from __future__ import annotations

import io

from rich.cells import cell_len
from rich.console import Console

from mmdyn.tables import print_grid


def shown(width: int, *, styled: bool = False) -> list[str]:
    rows = [("none → kprag", "+4.0 [-1.0, +9.0]", 0), ("distractor → kprag:物理", "+12.0 [+3.0, +20.0]", 15)]
    cells = [{"group": "dynamic all", "value": row[0], "change": row[1], "left\nout": row[2]} for row in rows]
    console = Console(file=(out := io.StringIO()), width=width, force_terminal=styled, highlight=False)
    print_grid(console, "title", cells, "contrast")
    return out.getvalue().splitlines()[1:-1]


def test_a_wide_one_has_a_line_a_row() -> None:
    lines = shown(80)
    assert [line.rstrip() for line in lines] == [
        "",
        "                                                 left",
        " contrast                                change   out",
        f" {'─' * 52}",
        " dynamic all",
        "   none → kprag               +4.0 [-1.0, +9.0]     0",
        "   distractor → kprag:物理  +12.0 [+3.0, +20.0]    15",
        "",
    ]
    assert {cell_len(line) for line in lines} == {54}


def test_words_without_room_get_a_line_and_no_number_is_cut() -> None:
    lines = [line.rstrip() for line in shown(46)]
    assert lines[4:8] == [
        " dynamic all",
        "   none → kprag    +4.0 [-1.0, +9.0]     0",
        "   distractor → kprag:物理",
        "                 +12.0 [+3.0, +20.0]    15",
    ]


def test_a_terminal_that_is_too_narrow_for_the_numbers_cuts_none() -> None:
    lines = [line.rstrip() for line in shown(12)]
    assert [line.split()[-1] for line in lines if "[" in line] == ["0", "15"]
    assert "   none → kprag" in lines


def test_headings_stand_out() -> None:
    assert sum("\x1b[1m" in line for line in shown(80, styled=True)) == 1
