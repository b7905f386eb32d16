"""The cases of three projects' maintainers, where the public data lie beside the checkout."""

from __future__ import annotations

import pytest
from real_outputs import DATA, equal_as_read, maintainer_pairs, maintainer_readings, read_as

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not there")
MISSED = {
    "Answer $ \n 9 \n $": "unequal there for its markup only",
    "$-2 \\\\le x \\\\le 7$": "unequal there under a switch; an interval is its inequality here",
    "$1 + \\frac{1}{\\mathrm{e}}$": "called equal to 1 - 1/e, which it is not",
}


def test_all_pairs_but_three_are_told_as_they_say() -> None:
    pairs = maintainer_pairs()
    assert len(pairs) == 166
    assert {given for gold, given, equal, letters in pairs if equal_as_read(gold, given, letters) != equal} <= set(
        MISSED
    )


def test_letters_and_words_are_read_as_they_say() -> None:
    readings = maintainer_readings()
    assert len(readings) == 8
    assert [given for given, wanted in readings if not read_as(given, wanted)] == []
