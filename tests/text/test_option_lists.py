from __future__ import annotations

from contextlib import suppress

import pytest

from mmdyn.sample import Option
from mmdyn.text import (
    leading_labels,
    options_are_letters,
    question_range,
    read_letters,
    read_options,
    split_options,
    split_questions,
    strip_question_number,
)


def texts(options: tuple[Option, ...]) -> list[str]:
    assert [option.label for option in options] == list("ABCDEFGH"[: len(options)])
    return [option.text for option in options]


@pytest.mark.parametrize(
    "text",
    [
        "Which?\nA. one\nB. two\nC. three\nD. four",
        "Which?\nA) one\nB) two\nC) three\nD) four\n",
        "Which?\n(A) one\n(B)  two\n(C) three\n(D) four",
        "Which? \n \n  A. one \n  B. two \n  C. three \n  D. four",
        "Which?\nA．one\nB．two\nC．three\nD．four",
        "Which?\nA、one\nB、two\nC、three\nD、four",
        "Which?\nA．one   B．two\nC．three   D．four",
        "Which?  A. one B. two C. three D. four",
        "Which?A. oneB. twoC. threeD. four".replace("one", "one。").replace("two", "two。").replace("three", "three。"),
        "Which?\r\n\r\nA. one\r\nB. two\r\nC. three\r\nD. four\r\n",
        "Which?\nA\tone\nB. two\tC. three\tD. four",
    ],
)
def test_the_same_options_however_they_stand(text: str) -> None:
    question = split_options(text)
    assert question.stem == "Which?"
    assert [option.rstrip("。") for option in texts(question.options)] == ["one", "two", "three", "four"]


def test_chinese_options_that_are_glued_to_the_stem() -> None:
    question = split_options("判定植株甲为杂合子的实验是（）A．①或② B．①或④ C．②或③ D．③或④")
    assert question.stem == "判定植株甲为杂合子的实验是（）" and texts(question.options) == [
        "①或②", "①或④", "②或③", "③或④",
    ]  # fmt: skip


def test_letters_in_the_passage_are_no_options() -> None:
    passage = "Vitamin A. Vitamin B. Points A. and B. were drawn; see (A) and (B).\nA. Smith wrote it."
    question = split_options(f"{passage}\nWho?\nA. he\nB. she\nC. they\nD. nobody")
    assert question.stem == f"{passage}\nWho?" and texts(question.options) == ["he", "she", "they", "nobody"]


def test_letters_in_an_option_are_no_options() -> None:
    question = split_options("Which?\nA. vitamin D. or E. coli\nB. point A. or B.\nC. both\nD. none")
    assert texts(question.options) == ["vitamin D. or E. coli", "point A. or B.", "both", "none"]


def test_letters_in_formulas_and_tables_are_no_options() -> None:
    formula = split_options(r"设 $\triangle A. B. C.$ 则 $(\quad)$A. $1$B. $2$C. $3$D. $4$")
    assert texts(formula.options) == ["$1$", "$2$", "$3$", "$4$"]
    table = (
        "\\begin{tabular}{|c|c|} \\hline A. & 一 \\\\ \\hline B. & 二 \\\\ \\hline C. & 三 \\\\ \\hline D. & 四 \\\\"
        " \\end{tabular}"
    )
    assert split_options(f"如表\n{table}").options == ()
    below = split_options(f"如表\n{table}\nA. A\nB. B\nC. C\nD. D")
    assert below.stem.endswith("\\end{tabular}") and options_are_letters(below.options)


def test_wrapped_lines_are_joined() -> None:
    chinese = split_options("哪项\nA．一般人常常忽略的生活小事 ，寻找\n其叙述的价值。\nB．二\nC．三\nD．四")
    assert texts(chinese.options)[0] == "一般人常常忽略的生活小事 ，寻找其叙述的价值。"
    english = split_options("Which?\nA. a long\noption\nB. two\nC. three\nD. four")
    assert texts(english.options)[0] == "a long option"


