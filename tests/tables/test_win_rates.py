"""Wins, ties and losses: shares, intervals, tests, position bias and breakdowns."""

from __future__ import annotations

import io
from typing import Any

import pytest

from mmdyn.record import Condition
from mmdyn.stats import mcnemar, tango, wilson
from mmdyn.tables import Compared, Preference, Winner, print_win_rates, win_rate, win_rates
from mmdyn.tables.win_rates import Rate

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


def test_shares_of_single_pairs_are_wilson_s_and_tango_s() -> None:
    found = win_rate(pairs("aaaaaabbtt"))
    assert (found.n, found.pairs, found.wins, found.ties, found.losses) == (10, 10, 6, 2, 2)
    for rate, share in ((found.win, 0.6), (found.tie, 0.2), (found.loss, 0.2)):
        assert rate.share == share and rate.ci95 == pytest.approx(wilson(share, 10), abs=1e-6)
    assert found.net == 0.4 and found.net_ci95 == pytest.approx(tango(0.6, 0.2, 10), abs=1e-6)
    assert found.p == found.p_adjusted == float(f"{mcnemar(6, 2):.6g}")
    assert found.method == "Wilson; Tango; mid-p McNemar"
    assert (found.asked, found.first, found.second, found.unsteady) == (10, 0, 0, 0)
    assert found.bias is not None and found.bias.share == 0


def test_a_judge_that_always_prefers_the_first_wins_nothing_and_is_all_bias() -> None:
    found = win_rate(pairs("1" * 8))
    assert (found.wins, found.ties, found.losses, found.p) == (0, 8, 0, 1.0)
    assert (found.first, found.second, found.asked) == (8, 0, 8)
    assert found.bias == Rate(1.0, tuple(round(end, 6) for end in wilson(1.0, 8)))  # type: ignore[arg-type]


def test_bias_is_of_the_pairs_that_were_asked_about() -> None:
    found = win_rate(pairs("AAT12ut"))
    assert (found.asked, found.first, found.second, found.unsteady) == (4, 1, 1, 1)
    assert found.bias is not None and found.bias.share == 0.5
    assert (found.wins, found.ties) == (2, 5)
    assert win_rate(pairs("AT")).bias is None


def test_a_parent_counts_once_whatever_its_number_of_pairs() -> None:
    found = win_rate([pair("p", "a", epoch=0), pair("p", "b", epoch=1), pair("p", "a", epoch=2), pair("q", "t")])
    assert (found.n, found.pairs) == (2, 4)
    assert found.win.share == pytest.approx(1 / 3, abs=1e-6) and found.loss.share == pytest.approx(1 / 6, abs=1e-6)
    assert found.net == pytest.approx(1 / 6, abs=1e-6) and found.tie.share == 0.5


def test_parents_of_one_group_are_one_cluster() -> None:
    alone, together = win_rate(pairs("aaaabbbb")), win_rate([*pairs("aaaa", group="g"), *pairs("bbbb", group="h")])
    assert together.win.ci95[1] - together.win.ci95[0] > alone.win.ci95[1] - alone.win.ci95[0]
    assert "empirical likelihood (few differ, clustered)" in together.method and together.p is None
    other_set = win_rate([*pairs("aa", group="g"), *pairs("bb", group="g", set="other")])
    assert other_set.n == 4, "parents of one name in two sets are two"


def test_breakdowns_are_in_reading_order_with_p_adjusted_over_all_of_them() -> None:
    made = pairs("a" * 8 + "ab")
    by = win_rates(made, {"year": ["2"] * 8 + ["10"] * 2, "kind": ["x"] * 10})
    assert {name: list(cells) for name, cells in by.items()} == {"year": ["2", "10"], "kind": ["x"]}
    ps = {cell.pairs: (cell.p, cell.p_adjusted) for cells in by.values() for cell in cells.values()}
    assert ps == {8: (0.00390625, 0.0117188), 2: (1.0, 1.0), 10: (0.0117187, 0.0234374)}


def test_what_is_printed() -> None:
    out, made = io.StringIO(), pairs("aab1")
    print_win_rates("m1 (run)", "m2\x1b (run)", win_rate(made), win_rates(made, {"kind": ["x", "x", "y", "y"]}), out)
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines()]
    assert lines[:2] == ["a: m1 (run)", "b: m2\N{REPLACEMENT CHARACTER} (run)"]
    assert any(line.startswith("all 50 [15, 85] 25 [5, 70] 25 [5, 70] +25 [") for line in lines)
    assert any(line.startswith("y 0 [") and line.endswith("0.50 2 2 50 [9, 91] 1, 0") for line in lines)
    print_win_rates("a", "b", None, {}, out := io.StringIO())
    assert out.getvalue() == "No pair has a verdict.\n"
