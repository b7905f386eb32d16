"""Replies that people read before the readers did: what is read agrees with that, and earns no credit beyond it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from labelled_replies import labelled_replies

from mmdyn.scoring.extract import extract

READ = {
    "known_replies": (176, 3), "unseen_replies": (166, 8), "unseen_replies_2": (176, 2), "unseen_replies_3": (145, 8),
    "unseen_replies_4": (130, 9), "form_replies": (626, 1),
}  # fmt: skip
"""How many of a file's replies are read as their label says, at least, and otherwise, at most."""


@pytest.mark.parametrize("name", READ)
def test_replies_are_read_as_people_read_them_and_earn_no_undeserved_credit(name: str) -> None:
    counts, undeserved = Counter[str](), []
    for reply in labelled_replies(Path(__file__).with_name(f"{name}.jsonl")):
        found = extract(**reply.asked()).found
        verdicts = reply.verdicts(found)
        counts.update(verdicts)
        if "undeserved" in verdicts:
            undeserved.append((reply.id, reply.read, found))
    agree, otherwise = READ[name]
    assert undeserved == []
    assert counts["agree"] >= agree and counts["otherwise"] <= otherwise, counts
