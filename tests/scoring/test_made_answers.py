"""Made-up replies, some hundred of them, are read as they were made."""

from __future__ import annotations

from made_answers import choices

from mmdyn.scoring.extract import extract


def test_made_choices_are_read_as_they_were_meant() -> None:
    for reply, texts, letter in choices(400):
        found = extract("single_choice", reply, labels=tuple("ABCD"), option_texts=tuple(texts)).found
        assert found == (letter,), reply[-200:]
