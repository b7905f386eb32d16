"""How often a request is tried, and how long it pauses before the next try."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.keys import stream
from mmdyn.models.model import TransientError

LONGEST_BACKOFF = 60.0


class Retry(Struct, frozen=True):
    """When a request that failed is sent again.

    max_tries: tries of a request; a model's own option goes before it.
    max_seconds: no further try is begun where the tries and the pauses between them, the one before that try and those
        that the server asked for included, come to more than this. The time for which a request waited for a place in
        flight does not count: that depends on how many others there are, and not on whether it will be answered.
    backoff: seconds before the second try at most; each further pause is twice as long, up to LONGEST_BACKOFF.
    patience: seconds without an answer to anybody, after which a server that says "slow down" is taken to mean "no". A
        server that is gone is waited for five times as long.
    """

    max_tries: int = 6
    max_seconds: float = 1800
    backoff: float = 0.5
    patience: float = 120.0

    def pause(self, key: str, tried: int, asked_for: float | None) -> float:
        """Seconds to wait after `tried` tries, or what the server asked for and a little more, so that not all come at
        once."""
        jitter = float(stream("backoff", key, tried).random())
        if asked_for is not None:
            return asked_for + jitter * self.backoff
        return min(self.backoff * 2.0 ** (tried - 1), LONGEST_BACKOFF) * (0.5 + jitter / 2)

    def gives_up(self, failure: TransientError, tried: int, seconds: float, *, answers_others: bool) -> bool:
        """Tries and time are bounded; but while the server answers others, one that it told to slow down keeps its
        turn."""
        return seconds > self.max_seconds or (tried >= self.max_tries and not (failure.slow_down and answers_others))
