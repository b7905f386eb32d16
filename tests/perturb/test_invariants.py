"""What a rewording must leave as it is, and what it may change (MDK12-Bench, "Evaluation Methods": the meaning
filter)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from growth import grows_linearly
from making_items import array

from making import blank, choice, multi, open_ended, true_false
from mmdyn.sample import Option, Sample
from perturb import Picture, case_of
from perturb.judge._judge import Doubt, Look
from perturb.judge.invariants import compare


def doubt(a: str, b: str, answer: str | None = None) -> Doubt | None:
    case = case_of(a, b, answer)
    return compare(case.before, case.after)


def reason(a: str, b: str, answer: str | None = None) -> str:
    found = doubt(a, b, answer)
    return found.reason if found else ""


@pytest.mark.parametrize(("a", "b", "problem"), [
    ("Find 12 + 5.", "Find 21 + 5.", "a number changed: 12 -> 21"),
    ("A circle of radius 1 in a square.", "A circle of radius 2 in a square.", "a number changed: 1 -> 2"),
    ("He runs 5 miles.", "He runs 5 km.", "a unit changed: 5 mile -> 5 km"),
    ("It lasts 0 h.", "It lasts 1 h.", "a number changed: 0 h -> 1 h"),
    ("It lasts 2 h.", "It lasts 150 min.", "a number changed: 2 h -> 150 min"),
    ("小车以 5 m/s 行驶", "小车以 5 km/h 行驶", "a unit changed: 5 m/s -> 5 km/h"),
    ("质量为3千克", "质量为3克", "a unit changed: 3 kg -> 3 g"),
    ("Solve $x^2-1=0$.", "Solve $x^2+1=0$.", "a formula changed: 0=x^2-1 -> 0=x^2+1"),
    ("If x > y, is it so?", "If x < y, is it so?", "a formula changed: y<x -> x<y"),
    ("The slope of $y=\\sin x$", "The slope of $y=\\cos x$", "a formula changed: sinx=y -> cosx=y"),
    ("See <image 1> and <image 2>.", "See <image 1>.", "an image mark is gone: <image 2>"),
    ("See <image 1>.", "See <image 2>.", "an image mark is gone: <image 1>"),
])  # fmt: skip
def test_a_breach_is_certain_and_named(a: str, b: str, problem: str) -> None:
    found = doubt(a, b)
    assert found and found.certain and found.reason == problem and 0.9 < found.confidence <= 1


@pytest.mark.parametrize(("a", "b", "problem"), [
    ("A box of 3 pens", "A box of three pencils and 4 pens", "a number is new: 4"),
    ("Three boys and 5 girls", "The boys and 5 girls", "a number is gone: 3"),
    ("How many metres is it?", "How many feet is it?", "a unit changed: m -> foot"),
    ("Which is true?", "Which is not true?", "a negation was added"),
    ("Which is impossible?", "Which is possible?", "a negation is gone"),
    ("Which set is bounded?", "Which set is unbounded?", "a negation was added"),
    ("下列说法错误的是", "下列说法正确的是", "a negation is gone"),
    ("不可能发生的是", "可能发生的是", "a negation is gone"),
    ("It takes at least 3 days.", "It takes at most 3 days.", "a bound is gone: at least"),
    ("At least 3 go.", "3 go.", "a bound is gone: at least"),
    ("不超过 5 人", "至少 5 人", "a bound is gone: at most"),
    ("A ____ and a ____.", "A ____ and a thing.", "the number of blanks changed: 2 -> 1"),
    ("Points P and Q lie on it.", "Points P and R lie on it.", "a symbol changed: Q -> R"),
    ("He runs 5 miles.", "He runs 5.", "a unit changed: 5 mile -> 5"),
    ("Let $x\\in(0,k)$.", "Let $0<x≤k$.", "a formula changed: x<k -> x≤k"),
    ("An angle of 30° in a circle", "An angle of π/6 rad in a circle", "a number changed: 30 ° -> 6 rad"),
    ("Does it rise or fall as the heat falls?", "Does it rise or fall as the heat rises?", "a word turned into its opposite: trend less -> trend more"),
    ("温度降低时，压强增大还是减小？", "温度升高时，压强增大还是减小？", "a word turned into its opposite: trend less -> trend more"),
    ("Find the base area of the drum.", "Find the lateral area of the drum.", "a word turned into its opposite: measure base -> measure lateral"),
    ("求函数的导数", "求函数的积分", "a word turned into its opposite: analysis derivative -> analysis integral"),
    ("《静夜思》的作者是", "《静夜思》的朝代是", "a word turned into its opposite: written author -> written dynasty"),
    ("12年后他多少岁？", "12年前他多少岁？", "a word turned into its opposite: time after -> time before"),
    ("Who wrote the novel?", "In which century was the novel written?", "a word turned into its opposite: asked who -> asked when"),
    ("What is its mean?", "What is the median?", "a word turned into its opposite: average mean -> average median"),
    ("Find the square.\nAnswer: 4", "Find the square.\nAnswer: 5", "the answer that is given changed: 4 -> 5"),
    ("Find the square.", "Answer: 4\nFind the square.", "the answer is given away: 4"),
    ("Find the square of 2.", "Find the square of 2. The answer is: 4", "the answer is given away: 4"),
    ("它的平方是多少？", "它的平方是多少？答案：4", "the answer is given away: 4"),
    ("它的平方是多少？", "它的平方是多少?【答案】4", "the answer is given away: 4"),
    ("它的平方是多少？", "它的平方是多少？参考答案是：4。", "the answer is given away: 4。"),
    ("Find it.", "Find it! Correct answer: yes", "the answer is given away: yes"),
    ("Give a synonym of big.", "Give an antonym of big.", "a word turned into its opposite: sense alike -> sense opposite"),
    ("写出“大”的近义词", "写出与“大”意思相反的词", "a word turned into its opposite: sense alike -> sense opposite"),
    ("Which word is a noun?", "Which word is the verb?", "a word turned into its opposite: speech noun -> speech verb"),
    ("甲比乙高", "丙比乙高", "a symbol changed: 甲 -> 丙"),
    ("Burn H2 in air.", "Burn O2 in air.", "a symbol changed: H2 -> O2"),
    ("All birds sing.", "Some birds sing.", "a word turned into its opposite: all -> some"),
    ("Only A sings.", "A sings.", "'only' is gone"),
    ("What is above the line?", "What is below the line?", "a word turned into its opposite: vertical up -> vertical down"),
    ("温度升高", "温度降低", "a word turned into its opposite: trend more -> trend less"),
    ("He saw Paris in spring.", "He saw London in spring.", "a name changed: Paris -> London"),
    ("《红楼梦》的作者", "《西游记》的作者", "a quotation changed: 红楼梦 -> 西游记"),
    ("When did Bonaparte and Napoleon meet?", "When did Bonaparte meet him?", "a name is gone: Napoleon"),
    ("Give the two roots.", "Give the roots.", "a number is gone: two"),
    ("钠原子有几个质子", "钾原子有几个质子", "a word turned into its opposite: sodium -> potassium"),
])  # fmt: skip
def test_what_a_model_should_look_at_is_doubtful(a: str, b: str, problem: str) -> None:
    found = doubt(a, b)
    assert found and not found.certain and found.reason == problem and 0.5 < found.confidence < 0.9


@pytest.mark.parametrize(("a", "b"), [
    ("How many of the 5 apples are red?", "Of the five apples, how many are red?"),
    ("It is not possible.", "It is impossible."),
    ("不可能完成", "无法完成"),
    ("Which is not correct?", "Which is incorrect?"),
    ("下列说法不正确的是", "以下说法错误的是"),
    ("下列说法正确的是", "以下说法无误的是"),
    ("All but one; which is the exception? Not this.", "All but one; which is the exception? Never this."),
    ("at least 3 days", "no less than 3 days"),
    ("不少于 3 天", "至少 3 天"),
    ("每桌最多坐 5 人", "每桌至多坐 5 人"),
    ("a 5 cm rope", "a rope of 5 centimetres"),
    ("1 mole of gas", "one mole of gas"),
    ("A car travels 2 km.", "One car travels two kilometres."),
    ("Half of 50% of it", "1/2 of 0.5 of it"),
    ("$\\frac{1}{2}$ of $x^{2}$", "1/2 of x^2"),
    ("If $x>y$", "If $y<x$"),
    ("The speed increases.", "The speed rises."),
    ("Both rods are 2 m long.", "The two rods are 2 m long."),
    ("In which year did Newton die?", "Newton died in which year?"),
    ("China is large. Is a Chinese city?", "Is a Chinese city? China is large."),
    ("水（H₂O）的沸点", "$\\mathrm{H_2O}$（水）的沸点"),
    ("It costs $5.", "It costs 5 dollars."),
    ("以下哪一项不属于金属？（　　）", "下列哪项不是金属？____"),
    ("Which of the following is NOT a metal?", "Which of these is not a metal?"),
    ("A body moves with constant speed.", "A body moves with uniform speed."),
    ("The trip takes 2 hours.", "The trip takes 120 minutes."),
    ("绳长1.5米，剪去80厘米", "绳长150厘米，剪去0.8米"),
    ("Its density is 0.8 g/cm^3.", "Its density is 0.8 grams per cubic centimetre."),
    ("He rides for half an hour.", "He rides for 30 minutes."),
    ("Solve $x^2 - 4 = 0$.", "Solve $x^{2}-4=0$."),
    ("A constant pressure is a constant.", "A constant pressure stays."),
    ("当x=2时，求x+3", "若x=2，求x+3"),
    ("A ball falls from 20 m (g = 10).", "Taking g = 10, a ball falls from 20 m."),
    ("物体下落（g取10 m/s²）", "取g为10 m/s²，物体下落"),
    ("Find the area of the base.", "Find the base area."),
    ("首都是哪里？", "首都是哪座城市？"),
    ("Let $x\\in(0,k)$.", "Let $0<x<k$."),
    ("How many $n$ satisfy $-2\\le n<4$?", "How many $n$ are there with $n\\ge -2$ and $n<4$?"),
    ("Solve $x+3=y$.", "Solve $3+x=y$."),
    ("$A=\\{x \\mid x^2=4\\}$", "$A=\\{x : x^{2}=4\\}$"),
    ("Find $\\int_0^2 x\\,dx$.", "Find $\\int\\limits_{0}^{2} x\\,\\mathrm{d}x$."),
    ("求$\\complement_U A$，其中U和A已知", "求${\\complement _U}A$，其中U和A已知"),
    ("$\\triangle ABC$ is right-angled.", "$\\Delta ABC$ is right-angled."),
    ("The sides AB, BC and CA", "The sides AB, BC and CA of triangle ABC"),
    ("打八折出售", "按原价的80%出售"),
    ("It is reduced by 25%.", "It is reduced by one quarter."),
    ("A convex octagon", "A convex polygon with eight sides"),
    ("A triangle with one right angle", "A triangle with one angle of 90°"),
    ("Here are four numbers: 2, 3, 5 and 7.", "Look at the four numbers 2, 3, 5 and 7."),
    ("It uses 3 kWh.", "It uses 3 kW·h."),
    ("What is its temperature in kelvins?", "What is its temperature in K?"),
    ("A 2 M solution", "A 2 mol/L solution"),
    ("速度为50千米/时", "每小时行50千米"),
    ("They drive 60 miles an hour.", "They drive 60 miles per hour."),
    ("What is it in m/s?", "What is it in metres per second?"),
    ("（答案用千米表示）多远？", "是多少千米？"),
    ("五年级的学生", "读五年级的孩子"),
    ("How high does it rise at 20 m/s?", "At a speed of 20 m/s, what height does it reach?"),
    ("甲、乙两人相距多少千米？", "他们之间，即甲和乙，相距多少千米？"),
    ("By how many degrees did it rise?", "By how much did it rise?"),
    ("\"The wind blew,\" says whom?", "Who says \"The wind blew.\"?"),
])  # fmt: skip
def test_what_only_reads_differently_passes(a: str, b: str) -> None:
    assert reason(a, b) == ""


LISTED = "Which is prime?\nA. 4\nB. 5\nC. 6"
TURNED = "Which is prime?\nA. 5\nB. 6\nC. 4"


@pytest.mark.parametrize(("b", "problem"), [
    ("Which is prime?\nA. 5\nB. 6\nC. 4", ""),
    ("Which number is prime?\nA. 6  B. 4  C. 5", ""),
    ("Which is prime?\nA. 4\nB. 7\nC. 6", "an option changed: 5 -> 7"),
    ("Which is prime?\nA. 4\nB. 5", "the options are not the same: 6"),
    ("Which is prime? ____", ""),
    (LISTED + "\n\nClaim: the right answer is C. Is this claim true or false?", ""),
    ("Which of 3 numbers is prime? ____", "a number is new: 3"),
    ("Answer: B\nWhich is prime?\nA. 4\nB. 5\nC. 6", "the answer is given away: 5"),
])  # fmt: skip
def test_options_listed_in_a_text_are_a_set(b: str, problem: str) -> None:
    assert reason(LISTED, b, "5") == problem


@pytest.mark.parametrize(("b", "problem"), [
    ("Which one is prime?\nA. 5\nB. 6\nC. 4\nAnswer: A", ""),
    ("Which is prime? A. 4 B. 6 C. 5\nAnswer: C. 5", ""),
    ("Which is prime?\nA. 5\nB. 6\nC. 4\n【答案】C", "the answer that is given changed: 5 -> 4"),
    (LISTED, ""),
    ("Which is prime?\nA. 4\nB. 5\nC. 6\nAnswer: ____", ""),
    ("Which one is prime? Answer: ____\nA. 4\nB. 5\nC. 6", ""),
])  # fmt: skip
def test_a_line_with_the_answer_is_no_part_of_the_last_option(b: str, problem: str) -> None:
    assert reason(f"{LISTED}\nAnswer: B", b) == problem


@pytest.mark.parametrize(("before", "after", "certain"), [
    ("iron", "copper", False), ("a rise", "an increase", False), ("12 cm", "13 cm", True), ("$x^2$", "$x^3$", True),
])  # fmt: skip
def test_options_that_a_text_lists_may_be_put_into_other_words(before: str, after: str, certain: bool) -> None:
    found = doubt(f"Which?\nA. {before}\nB. 4 dm", f"Which?\nA. {after}\nB. 4 dm")
    assert found and found.certain is certain
    own = compare(choice(texts=(before, "4 dm")), choice(texts=(after, "4 dm")))
    assert own and own.certain


def test_a_letter_is_the_option_that_a_text_lists() -> None:
    """Of open questions that list options, in any order."""
    before, after = open_ended(question=LISTED, answer="B"), open_ended(question=TURNED, answer="A")
    assert problem(before, after) == "" and problem(before, changed(after, answer="C")) == "the right answer changed"


# samples: the answer moves with the options, and into other forms


def changed(sample: Sample, **changes: Any) -> Sample:
    return msgspec.structs.replace(sample, **changes)


def problem(before: Sample, after: Sample) -> str:
    found = compare(before, after)
    return found.reason if found else ""


def test_options_and_gold_move_together() -> None:
    before = choice(answer="B", texts=("two", "three", "four"))
    turned = tuple(Option(label, text) for label, text in zip("ABC", ("three", "four", "two"), strict=True))
    assert problem(before, changed(before, options=turned, answer=("A",))) == ""
    assert problem(before, changed(before, options=turned, answer=("B",))) == "the right answer changed"
    assert problem(before, changed(before, answer=("C",))) == "the right answer changed"
    other = (*turned[:2], Option("C", "two hundred"))
    assert problem(before, changed(before, options=other, answer=("A",))) == "an option changed: two -> two hundred"
    several = multi(answer="AC")
    assert problem(several, changed(several, answer=("A", "C", "D"))) == "the right answer changed"


def test_pictured_options_move_under_their_new_names() -> None:
    before = Sample("p", "Which?", "single_choice", ("A",), options=(Option("A", "", "images/1.png"), Option("B", "", "images/2.png")))  # fmt: skip
    after = changed(before, answer=("B",), options=(Option("A", "", "images/2x.png"), Option("B", "", "images/1x.png")))
    picture = Picture(array(4, 4), "png")
    looks = tuple(Look(picture, picture, Path(f"/old/{name}.png"), Path(f"/new/{name}x.png")) for name in ("1", "2"))
    assert compare(before, after, looks) is None
    wrong = compare(before, changed(after, answer=("A",)), looks)
    assert wrong and wrong.reason == "the right answer changed"
    gone = compare(before, after)
    assert gone and gone.reason == "an option changed: images/1.png -> images/2x.png"


@pytest.mark.parametrize(("before", "after", "same"), [
    (blank(), {"answer": (("four", "4"),)}, True),
    (blank(), {"answer": (("5",),)}, False),
    (blank(answer=(("1",), ("2",)), question="__ and __"), {"answer": (("2",), ("1",))}, False),
    (true_false(), {"answer": False}, False),
    (open_ended(), {"answer": "because ice is less dense than water"}, True),
    (open_ended(), {"answer": "It is magic."}, False),
])  # fmt: skip
def test_the_gold_answer_stays(before: Sample, after: dict[str, Any], same: bool) -> None:
    assert problem(before, changed(before, **after)) == ("" if same else "the right answer changed")


QUESTION = "How long is a side of 3 equal ones in a triangle of perimeter 12 cm?"
CHOICE = choice(question=QUESTION, texts=("3 cm", "4 cm", "6 cm"), answer="B")


def converted(question: str, kind: Any, answer: Any, **more: Any) -> Sample:
    return Sample("c", question, kind, answer, **more)


LINES = f"{QUESTION}\nA. 3 cm\nB. 4 cm\nC. 6 cm\n\nClaim: the right answer is "


@pytest.mark.parametrize(("after", "found"), [
    (converted(f"{QUESTION} ____", "fill_in_the_blank", (("4 cm", "4"),)), ""),
    (converted(f"{QUESTION} ____", "fill_in_the_blank", (("6 cm",),)), "the right answer changed: 4 cm"),
    (converted(QUESTION.replace("12", "15"), "open_ended", "4 cm"), "a number changed: 12 cm -> 15 cm"),
    (converted("How long is a side?", "open_ended", "4 cm"), "a number is gone: 3"),
    (converted(QUESTION, "open_ended", "4 cm"), ""),
    (converted(f"{LINES}B. Is this claim true or false?", "true_false", True), ""),
    (converted(f"{LINES}C. Is this claim true or false?", "true_false", False), ""),
    (converted(f"{LINES}C. Is this claim true or false?", "true_false", True), "a claim of C is called true"),
    (converted(f"{LINES}B. Is this claim true or false?", "true_false", False), "a claim of B is called false"),
    (converted("In a triangle of perimeter 12 cm with 3 equal sides, a side is 4 cm long. True or false?", "true_false", True), ""),
    (converted("In a triangle of perimeter 12 cm with 3 equal sides, a side is 6 cm long. True or false?", "true_false", True), "a claim is called true against the right answer"),
])  # fmt: skip
def test_a_choice_in_another_form_keeps_its_words_and_its_answer(after: Sample, found: str) -> None:
    assert problem(CHOICE, after) == found


@pytest.mark.parametrize(("before", "after", "found"), [
    (blank(), choice(question="2 + 2 = ____", texts=("4", "5"), answer="A"), ""),
    (blank(), choice(question="2 + 2 = ____", texts=("4", "5"), answer="B"), "the right answer is not the right option"),
    (blank(), true_false(question="2 + 2 = ____\n\nClaim: 4 belongs in the blank. Is this claim true or false?"), ""),
    (blank(), true_false(answer=False, question="2 + 2 = ____\n\nClaim: 5 belongs in the blank. Is this claim true or false?"), ""),
    (blank(), true_false(question="2 + 2 = ____\n\nClaim: 5 belongs in the blank. Is this claim true or false?"), "a claim of '5' is called true"),
    (blank(question="2 + 2 = ____。", language="zh"), true_false(answer=False, question="2 + 2 = ____。\n\n断言：空白处应填4。这一断言是否正确？", language="zh"), "a claim of '4' is called false"),
    (true_false(), choice(question="Seven is a prime number.", texts=("False", "True"), answer="B"), ""),
    (true_false(), choice(question="Seven is a prime number.", texts=("False", "True"), answer="A"), "the right option says the opposite of the right answer"),
    (open_ended(answer="4", question="What is 2 + 2?"), blank(question="2 + 2 = ____"), ""),
    (open_ended(answer="5", question="What is 2 + 2?"), blank(question="2 + 2 = ____"), "the right answer changed: 5"),
])  # fmt: skip
def test_other_forms_and_their_answers(before: Sample, after: Sample, found: str) -> None:
    assert problem(before, after) == found


@pytest.mark.parametrize(("make", "said", "truth", "found"), [
    (choice, "the answer is “three”", True, ""), (choice, "the right answer is “two”", False, ""),
    (choice, "the right answer is “three”", False, "a claim of 'three' is called false"), (choice, "the right answer is B", True, ""),
    (choice, "the answer is “four”", True, "a claim of 'four' is called true"), (multi, "the right answer is C", True, "a claim of C is called true"),
    (multi, "one of the right answers is C", True, ""), (multi, "one of the right answers is 3", True, ""),
    (multi, "one of the right answers is B", True, "a claim of B is called true"), (multi, "one of the right answers is 9", True, "a claim of '9' is called true"),
    (choice, "本题应选“three”", False, "a claim of 'three' is called false"), (choice, "本题的答案是“two”", False, ""), (choice, "空白处应填“two”", False, ""),
    (multi, "本题的正确答案之一是3", False, "a claim of '3' is called false"), (multi, "本题的正确答案之一是C", True, ""),
])  # fmt: skip
def test_claims_that_name_what_an_option_says(make: Any, said: str, truth: bool, found: str) -> None:
    asks = (
        f"Claim: {said}. Is this claim true or false?"
        if said.isascii() or " is “" in said
        else f"断言：{said}。这一断言是否正确？"
    )
    question = "How many sides?"
    assert problem(make(question=question), true_false(answer=truth, question=f"{question}\n\n{asks}")) == found


def test_a_claim_may_name_what_begins_like_a_letter() -> None:
    parent = choice(question="What is it?", texts=("A cube.", "A cone."))
    claims = [
        f"What is it?\n\nClaim: the answer is “{name}”. Is this claim true or false?" for name in ("A cube", "A cone")
    ]
    assert [problem(parent, true_false(question=claim)) for claim in claims] == [
        "a claim of 'A cube' is called true",
        "",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["A. ", "1/", "<image 1", "“", "不", "$", "\\frac{"])
def test_hostile_texts_take_linear_time(piece: str) -> None:
    def of_a_length(size: int) -> None:
        text = piece * (size // len(piece))
        doubt(text, text[:-5] + "x")

    assert grows_linearly(of_a_length, 15_000)
