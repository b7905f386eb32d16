"""Hard replies are read as a careful person reads them, or not at all.

hard_replies.jsonl has a reply a line, what it was asked (`table`: options that many share), and what is `wanted`:
letters, true or false, a text a blank, a text, or null where nothing may be read. `misread` names the kind of mistake
that is still made there.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from labelled_replies import LabelledReply

from mmdyn.scoring.extract import extract

OPTIONS = {
    "single_en": ("Paris", "London", "Rome", "Madrid"),
    "single_ten": tuple(map("statement {}".format, ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"))),
    "single_zh": ("巴黎", "伦敦", "罗马", "马德里"), "multi": ("2", "4", "3", "9"),
}  # fmt: skip
MISREAD = {
    "a mark or a gloss stays in a part": 15, "a sentence about the value, not the value": 14,
    "the first of a list of texts": 13, "steps, prose or notes fill a blank": 11, "a word in another sense": 5,
    "another language": 10, "left open": 9, "a template": 8, "what others say": 8, "half of a list": 7,
    "a verdict and its opposite": 7, "what a sentence says of something else": 7, "a correction that is not seen": 6,
    "a doubt": 6, "a question of its own": 6, "the wrong ones are asked for": 5, "cut too short": 5, "a program": 5,
    "options that are said again": 4, "texts that look like labels": 2, "an option under review": 2,
    "an answer that only seems so": 2, "a condition": 1,
}  # fmt: skip
"""How many rows of each kind are misread. Take `misread` out of those that are mended."""
READ = {
    ("single_choice", "en"): 0.65, ("single_choice", "zh"): 0.77, ("multi_select", "en"): 0.6,
    ("multi_select", "zh"): 0.63, ("true_false", "en"): 0.62, ("true_false", "zh"): 0.61,
    ("fill_in_the_blank", "en"): 0.69, ("fill_in_the_blank", "zh"): 0.66, ("open_ended", "en"): 0.44,
    ("open_ended", "zh"): 0.5,
}  # fmt: skip
"""The share of the rows with an answer that is read, at least."""

ROWS: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
for line in Path(__file__).with_name("hard_replies.jsonl").read_text(encoding="utf-8").splitlines():
    row = json.loads(line)
    ROWS[row["task_type"], row["language"]].append(row)


@cache
def readings(task_type: str, language: str) -> list[tuple[dict[str, Any], Any, str]]:
    """The rows, what is found in each, and how it agrees with what is wanted: `agree`, `unread` or `otherwise`."""
    read = []
    for row in ROWS[task_type, language]:
        options = OPTIONS.get(row.get("table", ""), tuple(row.get("options", ())))
        asked = {name: row[name] for name in ("task_type", "language", "response")}
        more = {"question": row.get("question", ""), "blanks": row.get("blanks", 1)}
        reply = LabelledReply("hard", "", options=options, read=row["wanted"], **asked, **more)
        found = extract(**reply.asked()).found
        read.append((row, found, reply.verdicts(found)[1]))
    return read


@pytest.mark.parametrize("group", ROWS, ids="-".join)
def test_no_reply_is_misread_but_those_that_are_known_to_be(group: tuple[str, str]) -> None:
    misread = [(row, found) for row, found, verdict in readings(*group) if verdict == "otherwise"]
    assert [(row, found) for row, found in misread if "misread" not in row] == []
    known = [row for row in ROWS[group] if "misread" in row]
    assert [row for row in known if row not in [row for row, _ in misread]] == [], "mended: take `misread` out"


def test_the_known_mistakes_grow_no_more() -> None:
    assert Counter(row["misread"] for rows in ROWS.values() for row in rows if "misread" in row) == MISREAD


@pytest.mark.parametrize("group", ROWS, ids="-".join)
def test_most_answers_are_read(group: tuple[str, str]) -> None:
    agree = [verdict == "agree" for row, _, verdict in readings(*group) if row["wanted"] is not None]
    assert sum(agree) / len(agree) >= READ[group]


def test_no_reply_stands_twice() -> None:
    rows = [row for group in ROWS.values() for row in group]
    asked = [json.dumps({name: row[name] for name in sorted(row.keys() - {"wanted", "misread"})}) for row in rows]
    assert len(asked) == len(set(asked))
