"""What replies tell of where they came from: of the cache, and of what the server did with the requests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import fmean, linear_regression

from msgspec import Struct

from mmdyn.record import Reply

FEW = 5
"""Replies of which nothing is said yet."""
MOST = 200
"""Requests with and without pictures that are set against each other."""
DIFFERENT = 3
"""Prompts of different lengths that are counted alike where they were cut, at least."""
SHORTEST_CUT = 500
"""Tokens that no server cuts prompts to; counts of shorter ones are equal by chance."""
LONGER, DIFFERING = 1.3, 1.05
"""How many times as long as it was counted the longest of some prompts should be, and as long as the shortest of them,
where they were cut."""
LEAST_PICTURE = 8
"""Tokens that a picture takes at least."""
SHORT_TEXT = 150
"""Tokens of a text up to which an estimate of them is out by fewer than a picture takes."""


class CacheUse(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How many of some `replies` came from the cache, and on which days (UTC) the `first` and the `last` of those were
    made."""

    replies: int = 0
    cached: int = 0
    first: str = ""
    last: str = ""

    def add(self, reply: Reply) -> None:
        """Count a reply; an error is none."""
        self.replies += not reply.error
        if reply.cached:
            day = datetime.fromtimestamp(reply.made, UTC).date().isoformat()
            self.cached += 1
            self.first, self.last = min(self.first or day, day), max(self.last, day)

    def __str__(self) -> str:
        """Such as `12 of 40 replies from the cache, made on 2026-11-02`; empty where none is."""
        if not self.cached:
            return ""
        days = self.first if self.first == self.last else f"{self.first} to {self.last}"
        return f"{self.cached} of {self.replies} replies from the cache, made on {days}"


class ReplyTally:
    """The replies of one model, counted as they come. models, fingerprints (attributes): what the server said that they
    are of."""

    def __init__(self) -> None:
        self.models, self.fingerprints = Counter[str](), Counter[str]()
        self._answered = self._kept = 0
        self._estimates = defaultdict[int, set[int]](set)
        """Of the tokens of prompts' texts, by the tokens that the server counted."""
        self._text, self._seen = list[tuple[int, int]](), list[tuple[int, int, int]]()
        """Estimates and counts of requests without pictures; and with some, how many they are first."""

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        if reply.answered_by:
            self.models[reply.answered_by] += 1
        if reply.fingerprint:
            self.fingerprints[reply.fingerprint] += 1
        if reply.finish_reason not in ("length", "likelihood"):
            self._answered += bool(reply.text.strip())
            self._kept += bool(reply.reasoning and not reply.text.strip())
        if (counted := reply.usage.prompt_tokens) and (estimate := reply.estimate):
            self._estimates[counted].add(estimate)
            if reply.image_count and len(self._seen) < MOST:
                self._seen.append((reply.image_count, estimate, counted))
            elif not reply.image_count and len(self._text) < MOST:
                self._text.append((estimate, counted))

    def doubts(self) -> Iterator[str]:
        """What the server seems to have done with the requests, in a sentence each."""
        most = max(self._estimates, default=0)
        if (should := self._should_be(most)) >= LONGER * most > 0:
            yield (
                f"prompts seem cut to {most:,} tokens: {len(self._estimates[most])} of different lengths are so long,"
                f" of which one should have about {should:,.0f}; give the server a longer context"
            )
        elif self._is_unread():
            yield (
                "pictures seem not to have been read: the server counted as many tokens with as without; see that the"
                " model behind it sees"
            )
        if self._kept >= FEW and not self._answered:
            yield (
                f"the server's reasoning parser kept the answer: all {self._kept} replies are empty beside their"
                " reasoning; start the server without the parser, or with the model's own"
            )

    def _should_be(self, most: int) -> float:
        """How many tokens the longest prompt should have, by what shorter ones have, where different ones are counted
        as `most`; else 0."""
        estimates = self._estimates.get(most, set())
        if most < SHORTEST_CUT or len(estimates) < DIFFERENT or max(estimates) < DIFFERING * min(estimates):
            return 0.0
        shorter = [(estimate, counted) for estimate, counted in self._text if counted < most]
        return max(estimates) * (sum(p for _, p in shorter) / sum(e for e, _ in shorter) if shorter else 1.0)

    def _is_unread(self) -> bool:
        """Whether requests with pictures are counted as their texts alone would be: by those of the same model that
        have none, where there are some of about that length, else by the estimate, where the texts are short."""
        if len(self._seen) < FEW:
            return False
        pictures, length, counted = (fmean(column) for column in zip(*self._seen, strict=True))
        lengths, counts = zip(*self._text, strict=True) if self._text else ((), ())
        if len(lengths) >= FEW and fmean(lengths) / 2 <= length <= fmean(lengths) * 2:
            alike = max(lengths) < 1.2 * min(lengths)
            slope, start = (fmean(counts) / fmean(lengths), 0.0) if alike else linear_regression(lengths, counts)
            expected = start + slope * length
        elif length <= SHORT_TEXT:
            expected = length
        else:
            return False
        return counted - expected < LEAST_PICTURE * pictures
