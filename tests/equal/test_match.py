"""Blanks against accepted texts, tolerances, units and rounding."""

from __future__ import annotations

import pytest

from mmdyn.equal import compare, compare_answer, match_blanks, same
from mmdyn.sample import Match


def test_blanks_in_order() -> None:
    accepted = (("4", "four"), ("5",))
    assert match_blanks(("4", "5"), accepted, Match()) == (True, True)
    assert match_blanks(("Four", "6"), accepted, Match()) == (True, False)
    assert match_blanks(("5", "4"), accepted, Match()) == (False, False)
    assert match_blanks(("4",), accepted, Match()) == (True, False)
    assert match_blanks(("", "5"), accepted, Match()) == (False, True)
    assert match_blanks((), accepted, Match()) == (False, False)


def test_blanks_in_any_order_are_matched_at_their_best() -> None:
    any_order = Match(ordered=False)
    assert match_blanks(("5", "4"), (("4",), ("5",)), any_order) == (True, True)
    assert match_blanks(("4", "4"), (("4",), ("5",)), any_order) == (True, False)
    assert match_blanks(("a", "b"), (("a", "b"), ("a",)), any_order) == (True, True)
    assert match_blanks(("b",), (("a", "b"), ("a",)), any_order) == (True, False)
    assert match_blanks((), (("a",),), any_order) == (False,)


@pytest.mark.parametrize("ordered", [True, False])
def test_more_answers_than_blanks_buy_nothing(ordered: bool) -> None:
    assert match_blanks(("4", "5", "6"), (("4",), ("5",)), Match(ordered=ordered)) == (None, None)


@pytest.mark.parametrize(("given", "gold", "tolerance", "equal"), [
    ("101", "100", 0.01, True), ("102", "100", 0.01, False), ("-101", "-100", 0.01, True), ("3.1", "3.14", 0.02, True),
    ("3.14159", "3.14", 0.0, False), ("0", "0", 0.1, True), ("0.1", "0", 0.1, False),
])  # fmt: skip
def test_a_tolerance_is_relative_to_the_gold(given: str, gold: str, tolerance: float, equal: bool) -> None:
    assert same(given, gold, Match(tolerance=tolerance)) is equal


@pytest.mark.parametrize(("given", "gold", "equal"), [
    ("3.14159", "3.14", True), ("\\pi", "3.14", True), ("3.145", "3.14", True), ("3.1451", "3.14", False), ("12.46", "12.5", True),
    ("0.667", "0.67", True), ("2.47", "2.5", False), ("0.046", "0.05", False), ("5.3", "5", False),
    ("0.33333", "1/3", True), ("0.33334", "1/3", False), ("6.2832", "2\\pi", True), ("0.34", "1/3", False),
    ("0.499", "1/2", False), ("1.50e3", "1500", True), ("1499", "1.50e3", True), ("1494", "1.50e3", False),
])  # fmt: skip
def test_rounding_follows_the_printed_digits(given: str, gold: str, equal: bool) -> None:
    assert same(given, gold) is equal


@pytest.mark.parametrize(("given", "gold", "verdict"), [
    ("0.333", "1/3", None), ("0.33", "1/3", None), ("0.3", "1/3", None), ("33%", "1/3", None), ("33.3%", "1/3", None),
    ("3.14", "\\pi", None), ("1.414", "\\sqrt{2}", None), ("1.4", "√2", None), ("0.16", "1/6", None), ("0.17", "1/6", None),
    ("3.1", "3.14", None), ("13", "12.7", False), ("28", "28%", True), ("150%", "1.5", True), ("2800%", "28", None),
    ("15 apples", "15 pears", None), ("14 apples", "15 pears", False), ("5 m", "5 s", False), ("5 m", "5 cm", False),
    ("a total of 15", "15", None), ("is 15", "15", None), ("3k", "15", None), ("k", "15", None), ("2n", "2n-1", False),
    ("2m-1", "2n-1", None), ("B", "C", False), ("x", "y", False), ("ABD", "ACD", False), ("he", "me", None),
    ("dog", "cat", None), ("respiration", "photosynthesis", None), ("photosynthesis", "15", None), ("", "15", False),
    ("3, 4 (both)", "3, 4", None), ("3, 5", "3, 4", False), ("3, about four or so", "3, 4", None), ("3, 4, 5", "3, 4", False),
    ("{1, dog}", "{1, 2}", None), ("{1, 3}", "{1, 2}", False), ("(1, 2)", "[1, 2]", False), ("x<1", "x>1", False),
    ("x = 3 or so", "x = 3", None), ("2021-03-05", "2021-03-06", False), ("x = 5", "5", True), ("x = 6", "5", False),
    ("$\\frac{1}{1804!}$", "\\frac{1}{1806!}", None), ("四", "五", False), ("(0.33,1)", "(1/3,1)", None),
])  # fmt: skip
def test_another_answer_is_sure_only_where_both_are_of_one_kind(given: str, gold: str, verdict: bool | None) -> None:
    assert compare(given, gold) is verdict
    assert same(given, gold) is (verdict is True)


def test_of_blanks_in_any_order_those_are_open_that_what_is_left_may_fill() -> None:
    accepted, any_order = (("4",), ("oxygen",), ("6",)), Match(ordered=False)
    assert match_blanks(("6", "O-two", "7"), accepted, any_order) == (None, None, True)
    assert match_blanks(("6", "4", "7"), accepted, any_order) == (True, None, True)
    assert match_blanks(("6", "O-two", "7"), accepted, Match()) == (False, None, False)
    assert match_blanks(("4",), accepted, Match()) == (True, False, False)


