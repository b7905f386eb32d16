"""text.convert: a choice as a claim about its answer.

MDK12-Bench, "Evaluation Methods", Question Type Conversion.
"""

from __future__ import annotations

from collections import Counter

import pytest
from making_items import apply, draw, item, refusal

from making import blank, choice, multi
from mmdyn.sample import Option, Sample
from perturb.text.convert import Convert


def claim_of(sample: Sample, label: str) -> Sample:
    return apply(Convert(), item(sample=sample), {"target": "true_false", "claim": label}).sample


def asked(sample: Sample, label: str) -> str:
    """What a claim asks behind its parent's words."""
    question = claim_of(sample, label).question
    assert question.startswith(sample.question)
    return question.removeprefix(sample.question)


TRUE = " Is this claim true or false?"
KINDS = ("Square", "Rectangle", "Rhombus")


@pytest.mark.parametrize(("sample", "label", "claimed", "truth"), [
    (choice(question="An insect has (  ) legs.", texts="4567"), "C", "Claim: 6 belongs in the blank.", False),
    (choice(question="How many legs has an insect?", texts="4567", answer="C"), "C", "Claim: the answer is 6.", True),
    (choice(question="Which of the following statements is true?", texts=("Ice is hot.", "Ice is cold."), answer="B"), "B", "Claim: the answer is “Ice is cold”.", True),
    (choice(question="Then ( )", texts=("$a>b$", "$a<b$"), answer="B"), "A", "Claim: “$a>b$” belongs in the blank.", False),
    (choice(question="Which of the following is a factor of 30?", texts=("6", "7")), "B", "Claim: the answer is 7.", True),
    (choice(question="A is 3 m and B is 4 m long. Is A or B longer?", texts=("A", "B"), answer="B"), "B", "Claim: the right answer is B.", True),
    (multi(question="Which are fruit?", texts=("figs", "kale", "pears"), answer="AC"), "C", "Claim: one of the right answers is “pears”.", True),
    (multi(texts="2349", answer="AC"), "B", "Claim: one of the right answers is 3.", False),
])  # fmt: skip
def test_a_claim_names_what_an_option_says_and_leaves_out_the_others(
    sample: Sample, label: str, claimed: str, truth: bool
) -> None:
    assert asked(sample, label) == f"\n\n{claimed}{TRUE}"
    after = claim_of(sample, label)
    assert (after.task_type, after.answer, after.options) == ("true_false", truth, ())


@pytest.mark.parametrize(("question", "texts", "claimed"), [
    ("三角形有几条边？", "2345", "断言：本题的答案是3。"),
    ("三角形有（　　）条边", "2345", "断言：空白处应填3。"),
    ("下列说法错误的是（　　）", ("水是液体", "冰是液体"), "断言：空白处应填“冰是液体”。"),
    ("下列理解，不符合原文意思的一项是", ("水是液体", "冰是液体"), "断言：本题的答案是“冰是液体”。"),
    ("下列命题中为真命题的是（　　）", ("冰是液体", "水是液体"), "断言：空白处应填“水是液体”。"),
    ("关于水的叙述，错误\n的是（　　）", ("水是液体", "冰是液体"), "断言：空白处应填“冰是液体”。"),
    ("下列说法正确的 是 $(\\quad)$", ("冰是液体", "水是液体"), "断言：空白处应填“水是液体”。"),
    ("共有种写法．", "2345", "断言：本题的答案是3。"),
])  # fmt: skip
def test_claims_in_chinese(question: str, texts: tuple[str, ...], claimed: str) -> None:
    assert asked(choice(question=question, texts=texts, language="zh"), "B") == f"\n\n{claimed}这一断言是否正确？"
    sample = multi(question="下列是质数的有", texts="2349", answer="AC", language="zh")
    assert asked(sample, "C") == "\n\n断言：本题的正确答案之一是4。这一断言是否正确？"


