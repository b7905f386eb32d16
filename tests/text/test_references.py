"""Does a text point at options by letter or place?"""

from __future__ import annotations

import pytest

from mmdyn.text import (
    is_named_by_label,
    lists_options,
    names_a_label,
    option_refers_to_option,
    refers_to_all,
    refers_to_option,
    refers_to_pair,
)

ABCD = ("A", "B", "C", "D")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Pip agrees with option B.", "option B"),
        ("Choose A if both statements are true.", "Choose A"),
        ("The answer is (C) because …", "answer is (C)"),
        ("Is the last option right?", "last option"),
        ("Compare it with the first of the given choices", ""),
        ("Compare the second answer choice with the others", "second answer choice"),
        ("From the options below, which do you agree with?", "options below"),
        ("故选B。", "故选B"),
        ("所以答案为 $\\mathrm{C}$", "答案为 C"),
        ("A选项错误，因为……", "A选项"),
        ("B项正确", "B项"),
        ("选项A和C都正确", "选项A和C"),
        ("第二个选项为何错误", "第二个选项"),
        ("前两项答案", "前两项答案"),
        ("前两个答案都不对", "前两个答案"),
    ],
)
def test_stems_that_point_at_an_option(text: str, found: str) -> None:
    assert refers_to_option(text, ABCD) == found


@pytest.mark.parametrize(
    "text",
    [
        "A car drives from point A to point B.", "Which of the following is true of vitamin C?",
        "Point A is on circle B, and point B is on circle A.", "甲在$A$地、乙在$B$地，丙跨$A$与$B$两地", "如图，A、B、C、D四点在同一直线上",
        "从各题所给的A、B、C和D四个选项中，选出最佳选项", "Which of the options A, B, C and D fits?", "从第三个数起，每个数恰好是前两个数的和",
        "该展开式的前三项系数成等差数列", "Choose a number between 1 and 10.", "An answer about DNA", "后两个有理数的平均值",
    ],
)  # fmt: skip
def test_stems_in_which_letters_are_something_else(text: str) -> None:
    assert refers_to_option(text, ABCD) == ""


@pytest.mark.parametrize(
    "text",
    [
        "A and B", "Both A and C are correct", "A, B, and C", "\\textbf{A and C only}", "Only B", "Neither A nor B",
        "All except C", "Same as D", "A和B", "A、B都对", "$$\\text{A}$$、$$\\text{B}$$、$$\\text{C}$$都不对", "只有A正确", "A与C",
        "the first two are correct", "The two above", "前三个都不对", "前两者", "option B is wrong", "(A) and (B)",
    ],
)  # fmt: skip
def test_options_that_point_at_another(text: str) -> None:
    assert option_refers_to_option(text, ABCD, "Which statement holds?")


@pytest.mark.parametrize(
    "text",
    [
        "A large molecule", "Location A", "Points A and B have the same potential", "Vitamin B and vitamin C", "A地附近",
        "从A到B先加速后减速", "$AB=BC$", "$P(A)=P(B)$", "(0.032, 0.041); the probability is 0.99", "I and II", "①③", "甲和乙",
        "It is the same at all points.", "Dig a hole", "Battery C's voltage",
    ],
)  # fmt: skip
def test_options_that_speak_of_other_things(text: str) -> None:
    assert option_refers_to_option(text, ABCD, "Which statement holds?") == ""


def test_letters_that_the_stem_brings_in_are_its_own_unless_they_are_called_right() -> None:
    stem = "Two points A and B lie on the circle."
    assert option_refers_to_option("A and B are equally far from the centre", ABCD, stem) == ""
    assert option_refers_to_option("A and B are equally far from the centre", ABCD, "Which holds?")
    assert option_refers_to_option("A and B are correct", ABCD, stem) == "A and B are correct"
    assert option_refers_to_option("A and B", ABCD, stem) == "A and B", "it could be either"


@pytest.mark.parametrize(
    "text",
    [
        "All of the above", "None of the above.", "none of these", "All of the above statements are true",
        "Any of the above", "No correct answer", "None of the other answers", "Both of the above",
        "A combination of the above", "以上都对", "以上答案均不对", "以上结论都不对 ", "上述说法都正确", "都不对", "均不正确", "没有正确答案",
    ],
)  # fmt: skip
def test_options_that_speak_of_all_others(text: str) -> None:
    assert refers_to_all(text)


@pytest.mark.parametrize(
    "text",
    [
        "All of the energy is lost", "None", "Nothing above 3", "都是三角形", "全等三角形", "Cannot be determined", "不确定",
    ],
)  # fmt: skip
def test_options_that_speak_for_themselves(text: str) -> None:
    assert not refers_to_all(text)


def test_a_pair() -> None:
    assert refers_to_pair("Both of the above") and refers_to_pair("neither of these") and refers_to_pair("以上两者都对")
    assert not refers_to_pair("All of the above")


@pytest.mark.parametrize(
    "text",
    [
        "A", " $\\mathrm{C}$", "(B)", "D.", "$$A$$", "（B）", "Object A", "At point B", "Vitamin C", "A点", "图D",
        "(A)地附近",
    ],
)  # fmt: skip
def test_options_that_are_named_by_a_label(text: str) -> None:
    assert is_named_by_label(text, ABCD)


@pytest.mark.parametrize(
    "text", ["E", "AB", "A.1", "甲", "", "2", "2 A", "$0.5$ A", "A large box", "Point E", "A到B的距离", "DNA"]
)
def test_options_that_are_named_by_no_label(text: str) -> None:
    assert not is_named_by_label(text, ABCD)


def test_stems_that_list_their_options() -> None:
    assert lists_options("Which is right?\nA. one\nB. two", ABCD)
    assert lists_options("(A) one\n(B) two", ABCD)
    assert lists_options("\\hline A & 氨气 \\\\ \\hline $\\mathrm{B}$ & 二氧化氮 \\\\", ABCD)
    assert not lists_options("A. Einstein wrote to Roosevelt. Why?", ABCD)
    assert not lists_options("In triangle ABC, AB = 3.", ABCD)


def test_what_must_not_go_stale_is_read_cautiously() -> None:
    assert names_a_label("Eliminate B first.", ABCD)
    assert names_a_label("看第二个选项", ABCD)
    assert not names_a_label("Remember Bayes.", ABCD)


def test_labels_of_other_kinds() -> None:
    assert refers_to_option("选项甲不对", ("甲", "乙")) == "选项甲"
    assert refers_to_option("option 2 is wrong", ("1", "2", "3")) == "option 2"
    assert refers_to_option("option 12 is wrong", ("1", "2", "3")) == ""
    assert option_refers_to_option("1 and 2", ("1", "2", "3"), "Which buoys?") == "1 and 2"


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_hostile_texts_take_no_time() -> None:
    for text in (
        "A and " * 30_000,
        "( " * 50_000,
        "A" * 100_000,
        "、" * 100_000,
        "$" * 100_000,
        "all of the " * 20_000,
        "option" + " " * 100_000,
        "\n" * 100_000,
        "A, and " * 20_000,
    ):
        assert refers_to_option(text, ABCD) == "" == option_refers_to_option(text, ABCD, text)
        assert not (refers_to_all(text) or lists_options(text, ABCD) or is_named_by_label(text, ABCD))
        assert names_a_label(text, ABCD) == text.startswith(("A and", "A, and"))
