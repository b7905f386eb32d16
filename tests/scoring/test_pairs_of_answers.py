"""Pairs of short answers are found equal or not, as a careful person finds them: pairs_of_answers.jsonl has one a
line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mmdyn.equal import same

PAIRS = Path(__file__).with_name("pairs_of_answers.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("pair", [*map(json.loads, PAIRS)], ids=lambda pair: f"{pair['given']} and {pair['gold']}")
def test_pairs_of_answers(pair: dict[str, Any]) -> None:
    assert same(pair["given"], pair["gold"]) is pair["equal"]
