"""Repeats: how records are grouped into tries, what is counted, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from tables.making_runs import DYNAMIC, answer, lines_of, write_run

from mmdyn.cli.report import command
from mmdyn.errors import UserError
from mmdyn.record import Condition, Record
from mmdyn.stats import wilson
from mmdyn.table import Repeats
from mmdyn.tables import Row, report, tabulate
from mmdyn.work import RunFolder


def rows(run: RunFolder, *ks: int) -> list[dict[str, Row]]:
    """The figures of each condition over epochs, and over draws."""
    return lines_of(tabulate([run], [Repeats(k=ks)]), "repeats")


def numbers(row: dict[str, Row], *names: str) -> list[float | None]:
    return [row[name].value for name in names]


def ks_of(row: dict[str, Row]) -> list[str]:
    return [name for name in row if name.startswith("pass@")]


def tries(parent: str, marks: str, condition: Condition = DYNAMIC, **more: Any) -> list[Record]:
    """An epoch a character: + right, ½ half right, u without an answer, x failed, ? unscored, else a wrong answer of
    its own."""
    found = list[Record]()
    for epoch, mark in enumerate(marks):
        if mark == "x":
            found.append(answer(parent, None, condition, epoch=epoch, error="the server said 500", **more))
        elif mark == "?":
            found.append(answer(parent, None, condition, epoch=epoch, scored=False, **more))
        elif mark == "u":
            found.append(answer(parent, 0.0, condition, epoch=epoch, status="unparsed", extracted=None, **more))
        else:
            value = {"+": 1.0, "½": 0.5}.get(mark, 0.0)
            found.append(answer(parent, value, condition, epoch=epoch, extracted=[mark], **more))
    return found


def standard(parent: str, marks: str, **more: Any) -> list[Record]:
    return tries(parent, marks, Condition(), **more)


def test_epochs_of_a_sample(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*standard("s0", "++AB"), *standard("s1", "AAAA"), *standard("s2", "++++")])
    (row,) = rows(run, 1, 2, 4)
    assert row["mean"].factors == {
        "model": "m1", "set": "exam", "variant": "standard", "chain": "(not given)", "context": "none",
        "style": "direct", "over": "epochs",
    }  # fmt: skip
    assert ks_of(row) == ["pass@1", "pass@2", "pass@4"] and "majority@1" not in row and "worst@1" not in row
    assert (row["tries"].value, row["mean"].failed, row["mean"].unscored) == (4, 0, 0)
    assert row["mean"].value == row["pass@1"].value == 0.5
    assert row["pass@2"].value == pytest.approx((5 / 6 + 0 + 1) / 3, abs=1e-6)
    assert row["worst@2"].value == pytest.approx((1 / 6 + 0 + 1) / 3, abs=1e-6)
    assert row["majority@4"].value == pytest.approx(2 / 3, abs=1e-6)
    assert row["consistency"].value == pytest.approx((1 / 6 + 1 + 1) / 3, abs=1e-6)
    low, high = wilson(2 / 3, 3)
    found = row["pass@4"]
    assert (found.n, row["groups"].value, found.left_out, found.value, found.method) == (3, 3, 0, 0.666667, "Wilson")
    assert found.ci95 == (round(low, 6), round(high, 6))


def test_the_k_that_is_not_given_is_one_and_all(tmp_path: Path) -> None:
    (row,) = rows(write_run(tmp_path / "run", [*standard("s0", "+AB"), *standard("s1", "+")]))
    assert ks_of(row) == ["pass@1", "pass@3"]
    assert (row["pass@3"].n, row["pass@3"].left_out) == (1, 1)


def test_failed_and_unscored_records_are_no_tries(tmp_path: Path) -> None:
    records = [*standard("s0", "+xx+"), *standard("s1", "A+?A"), *standard("s2", "xxxx"), *standard("s3", "++++")]
    row, other = rows(write_run(tmp_path / "run", [*records, *standard("s0", "+++++", model="m2")]), 2, 3, 5)
    mean = row["mean"]
    assert (row["tries"].value, mean.failed, mean.unscored, mean.n, mean.left_out) == (4, 6, 1, 3, 1)
    two, three, five = (row[f"pass@{k}"] for k in (2, 3, 5))
    assert (two.n, two.left_out, row["groups"].value) == (3, 1, 3)
    assert (three.n, three.left_out, three.value) == (2, 2, 1.0)
    assert (five.n, five.left_out, five.value, five.ci95, five.method) == (0, 4, None, None, "")
    assert five.note == "no group has so many tries", "the other model has five tries, and this one no number"
    assert numbers(other, "tries", "worst@5") == [5, 1.0]


def test_partial_credit_counts_in_the_mean_alone(tmp_path: Path) -> None:
    (row,) = rows(write_run(tmp_path / "run", standard("s0", "+½½u")), 1)
    assert numbers(row, "mean", "pass@1") == [0.5, 0.25]
    assert row["consistency"].value == pytest.approx(1 / 6, abs=1e-6), "the two halves gave one answer"


def test_wrong_answers_agree_by_their_spelling(tmp_path: Path) -> None:
    given_ = ["The Cat.", "cat", ["B", "A"], ["A", "B"], 5, None]
    records = [answer("s0", 0.0, Condition(), epoch=epoch, extracted=text) for epoch, text in enumerate(given_)]
    (row,) = rows(write_run(tmp_path / "run", records))
    assert row["consistency"].value == pytest.approx(1 / 15, abs=1e-6)
    several = [msgspec.structs.replace(record, task_type="multi_select") for record in records]
    (row,) = rows(write_run(tmp_path / "several", several))
    assert row["consistency"].value == pytest.approx(2 / 15, abs=1e-6)


def test_draws_of_a_parent(tmp_path: Path) -> None:
    draws = [
        *(answer("s0", value, DYNAMIC, draw=draw, extracted=letter) for draw, (value, letter) in enumerate([(1.0, "A"), (0.0, "C"), (0.0, "B")])),
        *(answer("s1", 1.0, DYNAMIC, draw=draw, extracted=letter) for draw, letter in enumerate("ABC")),
    ]  # fmt: skip
    (row,) = rows(write_run(tmp_path / "run", draws), 1, 3)
    assert (row["mean"].factors["over"], row["tries"].value, row["mean"].factors["chain"]) == ("draws", 3, "pad")
    assert numbers(row, "pass@1", "pass@3") == [pytest.approx(2 / 3, abs=1e-6), 1.0]
    assert row["worst@3"].value == 0.5
    assert row["majority@3"].value == 0.5, "two wrong draws outvote a right one, whatever their letters"
    assert row["consistency"].value == pytest.approx((1 / 3 + 1) / 2, abs=1e-6)


def test_draws_and_epochs_are_told_apart(tmp_path: Path) -> None:
    records = [*tries("s0", "+A", draw=0), *tries("s0", "++", draw=1), *tries("s0", "+", draw=2)]
    epochs, draws = rows(write_run(tmp_path / "run", records), 2)
    assert [row["tries"].factors["over"] for row in (epochs, draws)] == ["epochs", "draws"]
    assert [row["tries"].value for row in (epochs, draws)] == [2, 3]
    worst = epochs["worst@2"]
    assert (worst.value, worst.n, worst.left_out, epochs["groups"].value) == (0.5, 1, 1, 3)
    # Epoch 0: three draws, all right. Epoch 1: two, of which one is right.
    assert numbers(draws, "worst@2", "groups", "consistency") == [0.5, 2, 0.5]


def test_chains_are_never_mixed_and_groups_widen_the_interval(tmp_path: Path) -> None:
    other = Condition("dynamic", "shuffle")
    records = [*tries("s0", "+A"), *tries("s0", "AA", other), *tries("s1", "AA"), *tries("s2", "++")]
    pad, shuffle = rows(write_run(tmp_path / "run", records), 2)
    assert [row["mean"].factors["chain"] for row in (pad, shuffle)] == ["pad", "shuffle"]
    assert (pad["pass@2"].n, shuffle["pass@2"].value) == (3, 0.0)
    grouped = [record for name in "ab" for record in standard(name, "++", group="g")]
    grouped += [*standard("c", "AA"), *standard("d", "AA")]
    (row,) = rows(write_run(tmp_path / "grouped", grouped), 2)
    assert row["pass@2"].method == "Wilson at effective n (clustered)"


def test_parents_of_one_name_in_two_sets_stay_apart(tmp_path: Path) -> None:
    records = [*standard("s0", "++"), *standard("s0", "AA", set="other"), *standard("s1", "AA", set="other")]
    found = [row["pass@2"] for row in rows(write_run(tmp_path / "run", records), 2)]
    assert [(row.factors["set"], row.n, row.value) for row in found] == [("exam", 1, 1.0), ("other", 2, 0.0)]


def test_where_chooses_conditions(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*standard("s0", "+A"), *tries("s0", "AA")])
    found = lines_of(tabulate([run], [Repeats(where={"variant": ("dynamic",)})]), "repeats")
    assert [row["pass@2"].value for row in found] == [0.0]


def test_nothing_repeated_is_said(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*standard("s0", "+"), *tries("s0", "A")])
    assert rows(run) == []
    output = " ".join(CliRunner().invoke(command, [str(run.folder), "--repeats", "-q"]).output.split())
    assert "no question was asked more than once, and no parent has two draws: give eval --epochs, or perturb" in output


def test_as_it_is_typed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*standard("s0", "++AB"), *standard("s1", "AxAA")], epochs=4)
    output = CliRunner().invoke(command, [str(run.folder), "--repeats", "--k", "1,3", "-q"]).output
    figures = [line.split() for line in output.splitlines() if "@" in line]
    assert [words[0] for words in figures] == ["pass@1", "pass@3", "majority@3", "worst@3"]
    assert "in all rows: condition standard, over epochs" in output
    assert all(words[-1] == "1" for words in figures), "one of them failed"
    written = CliRunner().invoke(command, [str(run.folder), "--repeats", "--k", "3,1,3", "--json", "-q"])
    (read,) = (part["rows"] for part in json.loads(written.stdout)["parts"] if part["kind"] == "repeats")
    names = ["mean", "pass@1", "pass@3", "majority@3", "worst@3", "consistency", "tries", "groups"]
    assert [row["quantity"] for row in read] == names
    found = {name: read[2][name] for name in ("n", "left_out", "value", "method")}
    assert found == {"n": 2, "left_out": 0, "value": 0.5, "method": "Wilson"}
    again = json.loads(report(run, repeats=(1, 3)).to_json())["parts"]
    assert [part["rows"] for part in again if part["kind"] == "repeats"] == [read]


@pytest.mark.parametrize(("marks", "k", "problem"), [
    ("+A+", "9", "--k 9: no question has so many scored tries; the most is 3: give 3 or less"),
    ("+A+", "1,4", "--k 4: no question has so many scored tries; the most is 3: give 3 or less"),
    ("+Ax", "3", "--k 3: no question has so many scored tries; the most is 2: give 2 or less"),
    ("+", "2", "--k 2: no question has so many scored tries; the most is 1: repeats come of eval --epochs, or perturb --draws"),
    ("x", "2", "--k 2: no question has so many scored tries; the most is 0: repeats come of eval --epochs, or perturb --draws"),
])  # fmt: skip
def test_more_tries_than_there_are(tmp_path: Path, marks: str, k: str, problem: str) -> None:
    run = write_run(tmp_path / "run", standard("s0", marks), epochs=len(marks))
    with pytest.raises(UserError) as caught:
        rows(run, *map(int, k.split(",")))
    assert str(caught.value) == problem


def test_one_try_of_one_is_no_mistake(tmp_path: Path) -> None:
    for name, records in (("one", standard("s0", "+")), ("failed", standard("s0", "x"))):
        assert rows(write_run(tmp_path / name, records), 1) == []
