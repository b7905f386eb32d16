"""Every hard pair is told apart, and no hard reply earns what it does not say."""

from __future__ import annotations

from hard_pairs import FRESH, MISSED, PAIRS, REPLIES, ROWS, credited, found_same

EARNED = 94
"""Right replies that earn their credit by rules; the others are left to a judge."""


def test_no_unequal_pair_is_called_equal() -> None:
    assert [row for row in PAIRS + FRESH if not row["equal"] and found_same(row)] == []


def test_equal_pairs_are_found_but_for_those_that_are_named() -> None:
    pairs = [row for row in PAIRS + FRESH if row["equal"]]
    assert [row for row in pairs if found_same(row) is ((row["gold"], row["given"]) in MISSED)] == []


def test_few_are_missed() -> None:
    equal = {(row["gold"], row["given"]) for row in PAIRS + FRESH if row["equal"]}
    assert set(MISSED) <= equal and len(MISSED) <= 25


def test_no_reply_earns_what_it_does_not_say() -> None:
    assert [row for row in REPLIES if not row["equal"] and credited(row)] == []


def test_most_replies_earn_what_they_say() -> None:
    right = [row for row in REPLIES if row["equal"]]
    assert sum(map(credited, right)) >= EARNED and len(right) == 105


def test_half_of_the_rows_are_unequal() -> None:
    assert sum(row["equal"] for row in ROWS) <= len(ROWS) / 2
    assert {row["language"] for row in ROWS} == {"en", "zh"}
