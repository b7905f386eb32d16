"""text.convert: a choice as a claim about its answer.

MDK12-Bench, "Evaluation Methods", Question Type Conversion.
"""

from __future__ import annotations

from collections import Counter

import pytest
from making_items import apply, draw, item

from making import blank, choice, multi
from mmdyn.sample import Option, Sample
from perturb.text.convert import Convert


def claim_of(sample: Sample, *labels: str) -> Sample:
    return apply(Convert(), item(sample=sample), {"target": "true_false", "claim": list(labels)}).sample


def test_a_claim_keeps_the_options_in_the_question() -> None:
    after = claim_of(choice(answer="B"), "B")
    assert after.question == (
        "How many sides has a triangle?\nA. two\nB. three\nC. four\nD. five\n\n"
        "Claim: the right answer is B. Is this claim true or false?"
    )
    assert (after.task_type, after.answer, after.options) == ("true_false", True, ())
    assert claim_of(choice(answer="B"), "C").answer is False


def test_a_claim_in_chinese() -> None:
    after = claim_of(choice(question="三角形有几条边？", language="zh"), "B")
    assert after.question.endswith("\n\n断言：本题应选B。这一断言是否正确？")


def test_a_claim_of_several_is_true_only_as_a_whole() -> None:
    sample = multi(answer="AC")
    after = claim_of(sample, "A", "C")
    assert after.answer is True
    assert after.question.endswith(
        "Claim: the right answer is A and C, and no other option. Is this claim true or false?"
    )
    assert claim_of(sample, "A").answer is False
    assert claim_of(sample, "A", "B").answer is False
    assert claim_of(sample, "A", "B", "C").question.count("A, B and C") == 1
    zh = claim_of(multi(answer="ACD", language="zh"), "A", "C", "D")
    assert zh.question.endswith("断言：本题应选A、C、D，且不选其他选项。这一断言是否正确？")


def test_option_pictures_become_pictures_of_the_question() -> None:
    options = (Option("A", "", "images/a.png"), Option("B", "blue", "images/b.png"), Option("C", "none"))
    sample = Sample("s", "Which? <image 1>", "single_choice", ("A",), options=options, images=("images/q.png",))
    after = claim_of(sample, "C")
    assert after.images == ("images/q.png", "images/a.png", "images/b.png")
    assert after.question.startswith("Which? <image 1>\nA. <image 2>\nB. blue <image 3>\nC. none\n\nClaim")


def test_options_in_the_picture_are_claimed_by_their_letter() -> None:
    options = tuple(Option(label) for label in "ABCD")
    sample = Sample(
        "s", "Which?", "single_choice", ("A",), options=options, images=("images/q.png",), options_in_image=True
    )
    after = claim_of(sample, "A")
    assert after.question == "Which?\n\nClaim: the right answer is A. Is this claim true or false?"
    assert after.options_in_image is False and after.answer is True


def test_options_are_not_listed_where_none_says_more_than_its_letter() -> None:
    after = claim_of(choice(question="A table", texts=("A", "$\\mathrm{B}$", "C", "D."), answer="A"), "A")
    assert after.question.startswith("A table\n\nClaim")
    after = claim_of(choice(question="A table", texts=("A", "E", "F", "none"), answer="A"), "A")
    assert after.question.startswith("A table\nA. A\nB. E\nC. F\nD. none\n\nClaim")
    after = claim_of(choice(question="A table", texts=("", "E"), answer="A", options_in_image=True), "A")
    assert after.question.startswith("A table\nA.\nB. E\n\nClaim")


# notes on the form of the answer


@pytest.mark.parametrize("note", [
    "(Final Answer is a value)", "(Answer is a single word.)", "[answer in a number]", "(Answer with one word)",
    "（请用一个数作答）", "（答案是一个数）"
])  # fmt: skip
def test_notes_on_the_form_of_the_answer_are_left_out(note: str) -> None:
    sample = blank(question=f"How many legs has an insect?  {note}\n", answer=(("6",),))
    after = apply(Convert(), item(sample=sample), {"target": "true_false", "filled": "6"}).sample
    assert after.question.startswith("How many legs has an insect?\n\nClaim: ") and after.answer is True
    made = {draw(Convert(), sample, number)["target"] for number in range(30)}
    assert made == {"single_choice"}, "without its note it asks openly already"
    assert note not in claim_of(choice(question=f"How many? {note}"), "B").question


@pytest.mark.parametrize("note", [
    "(Round to 2 decimals)", "(Answer in a number rounded to 2 digits)", "(Answer in cm)", "(the answer is a prime)",
    "(Final answer is in <image 1>)", "（请用小数作答，保留两位小数）",
])  # fmt: skip
def test_other_notes_stay(note: str) -> None:
    images = ("images/0.png",)
    assert note in claim_of(choice(question=f"How many? {note}", images=images), "B").question
    assert claim_of(choice(question="(Answer is a word)"), "B").question.startswith("(Answer is a word)\n")


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_claim_over_many_options_takes_no_time() -> None:
    labels = [f"L{n}" for n in range(60)]
    options = tuple(Option(label, f"text {label}") for label in labels)
    sample = Sample("s", "Which?", "multi_select", tuple(labels[:30]), options=options)
    claims = [draw(Convert(), sample, number)["claim"] for number in range(20)]
    assert {len(claim) for claim in claims} == {30}


@pytest.mark.parametrize("sample", [choice(texts="wxyz"), multi(), multi(answer="ABCD"), multi(answer="B")])
def test_claims_are_true_half_of_the_time_and_their_length_tells_nothing(sample: Sample) -> None:
    claims = [tuple(draw(Convert(), sample, number)["claim"]) for number in range(1000)]
    true = [claim for claim in claims if set(claim) == set(sample.answer)]  # type: ignore[arg-type]
    assert 430 < len(true) < 570
    wrong = Counter(claim for claim in claims if claim not in true)
    size = min(len(true[0]), len(sample.options) - 1)
    assert {len(claim) for claim in wrong} == {size}
    assert min(wrong.values()) > 0.5 * max(wrong.values()), "wrong claims are equally frequent"


def test_what_is_drawn_does_not_give_the_gold_answer_away() -> None:
    """Over all gold answers, every label is claimed equally often."""
    claims = Counter(
        draw(Convert(), choice(answer=answer, texts="wxyz"), number)["claim"][0]
        for answer in "ABCD"
        for number in range(400)
    )
    assert max(claims.values()) - min(claims.values()) < 120


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_hostile_notes_take_no_time() -> None:
    for text in (
        "(final answer is " * 6_000, "(请用" + "用" * 90_000, " " * 90_000, "(" * 90_000, "(请用用用" * 20_000,
    ):  # fmt: skip
        assert claim_of(choice(question=text), "B").question.startswith(text)
