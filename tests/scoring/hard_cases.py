"""Replies that are hard to read, with what a careful person reads in them, and pairs of answers that are equal or not.

The cases stand in hard_cases.jsonl, one a line. In the tables of choices `wanted` is the letters, "" where nothing may be read
and "refused" where the model declined; of pairs it says whether they are equal. Most were written before the readers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

OPTIONS = {
    "single_en": ("Paris", "London", "Rome", "Madrid"),
    "single_ten": tuple(
        f"statement {n}" for n in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    ),
    "single_zh": ("巴黎", "伦敦", "罗马", "马德里"),
    "multi": ("2", "4", "3", "9"),
}
_LINES = Path(__file__).with_name("hard_cases.jsonl").read_text(encoding="utf-8").strip().split("\n")


def cases(table: str, *keys: str) -> list[tuple[Any, ...]]:
    """The cases of a table: of each the response, what stands under the keys, and what is wanted."""
    rows = [json.loads(line) for line in _LINES]
    return [tuple(row[key] for key in ("response", *keys, "wanted")) for row in rows if row["table"] == table]