def test_a_lost_point_is_made_up_for() -> None:
    question = split_options("55. A. noticed    B. treated     C respected     D. pleased")
    assert texts(question.options) == ["noticed", "treated", "respected", "pleased"]
    begun = split_options("Which?\nATo warn.\tB. To run.\nC. To earn.\tD. To hurry.")
    assert texts(begun.options) == ["To warn.", "To run.", "To earn.", "To hurry."]


def test_no_options_and_empty_options() -> None:
    assert split_options("函数的图像大致为 ( )\n") == ("函数的图像大致为 ( )", (), ())
    empty = split_options("哪幅图正确\nA.\nB.\nC.\nD.")
    assert texts(empty.options) == ["", "", "", ""]


@pytest.mark.parametrize(
    "text",
    [
        "Which?\nA. one\nB. two\nD. four", "Which?\nA. one\nB. two\nC. three",
        "Which?\nA. one\nB. \nC. three\nD. four", "Which?\nA. one\nB. two\nC. three\nD. four\nA. five",
        "Which?\nA. one\nB. two\nB. three\nD. four", "Which?\nA. one\nB. two\nC. three\nE. four",
        "Which?\nA. one\nB. two\nC. three\nD. four\n£. five", "Which?\nA. one\nB. two\nC. three\nD. four\nfive",
        "Which?\nA. one B. two E. three D. four", "Which?\nA. one\n0. two\nC. three\nD. four",
        "Vitamins A. and B.\na. one\nb. two\nc. three\nd. four",
    ],
)  # fmt: skip
def test_what_cannot_be_read_for_certain_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="do not run A, B, C"):
        split_options(text)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("Which?\nA. one\nB. two\nc. three\nD. four", "The options' labels were written 'c.'."),
        (
            "Which?\nA. one\nB. two\n$\\mathrm{C}$. three\nD. four",
            r"The options' labels were written '$\\mathrm{C}$.'.",
        ),
        ("Which?\nA. one  B. two\n**C.** three  D. four", "The options' labels were written '**C.**'."),
        ("Which?\nA. one\nB. two\nC. three\nF. four", "Option D was labelled F."),
        ("Which?\nA. one\nF. two\nC. three\nD. four", "Option B was labelled F."),
        ("Which?\nA. one    C. three\nB. two    D. four", "The options stood in the order A, C, B, D."),
        ("Which?\nA. one\nB. two\nB. two\nC. three\nD. four", "Option B stood there twice."),
        ("Which?\nA. one\nB. two\nOption C: three\nD. four", "The options' labels were written 'Option C:'."),
    ],
)
def test_what_a_person_reads_without_doubt_is_mended_and_told(text: str, mended: str) -> None:
    question = split_options(text)
    assert (question.stem, texts(question.options)) == ("Which?", ["one", "two", "three", "four"])
    assert question.mended == (mended,)


def test_all_labels_in_lower_case_or_in_tex() -> None:
    for form in ("{0}. {1}", "({0}) {1}", "{0}) {1}"):
        small = "\n".join(
            form.format(label, word) for label, word in zip("abcd", ("one", "two", "three", "four"), strict=True)
        )
        assert texts(split_options(f"Which?\n{small}").options) == ["one", "two", "three", "four"]
    tex = " ".join(rf"$\mathrm{{{label}}}$. $x_{at}$" for at, label in enumerate("ABCD"))
    assert texts(split_options(f"Which?\n{tex}").options) == ["$x_0$", "$x_1$", "$x_2$", "$x_3$"]


def test_options_that_stand_one_by_one() -> None:
    options, mended = read_options(["A. one", "b. two", "C. three"])
    assert texts(options) == ["one", "two", "three"] and len(mended) == 2
    assert texts(read_options(["E、C、A", "C、B、A", "A、D、B"])[0]) == ["E、C、A", "C、B、A", "A、D、B"]
    assert texts(read_options(["A)", "B)"])[0]) == ["A)", "B)"]
    assert texts(read_options(["E. coli", "B. subtilis"])[0]) == ["E. coli", "B. subtilis"]
    assert read_options(["one", "two"], ["a", "(B)"])[0] == (Option("A", "one"), Option("B", "two"))
    for words in (["A. one", "C. two", "B. three"], ["A. one", "B. two", "0. three"], ["A. one", "B. two", "B. three"]):
        with pytest.raises(ValueError, match=r"labelled|letter"):
            read_options(words)


