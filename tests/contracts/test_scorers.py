"""What every policy must do: value within bounds, full marks for the right answer however it is written, none for a
wrong one."""

from __future__ import annotations

import pytest

from making import blank, choice, multi, open_ended, true_false
from mmdyn.plugins import load, names
from mmdyn.record import Reply
from mmdyn.sample import Sample
from mmdyn.scoring import Scorer

SCORERS = sorted(name for name in names("scorers") if not name.startswith("metric."))
ENGLISH = ("{}", "Answer: {}", "**Answer:** {}", "The answer is {}.", "First this, then that.\n\nAnswer: {}", "<think>no, x</think>\n\n{}",
           '{{"answer": "{}"}}', "\\boxed{{{}}}", "ANSWER: **{}**", "<answer>{}</answer>", "Reasoning.\n\nFinal answer: {}\n")  # fmt: skip
CHINESE = ("{}", "答案：{}", "**答案：**{}", "答案是{}。", "先看这里，再看那里。\n\n答案：{}", "<think>不对</think>{}", "【答案】{}", "正确答案为：{}", "最终答案：\\boxed{{{}}}")  # fmt: skip
CHOSEN = ("({})", "{}.", "选{}", "故选{}。", "The correct option is {}", "应选：{}")

CITIES = ("Paris", "London", "Rome", "Madrid")
RIGHT: tuple[tuple[Sample, tuple[str, ...]], ...] = (
    (choice(answer="B", texts=CITIES), ("B", "(B)", "B. London", "London")),
    (choice(answer="A", texts=CITIES), ("A", "A. Paris")),
    (choice(answer="B", texts=CITIES, language="zh"), ("B", "Ｂ", "B、London")),
    (multi(answer="AC"), ("AC", "A, C", "A and C", "A、C", "CA")),
    (multi(answer="B"), ("B",)),
    (blank(), ("4", "four", "4.0")),
    (blank(answer=(("4",), ("光合作用",)), language="zh"), ("4; 光合作用", "（1）4；（2）光合作用", "4；光合作用")),
    (blank(answer=(("\\frac{1}{2}",),)), ("1/2", "0.5", "$\\frac{1}{2}$")),
    (true_false(answer=True), ("True", "true", "correct", "正确", "对")),
    (true_false(answer=False), ("False", "incorrect", "not true", "错误", "不正确")),
    (open_ended(answer="5 m/s"), ("5 m/s", "5")),
    (open_ended(answer="光合作用", language="zh"), ("光合作用",)),
)
UNREAD = frozenset(("(London)",))
"""Right answers that earn nothing by rules, so that a judge is asked. Take out those that are read."""
WRONG: tuple[tuple[Sample, tuple[str, ...]], ...] = (
    (choice(answer="B", texts=CITIES), ("A", "C. Rome", "ABCD", "A or B", "not B", "hm", "")),
    (multi(answer="AC"), ("B", "BD", "not A", "")),
    (blank(), ("5", "44", "-4", "3, 4, 5", "")),
    (true_false(answer=True), ("False", "incorrect", "not true", "不正确", "true or false", "")),
    (open_ended(answer="5"), ("-5", "55", "4 or 5")),
)


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize(("sample", "writings"), RIGHT)
def test_full_marks_for_the_right_answer(name: str, sample: Sample, writings: tuple[str, ...]) -> None:
    scorer = Scorer(name)
    frames = (*ENGLISH, *CHINESE, *(CHOSEN if sample.labels else ()))
    texts = {frame.format(writing) for frame in frames for writing in writings}
    scores = {text: scorer.score(sample, Reply(text=text)) for text in texts}
    missed = {text for text, score in scores.items() if (score.status, score.value) != ("ok", 1.0)}
    assert missed == UNREAD & texts


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize(("sample", "writings"), WRONG)
def test_nothing_for_a_wrong_answer(name: str, sample: Sample, writings: tuple[str, ...]) -> None:
    scorer = Scorer(name)
    for writing in writings:
        for frame in (*ENGLISH, *CHINESE):
            text = frame.format(writing)
            score = scorer.score(sample, Reply(text=text))
            assert score.value == 0.0 and score.status != "failed", f"{text!r}: {score}"


@pytest.mark.parametrize("name", SCORERS)
def test_a_reply_that_never_came_has_no_value(name: str) -> None:
    for sample, _ in RIGHT:
        score = Scorer(name).score(sample, Reply(text="B", error="timeout"))
        assert (score.status, score.value) == ("failed", None)


@pytest.mark.parametrize("name", SCORERS)
def test_credit_weight_and_name(name: str) -> None:
    policy, gold = load("scorers", name)(), frozenset("AC")
    for picked in ("A", "C", "AC", "AB", "B", "BD", "ABC", "ABCD"):
        assert 0.0 <= policy.choice(frozenset(picked), gold) <= 1.0
    assert policy.choice(gold, gold) == 1.0 and policy.choice(frozenset("BD"), gold) == 0.0
    assert policy.choice(frozenset("ABCD"), gold) < 1.0
    assert policy.blanks((True,)) == policy.blanks((True, True)) == 1.0
    assert policy.blanks((False,)) == policy.blanks((False, False)) == 0.0
    assert 0.0 <= policy.blanks((True, False)) <= 1.0
    assert policy.weight(choice(points=3)) > 0
    assert Scorer(name).name.startswith(f"{name}@")


@pytest.mark.parametrize("name", SCORERS)
def test_scores_are_deterministic(name: str) -> None:
    for sample, writings in (*RIGHT, *WRONG):
        for writing in writings:
            reply = Reply(text=f"Answer: {writing}")
            assert Scorer(name).score(sample, reply) == Scorer(name).score(sample, reply)
