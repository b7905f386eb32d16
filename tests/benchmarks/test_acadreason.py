from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from real_sets import assert_refused, bad, counts, made, real, source, without

from mmdyn.benchmarks.acadreason import lines, split_checklist
from mmdyn.plugins import load

ROW = {
    "task_id": 3, "domain": "Computer Science", "title": "On Cuts | and Flows", "query": "How many cuts?",
    "golden_truth": "Two. | | 1. One. | 2. Another.", "checklist": "1. Says one. | 2. Says two.", "num_checklist": 2,
    "hints_background": "# Cuts | | A cut splits { x | x > 0 }.", "hints_definition": "",
    "hints_methodology": "Count.",
}  # fmt: skip


def test_every_row_becomes_an_open_question() -> None:
    assert counts("acadreason") == {"open_ended": 15} and bad("acadreason") == []
    assert {sample.fields["discipline"] for sample in real("acadreason").values()} == {
        "computer science", "economics", "law", "math", "philosophy",
    }  # fmt: skip
    assert all(
        list(sample.hints) == ["background", "definition", "methodology"] for sample in real("acadreason").values()
    )


def test_every_checklist_has_as_many_items_as_its_row_says() -> None:
    text = (source("acadreason") / "dev" / "questions.jsonl").read_text(encoding="utf-8")
    for row in map(json.loads, text.splitlines()):
        sample = real("acadreason")[f"acadreason-{row['task_id']}"]
        assert len(sample.checklist) == row["num_checklist"]
        assert not any(re.match(r"\d+\.|\*\*\d|\|", item) or item.endswith("|") for item in sample.checklist)


def test_a_list_that_numbers_more_items_keeps_the_surplus_in_its_last() -> None:
    """The row says 8 and numbers 11; no other row's list and number disagree."""
    sample = real("acadreason")["acadreason-15"]
    assert len(sample.checklist) == 8 and sample.meta["checklist_numbered"] == 11
    last = sample.checklist[7]
    assert last.startswith("**Analyze runtime of SubgTransference**")
    assert re.findall(r"^\d+\.", last, re.MULTILINE) == ["9.", "10.", "11."]
    others = [one.meta for one in real("acadreason").values() if one.id != sample.id]
    assert not any("checklist_numbered" in meta for meta in others)