def test_an_answer_in_the_options_words() -> None:
    options = (Option("A", "one"), Option("B", "two and 3"), Option("C", "ab"), Option("D", "E"))
    for text, labels in (("B. two and 3", "B"), ("Two and 3.", "B"), ("(A) one", "A"), ("d", "D")):
        assert read_letters(text, options) == tuple(labels)
    for text in ("A. two and 3", "ab", "E", "3"):
        with pytest.raises(ValueError, match="is no option: the options are A, B, C, D"):
            read_letters(text, options)


def test_a_label_before_an_explanation() -> None:
    for text, labels, rest in (
        ("A It says", "A", "It says"), ("$\\mathrm{c}$: so", "C", "so"), ("$A$", "A", ""), ("$A$ because", "A", "because"), ("(A, D) Option A is correct because x", "AD", "Option A is correct because x"),
        ("A, D For a gas", "AD", "For a gas"), ("(A) and (D): x", "AD", "x"), ("A, C", "AC", ""), ("A、C。", "AC", ""), ("A、B 两点", None, ""), ("A、因为", "A", "因为"), ("A, B, and D. So", "ABD", "So"), ("答案：A、C", "AC", ""), ("a force of 3 N", None, ""),
        ("A or B: so", None, ""), ("(A) or (B): so", None, ""), ("A, B and C are points", None, ""), ("(A) and (D) are right", None, ""), ("$A = 3$", None, ""), ("A, A: x", None, ""),
    ):  # fmt: skip
        assert leading_labels(text) == (None if labels is None else (tuple(labels), rest)), text


def test_fewer_options_where_fewer_are_asked_for() -> None:
    assert texts(split_options("Which?\nA. one\nB. two\nC. three", least=3).options) == ["one", "two", "three"]
    assert len(split_options("x\n" + "\n".join(f"{label}. {label}x" for label in "ABCDEFG")).options) == 7


def test_questions_on_one_passage() -> None:
    passage, questions = split_questions(
        "In 1968. A. Smith met B. Jones.\n24. Why 3 times?\nA. 1 B. 2 C. 3 D. 4\n25. How?\nA. so\nB. thus\nC. 26."
        " no\nD. here\n26 What else?\nA. x B. y C. z D. w",
        3,
    )
    assert passage == "In 1968. A. Smith met B. Jones."
    assert [question.stem for question in questions] == ["24. Why 3 times?", "25. How?", "26 What else?"]
    assert texts(questions[0].options) == ["1", "2", "3", "4"] and texts(questions[1].options)[2:] == ["26. no", "here"]


def test_chinese_numbers_and_questions_without_words() -> None:
    text = "1．（9分）阅读文章，完成1～2题。\n（1）甲是 A．一 B．二 C．三 D．四（2）乙是 A．五 B．六 C．七 D．八"
    passage, questions = split_questions(text, 2)
    assert passage == "1．（9分）阅读文章，完成1～2题。"
    assert [question.stem for question in questions] == ["（1）甲是", "（2）乙是"]
    assert texts(questions[0].options)[3] == "四"
    _, blanks = split_questions("I __41__ you __42__.\n41. A. a B. b C. c D. d\n42. A. e B. f C. g D. h", 2)
    assert [blank.stem for blank in blanks] == ["41.", "42."]


def test_numbers_that_begin_again() -> None:
    options = "A. a\nB. b\nC. c\nD. d"
    passage, questions = split_questions(f"See 3 texts.\n1. x\n{options}\n2. y\n{options}\n1. z\n{options}", 3)
    assert passage == "See 3 texts." and [question.stem for question in questions] == ["1. x", "2. y", "1. z"]
    assert questions[2].mended == ("The questions' numbers began again: 1, 2, 1.",)
    with pytest.raises(ValueError, match="numbers do not follow each other"):
        split_questions(f"1. x\n{options}\n2. y\n{options}\n2. z\n{options}", 3)


