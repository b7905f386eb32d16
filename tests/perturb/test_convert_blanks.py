"""text.convert: a single choice as a blank or as an open question.

MDK12-Bench, "Evaluation Methods", Question Type Conversion.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from making_items import apply, item

from making import blank, choice, multi, open_ended
from mmdyn.keys import stream
from mmdyn.sample import Match, Option, Sample
from perturb import NotApplicable
from perturb.judge._judge import answers_differ, asked
from perturb.text._other_forms import as_blank
from perturb.text.convert import Convert


def blank_of(**more: Any) -> Sample:
    made = as_blank(choice(**more))
    assert isinstance(made, Sample), made
    return made


def no_blank(**more: Any) -> str:
    made = as_blank(more.pop("sample", None) or choice(**more))
    assert isinstance(made, NotApplicable), made
    return made.reason


NUMBERS = ("4", "5", "6", "7")


@pytest.mark.parametrize(("question", "blanked"), [
    ("How many legs has an insect?", "How many legs has an insect? ____"),
    ("An insect has (   ) legs.", "An insect has ____ legs."),
    ("An insect has () legs.", "An insect has ____ legs."),
    ("An insect has ______ legs.", "An insect has ____ legs."),
    ("The number of legs is ~\\uline{~~~~~~}~.", "The number of legs is ____ ."),
    ("The number of legs is ．", "The number of legs is ____．"),
    ("The number of legs is", "The number of legs is ____"),
    ("An insect has a total of", "An insect has a total of ____"),
    ("The number of legs:", "The number of legs: ____"),
    ("The number of legs is．(2015, Question 6)", "The number of legs is ____．(2015, Question 6)"),
    ("则 $A=(\\quad$ ）", "则 $A=$ ____"),
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
])  # fmt: skip
def test_the_blank_stands_where_the_answer_was_asked(question: str, blanked: str) -> None:
    after = blank_of(question=question, texts=NUMBERS, answer="C")
    assert after.question == blanked
    assert after.question.count("____") == 1
    assert (after.task_type, after.answer, after.options) == ("fill_in_the_blank", (("6",),), ())


@pytest.mark.parametrize("gold", [
    "6", "-6", "$6$", "$$-\\frac{2}{3}$$ ", "0.25", "$1\\frac{1}{2}$", "1,200", "6 cm", "$12 \\mathrm{~m}$", "48 dollars",
    "12种", "30\\%", "$30^{\\circ}$", "6 m/s", "六", "six", "+2"
])  # fmt: skip
def test_numbers_and_quantities_can_be_filled_in(gold: str) -> None:
    after = blank_of(texts=(gold, "999", "998"), answer="A")
    assert after.answer == ((gold.strip(),),)


@pytest.mark.parametrize(("question", "gold"), [
    ("How many?", "$2\\sqrt{3}$"), ("What is the area?", "$9\\pi$"), ("How far is it?", "6miles"), ("How large?", "25dm²"),
    ("What is $2x + x$?", "$3x$"), ("设集合$A=\\{1,2\\}$，$B=\\{2,3\\}$，则$A\\cap B=$（ ）", "$\\{2\\}$"), ("则$x$的取值范围是（ ）", "$[-3,4)$"),
    ("What is the ratio of girls to boys?", "4:3"), ("Where does $y$ meet the axis? The point is", "$(1, 2)$"),
    ("$l: y=kx$, 则直线$l$的方程为（ ）", "$y=2x$"),
])  # fmt: skip
def test_values_and_formulas_in_the_stem_s_symbols_can_be_filled_in(question: str, gold: str) -> None:
    wrong = {"6miles": ("7miles", "8miles"), "25dm²": ("35dm²", "45dm²")}.get(gold, ("999", "998"))
    after = blank_of(question=question, texts=(gold, *wrong), answer="A")
    assert after.answer == ((gold,),) and after.question.count("____") == 1


@pytest.mark.parametrize(("question", "gold", "wrong", "blanked", "answers"), [
    ("∠2 and ∠3 are respectively (  ).", "30°, 45°", "45°, 30°", "∠2 and ∠3 are respectively ____, ____ .", ("30°", "45°")),
    ("How long and how high is it, respectively?", "6 cm and 2 cm", "3 cm and 1 cm", "How long and how high is it, respectively? ____, ____", ("6 cm", "2 cm")),
    ("AB = ( ) cm, CD = ( ) cm.", "2.4, 1.6", "4, 1.6", "AB = ____ cm, CD = ____ cm.", ("2.4", "1.6")),
    ("找规律：$6$，$12$，____，____．", "18，24", "16，24", "找规律：$6$，$12$， ____ ， ____ ．", ("18", "24")),
    (" $x$ is ____ , $y$ is ____", "$4; 32$", "$4; 40$", "$x$ is ____ , $y$ is ____", ("4", "32")),
])  # fmt: skip
def test_several_blanks_take_a_value_each(question: str, gold: str, wrong: str, blanked: str, answers: tuple[str, ...]) -> None:  # fmt: skip
    after = blank_of(question=question, texts=(gold, wrong, "No correct answer"), answer="A")
    assert (after.question, after.answer) == (blanked, tuple((answer,) for answer in answers))
    assert Convert(form="open").params(stream("several"), choice(question=question, texts=(gold, wrong), answer="A")) == NotApplicable("the question has several blanks")  # fmt: skip


def test_a_list_is_not_spread_over_blanks_that_it_does_not_fit() -> None:
    for question in ("What are the numbers?", "____, ____ and ____", "Respectively, ____ = 7 + ( ) + ( )"):
        no_blank(question=question, texts=("1, 2", "2, 1"), answer="A")
    assert no_blank(question="Fill in $7=____+1$ respectively.", texts=("6, 1", "5, 2"), answer="A") == (
        "the stem has not exactly one blank or question"
    )


@pytest.mark.parametrize(("question", "gold", "wrong", "blank"), [
    ("这个几何体是（　　）", "三棱柱", ("圆柱", "四棱锥"), True), ("所用的方法是____．", "升华", ("蒸馏", "萃取"), True),
    ("这个角是（　　）", "钝角", ("锐角", "直角"), False), ("这一措施旨在（　　）", "改革", ("开放", "合作"), False),
    ("主要原因是（　　）", "降水", ("气温", "光照"), False), ("原因是（　　）", "降水减少", ("气温升高", "光照强"), False),
    ("下列属于金属的是（　　）", "铁", ("碳", "硫"), False), ("$1$是（　　）", "最小正整数", ("最小数", "整数"), False),
])  # fmt: skip
def test_short_chinese_terms_at_the_end_of_a_sentence(question: str, gold: str, wrong: tuple[str, ...], blank: bool) -> None:  # fmt: skip
    made = as_blank(choice(question=question, texts=(gold, *wrong), answer="A", language="zh"))
    assert isinstance(made, Sample) is blank


@pytest.mark.parametrize(("question", "gold", "wrong"), [
    ("Tom, Ann and Bo ran. Who won?", "Ann", ("Tom", "Bo")),
    ("Which of the girls Ann and Bo is older?", "Bo", ("Ann", "No correct answer")),
    ("On what day does it fall?", "Friday", ("Monday", "Sunday")), ("Which direction does it face?", "Southeast", ("North", "West")),
    ("This process is called (  ).", "osmosis", ("respiration", "diffusion")),
    ("甲、乙、丙三人中，最高的是（ ）", "乙", ("甲", "丙", "无法确定")), ("那么这一天是星期几？", "星期五", ("星期一", "星期二")),
    ("正确的是（ ）①水能灭火 ②油浮于水 ③铁能导电", "①③", ("①②", "②③")),
])  # fmt: skip
def test_names_that_the_stem_brings_or_asks_for_and_statements_that_it_lists(question: str, gold: str, wrong: tuple[str, ...]) -> None:  # fmt: skip
    language: Any = "zh" if question[-1] in "）？电" else "en"
    after = blank_of(question=question, texts=(gold, *wrong), answer="A", language=language)
    assert after.answer == ((gold,),) and ("填序号" in after.question) == (gold == "①③")


@pytest.mark.parametrize("gold", [
    "a triangle", "2mgL", "3x", "6以上", "约6", "6左右", "more than 6", "6 at most", "A", "①③", "(1)(4)", "$\\times 4$", "6, 7, 8",
    "because it falls",
])  # fmt: skip
def test_other_answers_cannot(gold: str) -> None:
    reason = no_blank(texts=(gold, "999", "998"), answer="A")
    assert reason in ("the right option is no value and no term that the stem asks for", "the right option is a list")


@pytest.mark.parametrize(("question", "texts", "reason"), [
    ("How many legs?", ("None of the above", "4", "5"), "the right option is that there is none"),
    ("How many legs?", ("both of them", "4", "5"), "the right option is that there is none"),
    ("How many legs?", ("无法确定", "4", "5"), "the right option is that there is none"),
    ("How many legs?", ("Both A and B", "4", "5"), "the right option is no value and no term that the stem asks for"),
    ("Which one is it?", ("the first one", "the second one", "neither"), "the right option is no value and no term that the stem asks for"),
    ("方程$x^3=x-4$的一个实根所在的区间是（ ）", ("$(5,6)$", "$(1,2)$"), "other formulas may fit the stem"),
    ("函数$y=a$如图所示，则（ ）", ("$y=2$", "$y=3$"), "other formulas may fit the stem"),
    ("What are the two numbers?", ("31, 32", "30, 33"), "the right option is a list"),
    ("Which of the following is Ann? Ann, Bo.", ("Ann", "Bo"), "the stem may need its options (of the following)"),
    ("把它们排序（ ）①a ②b ③c", ("①③②", "②①③"), "the right option is no value and no term that the stem asks for"),
    ("Ann can be Bo. Who may be the tallest, Ann or Bo?", ("Ann", "Bo"), "the stem may need its options (may be)"),
    ("x" * 600 + " Ann and Bo. Which fits?", ("Ann", "Bo"), "the right option is no value and no term that the stem asks for"),
])  # fmt: skip
def test_what_only_makes_sense_among_the_options_is_no_blank(question: str, texts: tuple[str, ...], reason: str) -> None:  # fmt: skip
    assert no_blank(question=question, texts=texts, answer="A") == reason


def test_a_count_and_an_earlier_sentence_lean_on_nothing() -> None:
    for question in (
        "How many questions did Kiki answer correctly?", "What is the probability that it is not red?",
        "He has two of these, which he likes. What is their sum?", "这些说法正确的个数是（ ）",
        "What is the largest possible number of legs?", "When asked about it he fell silent. How many legs has it?",
        "填上正确的答案：昆虫的腿数是（ ）", "他完成一项工程需要几天？",
    ):  # fmt: skip
        blank_of(question=question, texts=NUMBERS, answer="C")


@pytest.mark.parametrize("question", [
    "Which number is prime?", "What is the sum of the following numbers? Which of them?",
    "Which of the following is the number of legs?", "What is a factor of 30?", "What could be the number of legs?",
    "It is divisible by (  ).", "它能被（  ）整除", "What is approximately the number of legs?", "What number of legs is closest?",
    "How many legs has an insect, most nearly?", "What number is not a factor of 12?",
    "How many legs does the graph show?", "下列各数中最大的是（ ）", "昆虫的腿数可能是（ ）", "坝顶长度约（ ）", "下面哪个数是质数？", "与6最接近的数是（ ）",
    "这些数中正确的是（ ）",
])  # fmt: skip
def test_stems_that_need_their_options(question: str) -> None:
    assert no_blank(question=question, texts=NUMBERS, answer="C").startswith("the stem may need its options (")


@pytest.mark.parametrize("question", [
    "The first is (  ) and the second is (  ).", "How many legs? And how many wings?", "Insects are animals.",
    "共有枚黑色围棋子．每行要求相同．", "If x = ( ), how many ____ are there?",
])  # fmt: skip
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
    assert no_blank(texts=NUMBERS, answer="C", options_in_image=True) == "options are pictures"
    assert no_blank(question="Is option A right, or how many?", texts=NUMBERS) == "the stem names its options"
    pictured = choice(texts=NUMBERS, answer="A")
    pictured = msgspec.structs.replace(pictured, options=(Option("A", "4", "images/a.png"), *pictured.options[1:]))
    assert no_blank(sample=pictured) == "options are pictures"


# as an open question


@pytest.mark.parametrize(("language", "question", "asked"), [
    ("en", "How many legs has an insect?", "How many legs has an insect?"),
    ("en", "How many legs has an insect? (2016, No. 7)", "How many legs has an insect? (2016, No. 7)"),
    ("en", "Find the number of legs of an insect.", "Find the number of legs of an insect."),
    ("en", "An insect has (   ) legs.", "An insect has ____ legs.\nState what belongs in the blank."),
    ("en", "What comes next?\n$1, 3,$", "What comes next?\n$1, 3,$ ____\nState what belongs in the blank."),
    ("zh", "昆虫有几条腿？", "昆虫有几条腿？"),
    ("zh", "昆虫有（　　）条腿．", "昆虫有 ____ 条腿．\n请写出空白处应填的内容。"),
    ("zh", "若 $a+2=8$, 则 $a=$", "若 $a+2=8$, 则 $a=$ ____\n请写出空白处应填的内容。"),
])  # fmt: skip
def test_a_choice_becomes_an_open_question_where_it_could_be_a_blank(language: Any, question: str, asked: str) -> None:
    sample = choice(question=question, texts=NUMBERS, answer="C", language=language)
    after = apply(Convert(), item(sample=sample), {"target": "open_ended"}).sample
    assert after.question == asked
    assert (after.task_type, after.answer, after.options) == ("open_ended", "6", ())


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_hostile_texts_take_no_time() -> None:
    for text in (
        "( " * 50_000, "(" + " " * 90_000, "~" * 90_000, "是" * 50_000, "is " * 30_000, "\n" * 90_000, "_ " * 50_000,
    ):  # fmt: skip
        made = as_blank(choice(question=text, texts=("4", text + "x", "5"), answer="A"))
        assert isinstance(made, NotApplicable) != text.startswith(("是", "is"))
        long = as_blank(choice(question="How many?", texts=("x" + text + "1", "4", "5"), answer="A"))
        assert long == NotApplicable("the right option is no value and no term that the stem asks for")
        for made_of in (blank(question=text, answer=(("6",),)), open_ended(question=text, answer="6")):
            Convert().params(stream("hostile"), made_of)
        assert isinstance(Convert().params(stream("hostile"), blank(answer=((text + "x",),))), (dict, NotApplicable))


@pytest.mark.parametrize(("gold", "wrong", "parts"), [
    ("2.4, 1.6", "4, 2.4", ("2.4", "1.6")), ("2, 2", "1, 2", ("2", "2")), ("$3$ and $-5$", "$-3$ and $5$", ("3", "-5")),
    ("3、5", "5、3", ("3", "5")), ("1; 0.5", "1; 2", ("1", "0.5")), ("8和9", "9和8", ("8", "9")), ("2 cm, 5 cm", "5 cm, 5 cm", ("2 cm", "5 cm")),
])  # fmt: skip
def test_a_judge_takes_the_parts_of_a_right_option_for_the_blanks(
    gold: str, wrong: str, parts: tuple[str, str]
) -> None:
    before = choice(question="AB = ( ), CD = ( ).", texts=(wrong, gold), answer="B")
    after = blank(question="AB = ____ , CD = ____ .", answer=tuple((part,) for part in parts))
    assert not answers_differ(asked(before), asked(after))
    for others in (parts[::-1], (parts[0],) * 2, (parts[0], "7"), (*parts, "1")):
        if others != parts:
            after = blank(question="AB = ____ , CD = ____ .", answer=tuple((part,) for part in others))
            assert answers_differ(asked(before), asked(after)) == f"the right answer changed: {gold}", others


def test_half_of_the_words_of_a_right_option_are_not_it() -> None:
    before = choice(question="The flag is ( ) and ( ).", texts=("red and green", "red and blue"), answer="B")
    after = blank(question="The flag is ____ and ____ .", answer=(("red",), ("green",)))
    assert answers_differ(asked(before), asked(after)) == "the right answer changed: red and blue"
