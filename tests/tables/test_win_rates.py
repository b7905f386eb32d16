"""Wins, ties and losses: shares, intervals, tests, position bias and breakdowns."""

from __future__ import annotations

from typing import Any

import pytest

from mmdyn.record import Condition
from mmdyn.stats import mcnemar, tango, wilson
from mmdyn.tables import Compared, Preference, Row, Winner, print_parts, win_rates

ORDERS: dict[str, tuple[Winner, tuple[Winner, ...]]] = {
    "a": ("a", ("a", "a")), "b": ("b", ("b", "b")), "t": ("tie", ("tie", "tie")), "1": ("tie", ("a", "b")),
    "2": ("tie", ("b", "a")), "u": ("tie", ("tie", "b")), "A": ("a", ()), "T": ("tie", ()),
}  # fmt: skip
"""How a pair came out: a or b won, a tie, the first or second place won twice, unsteady; capitals: without asking."""


def pair(parent: str, outcome: str, **more: Any) -> Compared:
    winner, orders = ORDERS[outcome]
    made: dict[str, Any] = {"set": "exam", "sample": parent, "group": None, "condition": Condition(), "epoch": 0}
    return Compared(parent=parent, a="ka", b="kb", preference=Preference(winner, orders), **(made | more))


def pairs(outcomes: str, **more: Any) -> list[Compared]:
    return [pair(f"p{place}", outcome, **more) for place, outcome in enumerate(outcomes)]


def figures(pairs: list[Compared], subset: str = "all", **by: list[str]) -> dict[str, Row]:
    """The figures of all pairs, or of a value of a breakdown."""
    return {row.quantity: row for row in win_rates(pairs, by).rows if row.factors["subset"] == subset}


def counts(found: dict[str, Row], *names: str) -> list[float | None]:
    return [found[name].value for name in names]


def test_shares_of_single_pairs_are_wilson_s_and_tango_s() -> None:
    found = figures(pairs("aaaaaabbtt"))
    assert found["a wins"].n == 10 and counts(found, "pairs", "wins", "ties", "losses") == [10, 6, 2, 2]
    for name, share in (("a wins", 0.6), ("tie", 0.2), ("b wins", 0.2)):
        assert found[name].value == share and found[name].ci95 == pytest.approx(wilson(share, 10), abs=1e-6)
        assert found[name].method == "Wilson"
    net = found["difference"]
    assert net.method == "Tango; mid-p McNemar"
    assert net.value == 0.4 and net.ci95 == pytest.approx(tango(0.6, 0.2, 10), abs=1e-6)
    assert net.p == net.p_adjusted == float(f"{mcnemar(6, 2):.6g}")
    assert counts(found, "asked", "first", "second", "unsteady", "position bias") == [10, 0, 0, 0, 0]


def test_a_judge_that_always_prefers_the_first_wins_nothing_and_is_all_bias() -> None:
    found = figures(pairs("1" * 8))
    assert counts(found, "wins", "ties", "losses", "first", "second", "asked") == [0, 8, 0, 8, 0, 8]
    assert found["difference"].p == 1.0
    bias = found["position bias"]
    assert (bias.value, bias.ci95) == (1.0, tuple(round(end, 6) for end in wilson(1.0, 8)))


def test_bias_is_of_the_pairs_that_were_asked_about() -> None:
    found = figures(pairs("AAT12ut"))
    assert counts(found, "asked", "first", "second", "unsteady", "position bias") == [4, 1, 1, 1, 0.5]
    assert counts(found, "wins", "ties") == [2, 5] and found["position bias"].n == 4
    assert "position bias" not in figures(pairs("AT"))


def test_a_parent_counts_once_whatever_its_number_of_pairs() -> None:
    found = figures([pair("p", "a", epoch=0), pair("p", "b", epoch=1), pair("p", "a", epoch=2), pair("q", "t")])
    assert (found["a wins"].n, found["pairs"].value) == (2, 4)
    assert counts(found, "a wins", "b wins") == pytest.approx([1 / 3, 1 / 6], abs=1e-6)
    assert found["difference"].value == pytest.approx(1 / 6, abs=1e-6) and found["tie"].value == 0.5


def test_parents_of_one_group_are_one_cluster() -> None:
    alone, together = figures(pairs("aaaabbbb")), figures([*pairs("aaaa", group="g"), *pairs("bbbb", group="h")])
    (low, high), (least, most) = (found["a wins"].ci95 or (0, 0) for found in (alone, together))
    assert most - least > high - low
    assert "clustered" in together["difference"].method
    assert figures([*pairs("aa", group="g"), *pairs("bb", group="g", set="other")])["a wins"].n == 4


def test_breakdowns_are_in_reading_order_with_p_adjusted_over_all_of_them() -> None:
    made = pairs("a" * 8 + "ab")
    by = {"year": ["2"] * 8 + ["10"] * 2, "kind": ["x"] * 10}
    subsets = [row.factors["subset"] for row in win_rates(made, by).rows if row.quantity == "pairs"]
    assert subsets == ["all", "year 2", "year 10", "kind x"]
    whole, *cells = (row for row in win_rates(made, by).rows if row.quantity == "difference")
    assert whole.p_adjusted == whole.p == cells[2].p
    ps = [(cell.n, cell.p, cell.p_adjusted) for cell in cells]
    assert ps == [(8, 0.00390625, 0.0117188), (2, 1.0, 1.0), (10, 0.0117187, 0.0234374)]


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    made = pairs("aab1")
    print_parts(win_rates(made, {"kind": ["x", "x", "y", "y"]}))
    text = " ".join(capsys.readouterr().out.split())
    assert "subset difference wins tie wins bias pairs wins ties" in text and "in all rows: second 0" in text
    assert "50 [15, 85] 25 [5, 70] 25 [5, 70]" in text and "kind y" in text
    print_parts(win_rates([]))
    assert "no pair has a verdict\n" in capsys.readouterr().out
