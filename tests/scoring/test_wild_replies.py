"""Replies as models word them, after the nature of public bug reports: rules are hardly ever sure of what is wrong.

wild_replies.jsonl was labelled before the rules that it tests were written; `expected_score` is what a careful person
gives, null where nobody could say. More of the kind lie in the public data beside the checkout.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from real_outputs import DATA

from mmdyn.scoring import Scorer
from mmdyn.scoring.grade_lines import answered_lines, read_out

FILES = {
    Path(__file__).with_name("wild_replies.jsonl"): (207, 0, 0),
    DATA / "wild-replies" / "dev" / "replies.jsonl": (416, 2, 0),
}
"""How many are right at least; how many are surely wrong, and how many earn what they should not, at most."""


@pytest.mark.parametrize("file", FILES, ids=["written for this test", "public data"])
def test_what_is_sure_is_right(file: Path) -> None:
    if not file.is_file():
        pytest.skip(f"{file} is not there")
    counts, scorer, told = Counter[str](), Scorer(), list[object]()
    rows = [{"question": "?", **json.loads(line)} for line in file.read_text("utf-8").splitlines()]
    for row, line in zip(rows, answered_lines((json.dumps(row).encode() for row in rows), file.name), strict=True):
        found, wanted = read_out(line, scorer), row["expected_score"]
        sure, score = not found["needs_judge"], float(str(found["score"]))
        if sure and (wanted is None or abs(score - wanted) > 1e-6):
            kind = "undeserved" if score > (wanted or 0) else "surely wrong"
            told.append((kind, row["response"], found["extracted"]))
        else:
            kind = "right" if sure or (not wanted and not score) else "for a judge"
        counts[kind] += 1
    right, wrong, undeserved = FILES[file]
    assert counts["surely wrong"] <= wrong and counts["undeserved"] <= undeserved, told
    assert counts["right"] >= right, counts
