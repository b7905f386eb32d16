"""The unit that a question asks for, and what it makes of answers in another one; charges."""

from __future__ import annotations

import pytest

from making import blank
from mmdyn.equal import asked_unit, same
from mmdyn.record import Reply
from mmdyn.sample import Match
from mmdyn.scoring import Scorer

ASKED = [
    ("Its speed is ____ m/s.", "m/s"), ("A car goes at 15 km/h, that is ____ $\\mathrm{m/s}$.", "m/s"),
    ("小车的速度为____m/s。", "m/s"), ("速度是（　　）米/秒。", "m/s"), ("体积是____cm³", "cm^3"), ("需要____小时", "h"),
    ("He paid ____ dollars.", "dollar"), ("What is its speed in m/s?", "m/s"),
    ("Give your answer in centimetres.", "cm"), ("How many centimetres long is the rope?", "cm"),
    ("（单位：m/s）求速度", "m/s"), ("以m/s为单位，速度是多少", "m/s"), ("绳子长多少米？", "m"),
]  # fmt: skip
NONE = [
    "The answer is ____.", "在____ in the park", "当x=____时，y最小", "小明得____分", "把下列物质____分类", "铁是____元素",
    "( ) A. x B. y", "x = ____ cm, y = ____ cm", "How many apples are there?", "How many hours and minutes is it?",
    "A rod is measured in cm. What is its mass?", "",
]  # fmt: skip


@pytest.mark.parametrize(("question", "unit"), ASKED)
def test_the_unit_is_read(question: str, unit: str) -> None:
    assert asked_unit(question) == unit


@pytest.mark.parametrize("question", NONE)
def test_nothing_unsure_is_read(question: str) -> None:
    assert asked_unit(question) is None


@pytest.mark.parametrize(("given", "equal"), [
    ("15", True), ("15 m/s", True), ("54 km/h", True), ("15米/秒", True), ("x = 15 m/s", True), ("\\frac{30}{2}", True),
    ("15 km/h", False), ("15 kg", False), ("x=15 km/h", False), ("15千米/时", False), ("$15\\ \\mathrm{km/h}$", False),
])  # fmt: skip
def test_a_value_in_another_unit_than_the_asked_one_is_converted(given: str, equal: bool) -> None:
    assert same(given, "15", Match(unit=asked_unit("Its speed is ____ m/s."))) is equal


@pytest.mark.parametrize(("reply", "value"), [("15 km/h", 0.0), ("54 km/h", 1.0), ("15", 1.0), ("15 m/s", 1.0)])
def test_the_scorer_asks_the_question(reply: str, value: float) -> None:
    sample = blank(question="Its speed is ____ m/s.", answer=(("15",),))
    assert Scorer().score(sample, Reply(text=f"Answer: {reply}")).value == value


@pytest.mark.parametrize(("given", "gold", "equal"), [
    ("2+", "+2", True), ("+2", "2+", True), ("3-", "-3", True), ("Fe 2+", "Fe^{2+}", True), ("^{2+}", "+2", True),
    ("2+", "2", False), ("2+", "-2", False), ("2-", "+2", False), ("2", "2+", False), ("Fe^{3+}", "Fe 2+", False),
])  # fmt: skip
def test_charges(given: str, gold: str, equal: bool) -> None:
    assert same(given, gold) is equal
