"""chrF: the overlap of sequences of one to six characters."""

from __future__ import annotations

from mmdyn.errors import MissingExtra


class Chrf:
    """The F2 measure over sequences of one to six characters, spaces aside (Popović 2015, "chrF: character n-gram
    F-score for automatic MT evaluation"), as sacrebleu computes it for a sentence:
    chrF2|case:mixed|eff:yes|nc:6|nw:0|space:no.
    """

    whole = True

    def __init__(self) -> None:
        try:
            from sacrebleu import CHRF
        except ImportError:
            raise MissingExtra("sacrebleu", "metrics") from None
        self._chrf = CHRF()

    def compare(self, given: str, gold: str) -> float:
        """The sentence's chrF2 / 100."""
        value: float = self._chrf.sentence_score(given, [gold]).score / 100
        return min(value, 1.0)
