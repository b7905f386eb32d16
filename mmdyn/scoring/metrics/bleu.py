"""BLEU of single answers: the overlap of sequences of one to four words."""

from __future__ import annotations

import re
from typing import Any

from mmdyn.errors import MissingExtra
from mmdyn.text import CHINESE

_CHINESE = re.compile(f"[{CHINESE}]")


class Bleu:
    """BLEU of one sentence (Papineni et al. 2002, "BLEU: a Method for Automatic Evaluation of Machine Translation") as
    sacrebleu computes it: case:mixed|eff:yes|smooth:exp, tok:13a, and tok:zh where the accepted text has Chinese
    characters. A report shows the mean over sentences, which is not the BLEU of a corpus.
    """

    whole = True

    def __init__(self) -> None:
        try:
            from sacrebleu import BLEU
        except ImportError:
            raise MissingExtra("sacrebleu", "metrics") from None
        self._words = BLEU(effective_order=True)
        self._characters = BLEU(effective_order=True, tokenize="zh")
        # The tokenizers remember the last 65,536 texts whole, which long replies would pay for in gigabytes.
        self._remembering: list[Any] = [
            type(tokenizer).__call__
            for bleu in (self._words, self._characters)
            for tokenizer in (bleu.tokenizer, bleu.tokenizer._post_tokenizer)
        ]

    def compare(self, given: str, gold: str) -> float:
        """The sentence's BLEU / 100."""
        bleu = self._characters if _CHINESE.search(gold) else self._words
        value: float = bleu.sentence_score(given, [gold]).score / 100
        for tokenize in self._remembering:
            tokenize.cache_clear()
        return min(value, 1.0)
