"""Short answers: what kind one is, whether another surely says something else, and wrong ones near it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from mmdyn.keys import stream
from perturb.short_answers import answer_of, differ, equal, resembles, spread
from perturb.text._wrong import near_values


@pytest.mark.parametrize(("text", "kind"), [
    ("4", "number"), ("-6", "number"), ("$75^{\\circ}$", "number °"), ("12 cm", "number cm"), ("五", "number"),
    ("30%", "number %"), ("12种", "number 种"), ("$2\\sqrt{2}$", "value"), ("14\\pi", "value"),
    ("Increase", "words"), ("the nitrogen cycle", "words"), ("增大", "han"), ("H2O", "symbols"), ("NaHCO3", "symbols"),
    ("A", ""), ("", ""), ("y = 2x", ""), ("(2)(3)", ""), ("①③", ""), ("约6", ""), ("x" * 61, ""), ("1 和 3", ""),
    ("甲和乙", ""), ("more than 6", ""), ("1e300", "symbols"),
])  # fmt: skip
def test_kinds_of_answers(text: str, kind: str) -> None:
    assert answer_of(text).kind == kind


@pytest.mark.parametrize(("right", "other", "apart"), [
    ("4", "5", 0.0), ("0.98", "0.85", 0.0), ("4", "5", 0.2), ("2√2", "2√3", 0.0), ("granite", "basalt", 0.0),
    ("saturated", "unsaturated", 0.0), ("CO", "CO2", 0.0), ("12 cm", "13 cm", 0.0), ("正比", "反比", 0.0),
])  # fmt: skip
def test_what_surely_says_something_else(right: str, other: str, apart: float) -> None:
    assert differ(answer_of(right), answer_of(other), apart)


@pytest.mark.parametrize(("right", "other", "apart"), [
    ("4", "4.0", 0.0), ("1/2", "0.5", 0.0), ("2√2", "√8", 0.0), ("0.98", "1.0", 0.0), ("20", "21", 0.1),
    ("60 s", "1 min", 0.0), ("the Sun", "sun", 0.0), ("rock", "sedimentary rock", 0.0), ("4", "4 or 5", 0.0),
    ("增大", "不断增大", 0.0), ("x", "", 0.0),
])  # fmt: skip
def test_what_may_say_the_same(right: str, other: str, apart: float) -> None:
    assert not differ(answer_of(right), answer_of(other), apart)


def test_equal_answers() -> None:
    same = [("4", "4.0"), ("1/2", "0.5"), ("The Sun", "sun"), ("$\\frac{1}{2}$", "1/2")]
    other = [("4", "5"), ("4 cm", "4 m"), ("含有", "不含有"), ("1", "100%")]
    assert all(equal(answer_of(one), answer_of(two)) for one, two in same)
    assert not any(equal(answer_of(one), answer_of(two)) for one, two in other)


@pytest.mark.parametrize(("right", "other", "takes"), [
    ("12 cm", "20 cm", True), ("12 cm", "20 m", False), ("12", "-20", False), ("12", "1200", False), ("1.2", "2", False),
    ("granite", "basalt", True), ("granite", "a very long explanation", False), ("granite", "5", False), ("y=x", "y=2x", False),
    ("0", "1", False), ("3", "3/2", False), ("5/2", "3/2", True), ("2√3", "3√2", True),
])  # fmt: skip
def test_what_could_be_taken_for_the_answer(right: str, other: str, takes: bool) -> None:
    assert resembles(answer_of(right), answer_of(other)) is takes


def near(text: str, **more: Any) -> list[list[str]]:
    return [[other.text for other in group] for group in near_values(answer_of(text), **more)]


def test_near_values_are_printed_as_the_right_one_is() -> None:
    assert near("12 cm^2") == [[f"{n} cm^2" for n in (10, 11, 13, 14, 15, 24, 36, 6, 21)]]
    assert near("1,200") == [["1,000", "1,100", "1,300", "1,400", "1,500", "2,400", "3,600", "600", "2,100"]]
    assert near("$75^{\\circ}$")[0][:2] == ["$73^{\\circ}$", "$74^{\\circ}$"]
    assert near("1949") == [["1939", "1945", "1947", "1948", "1950", "1951", "1953", "1959"]]
    assert near("0.98") == [["0.74", "0.49", "0.32"]]
    assert near("2.5×10^{-4}")[0][:3] == ["2.8×10^{-4}", "1.9×10^{-4}", "3.1×10^{-4}"]


def test_signs_turn_where_they_may() -> None:
    assert "6" in near("-6")[0] and "-6" not in near("6")[0] and "-6" in near("6", signed=True)[0]
    assert "-5 cm" not in near("5 cm", signed=True)[0]
    assert near("$\\frac{1}{9}$", signed=True)[0] == ["$\\frac{2}{9}$", "$\\frac{4}{9}$", "$-\\frac{1}{9}$"]


@pytest.mark.parametrize(("text", "never"), [
    ("1/2", ("1/1", "2/2", "3/2", "1/0", "0/2")),
    ("30%", ("130%",)),
    ("$100^{\\circ}$", ("$200^{\\circ}$", "$300^{\\circ}$")),
    ("$\\frac{3\\sqrt{3}}{2}$", ("$\\frac{3\\sqrt{4}}{2}$", "$\\frac{4\\sqrt{3}}{2}$", "$\\frac{1\\sqrt{3}}{2}$")),
    ("$1\\frac{1}{2}$", ("$0\\frac{1}{2}$", "$1\\frac{3}{2}$", "$1\\frac{2}{2}$")),
    ("2 apples", ("1 apples",)),
    ("4.4e-4", ("13.2e-4", "4.4e-5")),
    ("-2", ("-0", "0")),
])  # fmt: skip
def test_wrong_values_are_not_wrong_in_their_print(text: str, never: tuple[str, ...]) -> None:
    found = {other for group in near(text) for other in group}
    assert found and not found & set(never)


@pytest.mark.parametrize("text", ["4", "0", "1", "0.5", "$\\frac{2}{7}$", "$2\\sqrt{3}$", "160.85", "30000", "-800", "12 m"])  # fmt: skip
def test_no_near_value_comes_near_enough_to_be_right(text: str) -> None:
    right = answer_of(text)
    for group in near_values(right, True, 0.15):
        assert len({other.value for other in group}) == len(group)
        for other in group:
            assert right.value is not None and other.value is not None
            assert abs(other.value - right.value) > 0.15 * abs(right.value)


@pytest.mark.parametrize("text", ["six", "六", "granite", "y = 2x", "x", "9" * 15])
def test_there_are_none_for_what_is_no_value_in_digits(text: str) -> None:
    assert not any(near(text))


def test_as_many_values_lie_below_as_chance_has_it() -> None:
    right, others = answer_of("10"), [answer_of(str(n)) for n in (5, 6, 7, 8, 12, 14, 16, 18)]
    ranks = Counter[int]()
    for number in range(800):
        texts = spread(stream("spread", number), right, others, 3)
        assert texts is not None and len(set(texts)) == 3
        ranks[sum(Fraction(text) < 10 for text in texts)] += 1
    assert set(ranks) == {0, 1, 2, 3} and min(ranks.values()) > 150


def test_a_draw_takes_no_two_that_may_be_the_same() -> None:
    right, others = answer_of("10"), [answer_of(text) for text in ("5", "5.0", "10/2", "6")]
    assert spread(stream("same"), right, others, 3) is None
    assert set(spread(stream("same"), right, others, 2) or ()) & {"6"} == {"6"}
