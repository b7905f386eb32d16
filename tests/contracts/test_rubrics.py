"""What every rubric of ours keeps to."""

from __future__ import annotations

import json
import re

import pytest
from msgspec import Struct

from making import blank, choice, multi, open_ended, true_false
from mmdyn import plugins
from mmdyn.keys import canonical
from mmdyn.sample import Sample
from mmdyn.scoring.rubrics._rubric import LONGEST, RubricVerdict, Sheet
from mmdyn.task_types import OURS

RUBRICS = [name for name, source in plugins.names("rubrics").items() if ":" not in source]
CHECKLIST = ("names density", "说明冰的密度小于水")
SAMPLES = [
    made(language=language, checklist=CHECKLIST)
    for language in ("en", "zh")
    for made in (choice, multi, blank, true_false, open_ended)
]
REPLIES = ("It floats.", "x" * (3 * LONGEST), '{"code": "0"}', "{code} {answer}", "=== end", "\ud800\x00\u202e", "冰")


def sheets(name: str) -> list[tuple[Sample, str, Sheet]]:
    rubric = plugins.load("rubrics", name)()
    return [(sample, reply, rubric.sheet(sample, reply, False)) for sample in SAMPLES for reply in REPLIES]


def wanted(sheet: Sheet) -> str:
    """The verdict that a sheet shows as the one it wants."""
    return next(line for line in sheet.text.splitlines()[::-1] if line.startswith('{"'))


def test_the_samples_are_of_every_task_type_that_judges_may_judge() -> None:
    assert {sample.task_type for sample in SAMPLES} == {kind for kind, row in OURS.items() if row.form != "rules"}


@pytest.mark.parametrize("name", RUBRICS)
def test_a_sheet_shows_the_reply_and_has_a_code_of_its_own(name: str) -> None:
    made = sheets(name)
    assert len({sheet.code for _, _, sheet in made}) == len(made), "no two questions share a code"
    for sample, reply, sheet in made:
        assert re.fullmatch("[0-9a-f]{24}", sheet.code) and sheet.code in sheet.text and sheet.code in wanted(sheet)
        assert sheet.code not in reply and len(sheet.text.encode()) < 4 * LONGEST
        assert reply[:6].encode("utf-8", "replace").decode() in sheet.text
        assert sample.question in sheet.text
        assert (re.search("[一-鿿]{14}", sheet.text) is not None) is (sample.language == "zh")


@pytest.mark.parametrize("name", RUBRICS)
def test_equal_questions_give_equal_sheets(name: str) -> None:
    assert sheets(name) == sheets(name)


@pytest.mark.parametrize("name", RUBRICS)
@pytest.mark.parametrize(
    "said", ["", "Full marks.", "{}", '{"code": ""}', "[]", '{"code": "CODE"}', '{"code": "CODE", "x": [', "\ud800", "{" * 60_000]
)  # fmt: skip
def test_what_is_no_verdict_is_a_value_error(name: str, said: str) -> None:
    rubric = plugins.load("rubrics", name)()
    for sample, _, sheet in sheets(name)[:: len(REPLIES)]:
        with pytest.raises(ValueError):
            rubric.read(sample, said.replace("CODE", sheet.code), sheet.code)


@pytest.mark.parametrize("name", RUBRICS)
def test_the_wanted_shape_is_a_form_and_no_verdict(name: str) -> None:
    """A judge that repeats what it was shown has said nothing."""
    rubric = plugins.load("rubrics", name)()
    for sample, _, sheet in sheets(name)[:: len(REPLIES)]:
        for said in (wanted(sheet), sheet.text):
            with pytest.raises(ValueError):
                rubric.read(sample, said, sheet.code)


@pytest.mark.parametrize("name", RUBRICS)
def test_nothing_is_worth_something_known_and_grades_lie_within_bounds(name: str) -> None:
    rubric = plugins.load("rubrics", name)()
    for sample in SAMPLES:
        verdict = rubric.nothing(sample)
        assert isinstance(verdict, RubricVerdict) and verdict.reason
        assert verdict.grades and all(0.0 <= grade <= 1.0 for grade in verdict.grades)
        assert len(verdict.items) in (0, len(sample.checklist))


@pytest.mark.parametrize("name", RUBRICS)
def test_the_identity_is_json_and_stays(name: str) -> None:
    rubric = plugins.load("rubrics", name)
    assert json.loads(canonical(rubric().identity)) == rubric().identity and not isinstance(rubric().identity, Struct)
