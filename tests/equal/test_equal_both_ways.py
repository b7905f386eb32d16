"""Formulas, quantities, and structures (sets, lists, regions, relations, matrices, reactions, dates) are told apart in both
directions: both_ways.jsonl has a pair a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mmdyn.equal import same

PAIRS = Path(__file__).with_name("both_ways.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("pair", [*map(json.loads, PAIRS)], ids=lambda pair: f"{pair['given']} and {pair['gold']}")
def test_pairs_are_told_apart_in_both_directions(pair: dict[str, Any]) -> None:
    assert same(pair["given"], pair["gold"]) is same(pair["gold"], pair["given"]) is pair["equal"]
