"""Every hard case is read as a careful person reads it; nothing is read where nothing is said."""

from __future__ import annotations

import pytest
from hard_cases import OPTIONS, cases

from mmdyn.sample import Language, TaskType
from mmdyn.scoring.extract import extract
from mmdyn.scoring.match import same


def letters(task_type: TaskType, response: str, table: str, language: Language) -> str:
    texts = OPTIONS[table]
    got = extract(task_type, response, labels=tuple("ABCDEFGHIJ"[: len(texts)]), option_texts=texts, language=language)
    assert (got.found is None) == (got.status != "ok")
    if got.status == "refused":
        return "refused"
    return "".join(map(str, got.found)) if isinstance(got.found, tuple) else ""


@pytest.mark.parametrize(("response", "wanted"), cases("single_en"))
def test_single_choice_in_english(response: str, wanted: str) -> None:
    assert letters("single_choice", response, "single_en", "en") == wanted


@pytest.mark.parametrize(("response", "wanted"), cases("single_ten"))
def test_single_choice_of_ten(response: str, wanted: str) -> None:
    assert letters("single_choice", response, "single_ten", "en") == wanted


@pytest.mark.parametrize(("response", "wanted"), cases("single_zh"))
def test_single_choice_in_chinese(response: str, wanted: str) -> None:
    assert letters("single_choice", response, "single_zh", "zh") == wanted


@pytest.mark.parametrize(("response", "wanted"), cases("multi"))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_multi_select(response: str, wanted: str, language: Language) -> None:
    assert letters("multi_select", response, "multi", language) == wanted


@pytest.mark.parametrize(("response", "wanted"), cases("true_false"))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_true_false(response: str, wanted: bool | None, language: Language) -> None:
    assert extract("true_false", response, language=language).found is wanted


@pytest.mark.parametrize(("response", "blanks", "wanted"), cases("blanks", "blanks"))
def test_blanks(response: str, blanks: int, wanted: list[str] | None) -> None:
    found = extract("fill_in_the_blank", response, blanks=blanks).found
    assert found == (None if wanted is None else tuple(wanted))


@pytest.mark.parametrize(("given", "gold", "equal"), cases("pairs", "gold"))
def test_pairs_of_answers(given: str, gold: str, equal: bool) -> None:
    assert same(given, gold) is equal
