"""text.convert: a question with one short answer in another form, wrong answers and where they come from.

MDK12-Bench, "Evaluation Methods", Question Type Conversion.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from making_items import apply, draw, item, refusal

from making import blank, choice, open_ended
from mmdyn.sample import Match, Sample
from perturb import NotApplicable
from perturb.short_answers import answer_of
from perturb.text.convert import Convert


def converted(sample: Sample, **params: Any) -> Sample:
    return apply(Convert(), item(sample=sample), params).sample


def test_a_blank_becomes_a_choice_with_the_right_answer_in_any_place() -> None:
    sample = blank(question="How many legs has an insect? ____", answer=(("6", "six"),))
    places = Counter[int]()
    for number in range(400):
        params = draw(Convert(form="choice"), sample, number)
        after = converted(sample, **params)
        places[params["place"]] += 1
        assert after.labels == ("A", "B", "C", "D") and after.answer == ("ABCD"[params["place"]],)
        texts = [option.text for option in after.options]
        assert texts[params["place"]] == "6" and len(set(texts)) == 4
        assert after.question == sample.question
        assert params["by"] == "rules" and "pool" not in params
    assert places.total() == 400 and min(places.values()) > 70, "every place is equally frequent"


def test_among_the_options_the_right_value_has_no_rank_of_its_own() -> None:
    """Who takes the smallest, the largest or a middle value is right no more often than by chance."""
    ranks = Counter[int]()
    for gold in ("12", "40", "75", "130", "$\\frac{3}{7}$", "0.35", "2600"):
        for number in range(100):
            params = draw(Convert(form="choice"), blank(answer=((gold,),)), number)
            values = sorted([gold, *params["distractors"]], key=lambda text: answer_of(text).value)  # type: ignore[arg-type, return-value]
            ranks[values.index(gold)] += 1
    assert min(ranks.values()) > 0.15 * ranks.total()


def test_a_blank_becomes_a_claim_that_is_as_often_true_as_false() -> None:
    sample = blank(question="2 + 2 = ____", answer=(("4",),))
    claims = Counter[bool]()
    for number in range(300):
        params = draw(Convert(form="claim"), sample, number)
        after = converted(sample, **params)
        claim = f"Claim: {params['filled']} belongs in the blank. Is this claim true or false?"
        assert after.question == f"2 + 2 = ____\n\n{claim}"
        assert after.answer is (params["filled"] == "4")
        claims[bool(after.answer)] += 1
    assert claims.total() == 300 and 0.4 < claims[True] / claims.total() < 0.6


@pytest.mark.parametrize(("sample", "claimed"), [
    (blank(question="What is 2 + 2?"), "What is 2 + 2?\n\nClaim: the answer is 4. Is this claim true or false?"),
    (blank(question="2 + 2 =（　）", language="zh"), "2 + 2 =（　）\n\n断言：空白处应填4。这一断言是否正确？"),
    (open_ended("s", "4", question="2 加 2 得几？", language="zh"), "2 加 2 得几？\n\n断言：本题的答案是4。这一断言是否正确？"),
])  # fmt: skip
def test_the_words_of_a_claim_about_a_short_answer(sample: Sample, claimed: str) -> None:
    after = converted(sample, target="true_false", filled="4", by="rules")
    assert (after.question, after.answer, after.task_type) == (claimed, True, "true_false")


@pytest.mark.parametrize(("question", "asked"), [
    ("An insect has ____ legs.", "An insect has ____ legs.\nState what belongs in the blank."),
    ("How many legs has an insect? ____", "How many legs has an insect?"),
    ("$2+4=$", "$2+4=$ ____\nState what belongs in the blank."),
])  # fmt: skip
def test_a_blank_becomes_an_open_question(question: str, asked: str) -> None:
    sample = blank(question=question, answer=(("6", "six"),), match=Match(tolerance=0.05))
    after = converted(sample, target="open_ended")
    assert (after.question, after.answer, after.task_type) == (asked, "6", "open_ended")
    assert after.match == Match(tolerance=0.05)


def test_an_open_question_becomes_a_blank_and_a_choice() -> None:
    sample = open_ended(question="How many legs has an insect?", answer="6", match=Match(unit="legs"))
    assert {draw(Convert(), sample, number)["target"] for number in range(20)} == {"fill_in_the_blank"}
    after = converted(sample, target="fill_in_the_blank")
    assert (after.question, after.answer) == ("How many legs has an insect? ____", (("6",),))
    assert after.match == Match(unit="legs")
    after = converted(sample, target="single_choice", distractors=["4", "8", "10"], place=2, by="rules")
    assert [option.text for option in after.options] == ["4", "8", "6", "10"] and after.answer == ("C",)


@pytest.mark.parametrize(("language", "question", "gold", "others"), [
    ("en", "Would the temperature increase or decrease?", "Increase", ["Decrease"]),
    ("en", "Is it a mammal? (Yes or No)", "no", ["yes"]),
    ("zh", "温度升高时，其溶解度____（填“增大”、“减小”或“不变”）。", "减小", ["不变", "增大"]),
    ("zh", "人体的胰岛细胞中____（含有、不含有）蛋白A基因。", "含有", ["不含有"]),
])  # fmt: skip
def test_alternatives_that_the_stem_names_are_the_options(
    language: Any, question: str, gold: str, others: list[str]
) -> None:
    sample = blank(question=question, answer=((gold,),), language=language)
    made = [draw(Convert(form="choice"), sample, number) for number in range(20)]
    assert all(sorted(params["distractors"]) == sorted(others) for params in made)
    claims = [draw(Convert(form="claim"), sample, number) for number in range(30)]
    assert {params["by"] for params in (*made, *claims)} == {"stem"}
    filled = {params["filled"] for params in claims}
    assert filled == {gold, *others}


def test_a_trail_that_does_not_fit_its_sample_is_not_applied() -> None:
    for distractors in (["4", "8", "6"], ["4", "4.0", "5"], ["1", "2", "3", "5"]):
        params = {"target": "single_choice", "distractors": distractors, "place": 0}
        made = Convert().apply(item(sample=blank(answer=(("6",),))), params)
        assert made == NotApplicable("two options say the same")
    params = {"target": "fill_in_the_blank", "stem": "Which shape?", "accepted": ["four"], "by": "x"}
    made = Convert().apply(item(sample=choice(answer="B")), params)
    assert made == NotApplicable("the right option is not the accepted answer")
    several = item(sample=blank(answer=(("blue", "azure"),), question="The sky is ____."))
    assert Convert().apply(several, {"target": "open_ended"}) == NotApplicable("several answers are accepted")


def test_of_several_blanks_one_is_asked_for_and_the_others_are_filled_in() -> None:
    sample = blank(question="$x=____$, __2__ and $y$ is ( ).", answer=(("$1$",), ("3", "three"), ("5",)))
    made = {draw(Convert(), sample, number)["blank"]: draw(Convert(), sample, number) for number in range(40)}
    assert set(made) == {0, 1, 2}
    first, second = (converted(sample, **made[place]) for place in (0, 2))
    assert (first.question, first.answer) == ("$x=____$, 3 and $y$ is 5.\nState what belongs in the blank.", "$1$")
    assert second.question == "$x=1$, 3 and $y$ is ( ).\nState what belongs in the blank."
    claims = [draw(Convert(form="claim"), sample, number) for number in range(30)]
    assert {converted(sample, **params).answer for params in claims} == {True, False}


@pytest.mark.parametrize(("sample", "reason"), [
    (blank(answer=(("4",), ("5",))), "the question has several blanks"),
    (blank(question="____ + ____ = 4"), "the question has several blanks"),
    (blank(question="What is the colour of the sky?", answer=(("blue",),)), "no wrong answers that look right were found; the question shows no blank and asks openly already"),
    (blank(question="Find a factor of 12.", answer=(("4",),)), "other answers may be right too (find a); the question shows no blank and asks openly already"),
    (blank(question="Which line shows it?", answer=(("C",),)), "the answer is a letter, as options have; the question shows no blank and asks openly already"),
    (open_ended(), "the answer is not short and definite"),
    (open_ended(question="Why does ice float?", answer="density"), "the question asks for reasons or a drawing"),
    (open_ended(question="Find x. Find y? And z?", answer="4"), "the stem has not exactly one blank or question"),
])  # fmt: skip
def test_what_has_no_other_form(sample: Sample, reason: str) -> None:
    assert refusal(Convert(), sample) == reason


def test_wrong_answers_stay_away_from_what_may_be_rounded() -> None:
    def wrong(question: str, gold: str, **more: Any) -> set[str]:
        sample = blank(question=question, answer=((gold,),), **more)
        drawn = [draw(Convert(form="choice"), sample, number) for number in range(60)]
        return {text for params in drawn for text in params.get("distractors", ())}

    near, nearer = {"16", "17", "13", "14"}, {"59", "61"}
    assert near <= wrong("How long is it? ____", "15")
    assert not nearer & wrong("How long is it? ____", "60")
    assert not near & wrong("About how long is it? ____", "15")
    assert not near & wrong("How long is it? ____", "15", match=Match(tolerance=0.08))
    assert {"1947", "1948", "1950"} <= wrong("In which year was it? ____", "1949")


# from other samples
