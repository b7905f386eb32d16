"""Made-up replies and formulas, some hundred of each, are read and told apart as they were made."""

from __future__ import annotations

from made_answers import algebra, choices

from mmdyn.scoring.extract import extract
from mmdyn.scoring.match import same


def test_made_choices_are_read_as_they_were_meant() -> None:
    for reply, texts, letter in choices(400):
        found = extract("single_choice", reply, labels=tuple("ABCD"), option_texts=tuple(texts)).found
        assert found == (letter,), reply[-200:]


def test_made_algebra_is_told_apart() -> None:
    pairs = algebra(300)
    assert 100 < sum(equal for *_, equal in pairs) < 200
    assert [(gold, given) for gold, given, equal in pairs if same(given, gold) is not equal] == []
