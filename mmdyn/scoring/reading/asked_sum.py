"""Reads the sum of names that a competition's question asks for in the end: "Compute m + n", answered by "m+n = 3+5 = \\boxed{8}"."""

from __future__ import annotations

import re

from mmdyn.scoring.reading.resolve import braced
from mmdyn.scoring.reading.response import Response

_ASKED = re.compile(
    r"\b(?:[Ff]ind|[Cc]ompute|[Dd]etermine|[Ee]valuate|[Ww]hat\sis)(?:\sthe\s(?:value|sum)(?:\sof)?)?\s\$?\s?"
    r"(?P<sum>[a-zA-Z](?:\s?\+\s?[a-zA-Z]){1,6})(?=\s?\$?\s?[.?,(]|\s?\$?\s*$)"
)
_BOX = re.compile(r"\\boxed\s?\{")


def asked_sum(response: Response, question: str) -> tuple[int, int] | None:
    """Where the content of the reply's last box stands, if the sum that the question asks for, and no other box, leads to it.

    For replies that box what they add up before ("the area is \\boxed{3600}"), which differs from the answer.
    """
    asked = {"".join(each["sum"].split()) for each in _ASKED.finditer(question)}
    boxes = list(_BOX.finditer(response.text))
    if len(asked) != 1 or len(boxes) < 2:
        return None
    names = r"\s?".join(map(re.escape, asked.pop()))
    leads = re.compile(rf"(?<![\w+^])\s?{names}\s?=\s?(?:[\d\s+]{{1,40}}=\s?)?\$?\s?$")
    led = [bool(leads.search(response.text, 0, box.start())) for box in boxes]
    start = boxes[-1].end()
    return (start, braced(response.text, start)) if led[-1] and sum(led) == 1 else None
