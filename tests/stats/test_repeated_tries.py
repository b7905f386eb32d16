"""pass@k, majority@k, worst@k and consistency against hand counts and enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings, strategies as st

from mmdyn.stats import Tries, majority_at_k, pass_at_k, tries_agree, worst_at_k


@pytest.mark.parametrize(
    ("group", "k", "passed", "majority", "worst"),
    [
        # 2 of 5 right: without one are C(3,2) = 3 of C(5,2) = 10 pairs; both are right in 1 of 10.
        (Tries(2, (2, 1), 0), 2, 0.7, 0.1 + 0.5 * 0.6, 0.1),
        # All five: two right and two the same wrong are level.
        (Tries(2, (2, 1), 0), 5, 1.0, 0.5, 0.0),
        (Tries(2, (1, 1, 1), 0), 5, 1.0, 1.0, 0.0),
        (Tries(1, (1, 1, 1), 0), 4, 1.0, 0.25, 0.0),
        (Tries(3, (), 0), 3, 1.0, 1.0, 1.0),
        (Tries(0, (3,), 0), 2, 0.0, 0.0, 0.0),
        # One of four is right and three have no vote: the one wins wherever it is drawn.
        (Tries(1, (), 3), 2, 0.5, 0.5, 0.0),
        (Tries(0, (), 3), 3, 0.0, 0.0, 0.0),
        # 3 right of 4, three drawn: all right in 1 of 4, two right against one in the others.
        (Tries(3, (1,), 0), 3, 1.0, 1.0, 0.25),
        # 2 right, 2 the same wrong, three drawn: always two against one, half of the time for the right one.
        (Tries(2, (2,), 0), 3, 1.0, 0.5, 0.0),
    ],
)
def test_by_hand(group: Tries, k: int, passed: float, majority: float, worst: float) -> None:
    found = (pass_at_k(group, k), majority_at_k(group, k), worst_at_k(group, k))
    assert found == pytest.approx((passed, majority, worst), abs=1e-15)


@pytest.mark.parametrize(
    ("group", "share"),
    [(Tries(2, (2, 1), 0), 0.2), (Tries(3, (), 0), 1.0), (Tries(0, (3,), 0), 1.0), (Tries(0, (), 3), 0.0), (Tries(3, (), 1), 0.5)],
)  # fmt: skip
def test_agreement_by_hand(group: Tries, share: float) -> None:
    assert tries_agree(group) == pytest.approx(share)


def test_too_few_tries_have_no_value() -> None:
    group = Tries(2, (1,), 0)
    assert pass_at_k(group, 4) is majority_at_k(group, 4) is worst_at_k(group, 4) is None
    assert tries_agree(Tries(1, (), 0)) is tries_agree(Tries(0, (), 0)) is None


groups = st.builds(
    Tries, st.integers(0, 4), st.lists(st.integers(1, 3), max_size=3).map(tuple), st.integers(0, 2)
).filter(lambda group: group.n > 0)


@settings(max_examples=300, deadline=None)
@given(group=groups, k=st.integers(1, 6))
def test_against_every_draw(group: Tries, k: int) -> None:
    classes = [("right",) * group.right, *((f"w{place}",) * size for place, size in enumerate(group.wrong))]
    drawn = list(combinations([*(name for each in classes for name in each), *[None] * group.silent], k))
    if k > group.n:
        assert pass_at_k(group, k) is None
        return

    def right(draw: tuple[str | None, ...]) -> float:
        votes = [name for name in draw if name]
        best = {name for name in votes if votes.count(name) == max(map(votes.count, votes))}
        return ("right" in best) / len(best) if best else 0.0

    assert pass_at_k(group, k) == pytest.approx(sum("right" in draw for draw in drawn) / len(drawn))
    assert majority_at_k(group, k) == pytest.approx(sum(map(right, drawn)) / len(drawn))
    assert worst_at_k(group, k) == pytest.approx(sum(set(draw) == {"right"} for draw in drawn) / len(drawn))


@pytest.mark.parametrize("k", [2, 40, 300])
def test_hundreds_of_answers_that_differ_are_counted_exactly(k: int) -> None:
    right, wrong = 256, 256
    ways = [comb(right, m) * comb(wrong, k - m) for m in range(min(right, k) + 1)]
    expected = Fraction(sum(ways[2:]) + Fraction(ways[1], k), comb(right + wrong, k))
    assert majority_at_k(Tries(right, (1,) * wrong, 0), k) == float(expected)