def test_a_row(tmp_path: Path) -> None:
    [row] = made("acadreason", tmp_path, ROW)
    sample = row.sample
    assert sample and (sample.id, sample.answer) == ("acadreason-3", "Two.\n\n1. One.\n2. Another.")
    assert sample.checklist == ("Says one.", "Says two.")
    assert sample.hints == {"background": "# Cuts\n\nA cut splits { x | x > 0 }.", "methodology": "Count."}
    assert sample.fields == {"discipline": "computer science", "modality": "text"}
    assert sample.meta == {"title": "On Cuts and Flows"}
    assert list(load("benchmarks", "acadreason")().knowledge(tmp_path)) == []


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("One. | Two.", "One.\nTwo."),
        ("One. | | Two.  |", "One.\n\nTwo."),
        ("# Head | Text", "# Head\nText"),
        ("a list | - one | * two | 3. three", "a list\n- one\n* two\n3. three"),
        ("| Begin", "Begin"),
        ("{x | c x ∈ I}", "{x | c x ∈ I}"),
        ("such that | S − x | ≤ 1. | | Next", "such that | S − x | ≤ 1.\n\nNext"),
        ("|k_j| and a|b", "|k_j| and a|b"),
        ("for all | e(R)", "for all | e(R)"),
    ],
)
def test_bars_that_end_lines_and_bars_that_do_not(text: str, made: str) -> None:
    assert lines(text) == made


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1. One.\n2. Two.", ("One.", "Two.")),
        ("The answer\n1) one\n2) two", ("one", "two")),
        ("**1. One** more\n\n**2. Two**", ("**One** more", "**Two**")),
        ("1. One:\n   1. first\n   2. second\n   3. third\n2. Two", ("One:\n   1. first\n   2. second\n   3. third", "Two")),
        ("1. One:\n   1. first\n   2. second\n2. Two", ("One:\n   1. first\n   2. second", "Two")),
        ("1. See Theorem\n1.2 here\n2. Two", ("See Theorem\n1.2 here", "Two")),
        ("**One**\nwords\n**Two**\nwords", ("**One**\nwords", "**Two**\nwords")),
        ("- One\n  - part\n- Two", ("One\n  - part", "Two")),
        ("One\nmore\n\nTwo\nmore", ("One\nmore", "Two\nmore")),
        ("One\nTwo", ("One", "Two")),
        ("First 1. one and 2. two", ("one and", "two")),
        ("1. One\n2. Two\n3. Three", ("One", "Two\n3. Three")),
        ('"1. One {x | x}.", | "2. Two.", | ]', ("One {x | x}.", "Two.")), ('1. One.", | "2. Two.", | ]', ("One.", "Two.")),
        ('["1. One", "2. Two"]', ("One", "Two")), ('[\n"One",\n"Two",\n]', ("One", "Two")), ("['One, so', 'Two']", ("One, so", "Two")),
        (r'["\\alpha \"x\"", "Two"]', (r'\alpha "x"', "Two")), (r'["$\nu$", "Two"]', (r"$\nu$", "Two")),
        ("**A** | 1. One. | **B** | 1. Two.", ("One.", "Two.")), ("1. One.|2. Two.", ("One.", "Two.")), ("1. One; 2. Two", ("One", "Two")),
        ("One | Two", ("One", "Two")), ("① One ② Two", ("One", "Two")), ("1. One<br>2. Two", ("One", "Two")), (r"1. One\n2. Two", ("One", "Two")),
        ("[1] One\n[2] Two", ("One", "Two")), ("- [ ] 1. One\n- [ ] 2. Two", ("One", "Two")), ("Item 1: One\nItem 2: Two", ("One", "Two")),
    ],
)  # fmt: skip
def test_ways_to_write_a_list(text: str, items: tuple[str, ...]) -> None:
    assert split_checklist(text, 2)[0] == items


@pytest.mark.parametrize("text", ["1. See Theorem 2. It holds 2. Two", "1. a; b 3. c", "One"])
def test_lists_that_can_be_cut_in_two_ways_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="num_checklist says 2"):
        split_checklist(text, 2)


def test_numbers_start_again_under_headings() -> None:
    text = "## Part A\n1. a\n2. b\n\n## Part B\n1. c\n2. d\n3. e"
    assert split_checklist(text, 5)[0] == ("a", "b", "c", "d", "e")


def test_how_many_are_numbered() -> None:
    assert split_checklist("1. a\n2. b\n3. c", 2)[1] == 3
    assert split_checklist("- a\n- b", 2)[1] == 0


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**ROW, "num_checklist": 3}, "task 3: the checklist numbers 2 items and num_checklist says 3: number the items 1. 2. …"),
        ({**ROW, "num_checklist": 0}, "task 3: num_checklist is 0: give the number of items"),
        ({**ROW, "checklist": ""}, "task 3: the checklist numbers 0 items and num_checklist says 2"),
        ({**ROW, "golden_truth": " "}, "the answer of a open_ended must be a string that is not empty"),
        ({**ROW, "query": " | "}, "the question is empty"),
        ({**ROW, "num_checklist": "2"}, "num_checklist must be a whole number, a text given"),
        (without(ROW, "checklist"), "the key 'checklist' is missing: add it"),
    ],
)  # fmt: skip
def test_bad_rows(tmp_path: Path, row: dict[str, object], problem: str) -> None:
    assert_refused("acadreason", tmp_path, {**ROW, "task_id": 8}, row, problem)


@pytest.mark.parametrize(
    "text", ["| " * 100_000, " " * 200_000, "1. " * 60_000, "**" * 100_000, "x | \n" * 40_000, "(" * 200_000]
)
def test_hostile_lists_end(text: str) -> None:
    try:
        split_checklist(text, 7)
    except ValueError as error:
        assert "num_checklist says 7" in str(error)
