"""Attribution: what of a drop each operator of a factorial set takes, by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import compress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tables.making_runs import answer, answers, write_run

from mmdyn.record import Condition, Record
from mmdyn.stats import design_forms
from mmdyn.table import Attribution, Part
from mmdyn.tables import FORMATS, Row, TablePart, tabulate
from mmdyn.work import RunFolder, SetEntry


def asked(chain: str, marks: str, **more: Any) -> list[Record]:
    return answers(marks, Condition("dynamic", chain) if chain else Condition(), **more)


def factorial(
    folder: Path, forms: Mapping[str, str], factors: tuple[str, ...] = ("pad", "noise"), design: str = "full"
) -> RunFolder:
    """A run of forms by chain, each with a mark a parent."""
    return write_run(folder, [one for chain in forms for one in asked(chain, forms[chain])], sets=sets(factors, design))


def sets(factors: tuple[str, ...], design: str, root: str = "exam") -> tuple[SetEntry, ...]:
    made = SetEntry(f"{root}-dynamic", root, f"sets/{root}-dynamic", "d1", factors=factors, design=design)
    return SetEntry(root, root, f"sets/{root}", "d0"), made


def table(run: RunFolder, part: Part = Attribution()) -> TablePart:  # noqa: B008
    (found,) = tabulate([run], [part]).parts
    return found


def values(part: TablePart) -> dict[tuple[str, str], float | None]:
    return {(row.quantity, row.factors["operator"]): row.value for row in part.rows}


def one(part: TablePart, quantity: str, operator: str = "all") -> Row:
    (row,) = (row for row in part.rows if (row.quantity, row.factors["operator"]) == (quantity, operator))
    return row


EIGHT = {"": "1" * 8, "pad": "11111100", "noise": "11110000", "pad+noise": "0" * 8}


def test_shapley_values_add_up_to_the_drop(tmp_path: Path) -> None:
    part = table(factorial(tmp_path / "run", EIGHT))
    assert values(part) == {
        ("shapley", "pad"): -0.375,
        ("share of the drop", "pad"): 0.375,
        ("shapley", "noise"): -0.625,
        ("share of the drop", "noise"): 0.625,
        ("whole", "all"): -1.0,
        ("interaction", "pad x noise"): -0.25,
    }
    assert {row.n for row in part.rows} == {8} and {row.left_out for row in part.rows} == {0}
    whole = one(part, "whole")
    assert (whole.p, whole.method, whole.unit) == (1 / 2**8, "Tango; mid-p McNemar", "points")
    assert all(row.p_adjusted is not None and row.ci95 is not None for row in part.rows if row.unit == "points")


def test_a_share_needs_a_drop_that_is_told_apart_from_none(tmp_path: Path) -> None:
    part = table(factorial(tmp_path / "run", {chain: marks[::2] for chain, marks in EIGHT.items()}))
    assert values(part)["shapley", "pad"] == -0.375
    assert one(part, "whole").p == 1 / 2**4
    assert not [row for row in part.rows if row.quantity == "share of the drop"]


def test_parents_that_lack_a_form_are_left_out(tmp_path: Path) -> None:
    forms = {chain: f"{marks}110" for chain, marks in EIGHT.items()} | {"pad": "111111001.x", "noise": "11110000111"}
    row = one(table(factorial(tmp_path / "run", forms)), "shapley", "pad")
    assert (row.n, row.left_out, row.failed) == (9, 2, 1)
    assert row.value == pytest.approx((8 * -0.375 + 0) / 9, abs=1e-6)


def test_forms_of_unequal_chance_are_compared_on_the_corrected_scale(tmp_path: Path) -> None:
    chances = {"": 0.25, "pad": 0.5, "noise": 0.25, "pad+noise": 0.5}
    records = [one for chain, chance in chances.items() for one in asked(chain, "0000", chance=chance)]
    part = table(write_run(tmp_path / "run", records, sets=sets(("pad", "noise"), "full")))
    assert values(part)["shapley", "pad"] == pytest.approx(-2 / 3, abs=1e-6)
    assert values(part)["shapley", "noise"] == 0
    assert "scores corrected for chance" in one(part, "shapley", "pad").note


def test_each_parent_of_sampled_orders_has_forms_of_its_own(tmp_path: Path) -> None:
    factors, names = ("a", "b", "c", "d"), ("s0", "s1", "s2", "s3", "failed", "not made")
    records = list[Record]()
    for parent in names:
        forms = ["+".join(compress(factors, form)) for form in design_forms("permutations:1", 4, 7, parent).tolist()]
        assert len(forms) == 8 and forms[0] == ""
        for place, chain in enumerate(forms):
            broken = place == 3 and len(parent) > 2
            value = None if broken else float(not {"a", "b"} <= {*chain.split("+")})
            condition = Condition("dynamic", chain) if chain else Condition()
            if not broken or parent == "failed":
                records.append(answer(parent, value, condition, error="the server said 500" * broken))
    entries = sets(factors, "permutations:1")
    run = write_run(tmp_path / "run", records, sets=(entries[0], replace(entries[1], seed=7)))
    part = table(run)
    # An order and its reverse: in one of them b follows a, in the other a follows b.
    found = values(part)
    assert [found["shapley", name] for name in factors] == [-0.5, -0.5, 0, 0] and found["whole", "all"] == -1
    assert {(row.n, row.left_out) for row in part.rows} == {(4, 2)}
    assert not [row for row in part.rows if row.quantity == "interaction"]


def test_a_fraction_recovers_what_pairs_do(tmp_path: Path) -> None:
    factors = ("a", "b", "c", "d", "e")
    chosen = ["+".join(compress(factors, form)) for form in design_forms("fraction", 5).tolist()]
    assert len(chosen) == 17
    forms = {chain: "0000" if {"a", "b"} <= {*chain.split("+")} else "1111" for chain in chosen}
    found = values(table(factorial(tmp_path / "run", forms, factors, "fraction")))
    assert [found["shapley", name] for name in factors] == pytest.approx([-0.5, -0.5, 0, 0, 0], abs=1e-6)
    assert (found["whole", "all"], found["interaction", "a x b"]) == (-1, pytest.approx(-1, abs=1e-6))
    assert found["interaction", "a x c"] == pytest.approx(0, abs=1e-6)


def test_contexts_models_and_fields_are_kept_apart(tmp_path: Path) -> None:
    records = [one for chain, marks in EIGHT.items() for one in asked(chain, marks)]
    records += [
        one
        for chain in EIGHT
        for one in answers("1" * 8, Condition("dynamic" if chain else "standard", chain, "kprag"))
    ]
    run = write_run(tmp_path / "run", records, sets=sets(("pad", "noise"), "full"))
    part = table(run)
    shown = {row.factors["context"]: row.value for row in part.rows if row.quantity == "whole"}
    assert shown == {"none": -1, "kprag": 0}
    assert part.notes == ["kept apart by context: name values of it, such as with --where, for one of them"]
    only = table(run, Attribution(where={"context": ("kprag",)}))
    assert [row.value for row in only.rows if row.quantity == "whole"] == [0]


def test_one_sample_has_values_without_intervals_beside_all(tmp_path: Path) -> None:
    part = table(factorial(tmp_path / "run", EIGHT), Attribution(by=("model", "sample")))
    rows = {
        row.factors["sample"]: row
        for row in part.rows
        if row.quantity == "shapley" and row.factors["operator"] == "pad"
    }
    assert (rows["s07"].value, rows["s07"].ci95, rows["s07"].p, rows["s07"].n) == (-0.5, None, None, 1)
    assert "too few to tell" in rows["s07"].note
    assert rows["s04"].value == 0 and rows["all"].value == -0.375 and rows["all"].p is not None
    assert rows["all"].p_adjusted == pytest.approx(
        one(table(factorial(tmp_path / "again", EIGHT)), "shapley", "pad").p_adjusted
    )


def test_sets_of_other_operators_are_kept_apart(tmp_path: Path) -> None:
    records = [one for chain, marks in EIGHT.items() for one in asked(chain, marks)]
    forms = {"": "11", "word": "00", "pad": "11", "word+pad": "00"}
    records += [one for chain, marks in forms.items() for one in asked(chain, marks, set="other")]
    both = (*sets(("pad", "noise"), "full"), *sets(("word", "pad"), "full", "other"))
    part = table(write_run(tmp_path / "run", records, sets=both))
    shown = {row.factors["design"]: row.n for row in part.rows if row.quantity == "whole"}
    assert shown == {"full of pad, noise": 8, "full of word, pad": 2}


def test_where_there_is_nothing_to_attribute_a_row_says_why(tmp_path: Path) -> None:
    plain = table(write_run(tmp_path / "plain", asked("", "11")))
    assert [(row.value, row.note) for row in plain.rows] == [
        (None, "no set here holds subsets of operators: make one with `mmdyn perturb --factorial` and evaluate it")
    ]
    partly = table(factorial(tmp_path / "partly", {"": "11", "pad": "11", "noise": "11"}))
    assert [(row.value, row.n, row.left_out, row.note) for row in partly.rows] == [
        (None, 0, 2, "no question was answered under every form")
    ]


def test_a_second_opinion_stands_beside(tmp_path: Path) -> None:
    marks = {"": "1110" * 20, "pad": "1010" * 20, "noise": "1110" * 20, "pad+noise": "1010" * 20}
    part = table(factorial(tmp_path / "run", marks), Attribution(gee=True))
    row = one(part, "log odds", "pad")
    assert (row.value, row.unit) == (pytest.approx(-1.098612, abs=1e-5), "log odds")
    assert row.ci95 is not None and row.ci95[0] < -1.0986 < row.ci95[1] < 0
    assert re.fullmatch(r"p [\d.e-]+", row.note) and row.p is None
    without = one(table(factorial(tmp_path / "again", marks)), "shapley", "pad")
    assert one(part, "shapley", "pad").p_adjusted == without.p_adjusted


def test_a_second_opinion_that_has_no_end_or_differs_says_so(tmp_path: Path) -> None:
    part = table(factorial(tmp_path / "run", EIGHT), Attribution(gee=True))
    row = one(part, "log odds", "pad")
    assert row.value is None and row.note.startswith("the regression has no finite solution")
    chances, marks = {"": 0.25, "pad": 0.5, "noise": 0.25, "pad+noise": 0.5}, {False: "11100", True: "11101"}
    records = [
        one for chain, chance in chances.items() for one in asked(chain, marks["pad" in chain] * 20, chance=chance)
    ]
    part = table(write_run(tmp_path / "other", records, sets=sets(("pad", "noise"), "full")), Attribution(gee=True))
    assert one(part, "shapley", "pad").value == pytest.approx(0.6 - 0.7 / 1.5, abs=0.2)
    note = one(part, "log odds", "pad").note
    assert "of right answers as they are, in which guessing is left" in note


def test_the_table_as_people_read_it(tmp_path: Path) -> None:
    found = tabulate([factorial(tmp_path / "run", EIGHT)], [Attribution()])
    text = FORMATS["markdown"](found)
    assert text.startswith("**Attribution: what of the drop each operator takes, in points**\n")
    assert "| model | operator | shapley | share of the drop | whole | interaction | n | p (Holm) |" in text
    assert "| m1 | pad | -38 \\[-60, +12] | 37.5 | - | - | 8 | 0.0984 |" in text
    csv = FORMATS["csv"](found).splitlines()
    assert csv[0].startswith("part,kind,title,model,operator,quantity,low,high,unit,value,n,left_out")
    assert len(csv) == 7
