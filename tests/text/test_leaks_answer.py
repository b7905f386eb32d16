"""When a text holds the gold answer word for word, and when it does not."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from making import blank, choice, multi, open_ended, true_false, write_set
from mmdyn.sample import Option, Sample
from mmdyn.text import leaks_answer
from perturb import perturb


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("carbon dioxide", "Plants take in Carbon\nDioxide, and more."),
        ("Because ice is less dense than water.", "It floats because ice is less dense than water, always"),
        ("5", "There are 5 of them."),
        ("5", "共有5个。"),
        ("5", "x=5."),
        ("5", "5 = x"),
        ("5", "- 5 apples"),
        ("5", "It has 5 faces."),
        ("5", "5 cm"),
        ("5", "5cm"),
        ("5", "f is 5, (5, 3) or so"),
        ("5 cm", "The edge is 5cm long."),
        ("5", "- Angles: 1. They are 5."),
        ("5", "1. One.\n5. Five: 5 of them."),
        ("③", "see ③ there"),
        ("5cm", "The edge is 5 cm long."),
        ("-5", "It is -5 or so."),
        ("−5", "It is -5."),
        ("$x^2+1$", "Then $x^{2} + 1$ follows."),
        (r"$\frac{1}{2}$", "one half is 1/2."),
        ("3.14", "about 3.14."),
        ("氢气", "生成的是氢 气和水"),
        ("ＤＮＡ", "Cells hold DNA."),
        ("H2O", "Water is H₂O."),
        ("5%", "It is 5 % of them."),
        ("90°", r"an angle of $90^\circ$"),
        ("1000", "A litre is 1,000 ml."),
        ("1,234,567", "1234567 people"),
        ("H₂O", "Water is H_2O."),
        ("H2O", "Water is $H_{2}O$."),
        ("**Harold**", "*Harold* is a name."),
        ("Harold", "_Harold_ is a name."),
        ("2 × 3", "so 2*3 is 6"),
        ("第3步", "看第3步"),
        ("Step 3", "see Step 3"),
        ("5", "1. One.\n 5. Five."),
        *(
            pair
            for one, many in (
                ("ribosome", "Ribosomes"),
                ("ion", "ions"),
                ("fox", "foxes"),
                ("base", "bases"),
                ("hypothesis", "hypotheses"),
                ("nucleus", "nuclei"),
                ("mitochondrion", "mitochondria"),
                ("city", "cities"),
                ("leaf", "leaves"),
                ("red blood cell", "red blood cells"),
                ("vertex", "vertices"),
                ("gas", "gases"),
                ("tooth", "teeth"),
            )
            for pair in ((one, f"These are {many}."), (many, f"This is a {one}."))
        ),
        *(
            pair
            for number, words in (
                ("20", "twenty"),
                ("21", "twenty-one"),
                ("105", "one hundred and five"),
                ("20", "二十"),
                ("15个", "十五个"),
                ("3种", "三种"),
                ("300", "三百"),
                ("2", "Two"),
                ("12 cm", "twelve cm"),
                ("两个", "2个"),
            )
            for pair in ((number, f"It is: {words}."), (words, f"It is: {number}."))
        ),
        ("20", "共有二十个。"),
        ("3", "三个"),
    ],
)
def test_held(answer: str, text: str) -> None:
    assert leaks_answer(text, open_ended(answer=answer))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("ion", "A lion."),
        ("H2", "Water is H2O."),
        ("carbon dioxide", "carbondioxide"),
        *(
            ("5", text)
            for text in (
                "10-5", "x-5", "3-5", "3 – 5", "ah/5", "(l+w) × 5", r"$5 \div a$", "5(a+b)", "5 + a", "5 %", "5°",
                "√5",
            )
        ),
        *(
            ("5", text)
            for text in (
                "- P: 5、面积", "- P：5.面积", "5.Area", "(5) do", "（5）做", "a (4) x; (5) y", "Step 5: do", "第5步", "第 5 章",
            )
        ),
        *(
            ("5", text)
            for text in ("15", "5.2", "1.5", "-5", "it is -5", "1/5", "5/6", "x^5", "5th", "1,5", ".5", "x5")
        ),
        ("-5", "10-5"),
        ("-5", "10 -5"),
        ("-5", "- 5 apples"),
        ("5 cm", "5 cm²"),
        ("5 cm", "3 × 5 cm"),
        ("-", "- A point"),
        ("·", "a · b"),
        ("大", "密度很大"),
        ("单", "认识单位1"),
        *((verdict, f"They say: {verdict}.") for verdict in ("yes", "No", "“true”", "False", "是", "否", "对", "错")),
        *((verdict, f"这是{verdict}的") for verdict in ("正确", "错误", "不能")),
        ("0.5", "1/2"),
        ("12", "1 2"),
        ("1 2", "12"),
        ("x", "x"),
        ("$B$", "B"),
        ("。", "。"),
        ("氢气", "氢和气"),
        ("5", "1. One.\n 5. Fifth."),
        ("5", "- Angles: 5. They are equal."),
        ("5", "1) 一\n5、二".replace("、", "、 ")),
        ("③", "3 faces"),
        ("③", "3. Faces"),
        ("ammonia", "ammonium"),
        ("rat", "rates"),
        ("plan", "planes"),
        ("fox", "firefoxes"),
        ("20", "twentieth"),
        ("20", "one hundred and twenty"),
        ("1", "one of them"),
        ("2", "Step two"),
        ("10", "十分重要"),
        ("10", "十字路口"),
        ("3", "第三种"),
        ("3", "三角形"),
        ("20", "二十五个"),
        ("2", "二百"),
    ],
)  # fmt: skip
def test_not_held(answer: str, text: str) -> None:
    assert not leaks_answer(text, open_ended(answer=answer))


def test_of_a_choice_all_right_options_count_and_no_letter() -> None:
    assert leaks_answer("It has three sides.", choice())
    assert not leaks_answer("B. It has four sides, or two.", choice())
    assert leaks_answer("2, 3 and 7", multi()) and not leaks_answer("3 and 5", multi())
    pictures = msgspec.structs.replace(choice(), options=tuple(map(Option, "ABCD")), options_in_image=True)
    assert not leaks_answer("A B C D", pictures)
    marked = choice(texts=("x", "<image 1>"), images=("images/a.png",))
    assert not leaks_answer("image 1", marked) and not leaks_answer("", marked)
    half = msgspec.structs.replace(
        multi(), options=(Option("A", "tin"), Option("B", "b"), Option("C", image="images/a.png"))
    )
    assert not leaks_answer("tin", half)


def test_a_text_that_names_a_wrong_option_too_tells_nothing() -> None:
    assert not leaks_answer("Two, three or more sides.", choice()) and not leaks_answer("2, 3 and 9", multi())
    traits = choice(texts=("sum", "sum of squares", "five"))
    assert leaks_answer("It is the sum of squares.", traits)
    assert not leaks_answer("It is the sum of squares, no sum.", traits)
    assert not leaks_answer("The sum, or the sum of squares, or a sum.", traits)
    shorter = choice(answer="A", texts=("sum", "sum of squares", "five"))
    assert leaks_answer("It is the sum.", shorter) and not leaks_answer("It is the sum of squares.", shorter)
    assert leaks_answer("- Area\n1. It is 5.", choice(texts=("1", "5", "yes", "-"))), "wrong ones that nothing holds"
    assert leaks_answer("③ and ①③", choice(texts=("3", "③", "①"))) is False and leaks_answer(
        "③", choice(texts=("3", "③", "①"))
    )


def test_of_blanks_one_accepted_string_each() -> None:
    two = blank(answer=(("4", "four"), ("seven",)))
    assert leaks_answer("four and seven", two) and leaks_answer("4, seven", two)
    assert not leaks_answer("four and 4", two)


def test_a_verdict_is_never_held() -> None:
    assert not leaks_answer("True. true 正确", true_false())


@pytest.mark.slow
def test_a_long_answer_is_held_as_a_whole_or_not() -> None:
    long = " ".join(f"Step {number}: take $x_{{{number}}}$ and go on." for number in range(3000))
    assert leaks_answer(f"First. {long} Last.", open_ended(answer=long))
    assert not leaks_answer(long.replace("2999", "2998"), open_ended(answer=long))


@pytest.mark.slow
def test_long_texts_take_no_long_time() -> None:
    sample = choice(texts=("sum of squares", "sum", "5", "x y"))
    for long in ("sum of squares ", "- a: ", "a: ", "**a ", "_a", "5 - ", "(1) ", "1,000,", " "):
        assert not leaks_answer("- " + long * (900_000 // len(long)), sample)


@pytest.mark.parametrize(("parent", "text", "held"), [
    (choice(texts=("carbon dioxide", "oxygen", "argon"), answer="A"), "Plants take in carbon dioxide.", True),
    (choice(texts=("carbon dioxide", "oxygen", "argon"), answer="A"), "Either carbon dioxide or oxygen.", False),
    (choice(texts=("carbon dioxide", "oxygen", "argon"), answer="A"), "Plants take in argon.", False),
    (multi(texts=("red", "blue", "grey"), answer="AB"), "It is blue and red.", True),
    (blank(question="2 + 5 = ____", answer=(("7", "seven"),)), "The sum is seven.", True),
    (open_ended(question="What is 2 + 5?", answer="7"), "It is 8.", False),
])  # fmt: skip
def test_a_claim_leaks_where_its_parent_s_answer_is_held(tmp_path: Path, parent: Sample, text: str, held: bool) -> None:
    folder = write_set(tmp_path / "set", [parent])
    (claim,) = perturb(folder, tmp_path / "out", ops="convert:claim", seed=2, quiet=True)
    assert claim.task_type == "true_false" and claim.variant and claim.variant.hidden == parent.told
    assert leaks_answer(text, claim) is held is leaks_answer(text, parent)


@pytest.mark.parametrize(("question", "text", "held"), [
    ("Seven is a prime number.", "As you know, seven is a prime number.", True),
    ("Is the statement true? Ribosomes make proteins.", "Ribosomes need proteins.", False),
    ("Is the statement true? Ribosomes make proteins.", "The ribosomes make proteins.", True),
    ("True or false: a triangle has three sides.", "A triangle has 3 sides.", True),
    ("判断：冰浮在水面上。（ ）", "我们知道，冰浮在水面上。", True),
    ("判断：冰浮在水面上。（ ）", "冰沉在水底。", False),
])  # fmt: skip
def test_a_true_statement_leaks_where_it_stands(question: str, text: str, held: bool) -> None:
    statement = msgspec.structs.replace(true_false(), question=question)
    assert leaks_answer(text, statement) is held
    assert not leaks_answer(text, msgspec.structs.replace(statement, answer=False)), "what is false misleads"


def test_a_verdict_leaks_no_statement() -> None:
    assert not leaks_answer("true", true_false())
