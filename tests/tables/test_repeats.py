"""Repeats: how records are grouped into tries, what is counted, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from tables.making_runs import DYNAMIC, answer, write_run

from mmdyn.cli.report import command
from mmdyn.errors import UserError
from mmdyn.record import Condition, Record
from mmdyn.stats import wilson
from mmdyn.tables import report
from mmdyn.tables.collect import collect
from mmdyn.tables.repeats import Figure, RepeatsRow, find_repeats
from mmdyn.work import RunFolder


def rows(run: RunFolder, *ks: int) -> list[RepeatsRow]:
    return find_repeats(collect([run]), ks)


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
    assert (row.over, row.tries, row.failed, row.unscored) == ("epochs", 4, 0, 0)
    assert row.factors == {"variant": "standard", "chain": "", "context": "none", "style": "direct"}
    assert [at.k for at in row.at] == [1, 2, 4]
    assert row.mean.value == row.at[0].pass_at_k.value == 0.5
    assert row.at[1].pass_at_k.value == pytest.approx((5 / 6 + 0 + 1) / 3, abs=1e-6)
    assert row.at[1].worst_at_k.value == pytest.approx((1 / 6 + 0 + 1) / 3, abs=1e-6)
    assert row.at[2].majority_at_k.value == pytest.approx(2 / 3, abs=1e-6)
    assert row.consistency.value == pytest.approx((1 / 6 + 1 + 1) / 3, abs=1e-6)
    low, high = wilson(2 / 3, 3)
    assert row.at[2].pass_at_k == Figure(3, 3, 0, 0.666667, (round(low, 6), round(high, 6)), "Wilson")


def test_the_k_that_is_not_given_is_one_and_all(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*standard("s0", "+AB"), *standard("s1", "+")])
    (row,) = rows(run)
    assert [at.k for at in row.at] == [1, 3]
    assert (row.at[1].pass_at_k.n, row.at[1].pass_at_k.left_out) == (1, 1)


def test_failed_and_unscored_records_are_no_tries(tmp_path: Path) -> None:
    records = [*standard("s0", "+xx+"), *standard("s1", "A+?A"), *standard("s2", "xxxx"), *standard("s3", "++++")]
    row, other = rows(write_run(tmp_path / "run", [*records, *standard("s0", "+++++", model="m2")]), 2, 3, 5)
    assert (row.tries, row.failed, row.unscored, row.mean.n, row.mean.left_out) == (4, 6, 1, 3, 1)
    two, three, five = (at.pass_at_k for at in row.at)
    assert (two.n, two.groups, two.left_out) == (3, 3, 1)
    assert (three.n, three.groups, three.left_out, three.value) == (2, 2, 2, 1.0)
    assert five == Figure(0, 0, 4, None, None, ""), "the other model has five tries, and this one no number"
    assert (other.tries, other.at[2].worst_at_k.value) == (5, 1.0)


def test_partial_credit_counts_in_the_mean_alone(tmp_path: Path) -> None:
    (row,) = rows(write_run(tmp_path / "run", standard("s0", "+½½u")), 1)
    assert (row.mean.value, row.at[0].pass_at_k.value) == (0.5, 0.25)
    assert row.consistency.value == pytest.approx(1 / 6, abs=1e-6), "the two halves gave one answer"


def test_wrong_answers_agree_by_their_spelling(tmp_path: Path) -> None:
    given_ = ["The Cat.", "cat", ["B", "A"], ["A", "B"], 5, None]
    records = [answer("s0", 0.0, Condition(), epoch=epoch, extracted=text) for epoch, text in enumerate(given_)]
    (row,) = rows(write_run(tmp_path / "run", records))
    assert row.consistency.value == pytest.approx(1 / 15, abs=1e-6)
    several = [msgspec.structs.replace(record, task_type="multi_select") for record in records]
    (row,) = rows(write_run(tmp_path / "several", several))
    assert row.consistency.value == pytest.approx(2 / 15, abs=1e-6)


def test_draws_of_a_parent(tmp_path: Path) -> None:
    draws = [
        *(answer("s0", value, DYNAMIC, draw=draw, extracted=letter) for draw, (value, letter) in enumerate([(1.0, "A"), (0.0, "C"), (0.0, "B")])),
        *(answer("s1", 1.0, DYNAMIC, draw=draw, extracted=letter) for draw, letter in enumerate("ABC")),
    ]  # fmt: skip
    (row,) = rows(write_run(tmp_path / "run", draws), 1, 3)
    assert (row.over, row.tries, row.factors["chain"]) == ("draws", 3, "pad")
    one, three = row.at
    assert (one.pass_at_k.value, three.pass_at_k.value) == (pytest.approx(2 / 3, abs=1e-6), 1.0)
    assert three.worst_at_k.value == 0.5
    assert three.majority_at_k.value == 0.5, "two wrong draws outvote a right one, whatever their letters"
    assert row.consistency.value == pytest.approx((1 / 3 + 1) / 2, abs=1e-6)


def test_draws_and_epochs_are_told_apart(tmp_path: Path) -> None:
    records = [*tries("s0", "+A", draw=0), *tries("s0", "++", draw=1), *tries("s0", "+", draw=2)]
    epochs, draws = rows(write_run(tmp_path / "run", records), 2)
    assert (epochs.over, epochs.tries, draws.over, draws.tries) == ("epochs", 2, "draws", 3)
    worst = epochs.at[0].worst_at_k
    assert (worst.value, worst.n, worst.groups, worst.left_out) == (0.5, 1, 2, 1)
    # Epoch 0: three draws, all right. Epoch 1: two, of which one is right.
    assert (draws.at[0].worst_at_k.value, draws.at[0].worst_at_k.groups) == (0.5, 2)
    assert draws.consistency.value == 0.5


def test_chains_are_never_mixed_and_groups_widen_the_interval(tmp_path: Path) -> None:
    other = Condition("dynamic", "shuffle")
    records = [*tries("s0", "+A"), *tries("s0", "AA", other), *tries("s1", "AA"), *tries("s2", "++")]
    pad, shuffle = rows(write_run(tmp_path / "run", records), 2)
    assert [row.factors["chain"] for row in (pad, shuffle)] == ["pad", "shuffle"]
    assert (pad.at[0].pass_at_k.n, shuffle.at[0].pass_at_k.value) == (3, 0.0)
    grouped = [record for name in "ab" for record in standard(name, "++", group="g")]
    grouped += [*standard("c", "AA"), *standard("d", "AA")]
    (row,) = rows(write_run(tmp_path / "grouped", grouped), 2)
    assert row.at[0].pass_at_k.method == "Wilson at effective n (clustered)"


def test_parents_of_one_name_in_two_sets_stay_apart(tmp_path: Path) -> None:
    records = [*standard("s0", "++"), *standard("s0", "AA", set="other"), *standard("s1", "AA", set="other")]
    exam, other = rows(write_run(tmp_path / "run", records), 2)
    assert (exam.set, exam.at[0].pass_at_k.n, exam.at[0].pass_at_k.value) == ("exam", 1, 1.0)
    assert (other.set, other.at[0].pass_at_k.n, other.at[0].pass_at_k.value) == ("other", 2, 0.0)


def test_nothing_repeated_is_said(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*standard("s0", "+"), *tries("s0", "A")])
    assert rows(run) == []
    result = CliRunner().invoke(command, [str(run.folder), "--repeats"])
    assert result.output.endswith("no parent has two draws: give eval --epochs, or perturb --draws.\n")


def test_as_it_is_typed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*standard("s0", "++AB"), *standard("s1", "AxAA")], epochs=4)
    output = CliRunner().invoke(command, [str(run.folder), "--repeats", "--k", "1,3", "-q"]).output
    figures = [line.split()[0] for line in output.splitlines() if "@" in line]
    assert figures == ["pass@1", "pass@3", "majority@3", "worst@3"]
    assert "m1, exam, standard, over epochs: 1 failed and 0 unscored answers are no tries." in output
    written = CliRunner().invoke(command, [str(run.folder), "--repeats", "--k", "3,1,3", "--json", "-q"])
    read = json.loads(written.stdout)["repeats"]
    assert [at["k"] for at in read[0]["at"]] == [1, 3]
    names = ["n", "groups", "left_out", "value", "ci95", "method", "bound"]
    found = read[0]["at"][1]["pass_at_k"]
    assert list(found) == names and [found[name] for name in names if name != "ci95"] == [2, 2, 0, 0.5, "Wilson", ""]
    assert json.loads(report(run, repeats=(1, 3)).to_json())["repeats"] == read


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