CM, PERCENT = Match(unit="cm"), Match(unit="%")


@pytest.mark.parametrize(("given", "gold", "match", "equal"), [
    ("5 cm", "5", CM, True), ("5", "5", CM, True), ("5 m", "5", CM, False), ("50 mm", "5", CM, True),
    ("50 mm", "5", Match(unit="cm^2"), False), ("1.51 L", "1500", Match(unit="cm^3", tolerance=0.01), True),
    ("28", "28%", Match(), True), ("28", "0.28", PERCENT, False), ("28%", "0.28", Match(), True),
    ("5 厘米", "5 centimetres", Match(), True),
])  # fmt: skip
def test_units_and_that_of_a_bare_gold(given: str, gold: str, match: Match, equal: bool) -> None:
    assert same(given, gold, match) is equal


@pytest.mark.parametrize(("given", "gold", "equal"), [
    ("1, 3", "1 和 3", True), ("1 and 3", "1、3", True), ("3, 1", "1 和 3", False), ("{3, 1}", "{1, 3}", True),
    ("(1, x=2)", "(1, 2)", True), ("3和1", "1 和 3", True), ("(1, 2)", "1, 2", True), ("1, 2", "(1, 2)", True),
    ("(2, 1)", "1, 2", False), ("[1, 2]", "1, 2", False), ("①③", "①③", True), ("①、③", "①③", True),
    ("① 和 ③", "①③", True), ("3", "③", True), ("34", "③④", False), ("③④", "34", False), ("①③", "①④", False),
    ("①③④", "①③", False), ("13", "①③", False),
])  # fmt: skip
def test_lists_of_which_circled_numbers_are_no_digits_of_one_number(given: str, gold: str, equal: bool) -> None:
    assert same(given, gold) is equal


def test_long_answers_are_compared_by_their_spelling_alone() -> None:
    text = "word " * 1000
    assert same(text, text + "\n")
    assert same(text, text.title()) and not same(text, f"{text} more") and not same("1+" * 1001 + "1", "1002")


def test_deep_and_wide_nesting_ends() -> None:
    assert not same("(" * 900 + "1,2" + ")" * 900, "(1,2)")
    assert not same("≈" * 1900, "≈" * 1800)
    assert not same("{" + ",".join("1" * 400) + "}", "{" + ",".join("2" * 400) + "}")
    assert not same("\\frac{" * 300, "1")


ASKED = (
    "Tom and Mary walk and pick apples. How many apples does she have left? What is the perimeter, or the maximum? How many"
    " buses can Jane make? 小明走了多少千米？还剩多少个苹果？面积和最大值是多少？"
)
PHRASES = (
    "15 in total", "She has 15 apples left", "There are 15 apples", "Tom walked 15 km", "They have 15 buses", "最大值是15",
    "the perimeter equals 15", "The maximum is 15", "Jane can make 15", "他走了15千米", "小明还剩15个苹果", "面积是15", "x的值为15", "RMB 15", "15 ✅", "a total of 15", "exactly 15", "共15", "7+8 = 15",
    "Therefore, x=15", "15 (in all)", "→ 15", "它等于十五", "fifteen of them",
)  # fmt: skip
OTHER_PHRASES = (
    "all but 15", "up to 15", "at least 15", "within 15 m", "exceeds 15", "divisible by 15", "subtract 15",
    "15 short", "15 too many", "cannot be 15", "the opposite of 15", "nicht 15", "pas 15", "15 to go", "some 15", "15-fold",
    "increase by 15", "every 15 days", "unlike 15", "差15", "近15", "增加15", "每15", "前15", "15左右", "15余", "15的倒数", "第15题",
    "I guess 15", "probably 15", "half of 15", "15th", "15x", "step 15", "x=3, y=15", "15 or so", "15-20", "15:30", "15 and 16",
    "not 15", "15 less than 20", "a decrease of 15", "负15", "minus 15", "15k", "from 15 onwards", "roughly 15 apples", "just shy of 15",
    "close to 15", "upwards of 15", "start with 15 apples", "Room 15 has it", "bus 15 goes there", "the 15 apples were eaten",
    "he gave away 15 apples", "she still needs 15 apples", "the sum of 15 and its neighbour", "the next number following 15",
    "the predecessor of 15", "halfway to 15", "the digits of 15", "a pair summing to 15", "numbers coprime to 15",
    "15 is a lower bound", "15 is an estimate", "hardly 15", "a debt of 15 dollars", "he owes 15", "大概15", "欠15元", "还缺15个",
    "上午15点", "maximum of 15 and more", "15 apples and 16 buses", "over 15 apples", "15 or 16", "if 15, then", "twice 15 apples",
)  # fmt: skip


def test_a_phrase_states_a_value_only_where_nothing_makes_another_of_it() -> None:
    assert [text for text in PHRASES if compare_answer(text, "15", question=ASKED) is not True] == []
    assert [text for text in OTHER_PHRASES if compare_answer(text, "15", question=ASKED) is True] == []
    for echo, gold in (
        ("A line runs through the two points", "2"),
        ("小明有15个苹果", "15"),
        ("She buys 15 apples", "15"),
    ):
        asked = f"{ASKED} A line runs through the two marked points. She buys 15 apples. 小明有15个苹果。"
        assert compare_answer(echo, gold, question=asked) is None, "the question's own words and number"
    assert compare_answer("She has 15 apples left", "15") is None, "a word that is neither neutral nor the question's"
    assert compare_answer("minus 15", "-15") is compare_answer("$15k", "15000") is True