@pytest.mark.parametrize(("question", "texts"), [
    ("Select the better estimate. What is the temperature of a hot day in the desert?", ("47°F", "47°C")),
    ("Choose the best estimate. What is the mass of a pair of boots?", ("5 ounces", "5 pounds")),
    ("Pick the most likely length. How long is a pencil?", ("15 cm", "15 m")),
    ("Circle the closest estimate. How heavy is an egg?", ("5 g", "50 g")),
    ("What is the mass of a pair of boots? Mark the better estimate.", ("5 ounces", "5 pounds")),
    ("下列说法最恰当\n的是（　　）", ("水是液体", "冰是液体")),
    ("Which of the following best describes ice?", ("It is cold.", "It is cool.")),
    ("Which statement about ice is most likely true?", ("It is cold.", "It is cool.")),
    ("Which of the following numbers is the largest?", ("3", "5")), ("What is the main cause?", ("Rain", "Wind")),
    ("The number of legs is closest to", ("3", "5")), ("The shape is a ____.", KINDS), ("What shape is it?", KINDS),
    ("Which number is even?", ("3", "None of the above")), ("这一措施旨在（　　）", ("提高效率", "加强管理")),
    ("把它们中最恰当的填入（　　）", ("3", "5")), ("Which option fits the blank?", ("3", "5")),
    ("Where does the text probably come from?", ("A menu.", "A guide.")),
    ("If Lee counted three of the following numbers, which one did Lee not count?", ("3", "5")),
    ("Which of the following numbers is different from the others?", ("3", "5")), ("下列各数中最大的是（　　）", ("3", "5")),
    ("It rains, so we stay, as they say. Which option fits blank 4?", ("so", "as")),
])  # fmt: skip
def test_the_options_stay_where_the_truth_of_a_claim_may_hang_on_them(question: str, texts: tuple[str, ...]) -> None:
    sample = choice(question=question, texts=texts, images=("images/0.png",))
    listed = "".join(f"\n{option.label}. {option.text}" for option in sample.options)
    name = texts[1] if texts[1][0].isdigit() else f"“{texts[1].rstrip('.')}”"
    assert asked(sample, "B") == f"{listed}\n\nClaim: the right answer is {name}.{TRUE}"
    assert claim_of(sample, "B").answer is True and claim_of(sample, "A").answer is False


def test_option_pictures_become_pictures_of_the_question() -> None:
    options = (Option("A", "", "images/a.png"), Option("B", "blue", "images/b.png"), Option("C", "none"))
    sample = Sample("s", "Which? <image 1>", "single_choice", ("A",), options=options, images=("images/q.png",))
    after = claim_of(sample, "C")
    assert after.images == ("images/q.png", "images/a.png", "images/b.png")
    listed = "Which? <image 1>\nA. <image 2>\nB. blue <image 3>\nC. none\n\nClaim: the right answer is "
    assert after.question == f"{listed}“none”.{TRUE}"
    assert claim_of(sample, "B").question == f"{listed}B.{TRUE}"
    marked = choice(question="Which?", texts=("<image 1>", "<image 2>"), images=("images/a.png", "images/b.png"))
    assert asked(marked, "B") == f"\nA. <image 1>\nB. <image 2>\n\nClaim: the right answer is B.{TRUE}"


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
    assert after.question == f"A table\nA. A\nB. E\nC. F\nD. none\n\nClaim: the right answer is A.{TRUE}"
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


@pytest.mark.parametrize("sample", [choice(texts="wxyz"), multi(), multi(answer="ABD"), multi(answer="B")])
def test_claims_are_true_half_of_the_time(sample: Sample) -> None:
    claims = Counter(draw(Convert(), sample, number)["claim"] for number in range(1000))
    assert 430 < sum(claims[label] for label in sample.answer) < 570  # type: ignore[union-attr]
    for labels in (sample.answer, set(sample.labels) - set(sample.answer)):  # type: ignore[arg-type]
        counts = [claims[label] for label in labels]  # type: ignore[union-attr]
        assert min(counts) > 0.5 * max(counts), "each is equally frequent"


def test_where_all_options_are_right_nothing_wrong_can_be_claimed() -> None:
    assert refusal(Convert(), multi(answer="ABCD")) == "no option is wrong"


def test_the_coin_of_a_claim_is_keyed_by_its_parent() -> None:
    params = [draw(Convert(), choice(texts="wxyz"), number) for number in range(9)]
    assert params == [draw(Convert(), choice(texts="wxyz"), number) for number in range(9)]


def test_what_is_drawn_does_not_give_the_gold_answer_away() -> None:
    """Over all gold answers, every label is claimed equally often."""
    claims = Counter(
        draw(Convert(), choice(answer=answer, texts="wxyz"), number)["claim"]
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
