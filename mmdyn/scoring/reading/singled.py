"""An option that a short reply singles out: "If the plants died, the grasshoppers would be most affected"."""

from __future__ import annotations

import re

from mmdyn.scoring.reading.labels import Labels, Options, Picks
from mmdyn.scoring.reading.resolve import Read
from mmdyn.scoring.reading.response import Response

_LONGEST = 200
_UNLIKE_IT = re.compile(
    r"\b(?:not|no|never|neither|nor|or|but|might|may|could|except|unlike|without|second|third|one\sof|among\sthe|if\sonly|than|maybe|perhaps|cannot"
    r"|unclear|unless|although|though|rather|instead)\b|n't|[?\n]|[.!;:]\s*\S"
)
_PLURAL = re.compile(r"(?<=[a-z]{3})s\b")
_CONDITION = re.compile(r"\b(?:if|when|because|since|as|given|while|where)\b[^,.]*")
_SUPERLATIVE = r"(?:most|least|best|worst|(?!honest|modest|interest|west|rest|forest|guest|test)[a-z]{2,}est)\b"
_SUBJECT = (
    r"\s(?:is|are|was|were|has|have|had|would|will)\s(?:(?:be|have|the|its|by|far|likely|probably|clearly)\s){0,5}"
    + _SUPERLATIVE
)
_OBJECT = r"\b(?:would|will)\s(?:most|least)\s(?:(?!likely|probably)[a-z]+ly\s)?(?:affect|harm|hurt|help|benefit|influence|impact)\s(?:the\s)?"


def singled_out(response: Response, reader: Labels, options: Options) -> Read:
    """A reply of one sentence says of one option that it is the most or the least so, and names no other. A condition may
    stand before it; one that names the option, a denial or a doubt reads as nothing.
    """
    low = response.low.rstrip().rstrip(".")
    if len(low) > _LONGEST or _UNLIKE_IT.search(low):
        return None
    claim = _CONDITION.sub(lambda found: " " * len(found[0]), low)
    named, claimed = (options.mentioned(text) | options.mentioned(_PLURAL.sub(" ", text)) for text in (low, claim))
    if len(named) != 1 or named != claimed:
        return None
    label = named.pop()
    words = re.escape(options.text(label).lower())
    said = re.search(rf"\b{words}(?:e?s)?{_SUBJECT}|{_OBJECT}(?P<object>{words}(?:e?s)?)(?=\s*(?:,|$))", claim)
    return (Picks((label,), said.start(), said.end()), "singled") if said else None
