"""Pairs of answers that a careless comparer would credit or miss, and whole replies to be read and then compared.

fresh_pairs.jsonl was written before the comparison as it is now, and `MISSED` names the equal pairs of both files that
it does not find. hard_pairs.jsonl was written before the readers and the comparer that it tests; rows with `written`
were added once these met the others, to see what they do with pairs that they were not made for. A row with `task`
holds a reply: its `gold` is the letters of a choice, true or false, or one blank a line. `shape` names the data whose
answers look like it; no text is taken from there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mmdyn.equal import same
from mmdyn.sample import Match
from mmdyn.scoring.extract import extract


def _rows(name: str) -> list[dict[str, Any]]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").strip().split("\n")
    return [json.loads(line) for line in lines]


ROWS, FRESH = _rows("hard_pairs.jsonl"), _rows("fresh_pairs.jsonl")
MISSED = {(row["gold"], row["given"]): row["why"] for row in _rows("missed.jsonl")}
PAIRS = [row for row in ROWS if "task" not in row]
REPLIES = [row for row in ROWS if "task" in row]


def found_same(row: dict[str, Any]) -> bool:
    """Whether the pair of a row is found equal."""
    return same(row["given"], row["gold"], Match(**row.get("match", {})))


def credited(row: dict[str, Any]) -> bool:
    """Whether what is read in the reply of a row is the whole of its gold answer."""
    options = tuple(row.get("options", ()))
    blanks = row["gold"].split("\n")
    more = {"labels": tuple("ABCD"[: len(options)]), "option_texts": options, "blanks": len(blanks)}
    found = extract(row["task"], row["given"], language=row["language"], **more).found
    if row["task"] == "true_false":
        return found is (row["gold"] == "true")
    if not isinstance(found, tuple):
        return False
    if options:
        return found == tuple(row["gold"])
    return len(found) == len(blanks) and all(same(str(text), gold) for text, gold in zip(found, blanks, strict=True))
