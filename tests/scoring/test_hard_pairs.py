"""Every hard pair is told apart, and every hard reply earns what it says."""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet
from hard_pairs import PAIRS, REPLIES, ROWS, credited, found_same


def named(row: dict[str, Any]) -> str:
    return f"{row['kind']}-{row['gold']}-{row['given'][-40:]}-{row['why']}"


KNOWN = {"it's the owl, option two": "an option's words and its number without a copula may be the end of a list"}
"""Replies that are still read otherwise, and why."""


def reply(row: dict[str, Any]) -> ParameterSet:
    reason = KNOWN.get(row["given"])
    marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
    return pytest.param(row, id=named(row), marks=marks)


@pytest.mark.parametrize("row", PAIRS, ids=named)
def test_pairs_are_told_apart(row: dict[str, Any]) -> None:
    assert found_same(row) is row["equal"], row["why"]


@pytest.mark.parametrize("row", [reply(row) for row in REPLIES])
def test_replies_earn_what_they_say(row: dict[str, Any]) -> None:
    assert credited(row) is row["equal"], row["why"]


def test_half_of_the_rows_are_unequal() -> None:
    assert sum(row["equal"] for row in ROWS) <= len(ROWS) / 2
    assert {row["language"] for row in ROWS} == {"en", "zh"}
