"""How text tables fit a terminal."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from mmdyn.tables.grid import Grid, Word
from mmdyn.tables.layout import laid_out
from mmdyn.tables.terminal import wrapped

LONG = "pad+style+color+paraphrase+substitute+convert"
CHAINS = ("color", "paraphrase", LONG, "all")
HEADS = ["model", "chain", "change", "corrected for chance", "a unread", "b unread", "n", "p (Holm)", "not applicable"]


def grid(models: int = 2, *heads: str) -> Grid:
    cells = ["-48 [-71, -9]", "27 [6, 61]", "8.3", "6.6", "60", "0.0490", "0"]
    lines = [
        [f"scripted:model-{model}.jsonl", chain, *cells[:-1], "63" if chain == "all" else "0"]
        for model in range(models)
        for chain in CHAINS
    ]
    for place, line in enumerate(lines):
        line[4] = f"{place}.5"
    names = [*HEADS, *heads]
    words = [[*map(Word, line), *(Word(f"{place}{head[0]}") for head in heads)] for place, line in enumerate(lines)]
    return Grid("Changes", 2, names, words, ["a note"])


def text(grid: Grid, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr("mmdyn.tables.terminal.PLAIN_WIDTH", width)
    return [*laid_out(grid)]


def test_what_fits_has_a_line_a_row_and_its_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = text(grid(), 200, monkeypatch)
    assert lines[2].split("  ")[0] == " model" and lines[4].startswith(" scripted:model-0.jsonl  color")
    assert sum("scripted:model-0.jsonl" in line for line in lines) == 4


def test_at_80_columns_shared_labels_stand_above_and_heads_take_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = text(grid(2, "left out", "needs a judge"), 80, monkeypatch)
    assert max(map(cell_len, lines)) <= 80
    assert [line for line in lines if "scripted" in line] == [" scripted:model-0.jsonl", " scripted:model-1.jsonl"]
    assert lines[2].split()[:2] == ["corrected", "for"] and lines[3].split()[:3] == ["chain", "change", "chance"]
    place = lines.index(f"   {LONG}")
    assert "-48 [-71, -9]" in lines[place + 1], "a label that is too wide stands whole above its numbers"


def test_columns_of_one_value_and_of_zeros_are_told_in_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = text(grid(), 100, monkeypatch)
    assert "not applicable: 63 in all; 0 in all other rows" in lines
    assert "in all rows: b unread 6.6, n 60, p (Holm) 0.0490" in lines and "a note" in lines
    kept = grid()._replace(lines=grid().lines[:2])
    assert "in all rows: not applicable 0" in text(kept, 200, monkeypatch), "two rows may agree by chance"
    one = Grid("Counts", 1, ["model", "asked", "empty", "failed"], [[Word("m"), Word("3"), Word("0"), Word("-")]], [])
    assert text(one, 80, monkeypatch)[2].split() == ["model", "asked"] and "empty 0, failed -" in text(
        one, 80, monkeypatch
    )


def test_heads_of_long_chains_take_as_many_lines_as_their_numbers_are_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    chains = ("color", LONG, "paraphrase+substitute+convert", "all")
    cells = ["88 [78, 93]*", "35 [24, 48]", "37 [26, 50]", "65 [58, 72]"]
    pivot = Grid("Score", 1, ["model", *chains], [[*map(Word, [model, *cells])] for model in ("alpha", "beta")], [])
    lines = text(pivot, 80, monkeypatch)
    assert max(map(cell_len, lines)) <= 80 and lines.count("") == 3, "one piece"
    assert [line.split() for line in lines[2:6]] == [
        ["pad+style+"], ["color+"], ["paraphrase+", "paraphrase+"], ["substitute+", "substitute+"],
    ]  # fmt: skip
    assert lines[6].split() == ["model", "color", "convert", "convert", "all"]
    assert all(cell in "\n".join(lines) for cell in cells)


def test_a_last_piece_of_one_bare_column_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = text(grid(2, "left", *("another" * 2 for _ in range(2))), 60, monkeypatch)
    assert max(map(cell_len, lines)) <= 60
    heads = [line for line in lines if line.lstrip().startswith("chain")]
    assert all(len(head.split()) > 2 for head in heads)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_nothing_is_lost_at_any_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = grid(3, "left", "right", "upper")
    lines = text(made, width, monkeypatch)
    assert max(map(cell_len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    assert {line[4].text for line in made.lines} | {line[-1].text for line in made.lines} <= words


def test_words_of_a_table_of_words_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [f"we-math-2steps_{n}-2" for n in (100, 7, 12)]
    rows = [
        [*map(Word, ("right to wrong", id, f"B ({id[-5:]}) → true", f"As shown in the diagram, {id}"))] for id in ids
    ]
    lines = text(Grid("Flips", 4, ["direction", "question", "expected", "asked"], rows, []), 60, monkeypatch)
    assert max(map(cell_len, lines)) <= 60 and all(any(f" {id} " in line for line in lines) for id in ids)
    assert "in all rows: direction right to wrong" in lines


@pytest.mark.parametrize("name", ["模型" * 30, "x" * 150, "a b " * 40, "+".join(["pad"] * 40)])
def test_names_of_any_length_fit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[Word(name), Word(f"{name}{n}"), Word(f"{n}0 [1, 2]"), Word(f"{n}")] for n in range(4)]
    for width in (40, 80):
        lines = text(Grid(name, 2, ["model", "chain", "score", "n"], rows, [name]), width, monkeypatch)
        assert max(map(cell_len, lines)) <= width and sum("[1, 2]" in line for line in lines) == 4


def test_an_empty_table_is_its_title_and_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert text(Grid("Nothing", 0, [], [], ["no row"]), 80, monkeypatch) == ["Nothing", "", "no row", ""]


def test_commands_that_wrap_can_be_pasted() -> None:
    command = "    $ mmdyn perturb set -o 'my own set' --ops color,convert --factorial --design permutations:4"
    lines = [*wrapped([command], 40)]
    assert all(line.endswith(" \\") for line in lines[:-1]) and max(map(len, lines)) <= 40
    assert " ".join(line.removesuffix("\\").strip() for line in lines) == command.strip()
    assert any("'my own set'" in line for line in lines), "a quoted word is not broken"
    for word in ("x" * 60, "'" + "x y " * 15 + "'"):
        assert [*wrapped([f"  $ mmdyn perturb {word} -o out"], 40)] == [f"  $ mmdyn perturb {word} -o out"]
    said = "text before it and then `mmdyn judge --calibrate LABELLED` and after"
    assert [*wrapped([said], 50)] == ["text before it and then", "  `mmdyn judge --calibrate LABELLED` and after"]


def test_what_goes_on_is_indented() -> None:
    assert [*wrapped(["  one two three four", "", "short"], 12)] == [
        "  one",
        "    two",
        "    three",
        "    four",
        "",
        "short",
    ]
