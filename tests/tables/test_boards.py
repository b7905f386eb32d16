"""Boards of models by pairs whose truth is known: wins, win rates, Elo, ranks, and the pairs of every two models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import log, log10
from typing import Any

import numpy as np
import pytest

from mmdyn.record import Condition
from mmdyn.stats import TOO_FEW_NOTE, mean_score
from mmdyn.tables import Compared, Preference, Row, Winner, board, pair_rates, print_parts, win_rates
from mmdyn.tables.ranks import NONE, ONE_SIDED, RANGE, UNLINKED

ORDERS: dict[str, tuple[Winner, ...]] = {"a": ("a", "a"), "b": ("b", "b"), "t": ("tie", "tie"), "1": ("a", "b"), "2": ("b", "a")}  # fmt: skip
"""How a pair came out: a or b won, a tie, the first or the second place won twice."""


def pair(parent: str, a: str, b: str, outcome: str, **more: Any) -> Compared:
    winner: Winner = "a" if outcome == "a" else "b" if outcome == "b" else "tie"
    made: dict[str, Any] = {"set": "exam", "sample": parent, "group": None, "condition": Condition(), "epoch": 0}
    preference = Preference(winner, ORDERS[outcome])
    return Compared(parent=parent, a="ka", b="kb", preference=preference, model_a=a, model_b=b, **(made | more))


def pairs(models: str, n: int, say: Callable[[str, str, int], str], **more: Any) -> list[Compared]:
    """Every two models on each of n questions."""
    return [pair(f"p{q}", a, b, say(a, b, q), **more) for q in range(n) for a, b in combinations(models, 2)]


def figures(made: Sequence[Compared], subset: str = "all", **more: Any) -> dict[str, dict[str, Row]]:
    """The rows by model, in order, and quantity."""
    found = dict[str, dict[str, Row]]()
    for row in board(made, **more).rows:
        if row.factors["subset"] == subset:
            found.setdefault(row.factors["model"], {})[row.quantity] = row
    return found


def of(found: dict[str, dict[str, Row]], quantity: str) -> dict[str, Any]:
    return {model: rows[quantity].value for model, rows in found.items()}


def in_turn(*outcomes: str) -> Callable[[str, str, int], str]:
    """a-b, a-c, b-c, … by their questions in turn."""
    return lambda a, b, q: outcomes["xyz".index(a) + "xyz".index(b) - 1][q % len(outcomes[0])]


def test_counts_and_win_rates_are_those_of_the_pairs() -> None:
    """x beats y in 3 of 4 and ties 1; x and z win 2 each; y and z tie 2, win 1 each."""
    found = figures(pairs("xyz", 40, in_turn("aaat", "abab", "t1ab")))
    assert of(found, "wins") == {"x": 50, "z": 30, "y": 10}
    assert of(found, "ties") == {"x": 10, "z": 20, "y": 30} and of(found, "losses") == {"x": 20, "z": 30, "y": 40}
    assert of(found, "win rate") == {"x": 0.6875, "z": 0.5, "y": 0.3125}
    assert {rows["elo"].n for rows in found.values()} == {40} and of(found, "elo")["z"] == pytest.approx(0, abs=1e-6)
    assert of(found, "elo")["x"] == pytest.approx(-of(found, "elo")["y"])
    assert {model: rows["rank"].ci95 for model, rows in found.items()} == {"x": (1, 2), "z": (1, 2), "y": (3, 3)}
    assert found["x"]["rank"].method.startswith(RANGE)


def test_elo_against_a_reference_is_the_odds_of_winning() -> None:
    """z is the reference: x wins 30 of 40 against it, y wins 10 and ties 20."""
    against = {"x": "aaab", "y": "abtt"}
    made = [pair(f"p{q}", model, "z", against[model][q % 4]) for q in range(40) for model in "xy"]
    found = figures(made, reference="z")
    assert of(found, "elo") == pytest.approx({"x": 400 * log10(30.5 / 10.5), "y": 0, "z": 0}, abs=1e-5)
    assert found["z"]["elo"].value == 0 and found["z"]["elo"].ci95 is None and "win rate" not in found["z"]
    assert (found["x"]["win rate"].value, found["y"]["win rate"].value) == (0.75, 0.5)
    assert [found["z"][name].value for name in ("wins", "ties", "losses")] == [20, 20, 40]
    assert "z: 0" in board(made, "z").title and "against z" in board(made, "z").title


def test_win_rates_have_the_interval_of_scores_over_questions() -> None:
    found = figures(pairs("xyz", 12, in_turn("aaat", "abab", "t1ab")))["x"]["win rate"]
    shares = np.resize([1.0, 0.5, 1.0, 0.25], 12)
    expected = mean_score(shares, np.ones(12), np.arange(12)).rounded
    assert (found.value, found.ci95, found.method) == (expected.value, expected.ci95, expected.method)


def test_a_question_counts_once_whatever_its_epochs_and_groups_are_one_cluster() -> None:
    once = pairs("xyz", 20, in_turn("aaat", "abab", "t1ab"))
    thrice = [one for epoch in range(3) for one in pairs("xyz", 20, in_turn("aaat", "abab", "t1ab"), epoch=epoch)]
    whole, again = figures(once), figures(thrice)
    for model, rows in whole.items():
        assert again[model]["elo"].ci95 == pytest.approx(rows["elo"].ci95) and again[model]["wins"].value == 3 * (rows["wins"].value or 0)  # fmt: skip
    grouped = figures([one for q in range(5) for one in _grouped(q)])
    (low, high), (least, most) = (rows["x"]["elo"].ci95 or (0, 0) for rows in (whole, grouped))
    assert most - least > 1.5 * (high - low) and of(grouped, "elo") == pytest.approx(of(whole, "elo"))


def _grouped(q: int) -> list[Compared]:
    """Four questions of a group that come out alike, so that all are as in the test above."""
    say = in_turn("aaat", "abab", "t1ab")
    return [pair(f"p{q}.{n}", a, b, say(a, b, q if q < 4 else n), group=f"g{q}") for n in range(4) for a, b in combinations("xyz", 2)]  # fmt: skip


def test_equal_models_share_all_places() -> None:
    found = figures(pairs("vwxyz", 30, lambda a, b, q: "abt"[(q + ord(a) * ord(b)) % 3]))
    assert {rows["rank"].ci95 for rows in found.values()} == {(1, 5)}


def test_a_judge_that_always_prefers_the_first_says_nothing_of_models_and_all_of_itself() -> None:
    made = pairs("xyz", 10, lambda a, b, q: "1")
    found = figures(made)
    assert {*of(found, "elo").values()} == {0.0} and {rows["rank"].ci95 for rows in found.values()} == {(1, 3)}
    bias = [(row.factors, row.value) for row in pair_rates(made).rows if row.quantity == "position bias"]
    assert bias[-1] == ({"a": "all", "b": "all"}, 1.0) and [value for _, value in bias] == [1.0] * 4


def test_a_model_that_wins_all_is_told() -> None:
    found = figures(pairs("xyz", 20, lambda a, b, q: "a" if a == "x" else "ab"[q % 2]))
    elo = found["x"]["elo"]
    assert elo.note == ONE_SIDED and elo.value and elo.ci95 and elo.ci95[0] < elo.value - 60
    assert found["x"]["win rate"].value == 1.0 and found["x"]["rank"].ci95 == (1, 1)
    ties = figures(pairs("xyz", 20, lambda a, b, q: ("t" if q == 3 else "a") if a == "x" else "ab"[q % 2]))
    assert ties["x"]["elo"].note == ""


def test_models_that_no_question_links_have_no_elo() -> None:
    made = [pair(f"p{q}", "v", "w", "ab"[q % 3 == 0]) for q in range(9)]
    made += [pair(f"r{q}", "x", "y", "abt"[q % 3]) for q in range(9)]
    found = figures(made)
    assert {rows["elo"].value for rows in found.values()} == {None} and found["v"]["elo"].note == UNLINKED
    assert {rows["rank"].ci95 for rows in found.values()} == {(1, 4)} and next(iter(found)) == "v"
    assert found["v"]["win rate"].value == pytest.approx(2 / 3, abs=1e-6)


def test_two_questions_tell_no_interval() -> None:
    found = figures(pairs("xyz", 2, in_turn("at", "ab", "ta")))
    assert found["x"]["elo"].ci95 is None and found["x"]["elo"].note == TOO_FEW_NOTE
    assert found["x"]["rank"].ci95 == (1, 3)


def test_breakdowns_are_boards_of_their_own() -> None:
    made = pairs("xy", 12, lambda a, b, q: "aab"[q % 3] if q < 6 else "b") + pairs(
        "xz", 12, lambda a, b, q: "ab"[q % 2]
    )
    by = {"year": ["2" if int(one.parent[1:]) < 6 else "10" for one in made]}
    assert [*dict.fromkeys(row.factors["subset"] for row in board(made, by=by).rows)] == ["all", "year 2", "year 10"]
    early, late = (figures(made, f"year {year}", by=by) for year in ("2", "10"))
    assert [early[model]["wins"].value for model in "xyz"] == [7, 2, 3]
    assert late["y"]["win rate"].value == 1.0 and late["y"]["elo"].note == ONE_SIDED
    assert figures(made, by=by)["x"] == figures(made)["x"]
    some = [one for one in made if one.model_b == "y" or int(one.parent[1:]) < 6]
    by = {"year": ["2" if int(one.parent[1:]) < 6 else "10" for one in some]}
    assert [*figures(some, "year 10", by=by)] == ["y", "x"], "z has no pair there"


def test_every_two_models_are_as_they_would_be_alone_with_p_adjusted_over_all() -> None:
    made = pairs("xyz", 16, in_turn("aaat", "abab", "t1ab"))
    found = {(row.factors["a"], row.factors["b"], row.quantity): row for row in pair_rates(made).rows}
    alone = {row.quantity: row for row in win_rates([one for one in made if one.model_a + one.model_b == "xy"]).rows}
    for quantity, row in alone.items():
        own = found["x", "y", quantity]
        assert (own.value, own.ci95, own.p, own.n) == (row.value, row.ci95, row.p, row.n)
    first = found["x", "y", "difference"]
    assert first.p_adjusted == pytest.approx(3 * (first.p or 0)) and found["x", "z", "difference"].p_adjusted == 1.0
    assert ("all", "all", "difference") not in found and ("all", "all", "a wins") not in found
    assert [found["all", "all", name].value for name in ("pairs", "ties", "first")] == [48, 12, 4]


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_parts(board(pairs("xyz", 40, in_turn("aaat", "abab", "t1ab"))))
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "Board: Elo by the Bradley-Terry model (400 points: odds of 10 to 1; their mean: 0)" in " ".join(lines)
    assert "model rank elo win rate wins ties losses" in lines
    (line,) = (line for line in lines if line.startswith("x 1"))
    assert line.startswith("x 1–2 +91 [+37, +146] 69 [58, 78] ") and line.endswith("50 10 20"), line
    assert "in all rows: subset all, n 40" in lines
    for part in (board([]), pair_rates([])):
        assert (part.rows, part.notes) == ([], [NONE])


def test_odds_of_ten_to_one_are_400_points() -> None:
    made = [pair(f"p{q}", "x", "y", "b" if q % 11 == 0 else "a") for q in range(11 * 400)]
    elo = of(figures(made, reference="y"), "elo")["x"]
    assert elo == pytest.approx(400 / log(10) * log(4000.5 / 400.5)) and elo == pytest.approx(400, abs=0.3)