@pytest.mark.parametrize(
    ("text", "count", "problem"),
    [
        ("1. x A. 1 B. 2 C. 3 D. 4", 2, "the options of 2 questions cannot be told apart"),
        ("1. x A. 1 B. 2 C. 3 D. 4\n3. y A. 1 B. 2 C. 3 D. 4", 2, "numbers do not follow each other"),
        ("x A. 1 B. 2 C. 3 D. 4\ny A. 1 B. 2 C. 3 D. 4", 2, "numbers do not follow each other"),
        ("1. x A. 1 B. 2 C. 3 D. 4\n2. y 2. z A. 1 B. 2 C. 3 D. 4", 2, "numbers do not follow each other"),
        ("1. x A. 1 B. 2 C. 3 D.\n2. y A. 1 B. 2 C. 3 D. 4", 2, "an option is empty"),
    ],
)
def test_questions_that_cannot_be_split(text: str, count: int, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        split_questions(text, count)


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("B", "B"), ("ACE\n", "ACE"), ("A, C", "AC"), ("A、C", "AC"), ("$A B C$", "ABC"), (r"$\mathrm{BD}$", "BD"),
        ("B.", "B"), ("b", "B"), ("(B)", "B"), ("答案：BD", "BD"), ("Answer: C", "C"), ("(A) and (C)", "AC"), ("Ｃ", "C"),
        ("bd", "BD"),
    ],
)  # fmt: skip
def test_letters(text: str, letters: str) -> None:
    assert read_letters(text) == tuple(letters)


@pytest.mark.parametrize("text", ["", "Both", "1", "A or B", "I", "bad", "none"])
def test_no_letters(text: str) -> None:
    with pytest.raises(ValueError, match="is no option: the options are A, B, C, D, E, F, G, H"):
        read_letters(text)


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("1. (6 分) 已知", "已知"), ("13.（5 分）对于", "对于"), ("5．（ 6分）下列", "下列"), ("12. 漫画", "漫画"),
        ("7.1931年~1934年中国", "1931年~1934年中国"), ("1.5 千克水", "1.5 千克水"), ("(1) 若 a, (2) 若 b", "(1) 若 a, (2) 若 b"),
        ("2019 年", "2019 年"), ("9．2018年9月，据此完成9﹣10题。\n乡村", "9．2018年9月，据此完成9﹣10题。\n乡村"),
    ],
)  # fmt: skip
def test_leading_numbers(text: str, stripped: str) -> None:
    assert strip_question_number(text) == stripped


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (r"据此完成 $6 \sim 8$ 题.", (6, 8)), (r"完成 $9 \sim$ 11 题。", (9, 11)), ("完成 1 2 题.", (1, 2)), ("完成 7-9 题", (7, 9)),
        ("回答 2﹣3题。", (2, 3)), ("完成9～10题", (9, 10)), ("完成下面小题。", None), ("完成 12 题", None),
    ],
)  # fmt: skip
def test_ranges(text: str, asked: tuple[int, int] | None) -> None:
    assert question_range(text) == asked


def test_options_that_only_name_themselves() -> None:
    letters = tuple(
        Option(label, text) for label, text in zip("ABCD", ("A", "$B$", r"$\mathrm{C}$", "(D)"), strict=True)
    )
    assert options_are_letters(letters)
    assert not options_are_letters((Option("A", "E"), Option("B", "B")))
    assert not options_are_letters(())


@pytest.mark.slow
def test_long_hostile_texts_take_no_time() -> None:
    for text in (
        " " * 200_000,
        "A. " * 50_000,
        "完成" + " " * 200_000,
        "字\n" * 50_000,
        "$" * 100_001,
        "\\hline A" + " " * 100_000,
        "\t" * 100_000,
        "; " * 50_000,
        "\\mathrm{ " * 20_000,
        "**" * 50_000,
    ):
        for stem in (f"{text}\nWhich?", "Which?"):
            with suppress(ValueError):
                split_options(f"{stem}\nA. 1\nB. 2\nC. 3\nD. 4{text if stem == 'Which?' else ''}")
        assert split_options(strip_question_number(text) + "\nA. 1\nB. 2\nC. 3\nD. 4").options[3].text == "4"
