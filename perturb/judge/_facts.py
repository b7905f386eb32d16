"""What a question says, as far as it can be counted: read once from its words, compared by the invariants."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from msgspec import Struct

from mmdyn.sample import IMAGE_MARK
from mmdyn.text import (
    BLANK,
    LOWERCASE_WORD,
    NEGATION_AXIS,
    Pole,
    Quantity,
    asked_units,
    count_blanks,
    logic_poles,
    proper_names,
    read_formulas,
    read_quantities,
    read_quotations,
    read_symbols,
    readable_text,
)

_OPEN = {
    1: re.compile(r"\b(?:an?|single|each|every|once)\b|[单首每]"),
    2: re.compile(r"\b(?:both|pairs?|couple|either|neither|doubled?)\b|[双对]"),
}
_DENIED = Pole(NEGATION_AXIS, "not")


class Facts(Struct, frozen=True, eq=False):
    """A text's facts. `numbers` counts (value, unit) but for spelled ones and twos, which are `small`; `loose` counts
    those too and the words that may mean one or two, such as "a" and "both".

    `units` are all that are named; `text` is the text in lower case without spaces.
    """

    numbers: Counter[Quantity]
    small: frozenset[int]
    loose: Counter[int]
    units: frozenset[str]
    formulas: frozenset[str]
    symbols: frozenset[str]
    names: frozenset[str]
    quotations: frozenset[str]
    words: frozenset[str]
    poles: Counter[Pole]
    blanks: int
    text: str

    @property
    def denials(self) -> int:
        """How often something is denied."""
        return self.poles[_DENIED]


@lru_cache(maxsize=512)
def facts(text: str) -> Facts:
    """Read a text."""
    plain = readable_text(BLANK.sub(" ____ ", IMAGE_MARK.sub(" ", text)).replace("\n", " . "))
    lower = plain.lower()
    words = frozenset(LOWERCASE_WORD.findall(lower))
    found, rest = read_quantities(plain, words)
    asked, rest = asked_units(rest)
    small, numbers = Counter[int](), Counter[Quantity]()
    for quantity in found:
        if quantity.spelled and quantity.value in (1, 2) and quantity.unit in ("", "th"):
            small[int(quantity.value)] += 1
        else:
            numbers[quantity._replace(spelled=False)] += 1
    return Facts(
        numbers,
        frozenset(small),
        Counter({number: small[number] + len(words.findall(lower)) for number, words in _OPEN.items()}),
        frozenset({quantity.unit for quantity in numbers} | asked) - {"", "th"},
        read_formulas(rest),
        read_symbols(rest),
        proper_names(plain),
        read_quotations(plain),
        words,
        logic_poles(lower),
        count_blanks(text),
        lower.replace(" ", ""),
    )
