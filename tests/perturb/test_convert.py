"""text.convert: question and ground truth in another form, right by construction or not at all.

MDK12-Bench, "Evaluation Methods", Question Type Conversion.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from making_items import apply, change, draw, item, refusal

from making import blank, choice, true_false
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


def test_every_target_that_fits_is_drawn_with_equal_chance() -> None:
    targets = Counter(draw(Convert(), choice(texts="4567"), number)["target"] for number in range(600))
    assert set(targets) == {"true_false", "fill_in_the_blank", "open_ended"}
    assert min(targets.values()) > 160 and targets.total() == 600
    only = Counter(draw(Convert(), choice(texts="wxyz"), number)["target"] for number in range(50))
    assert only == {"true_false": 50}
    targets = Counter(draw(Convert(), blank(), number)["target"] for number in range(600))
    assert set(targets) == {"true_false", "single_choice", "open_ended"} and min(targets.values()) > 160


def test_what_may_be_stale_is_left_out_and_the_rest_stays() -> None:
    sample = choice(
        explanation="So B.", hints={"a": "Not C.", "b": "Count."}, checklist=("B",), points=6, group="g",
        fields={"grade": "3"}, knowledge_points=("triangles",), meta={"x": 1}, match=Match(tolerance=0.1),
    )  # fmt: skip
    after = converted(sample, target="true_false", claim=["B"])
    assert (after.explanation, after.hints, after.checklist, after.match) == ("", {"b": "Count."}, (), Match())
    for field in ("id", "language", "points", "group", "fields", "knowledge_points", "meta"):
        assert getattr(after, field) == getattr(sample, field)


def test_options_that_are_the_same_cannot_be_claimed() -> None:
    assert refusal(Convert(), choice(texts=("x", "x", "y"))) == "two options are the same"


def test_a_chain_may_shuffle_first() -> None:
    shuffled = change(Shuffle(), choice(texts="wxyz"))
    assert converted(shuffled, target="true_false", claim=list(shuffled.answer)).answer is True  # type: ignore[arg-type]
