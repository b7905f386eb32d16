"""Answers in a file: one line has one score, whoever reads it, and what it may and may not hold."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from making_judges import in_turn, judged_by, marks

from mmdyn.errors import InputError
from mmdyn.scoring import Cascade, Scorer, answered_lines, grade, read_out
from mmdyn.scoring.grade_lines import Graded

Line = dict[str, Any]
BLANK: Line = {"question": "How far?", "task_type": "fill_in_the_blank"}
CHOICE: Line = {"question": "Which?", "task_type": "single_choice", "options": ["Rome", "Paris"], "answer": ["B"]}
TWO: Line = {**BLANK, "answer": [["x"], ["y"]], "response": "y, x"}


def graded(lines: Sequence[Line], cascade: Cascade | None = None) -> list[Graded]:
    async def all_of() -> list[Graded]:
        read = answered_lines([json.dumps(line).encode() for line in lines], "lines")
        return [each async for each in grade(read, cascade or Cascade(Scorer()))]

    return asyncio.run(all_of())


def read(line: Line) -> Line:
    (found,) = answered_lines([json.dumps(line).encode()], "lines", keyed=False)
    written: Line = json.loads(msgspec.json.encode(read_out(found, Scorer())))
    return written


@pytest.mark.parametrize(("line", "status", "rule", "score"), [
    (TWO, "ok", "separated", 0.0), ({**TWO, "match": {"ordered": False}}, "ok", "separated", 1.0),
    ({**BLANK, "answer": [["100 m"]], "response": "103 m"}, "ok", "alone", 0.0),
    ({**BLANK, "answer": [["100 m"]], "match": {"tolerance": 0.05}, "response": "103 m"}, "ok", "alone", 1.0),
    ({**BLANK, "answer": [["5"]], "response": "500 cm"}, "ok", "alone", 0.0),
    ({**BLANK, "answer": [["5"]], "match": {"unit": "m"}, "response": "500 cm"}, "ok", "alone", 1.0),
    ({**CHOICE, "response": "Rome is old.\nB"}, "ok", "line", 1.0),
    ({**CHOICE, "response": "Rome is old.\nB", "finish_reason": "length"}, "unparsed", "cut_off", 0.0),
    ({**CHOICE, "response": "Answer: B", "finish_reason": "length"}, "ok", "slot", 1.0),
    ({**CHOICE, "response": "Answer: B", "finish_reason": "content_filter"}, "ok", "slot", 1.0),
    ({**CHOICE, "response": " ", "finish_reason": "content_filter"}, "refused", "withheld", 0.0),
    ({**CHOICE, "response": "Answer: B", "finish_reason": "refusal: SAFETY"}, "refused", "withheld", 0.0),
    ({**CHOICE, "response": "", "finish_reason": "stop"}, "unparsed", "empty", 0.0),
    ({**CHOICE, "response": "Answer: B", "finish_reason": None}, "ok", "slot", 1.0),
    ({**CHOICE, "question": "What is in <image 2>?", "options": [{"label": "A"}, {"label": "B"}], "response": "B"}, "ok", "alone", 1.0),
])  # fmt: skip
def test_a_line_has_one_score_whoever_reads_it(line: Line, status: str, rule: str, score: float) -> None:
    (by_grade,), by_extract = graded([line]), read(line)
    assert by_extract == line | by_extract, "its own keys are there as they were"
    assert (by_extract["status"], by_extract["score"]) == (by_grade.score.status, by_grade.score.value)
    assert (by_extract["status"], by_extract["rule"], by_extract["score"]) == (status, rule, score)


@pytest.mark.parametrize(("line", "whole", "cut"), [
    ({"task_type": "open_ended", "response": "The volume is 120"}, "120", None),
    ({"task_type": "fill_in_the_blank", "response": "We add them.\n7"}, ["7"], None),
    ({"task_type": "fill_in_the_blank", "response": "4; 5", "blanks": 2}, ["4", "5"], None),
    ({"task_type": "true_false", "response": "Answer: false\nFor we"}, False, False),
    ({"task_type": "single_choice", "options": ["4", "5"], "response": "Answer: B. For we"}, ["B"], ["B"]),
])  # fmt: skip
def test_of_a_response_that_was_cut_off_only_declared_answers_count(line: Line, whole: object, cut: object) -> None:
    assert [read(line | {"finish_reason": reason})["extracted"] for reason in ("stop", "length")] == [whole, cut]


def test_without_an_answer_there_is_no_score_and_blanks_says_how_many_there_are() -> None:
    line = {"task_type": "fill_in_the_blank", "response": "4; 5"}
    assert [read(line | {"blanks": blanks})["extracted"] for blanks in (2, 1)] == [["4", "5"], ["4; 5"]]
    assert "score" not in read(line) and read(line | {"human": "well done"})["human"] == "well done"


def test_no_judge_is_asked_about_an_answer_that_was_withheld() -> None:
    judge, model = judged_by(in_turn(marks("CODE", 1)))
    lines = [{**CHOICE, "response": said, "finish_reason": why} for said, why in (("", "content_filter"), ("A", "refusal"), ("A", "stop"))]  # fmt: skip
    found = graded(lines, Cascade(Scorer(), [judge], "wrong"))
    assert [each.combined for each in found] == [0.0, 0.0, 1.0] and len(model.asked) == 1
    assert [each.judgements[0] is None for each in found] == [True, True, False]


@pytest.mark.parametrize(("line", "keyed", "problem"), [
    ({**CHOICE, "response": "B", "finish_reason": 3}, True, "finish_reason must be a text or null, a whole number given"),
    ({**CHOICE, "response": "B", "finish_reason": ["length"]}, False, "finish_reason must be a text or null, a list given"),
    ({**CHOICE, "response": "B", "match": {"order": False}}, False, "unknown key 'order' in match (did you mean 'ordered'?)"),
    ({**CHOICE, "response": "B", "match": {"tolerance": 7}}, False, "match.tolerance is 7.0: give a share from 0 to 1"),
    ({**CHOICE, "response": "B", "question": 5}, False, "question must be a text, a whole number given"),
    ({"task_type": "true_false", "response": "B", "answer": True}, True, "the key 'question' is missing: add it"),
    ({"task_type": "true_false", "response": "B", "question": "?"}, True, "the key 'answer' is missing: add it"),
    ({"response": "B"}, False, "the key 'task_type' is missing: add it"),
    ({**CHOICE, "response": "B", "human": "1"}, True, '"human" must be people\'s mark'),
])  # fmt: skip
def test_what_a_line_may_not_hold(line: Line, keyed: bool, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        list(answered_lines([json.dumps(line).encode()], "lines", keyed=keyed))
    assert str(caught.value).startswith("lines:1: ") and problem in str(caught.value)


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("lines", [[], [b"\n", b"  \n"]])
def test_a_file_without_a_line_is_refused(lines: list[bytes], keyed: bool) -> None:
    with pytest.raises(InputError, match="lines: it is empty: give a JSON object a line"):
        list(answered_lines(lines, "lines", keyed=keyed))
