"""How many sentences a text has."""

from __future__ import annotations

import pytest

from mmdyn.text.sentences import count_sentences


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("No stop", 1),
        ("One. Two! Three?", 3),
        ("Really?! Yes.", 2),
        ('He said "Stop!" She left.', 2),
        ("“Curly.” Next one.", 2),
        ("(See above.) Next.", 2),
        ("**Bold.** Next.", 2),
        ("Mr. Smith met Dr. Jones at 5 p.m. today.", 1),
        ("He left at 5 p.m. The end.", 2),
        ("It costs 3.5 or 4. Pay.", 2),
        ("1. First\n2. Second", 3),
        ("Well... maybe. Well... So what", 3),
        ("J. Smith and K. Miller came.", 1),
        ("Take option B. Then go.", 2),
        ("See example.com or v1.2 now.", 1),
        ("今天天气很好。我们去公园吧。", 1),
        ("a.b.c", 1),
        ("...", 1),
    ],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    assert count_sentences(text) == count
