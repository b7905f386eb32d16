"""Shares of hits among cases and among controls of the same strata."""

from __future__ import annotations

import numpy as np
import pytest

from mmdyn.stats import Hits, matched_shares


def hits(*each: tuple[int, int, int]) -> Hits:
    """Answers by question, stratum and hit."""
    questions, strata, hit = np.array(each, np.int64).reshape(-1, 3).T
    return Hits(questions, strata, hit.astype(np.float64))


def test_a_favourite_stratum_is_no_difference() -> None:
    """A is always named: a case in three questions of four, and elsewhere a control."""
    cases = hits((0, 0, 1), (1, 0, 1), (2, 0, 1), (3, 1, 0))
    controls = hits((0, 1, 0), (0, 2, 0), (1, 1, 0), (1, 2, 0), (2, 1, 0), (2, 2, 0), (3, 0, 1), (3, 2, 0))
    found = matched_shares(cases, controls, 4)
    assert found.mean(0).tolist() == [0.75, 0.75]
    assert found[3].tolist() == [0.0, 3.0]  # this control stands for the three cases
    plain = [1.0 * controls.hits[controls.questions == place].mean() for place in range(4)]
    assert np.mean(plain) == 0.125  # without strata it would seem that 62 points are remembered


def test_what_nobody_picks_is_no_control_of_others() -> None:
    cases = hits(*((n, n % 2, n < 3) for n in range(6)))
    controls = hits(*((n, 1 - n % 2, n < 3) for n in range(6)), *((n, 9, 0) for n in range(6)))
    stuck, base = matched_shares(cases, controls, 6).mean(0)
    assert stuck == base == 0.5


def test_a_question_counts_once() -> None:
    cases = hits((0, 0, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 0, 1))
    controls = hits((0, 0, 1), (1, 0, 0), (1, 0, 0), (1, 0, 0))
    assert matched_shares(cases, controls, 2) == pytest.approx(np.array([[0.25, 1.0], [1.0, 0.0]]))


@pytest.mark.parametrize(("cases", "controls", "left"), [
    (hits(), hits(), []),
    (hits((0, 0, 1)), hits(), []),
    (hits((0, 0, 1), (1, 1, 1)), hits((0, 0, 0), (1, 0, 0)), [0]),  # no control in stratum 1
    (hits((0, 0, 1), (1, 1, 1)), hits((1, 0, 0), (0, 1, 0)), [0, 1]),
    (hits((0, 0, 1), (1, 1, 1)), hits((0, 2, 0), (1, 0, 0)), []),  # without question 1, question 0 lacks its control
    (hits((0, 0, 1), (1, 0, 1)), hits((1, 0, 0)), [1]),  # question 0 has no control of its own
])  # fmt: skip
def test_questions_without_controls_are_left_out(cases: Hits, controls: Hits, left: list[int]) -> None:
    found = matched_shares(cases, controls, 2)
    assert found.shape == (2, 2) and np.flatnonzero(~np.isnan(found).any(1)).tolist() == left
    assert (np.isnan(found).any(1) == np.isnan(found).all(1)).all()
