"""The cases of three projects' maintainers, where the public data lie beside the checkout."""

from __future__ import annotations

import pytest
from real_outputs import DATA, equal_as_read, maintainer_pairs, maintainer_readings, read_as

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not there")
CREDITED = {
    "Answer $ \n 9 \n $": "unequal there for its markup only",
    "$-2 \\\\le x \\\\le 7$": "unequal there under a switch; an interval is its inequality here",
}
FOUND = 112
"""Equal pairs that are found by reading both texts as open answers and comparing them: boxes side by side, other
languages and formulas within a sentence are not read."""


def test_no_unequal_pair_is_credited_but_two() -> None:
    pairs = maintainer_pairs()
    told = [(given, equal, equal_as_read(gold, given, letters)) for gold, given, equal, letters in pairs]
    assert len(pairs) == 166
    assert {given for given, equal, found in told if found and not equal} == set(CREDITED)
    assert sum(found for _, equal, found in told if equal) >= FOUND


def test_letters_and_words_are_read_as_they_say() -> None:
    readings = maintainer_readings()
    assert len(readings) == 8
    assert [given for given, wanted in readings if not read_as(given, wanted)] == []
