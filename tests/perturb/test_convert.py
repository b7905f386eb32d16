"""text.convert: question and ground truth in another form, right by construction or not at all.

MDK12-Bench, "Evaluation Methods", Question Type Conversion.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from making_items import apply, change, draw, item, refusal

from making import blank, choice, multi, open_ended, true_false
from mmdyn.keys import stream
from mmdyn.sample import Match, Option, Sample
from perturb._operator import NotApplicable
from perturb.answers import answer_of
from perturb.pool import Pool
from perturb.text._blank import as_blank
from perturb.text.convert import Convert
from perturb.workbench import Workbench


def claim_of(sample: Sample, *labels: str) -> Sample:
    return apply(Convert(), item(sample=sample), {"target": "true_false", "claim": list(labels)}).sample


def blank_of(**more: Any) -> Sample:
    made = as_blank(choice(**more))
    assert isinstance(made, Sample), made
    return made


def no_blank(**more: Any) -> str:
    made = as_blank(more.pop("sample", None) or choice(**more))
    assert isinstance(made, NotApplicable), made
    return made.reason


# a choice as a claim


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


@pytest.mark.parametrize(
    "note",
    ["(Final Answer is a value)", "(Answer is a single word.)", "[answer in a number]", "(Answer with one word)",
     "（请用一个数作答）", "（答案是一个数）"],
)  # fmt: skip
def test_notes_on_the_form_of_the_answer_are_left_out(note: str) -> None:
    sample = blank(question=f"How many legs has an insect?  {note}\n", answer=(("6",),))
    after = apply(Convert(), item(sample=sample), {"target": "true_false", "filled": "6"}).sample
    assert after.question.startswith("How many legs has an insect?\n\nClaim: ") and after.answer is True
    made = {draw(Convert(), sample, number)["target"] for number in range(30)}
    assert made == {"true_false", "single_choice"}, "without its note it asks openly already"
    assert note not in claim_of(choice(question=f"How many? {note}"), "B").question


@pytest.mark.parametrize(
    "note",
    ["(Round to 2 decimals)", "(Answer in a number rounded to 2 digits)", "(Answer in cm)", "(the answer is a prime)",
     "(Final answer is in <image 1>)", "（请用小数作答，保留两位小数）"],
)  # fmt: skip
def test_other_notes_stay(note: str) -> None:
    images = ("images/0.png",)
    assert note in claim_of(choice(question=f"How many? {note}", images=images), "B").question
    assert claim_of(choice(question="(Answer is a word)"), "B").question.startswith("(Answer is a word)\n")


@pytest.mark.timeout(10)
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


# a choice as a blank

NUMBERS = ("4", "5", "6", "7")


@pytest.mark.parametrize(
    ("question", "blanked"),
    [
        ("How many legs has an insect?", "How many legs has an insect? ____"),
        ("An insect has (   ) legs.", "An insect has ____ legs."),
        ("An insect has () legs.", "An insect has ____ legs."),
        ("An insect has ______ legs.", "An insect has ____ legs."),
        ("The number of legs is ~\\uline{~~~~~~}~.", "The number of legs is ____ ."),
        ("The number of legs is ．", "The number of legs is ____．"),
        ("The number of legs is", "The number of legs is ____"),
        ("Calculate $2+3$.", "Calculate $2+3$. ____"),
        ("Let x = 3. Find the value of x + 3.", "Let x = 3. Find the value of x + 3. ____"),
        ("$2+3=$．", "$2+3=$ ____．"),
        ("则 $a_{5}=(\\quad)$", "则 $a_{5}=$ ____"),
        ("最大值为 $($ ）", "最大值为 ____"),
        ("昆虫有（　　）条腿．", "昆虫有 ____ 条腿．"),
        ("昆虫有几条腿？", "昆虫有几条腿？ ____"),
        ("则余数是． ", "则余数是 ____．"),
        ("求昆虫的腿数", "求昆虫的腿数 ____"),
        ("What is f(2) if f() is a function in the program print()?", "What is f(2) if f() is a function in the program print()? ____"),
    ],
)  # fmt: skip
def test_the_blank_stands_where_the_answer_was_asked(question: str, blanked: str) -> None:
    after = blank_of(question=question, texts=NUMBERS, answer="C")
    assert after.question == blanked
    assert after.question.count("____") == 1
    assert (after.task_type, after.answer, after.options) == ("fill_in_the_blank", (("6",),), ())


@pytest.mark.parametrize(
    "gold",
    ["6", "-6", "$6$", "$$-\\frac{2}{3}$$ ", "0.25", "$1\\frac{1}{2}$", "1,200", "6 cm", "$12 \\mathrm{~m}$", "48 dollars",
     "12种", "30\\%", "$30^{\\circ}$", "6 m/s", "六", "+2"],
)  # fmt: skip
def test_numbers_and_quantities_can_be_filled_in(gold: str) -> None:
    after = blank_of(texts=(gold, "999", "998"), answer="A")
    assert after.answer == ((gold.strip(),),)


@pytest.mark.parametrize(
    "gold",
    ["six", "a triangle", "①③", "$[-3,4]$", "4 or 5", "4和5", "2mgL", "3x", "$\\sqrt{2}$", "x = 6", "6以上", "约6", "6左右",
     "more than 6", "6 at most", "1:2", "五折", "A", "6; 7", "(1, 2)"],
)  # fmt: skip
def test_other_answers_cannot(gold: str) -> None:
    if gold == "six":
        assert blank_of(texts=(gold, "999"), answer="A").answer == (("six",),), "numbers may be words"
        return
    assert no_blank(texts=(gold, "999", "998"), answer="A") == "the right option is no single number"


@pytest.mark.parametrize(
    "question",
    [
        "Which number is prime?",
        "What is the sum of the following numbers? Which of them?",
        "Which of the following is the number of legs?",
        "What is a factor of 30?",
        "What could be the number of legs?",
        "What is approximately the number of legs?",
        "What number of legs is closest?",
        "How many legs has an insect, most nearly?",
        "What number is not a factor of 12?",
        "How many legs does the graph show?",
        "下列各数中最大的是（ ）",
        "昆虫的腿数可能是（ ）",
        "坝顶长度约（ ）",
        "下面哪个数是质数？",
        "与6最接近的数是（ ）",
        "这些说法正确的个数是（ ）",
    ],
)
def test_stems_that_need_their_options(question: str) -> None:
    assert no_blank(question=question, texts=NUMBERS, answer="C").startswith("the stem may need its options (")


@pytest.mark.parametrize(
    "question",
    [
        "The first is (  ) and the second is (  ).",
        "How many legs? And how many wings?",
        "Insects are animals.",
        "共有枚黑色围棋子．每行要求相同．",
        "If x = ( ), how many ____ are there?",
    ],
)
def test_stems_without_exactly_one_blank_or_question(question: str) -> None:
    assert no_blank(question=question, texts=NUMBERS, answer="C") == "the stem has not exactly one blank or question"


def test_two_options_of_one_value_cannot_be_told_apart() -> None:
    for texts in (("0.5", "1/2", "3"), ("1.5", "1.45", "2"), ("0.333", "1/3", "1"), ("170 N", "172 N", "90 N")):
        assert no_blank(texts=texts, answer="A") == "another option comes near the right one"
    blank_of(texts=("0.5", "0.6", "3"), answer="A")


def test_measured_quantities_may_have_been_rounded() -> None:
    assert blank_of(texts=("170 N", "180 N"), answer="A").match == Match(tolerance=0.02)
    for exact in ("170", "55°", "12 cm", "12种"):
        assert blank_of(texts=(exact, "999"), answer="A").match == Match()


def test_what_cannot_be_a_blank_otherwise() -> None:
    assert no_blank(sample=multi()) == "several options may be right"
    assert no_blank(texts=NUMBERS, answer="C", options_in_image=True) == "the right option is no single number"
    assert no_blank(question="Is option A right, or how many?", texts=NUMBERS) == "the stem names its options"
    pictured = choice(texts=NUMBERS, answer="A")
    pictured = msgspec.structs.replace(pictured, options=(Option("A", "4", "images/a.png"), *pictured.options[1:]))
    assert no_blank(sample=pictured) == "the right option is no single number"


# a choice as an open question


@pytest.mark.parametrize(
    ("language", "question", "asked"),
    [
        ("en", "How many legs has an insect?", "How many legs has an insect?"),
        ("en", "How many legs has an insect? (2016, No. 7)", "How many legs has an insect? (2016, No. 7)"),
        ("en", "Find the number of legs of an insect.", "Find the number of legs of an insect."),
        ("en", "An insect has (   ) legs.", "An insect has ____ legs.\nState what belongs in the blank."),
        ("en", "What comes next?\n$1, 3,$", "What comes next?\n$1, 3,$ ____\nState what belongs in the blank."),
        ("zh", "昆虫有几条腿？", "昆虫有几条腿？"),
        ("zh", "昆虫有（　　）条腿．", "昆虫有 ____ 条腿．\n请写出空白处应填的内容。"),
        ("zh", "若 $a+2=8$, 则 $a=$", "若 $a+2=8$, 则 $a=$ ____\n请写出空白处应填的内容。"),
    ],
)  # fmt: skip
def test_a_choice_becomes_an_open_question_where_it_could_be_a_blank(language: Any, question: str, asked: str) -> None:
    sample = choice(question=question, texts=NUMBERS, answer="C", language=language)
    after = apply(Convert(), item(sample=sample), {"target": "open_ended"}).sample
    assert after.question == asked
    assert (after.task_type, after.answer, after.options) == ("open_ended", "6", ())


# a short answer in another form


def converted(sample: Sample, **params: Any) -> Sample:
    return apply(Convert(), item(sample=sample), params).sample


def test_a_blank_becomes_a_choice_with_the_right_answer_in_any_place() -> None:
    sample = blank(question="How many legs has an insect? ____", answer=(("6", "six"),))
    places = Counter[int]()
    for number in range(800):
        params = draw(Convert(), sample, number)
        if params["target"] != "single_choice":
            continue
        after = converted(sample, **params)
        places[params["place"]] += 1
        assert after.labels == ("A", "B", "C", "D") and after.answer == ("ABCD"[params["place"]],)
        texts = [option.text for option in after.options]
        assert texts[params["place"]] == "6" and len(set(texts)) == 4
        assert after.question == sample.question
        assert params["by"] == "rules" and "pool" not in params
    assert places.total() > 180 and min(places.values()) > 40, "every place is equally frequent"


def test_among_the_options_the_right_value_has_no_rank_of_its_own() -> None:
    """Who takes the smallest, the largest or a middle value is right no more often than by chance."""
    ranks = Counter[int]()
    for gold in ("12", "40", "75", "130", "$\\frac{3}{7}$", "0.35", "2600"):
        for number in range(300):
            params = draw(Convert(), blank(answer=((gold,),)), number)
            if params["target"] == "single_choice":
                values = sorted([gold, *params["distractors"]], key=lambda text: answer_of(text).value)  # type: ignore[arg-type, return-value]
                ranks[values.index(gold)] += 1
    assert min(ranks.values()) > 0.15 * ranks.total()


def test_a_blank_becomes_a_claim_that_is_as_often_true_as_false() -> None:
    sample = blank(question="2 + 2 = ____", answer=(("4",),))
    claims = Counter[bool]()
    for number in range(600):
        params = draw(Convert(), sample, number)
        if params["target"] == "true_false":
            after = converted(sample, **params)
            assert after.question == (
                f"2 + 2 = ____\n\nClaim: {params['filled']} belongs in the blank. Is this claim true or false?"
            )
            assert after.answer is (params["filled"] == "4")
            claims[bool(after.answer)] += 1
    assert claims.total() > 150 and 0.4 < claims[True] / claims.total() < 0.6


@pytest.mark.parametrize(
    ("sample", "claimed"),
    [
        (blank(question="What is 2 + 2?"), "What is 2 + 2?\n\nClaim: the answer is 4. Is this claim true or false?"),
        (blank(question="2 + 2 =（　）", language="zh"), "2 + 2 =（　）\n\n断言：空白处应填4。这一断言是否正确？"),
        (open_ended("s", "4", question="2 加 2 得几？", language="zh"), "2 加 2 得几？\n\n断言：本题的答案是4。这一断言是否正确？"),
    ],
)  # fmt: skip
def test_the_words_of_a_claim_about_a_short_answer(sample: Sample, claimed: str) -> None:
    after = converted(sample, target="true_false", filled="4", by="rules")
    assert (after.question, after.answer, after.task_type) == (claimed, True, "true_false")


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("An insect has ____ legs.", "An insect has ____ legs.\nState what belongs in the blank."),
        ("How many legs has an insect? ____", "How many legs has an insect?"),
        ("$2+4=$", "$2+4=$ ____\nState what belongs in the blank."),
    ],
)
def test_a_blank_becomes_an_open_question(question: str, asked: str) -> None:
    sample = blank(question=question, answer=(("6", "six"),), match=Match(tolerance=0.05))
    after = converted(sample, target="open_ended")
    assert (after.question, after.answer, after.task_type) == (asked, "6", "open_ended")
    assert after.match == Match(tolerance=0.05)


def test_an_open_question_becomes_a_blank_and_a_choice() -> None:
    sample = open_ended(question="How many legs has an insect?", answer="6", match=Match(unit="legs"))
    targets = Counter(draw(Convert(), sample, number)["target"] for number in range(600))
    assert set(targets) == {"single_choice", "true_false", "fill_in_the_blank"} and min(targets.values()) > 150
    after = converted(sample, target="fill_in_the_blank")
    assert (after.question, after.answer) == ("How many legs has an insect? ____", (("6",),))
    assert after.match == Match(unit="legs")
    after = converted(sample, target="single_choice", distractors=["4", "8", "10"], place=2, by="rules")
    assert [option.text for option in after.options] == ["4", "8", "6", "10"] and after.answer == ("C",)


@pytest.mark.parametrize(
    ("language", "question", "gold", "others"),
    [
        ("en", "Would the temperature increase or decrease?", "Increase", ["Decrease"]),
        ("en", "Is it a mammal? (Yes or No)", "no", ["yes"]),
        ("zh", "温度升高时，其溶解度____（填“增大”、“减小”或“不变”）。", "减小", ["不变", "增大"]),
        ("zh", "人体的胰岛细胞中____（含有、不含有）蛋白A基因。", "含有", ["不含有"]),
    ],
)
def test_alternatives_that_the_stem_names_are_the_options(
    language: Any, question: str, gold: str, others: list[str]
) -> None:
    sample = blank(question=question, answer=((gold,),), language=language)
    drawn = [draw(Convert(), sample, number) for number in range(60)]
    made = [params for params in drawn if params["target"] == "single_choice"]
    assert made and all(sorted(params["distractors"]) == sorted(others) for params in made)
    assert {params["by"] for params in drawn if "by" in params} == {"stem"}
    filled = {params["filled"] for params in drawn if params["target"] == "true_false"}
    assert filled == {gold, *others}


def test_a_trail_that_does_not_fit_its_sample_is_not_applied() -> None:
    for distractors in (["4", "8", "6"], ["4", "4.0", "5"], ["1", "2", "3", "5"]):
        params = {"target": "single_choice", "distractors": distractors, "place": 0}
        made = Convert().apply(item(sample=blank(answer=(("6",),))), params)
        assert made == NotApplicable("two options say the same")
    params = {"target": "fill_in_the_blank", "stem": "Which shape?", "accepted": ["four"], "by": "x"}
    made = Convert().apply(item(sample=choice(answer="B")), params)
    assert made == NotApplicable("the right option is not the accepted answer")


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (blank(answer=(("4",), ("5",))), "the question has several blanks"),
        (blank(question="____ + ____ = 4"), "the question has several blanks"),
        (
            blank(question="What is the colour of the sky?", answer=(("blue",),)),
            "no wrong answers that look right were found; the question shows no blank and asks openly already",
        ),
        (
            blank(question="Find a factor of 12.", answer=(("4",),)),
            "other answers may be right too (find a); the question shows no blank and asks openly already",
        ),
        (
            blank(question="Which line shows it?", answer=(("C",),)),
            "the answer is a letter, as options have; the question shows no blank and asks openly already",
        ),
        (open_ended(), "the answer is not short and definite"),
        (open_ended(question="Why does ice float?", answer="density"), "the question asks for reasons or a drawing"),
        (
            open_ended(question="Find x. Find y? And z?", answer="4"),
            "the stem has not exactly one blank or question",
        ),
    ],
)
def test_what_has_no_other_form(sample: Sample, reason: str) -> None:
    assert refusal(Convert(), sample) == reason


def test_several_accepted_answers_that_differ_fit_no_open_question() -> None:
    sample = blank(answer=(("blue", "azure"),), question="The sky is ____.")
    made = Convert().apply(item(sample=sample), {"target": "open_ended"})
    assert made == NotApplicable("several answers are accepted")


def test_wrong_answers_stay_away_from_what_may_be_rounded() -> None:
    def wrong(question: str, gold: str, **more: Any) -> set[str]:
        sample = blank(question=question, answer=((gold,),), **more)
        drawn = [draw(Convert(), sample, number) for number in range(120)]
        return {text for params in drawn for text in params.get("distractors", ())}

    near, nearer = {"16", "17", "13", "14"}, {"59", "61"}
    assert near <= wrong("How long is it? ____", "15")
    assert not nearer & wrong("How long is it? ____", "60")
    assert not near & wrong("About how long is it? ____", "15")
    assert not near & wrong("How long is it? ____", "15", match=Match(tolerance=0.08))
    assert {"1947", "1948", "1950"} <= wrong("In which year was it? ____", "1949")


# from other samples


def test_wrong_answers_come_from_other_samples_with_the_same_knowledge_point(tmp_path: Path) -> None:
    point = ("rocks",)
    others = [
        choice("a", texts=("granite", "basalt", "marble", "All of the above"), answer="A", knowledge_points=point),
        blank("b", answer=(("slate",),), knowledge_points=point),
        blank("c", answer=(("photosynthesis",),), knowledge_points=("plants",)),
    ]
    sample = blank("s", question="Limestone turns into ____.", answer=(("marble",),), knowledge_points=point)
    Pool.build([*others, sample], tmp_path / "pool.json")
    bench = Workbench(pool=tmp_path / "pool.json")
    drawn = [draw(Convert(bench), sample, number) for number in range(80)]
    for params in drawn:
        if params["target"] == "single_choice":
            assert sorted(params["distractors"]) == ["basalt", "granite", "slate"]
        if "by" in params:
            assert (params["by"], params["pool"]) == ("pool", bench.pool.digest)
    again = apply(Convert(), item(sample=sample), drawn[0]), apply(Convert(bench), item(sample=sample), drawn[0])
    assert again[0].sample == again[1].sample, "a replay needs no pool"


# the operator as a whole


def test_every_target_that_fits_is_drawn_with_equal_chance() -> None:
    targets = Counter(draw(Convert(), choice(texts=NUMBERS), number)["target"] for number in range(600))
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
    after = claim_of(sample, "B")
    assert (after.explanation, after.hints, after.checklist, after.match) == ("", {"b": "Count."}, (), Match())
    for field in ("id", "language", "points", "group", "fields", "knowledge_points", "meta"):
        assert getattr(after, field) == getattr(sample, field)


def test_options_that_are_the_same_cannot_be_claimed() -> None:
    assert refusal(Convert(), choice(texts=("x", "x", "y"))) == "two options are the same"


def test_a_chain_may_shuffle_first() -> None:
    from perturb.text.shuffle import Shuffle

    shuffled = change(Shuffle(), choice(texts="wxyz"))
    assert claim_of(shuffled, *shuffled.answer).answer is True  # type: ignore[misc]


@pytest.mark.timeout(5)
def test_hostile_notes_take_no_time() -> None:
    for text in (
        "(final answer is " * 6_000,
        "(请用" + "用" * 90_000,
        " " * 90_000,
        "(" * 90_000,
        "(请用用用" * 20_000,
    ):
        assert claim_of(choice(question=text), "B").question.startswith(text)


@pytest.mark.timeout(20)
def test_hostile_texts_take_no_time() -> None:
    for text in (
        "( " * 50_000,
        "(" + " " * 90_000,
        "~" * 90_000,
        "是" * 50_000,
        "is " * 30_000,
        "\n" * 90_000,
        "_ " * 50_000,
    ):
        made = as_blank(choice(question=text, texts=("4", text + "x", "5"), answer="A"))
        assert isinstance(made, NotApplicable) != text.startswith(("是", "is"))
        long = as_blank(choice(question="How many?", texts=(text + "1", "4", "5"), answer="A"))
        assert long == NotApplicable("the right option is no single number")
        for made_of in (blank(question=text, answer=(("6",),)), open_ended(question=text, answer="6")):
            Convert().params(stream("hostile"), made_of)
        assert isinstance(Convert().params(stream("hostile"), blank(answer=((text + "x",),))), (dict, NotApplicable))
