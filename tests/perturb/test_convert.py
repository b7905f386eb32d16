"""text.convert: question and ground truth in another form, right by construction or not at all.

MDK12-Bench, "Evaluation Methods", Question Type Conversion.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from making_items import apply, change, draw, item, refusal

from making import blank, choice, multi, open_ended, true_false
from mmdyn.sample import Match, Sample
from perturb.text.convert import Convert
from perturb.text.shuffle import Shuffle


def converted(sample: Sample, **params: Any) -> Sample:
    return apply(Convert(), item(sample=sample), params).sample


# true or false as a choice


@pytest.mark.parametrize(("language", "words"), [("en", ("True", "False")), ("zh", ("正确", "错误"))])
@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize("true_first", [True, False])
def test_true_or_false_becomes_a_choice_in_either_order(
    language: Any, words: tuple[str, str], truth: bool, true_first: bool
) -> None:
    sample = true_false(answer=truth, language=language, explanation="Because it is.")
    after = apply(Convert(), item(sample=sample), {"target": "single_choice", "true_first": true_first}).sample
    assert after.task_type == "single_choice" and after.labels == ("A", "B")
    assert tuple(option.text for option in after.options) == (words if true_first else words[::-1])
    right = next(option.text for option in after.options if option.label in after.answer)  # type: ignore[operator]
    assert right == words[0 if truth else 1]
    assert after.question == sample.question and after.explanation == ""


def test_both_orders_are_drawn() -> None:
    orders = Counter(draw(Convert(), true_false(), number)["true_first"] for number in range(400))
    assert 160 < orders[True] < 240


# the operator as a whole


NUMBER = choice(question="How many legs has an insect?", texts="4567", answer="C")
WORDS = choice(texts="wxyz")
FILLED = blank(question="An insect has ____ legs.", answer=(("6",),))
ASKED = open_ended(question="How many legs has an insect?", answer="6")


@pytest.mark.parametrize(("sample", "targets"), [
    (NUMBER, {"fill_in_the_blank", "open_ended"}),
    (WORDS, {"true_false"}),
    (multi(), {"true_false"}),
    (true_false(), {"single_choice"}),
    (FILLED, {"open_ended"}),
    (ASKED, {"fill_in_the_blank"}),
    (blank(question="How many legs has an insect?", answer=(("6", "six"),)), {"single_choice"}),
])  # fmt: skip
def test_of_the_forms_that_fit_those_are_drawn_in_which_guessing_earns_least(sample: Sample, targets: set[str]) -> None:
    found = Counter(draw(Convert(), sample, number)["target"] for number in range(200))
    assert set(found) == targets
    assert min(found.values()) > 0.7 * 200 / len(targets), "each is as likely"


@pytest.mark.parametrize(("form", "sample", "target"), [
    ("blank", NUMBER, "fill_in_the_blank"), ("open", NUMBER, "open_ended"), ("claim", NUMBER, "true_false"),
    ("choice", FILLED, "single_choice"), ("claim", FILLED, "true_false"), ("blank", ASKED, "fill_in_the_blank"),
    ("choice", true_false(), "single_choice"),
])  # fmt: skip
def test_one_form_may_be_asked_for(form: str, sample: Sample, target: str) -> None:
    assert {draw(Convert(form=form), sample, number)["target"] for number in range(20)} == {target}


@pytest.mark.parametrize(("form", "sample", "reason"), [
    ("choice", NUMBER, "a single_choice cannot become a single_choice"),
    ("blank", multi(), "a multi_select cannot become a fill_in_the_blank"),
    ("claim", true_false(), "a true_false cannot become a true_false"),
    ("blank", WORDS, "the right option is no value and no term that the stem asks for"),
])  # fmt: skip
def test_a_form_that_a_question_cannot_take_is_refused(form: str, sample: Sample, reason: str) -> None:
    assert refusal(Convert(form=form), sample) == reason


@pytest.mark.parametrize("form", Convert.forms)
def test_a_trail_replays_without_its_form(form: str) -> None:
    sample = ASKED if form in ("choice", "blank") else NUMBER
    params = draw(Convert(form=form), sample)
    assert apply(Convert(), item(sample=sample), params).sample == change(Convert(form=form), sample)


def test_what_may_be_stale_is_left_out_and_the_rest_stays() -> None:
    sample = choice(
        explanation="So B.", hints={"a": "Not C.", "b": "Count."}, checklist=("B",), points=6, group="g",
        fields={"grade": "3"}, knowledge_points=("triangles",), meta={"x": 1}, match=Match(tolerance=0.1),
    )  # fmt: skip
    after = converted(sample, target="true_false", claim="B")
    assert (after.explanation, after.hints, after.checklist, after.match) == ("", {"b": "Count."}, (), Match())
    for field in ("id", "language", "points", "group", "fields", "knowledge_points", "meta"):
        assert getattr(after, field) == getattr(sample, field)


def test_options_that_are_the_same_cannot_be_claimed() -> None:
    assert refusal(Convert(), choice(texts=("x", "x", "y"))) == "two options are the same"


def test_a_chain_may_shuffle_first() -> None:
    shuffled = change(Shuffle(), choice(texts="wxyz"))
    assert converted(shuffled, target="true_false", claim=shuffled.answer[0]).answer is True  # type: ignore[index]
