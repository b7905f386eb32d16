"""The names of shots, and what they leave as it was: keys and JSON of conditions and samples without any."""

from __future__ import annotations

import msgspec
import pytest

from making import choice
from mmdyn.errors import UserError
from mmdyn.keys import canonical, digest
from mmdyn.record import Condition
from mmdyn.run import ConditionSpec
from mmdyn.sample import Sample, Turn, from_json
from mmdyn.shots import Shots


@pytest.mark.parametrize(
    ("typed", "shots", "name"),
    [
        ("0", Shots(), "0"),
        ("5", Shots(5), "5"),
        ("5:fixed:chat", Shots(5), "5"),
        ("05:random", Shots(5, "random"), "5:random"),
        (" 3 : base : similar", Shots(3, "similar", True), "3:similar:base"),
        ("0:random:base", Shots(0, "fixed", True), "0:base"),
    ],
)
def test_a_name_is_read_in_any_order_and_written_in_one(typed: str, shots: Shots, name: str) -> None:
    assert Shots.parse(typed) == shots and shots.name == name and Shots.parse(name) == shots


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("five", "the shots 'five' begin with no number of examples: write 5, 5:random or 5:similar:base"),
        ("-1", "begin with no number"),
        ("٥", "begin with no number"),
        ("99999", "begin with no number"),
        ("5:randm", "have an unknown setting 'randm' (did you mean 'random'?): use fixed, random, similar, chat, base"),
        ("5:random:similar", "say one thing twice: name one way to choose examples and one form"),
        ("5:chat:base", "say one thing twice"),
        ("5:base:base", "say one thing twice"),
    ],
)
def test_what_is_none_is_refused(typed: str, why: str) -> None:
    with pytest.raises(UserError) as caught:
        ConditionSpec(shots=typed).conditions()
    assert why in str(caught.value)


def test_shots_cross_styles() -> None:
    assert ConditionSpec("standard", shots=[]).conditions() == ConditionSpec("standard", shots=0).conditions()
    asked = ConditionSpec("standard", styles="direct,cot", shots="0,2:random,2:base").conditions()
    assert [(one.style, one.shot_name) for one in asked] == [
        (style, name) for style in ("direct", "cot") for name in ("0", "2:random", "2:base")
    ]


def test_what_is_compared_differs_in_one_setting_or_begins_with_none() -> None:
    names = ["0", "0:base", "2", "5", "5:random", "5:random:base"]
    compared = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :] if Shots.parse(a).is_compared(Shots.parse(b))]  # fmt: skip
    assert compared == [
        *(("0", b) for b in names[1:]), ("0:base", "5:random:base"),
        ("2", "5"), ("5", "5:random"), ("5:random", "5:random:base"),
    ]  # fmt: skip


def test_conditions_without_shots_are_written_as_they_were() -> None:
    before = b'{"chain":"","context":"none","style":"direct","variant":"standard"}'
    for condition in (Condition(), Condition(shots=""), Condition(shots="0")):
        assert canonical(condition) == before and condition == from_json(before, Condition)
        assert condition.shot_name == "0"
    assert digest(["set", "d", "s", Condition(), 0, "m", "r"]) == digest(["set", "d", "s", msgspec.json.decode(before), 0, "m", "r"])  # fmt: skip
    with_shots = from_json(canonical(Condition(shots="5:random")), Condition)
    assert with_shots.shot_name == "5:random" and digest(with_shots) != digest(Condition())


def test_samples_without_turns_are_written_as_they_were() -> None:
    assert b"turns" not in canonical(choice())
    sample = choice(turns=(Turn("user", "Hello."), Turn("assistant", "Hello, what is it?")))
    assert from_json(canonical(sample), Sample) == sample and sample.digest != choice().digest


def test_turns_end_with_the_reply_and_mark_pictures_that_are_there() -> None:
    with pytest.raises(ValueError, match="the last of the turns is the user's, and so is the question"):
        choice(turns=(Turn("user", "Hello."),))
    with pytest.raises(ValueError, match="the question marks <image 2> but 1 images are given"):
        choice(turns=(Turn("user", "<image 2>"), Turn("assistant", "A box.")), images=("a.png",))
    with pytest.raises(ValueError, match="unknown key 'rol' in turns"):
        from_json(b'{"id": "x", "question": "?", "task_type": "open_ended", "answer": "y", "turns": [{"rol": "user", "text": ""}]}', Sample)  # fmt: skip
