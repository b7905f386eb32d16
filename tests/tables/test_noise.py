"""The noise floor: flips beyond repetition and k draws beside k repetitions, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from tables.making_runs import SETS, answer, write_run

from mmdyn.data import ChainStrength
from mmdyn.data.strength import Role
from mmdyn.record import Condition, Record
from mmdyn.table import Noise, Part
from mmdyn.tables import Row, TablePart, tabulate
from mmdyn.work import RunFolder


def repeated(tries: Mapping[str, str]) -> list[Record]:
    """An epoch a mark: 1 right, 0 wrong, ½ half right, x failed."""
    return [
        told(parent, mark, Condition(), epoch=epoch)
        for parent, marks in tries.items()
        for epoch, mark in enumerate(marks)
    ]


def drawn(chain: str, draws: Mapping[str, str], epoch: int = 0) -> list[Record]:
    """A draw a mark."""
    return [
        told(parent, mark, Condition("dynamic", chain), draw=draw, epoch=epoch)
        for parent, marks in draws.items()
        for draw, mark in enumerate(marks)
    ]


def told(parent: str, mark: str, condition: Condition, *, draw: int = 0, epoch: int = 0) -> Record:
    value = {"x": None, "½": 0.5}.get(mark, 1.0 if mark == "1" else 0.0)
    return answer(parent, value, condition, draw=draw, epoch=epoch, error="500" * (mark == "x"))


def table(run: RunFolder, part: Part = Noise()) -> TablePart:  # noqa: B008
    (found,) = tabulate([run], [part]).parts
    return found


def one(part: TablePart, figure: str, quantity: str, chain: str = "pad") -> Row:
    wanted = (figure, quantity, chain)
    (row,) = (row for row in part.rows if (row.factors["figure"], row.quantity, row.factors["chain"]) == wanted)
    return row


def numbers(part: TablePart, figure: str, chain: str = "pad") -> tuple[float | None, ...]:
    """Of variants, of repetitions, and their difference."""
    return tuple(one(part, figure, name, chain).value for name in ("variants", "repetitions", "difference"))


FOUR = {"s0": "11", "s1": "10", "s2": "00", "s3": "11"}


def test_flips_beyond_repetition(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*repeated(FOUR), *drawn("pad", {"s0": "1", "s1": "0", "s2": "1", "s3": "0"})])
    part = table(run)
    # By question: right to wrong 0, ½, 0, 1; wrong to right 0, 0, 1, 0; by repetition 0, 1/2, 0, 0.
    assert numbers(part, "right to wrong") == (0.375, 0.125, 0.25)
    assert numbers(part, "wrong to right") == (0.25, 0.125, 0.125)
    assert {(row.n, row.left_out) for row in part.rows} == {(4, 0)}
    difference = one(part, "right to wrong", "difference")
    assert (difference.unit, difference.method) == ("points", "Tango; mid-p McNemar")
    assert difference.p is not None and difference.ci95 is not None and difference.ci95[0] < 0.25 < difference.ci95[1]


def test_three_repetitions_and_several_draws(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*repeated({"s0": "110"}), *drawn("pad", {"s0": "1000"})])
    # Of six ordered pairs of repetitions two are right, then wrong; two thirds are right, three draws of four wrong.
    assert numbers(table(run), "right to wrong") == (
        0.5,
        pytest.approx(1 / 3, abs=1e-6),
        pytest.approx(1 / 6, abs=1e-6),
    )


def test_the_two_directions_differ_by_the_drop(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run", [*repeated(FOUR), *drawn("pad", {name: "0110"[place] * 2 for place, name in enumerate(FOUR)})]
    )
    part = table(run)
    to_wrong, to_right = (one(part, figure, "difference").value for figure in ("right to wrong", "wrong to right"))
    assert to_wrong is not None and to_right is not None
    assert to_right - to_wrong == pytest.approx(one(part, "average-case accuracy", "difference").value)


def test_partial_credit_is_not_right_and_parents_without_two_tries_are_left_out(tmp_path: Path) -> None:
    tries = {"s0": "1½", "s1": "11", "s2": "1x", "s3": "11"}
    run = write_run(tmp_path / "run", [*repeated(tries), *drawn("pad", {"s0": "1", "s1": "½", "s2": "0", "s3": "x"})])
    row = one(table(run), "right to wrong", "variants")
    assert (row.n, row.left_out, row.failed) == (2, 2, 2)
    assert numbers(table(run), "right to wrong") == (0.5, 0.25, 0.25)


def test_all_chains_are_pooled_for_flips_alone(tmp_path: Path) -> None:
    pads, turns = {"s0": "11", "s1": "00"}, {"s0": "00", "s1": "00"}
    run = write_run(tmp_path / "run", [*repeated({"s0": "11", "s1": "10"}), *drawn("pad", pads), *drawn("turn", turns)])
    part = table(run)
    assert [numbers(part, "right to wrong", chain)[0] for chain in ("pad", "turn", "all")] == [0.25, 0.75, 0.5]
    assert {row.factors["figure"] for row in part.rows if row.factors["chain"] == "all"} == {
        "right to wrong",
        "wrong to right",
    }


def test_k_draws_beside_k_repetitions(tmp_path: Path) -> None:
    tries = {"s0": "110", "s1": "111"}
    run = write_run(
        tmp_path / "run", [*repeated(tries), *drawn("pad", {"s0": "10", "s1": "11"}), *drawn("pad", {"s0": "00"}, 1)]
    )
    part = table(run)
    # Draws of s0: one of two right in one epoch, none in the other. Two of three repetitions: both right in 1 of 3.
    assert numbers(part, "average-case accuracy") == (
        0.625,
        pytest.approx(5 / 6, abs=1e-6),
        pytest.approx(-5 / 24, abs=1e-6),
    )
    assert numbers(part, "worst-case accuracy of 2") == (
        0.5,
        pytest.approx(2 / 3, abs=1e-6),
        pytest.approx(-1 / 6, abs=1e-6),
    )
    assert numbers(part, "best-case accuracy of 2") == (0.75, 1.0, -0.25)
    assert numbers(part, "consistency")[:2] == (0.75, pytest.approx(2 / 3, abs=1e-6))
    robust = [one(part, "reasoning robustness", name) for name in ("variants", "repetitions")]
    assert [row.value for row in robust] == [0.8, 0.8] and [row.ci95 for row in robust] == [None, None]


def test_without_repetitions_it_says_that_it_cannot_tell(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*repeated({"s0": "1", "s1": "0"}), *drawn("pad", {"s0": "11", "s1": "10"})])
    part = table(run)
    first = part.rows[0]
    assert (first.factors["chain"], first.factors["figure"], first.value) == ("all", "flips", None)
    assert first.note == (
        "nothing tells what a chain flips from what flips where nothing changed: run the same `mmdyn eval` with"
        " --epochs 3, or add a null chain (`mmdyn perturb --ops image.null,text.null`)"
    )
    assert one(part, "worst-case accuracy of 2", "variants").value == 0.5
    assert {row.quantity for row in part.rows[1:]} == {"variants"}


def test_odd_runs_have_a_row_that_says_why(tmp_path: Path) -> None:
    part = table(write_run(tmp_path / "plain", repeated(FOUR)))
    assert [(row.value, row.note) for row in part.rows] == [(None, "no variant was asked")]
    alone = table(
        write_run(tmp_path / "both", [*repeated(FOUR), *drawn("pad", FOUR)]), Noise(where={"chain": ("pad",)})
    )
    says = "no standard question is among these records: leave variant and chain out of --where"
    assert (alone.rows[0].value, alone.rows[0].note) == (None, says)
    apart = write_run(tmp_path / "apart", [*repeated({"s0": "10", "s1": "1"}), *drawn("pad", {"s1": "0"})])
    rows = table(apart).rows
    assert {(row.quantity, row.value, row.n, row.left_out, row.note) for row in rows} == {
        ("difference", None, 0, 2, "no question has this under both")
    }


def test_by_a_field_and_with_chains_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*repeated(FOUR), *drawn("pad", dict.fromkeys(FOUR, "1"))])
    part = table(run, Noise(by=("model", "sample", "chain")))
    assert {row.factors["sample"] for row in part.rows} == {*FOUR, "all"}
    assert {row.factors["chain"] for row in part.rows if row.value is not None} == {"pad"}
    never = [row for row in part.rows if row.factors["chain"] == "all"]
    assert {row.factors["sample"] for row in never} == {"s0", "s2", "s3"}, "their repetitions never differ"
    assert all("there is no noise floor and no test" in row.note for row in never)


def test_where_repetitions_never_differ_a_null_chain_is_the_floor(tmp_path: Path) -> None:
    """Of four questions pad flips two, and what nobody would call a change flips one."""
    still = {"s0": "11", "s1": "11", "s2": "00", "s3": "11"}
    roles: dict[str, Role] = {"pad": "treatment", "image.null": "null"}
    strength = {chain: ChainStrength(4, 0.1, role=role) for chain, role in roles.items()}
    sets = (SETS[0], replace(SETS[1], strength=strength))
    records = [*repeated(still), *drawn("pad", {"s0": "0", "s1": "0", "s2": "0", "s3": "1"})]
    null = {"s0": "0", "s1": "1", "s2": "0", "s3": "1"}
    part = table(write_run(tmp_path / "null", [*records, *drawn("image.null", null)], sets=sets))
    told = {name: one(part, "right to wrong", name).value for name in ("variants", "null chain", "difference")}
    assert told == {"variants": 0.5, "null chain": 0.25, "difference": 0.25}
    assert one(part, "right to wrong", "variants", "all").value == 0.5, "over all are the treatment's chains"
    none = table(write_run(tmp_path / "none", records))
    assert none.rows[0].value is None and "there is no noise floor and no test" in none.rows[0].note
    assert {row.quantity for row in none.rows[1:]} == {"variants"} and {row.p for row in none.rows} == {None}
    alike = {"s0": "1", "s1": "1", "s2": "0", "s3": "1"}
    stays = table(write_run(tmp_path / "stays", [*records, *drawn("image.null", alike)], sets=sets))
    causes = [part.rows[0].note.partition(",")[0] for part in (none, stays)]
    assert causes == ["repeated replies never differ", "neither asking again nor a null chain turned any answer"]
    assert stays.rows[0].note.endswith("what flips by itself is too rare to be seen here"), (
        "the same is not advised again"
    )
    assert "add a null chain" in none.rows[0].note and "add a null chain" not in stays.rows[0].note


def test_a_terminal_shows_flips_by_their_way_and_names_the_rest(tmp_path: Path) -> None:
    records = [
        *repeated({"s0": "110", "s1": "111"}),
        *drawn("pad", {"s0": "10", "s1": "11"}),
        *drawn("color", {"s0": "1"}),
    ]
    whole = tabulate([write_run(tmp_path / "run", records)], [Noise()])
    (part,) = whole.in_main_rows().parts
    names = [(row.factors["figure"], row.factors["chain"]) for row in part.rows if row.quantity == "variants"]
    assert names == [(way, chain) for way in ("right to wrong", "wrong to right") for chain in ("color", "pad", "all")]
    rest = "average-case accuracy, worst-case accuracy of 2, best-case accuracy of 2, consistency, reasoning robustness"
    assert part.notes[-1] == f"--full, and JSON and CSV, have the rest: {rest}"
    assert len(part.rows) < len(whole.parts[0].rows)
