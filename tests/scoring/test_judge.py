"""A judge: what it is asked, what counts as a verdict, how votes decide, what it took."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from making_judges import code_of, in_turn, judged_by, marks, shown, ticks
from msgspec.structs import replace

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.errors import ModelError, PluginError, Stopped, UserError
from mmdyn.keys import sha256
from mmdyn.models import TRIES, Budget, Caches, Price, RejectedError, TransientError
from mmdyn.models.budget import Prices
from mmdyn.record import Judgement, Reply, Usage
from mmdyn.sample import Language, Match, Option, Sample

ICE, SAID = open_ended(), Reply(text="Ice has the lower density.")
CHECKED = open_ended(checklist=("names density", "compares ice with water", "says that ice floats"))
TWO = blank(answer=(("4", "four"), ("x",)))


# one vote


@pytest.mark.parametrize(("sample", "verdict", "expected"), [
    (ICE, marks("CODE", 0.75), Judgement(0.75, (0.75,), reason="it says so")),
    (ICE, marks("CODE", 1), Judgement(1.0, (1.0,), reason="it says so")),
    (TWO, marks("CODE", 1, 0.5), Judgement(0.75, (0.75,), parts=(1.0, 0.5), reason="it says so; it says so")),
    (CHECKED, ticks("CODE", False, True, False, True), Judgement(0.0, (0.0,), items=(True, False, True), reason="why")),
    (CHECKED, ticks("CODE", True, True, True, True), Judgement(1.0, (1.0,), items=(True,) * 3, reason="why")),
])  # fmt: skip
async def test_the_value_of_a_verdict(sample: Sample, verdict: str, expected: Judgement) -> None:
    judge, model = judged_by(in_turn(f"Let me see.\n```json\n{verdict}\n```"))
    found = await judge.judge(sample, SAID)
    assert found == replace(expected, requests=1, usage=Usage(100, 10))
    assert len(model.asked) == 1 and [message.role for message in model.asked[0]] == ["user"]


@pytest.mark.parametrize(("sample", "bad", "problem"), [
    (ICE, "I give it full marks.", "it holds no JSON object whose code is [0-9a-f]{24}"),
    (ICE, "", "it holds no JSON object whose code is"),
    (ICE, '{"grades": [[1, "why", 1]]}', "it holds no JSON object whose code is"),
    (ICE, marks("0123456789abcdef", 1), "it holds no JSON object whose code is"),
    (ICE, marks("CODE", 0.6), "each mark must be 0, 0.25, 0.5, 0.75 or 1"),
    (ICE, marks("CODE", 2), "each mark must be"), (ICE, marks("CODE", -1), "each mark must be"),
    (ICE, marks("CODE", float("nan")), "each mark must be|Expected `float`"),
    (ICE, '{"code": "CODE", "grades": [[1, "why", true]]}', "Expected `float`, got `bool`"),
    (ICE, '{"code": "CODE", "grades": [[1, "why", "1"]]}', "Expected `float`, got `str`"),
    (ICE, '{"code": "CODE", "grades": []}', r"one verdict for each of the 1 part\(s\), numbered from 1 in order; 0 given"),
    (TWO, marks("CODE", 1), r"each of the 2 part\(s\), numbered from 1 in order; 1 given"),
    (TWO, '{"code": "CODE", "grades": [[2, "why", 1], [1, "why", 0]]}', "they are numbered otherwise"),
    (CHECKED, ticks("CODE", True, True, True), "one verdict for each of the 3 items, numbered from 1 in order; 2 given"),
    (CHECKED, ticks("CODE", True, *[True] * 4), "each of the 3 items.*; 4 given"),
    (CHECKED, marks("CODE", 1), "missing required field `golden`"),
    (CHECKED, '{"code": "CODE", "golden": ["why", 1], "items": []}', "Expected `bool`, got `int`"),
])  # fmt: skip
async def test_what_is_no_verdict_is_asked_again_with_the_problem_and_is_never_a_zero(
    sample: Sample, bad: str, problem: str
) -> None:
    judge, model = judged_by(in_turn(bad))
    found = await judge.judge(sample, SAID)
    assert (found.value, found.votes, found.requests) == (None, (), TRIES)
    assert found.error.startswith("told:x gave nothing usable in 3 tries (")
    assert re.search(problem, found.error)
    good = ticks("CODE", True, True, True, True) if sample.checklist else marks("CODE", *[1] * (1 + (sample is TWO)))
    judge, model = judged_by(in_turn(bad, good))
    assert (await judge.judge(sample, SAID)).value == 1.0
    first, second = model.asked
    assert second[0] == first[0] and [message.role for message in second] == ["user", "assistant", "user"]
    assert re.search(problem, second[2].text)


async def test_the_last_object_with_the_code_counts_and_must_be_whole() -> None:
    judge, _ = judged_by(in_turn(f"{marks('CODE', 0)} No, wait: {marks('CODE', 1)}"))
    assert (await judge.judge(ICE, SAID)).value == 1.0
    judge, model = judged_by(in_turn(f"{marks('CODE', 0)} No, wait: {marks('CODE', 1, 1)}"))
    assert (await judge.judge(ICE, SAID)).value is None and len(model.asked) == TRIES


# what it is asked


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("sample", "question", "golden"), [
    (choice(answer="B"), "How many sides has a triangle?\nA. two\nB. three\nC. four\nD. five\n", "B. three\n"),
    (multi(answer="AC"), "Which numbers are prime?\nA. 2\nB. 4\nC. 3\nD. 9\n", "A. 2\nC. 3\n"),
    (true_false(answer=True), "Seven is a prime number.\n", {"en": "True\n", "zh": "正确\n"}),
    (true_false(answer=False), "Seven is a prime number.\n", {"en": "False\n", "zh": "错误\n"}),
    (blank(), "2 + 2 = ____\n", {"en": "4 or four\n", "zh": "4 或 four\n"}),
    (blank(answer=(("4",), ("x",)), match=Match(ordered=False)), "2 + 2 = ____\n", {"en": "(1) 4\n(2) x\nThe parts may come in any order.\n", "zh": "(1) 4\n(2) x\n各部分的次序不限。\n"}),
    (blank(answer=(("4",),), match=Match(ordered=False)), "2 + 2 = ____\n", "4\n"),
    (open_ended(answer="5 m", match=Match(tolerance=0.02, unit="m")), "Why does ice float on water?\n", {"en": "5 m\nA number that differs by a share of at most 0.02 is the same.\nThe unit m may be left out.\n", "zh": "5 m\n数值的相对偏差不超过 0.02 视为相同。\n单位 m 可以省略。\n"}),
])  # fmt: skip
async def test_question_and_golden_answer_as_the_judge_reads_them(
    sample: Sample, question: str, golden: str | dict[str, str], language: Language
) -> None:
    judge, model = judged_by(in_turn("no"))
    await judge.judge(replace(sample, language=language), Reply(text="My answer."))
    expected = golden if isinstance(golden, str) else golden[language]
    assert shown(model.asked[0][0].text) == [question, expected, "My answer.\n"]
    assert ("你在批改" in model.asked[0][0].text) is (language == "zh")
    assert ("无法使用" in model.asked[1][2].text) is (language == "zh")


async def test_a_checklist_is_shown_numbered_and_goes_before_the_graded_match() -> None:
    judge, model = judged_by(in_turn("no"))
    await judge.judge(CHECKED, SAID)
    assert shown(model.asked[0][0].text)[2] == "1. names density\n2. compares ice with water\n3. says that ice floats\n"
    judge, model = judged_by(in_turn(marks("CODE", 1)), rubric="match")
    assert (await judge.judge(CHECKED, SAID)).value == 1.0
    judge, model = judged_by(in_turn("no"), rubric="checklist")
    found = await judge.judge(ICE, SAID)
    assert found == Judgement(None, error="the sample has no checklist: give it one, or choose the rubric match")
    assert await judge.judge(ICE, Reply(text="")) == found and not model.asked


async def test_equal_questions_are_equal_requests_and_another_reply_has_another_code() -> None:
    judge, model = judged_by(in_turn(marks("CODE", 1)))
    for sample, text in ((ICE, "a"), (open_ended("o2", meta={"x": 1}), "a"), (ICE, "b"), (open_ended(answer="z"), "a")):
        await judge.judge(sample, Reply(text=text))
    first, same, reply, gold = (messages[0].text for messages in model.asked)
    assert first == same and len({code_of(first), code_of(reply), code_of(gold)}) == 3


async def test_a_reply_that_never_came_or_is_empty_is_not_asked_about() -> None:
    judge, model = judged_by(in_turn("no"))
    never = Judgement(None, error="there is no reply to judge (timeout)")
    assert await judge.judge(ICE, Reply(error="timeout")) == never
    assert await judge.judge(ICE, Reply(text=" \n")) == Judgement(0.0, reason="the reply is empty")
    assert (await judge.judge(TWO, Reply())).parts == (0.0, 0.0)
    assert await judge.judge(CHECKED, Reply()) == Judgement(0.0, items=(False,) * 3, reason="the reply is empty")
    assert not model.asked


# pictures


async def test_pictures_are_shown_where_they_are_asked_for(tmp_path: Path) -> None:
    one, two = picture(text="1"), picture(text="2")
    options = (Option("A", "x"), Option("B", "", image_ref(two)))
    pictured = Sample("p", "See <image 1>.", "single_choice", ("B",), options=options, images=(image_ref(one),))
    folder = write_set(tmp_path / "set", [pictured], images=[one, two])
    judge, model = judged_by(in_turn(marks("CODE", 1)), pictures=True)
    assert (await judge.judge(pictured, SAID, folder.images)).value == 1.0
    assert [part.digest for part in model.pictures] == [sha256(one), sha256(two)]
    prompt = model.asked[-1][0].text
    assert shown(prompt)[:2] == ["See <image 1>.\nA. x\nB.  <image 2>\n", "B.  <image 2>\n"]
    assert "The pictures of the question come before this text" in prompt
    await judge.judge(ICE, SAID)
    assert not model.pictures and "pictures" not in model.asked[-1][0].text
    with pytest.raises(UserError, match="the pictures of p are not at hand: judge with the set's folder, or without"):
        await judge.judge(pictured, SAID)
    folder.images.path(image_ref(two)).unlink()
    assert "is missing: put the file into" in (await judge.judge(pictured, SAID, folder.images)).error
    words, model = judged_by(in_turn(marks("CODE", 1)))
    await words.judge(pictured, SAID, folder.images)
    assert not model.pictures and "are not shown to you" in model.asked[-1][0].text
    assert words.id != judge.id


# votes


@pytest.mark.parametrize(("given", "value", "agreement"), [
    ((1, 1, 1), 1.0, 1.0), ((1, 0, 1), 1.0, 2 / 3), ((0, 0, 1), 0.0, 2 / 3), ((0, 0.5, 1), 0.5, 1 / 3),
    ((0.25, 0.5, 0.25, 0.5, 0.5), 0.5, 3 / 5),
])  # fmt: skip
async def test_the_median_of_the_votes_decides(given: tuple[float, ...], value: float, agreement: float) -> None:
    judge, _ = judged_by(in_turn(*(marks("CODE", mark, why=f"{mark}") for mark in given)), votes=len(given))
    found = await judge.judge(ICE, SAID)
    assert (found.value, found.votes, found.requests) == (value, tuple(map(float, given)), len(given))
    assert found.agreement == pytest.approx(agreement) and found.reason == f"{given[0]}"


async def test_parts_and_items_are_decided_one_by_one() -> None:
    judge, _ = judged_by(in_turn(marks("CODE", 1, 0), marks("CODE", 1, 0.5), marks("CODE", 0, 1)), votes=3)
    found = await judge.judge(TWO, SAID)
    assert (found.value, found.parts, found.votes) == (0.75, (1.0, 0.5), (0.5, 0.75, 0.5))
    assert found.agreement == pytest.approx((2 + 1) / 6)
    votes = (
        ticks("CODE", True, True, False, False),
        ticks("CODE", True, True, True, False),
        ticks("CODE", False, *[False] * 3),
    )
    judge, _ = judged_by(in_turn(*votes), votes=3)
    found = await judge.judge(CHECKED, SAID)
    assert (found.value, found.items, found.votes) == (1.0, (True, False, False), (1.0, 1.0, 0.0))
    assert found.agreement == pytest.approx((2 + 2 + 2 + 3) / 12)


async def test_a_vote_that_cannot_be_had_leaves_no_verdict_but_its_costs() -> None:
    judge, _ = judged_by(lambda prompt, number: "no" if number % 3 == 2 else marks(code_of(prompt), 1), votes=3)
    assert (await judge.judge(ICE, SAID)).value == 1.0, "asked again, the third vote is usable"
    judge, _ = judged_by(lambda prompt, number: marks(code_of(prompt), 1) if number < 2 else "no", votes=3)
    found = await judge.judge(ICE, SAID)
    assert (found.value, found.votes, found.requests, found.usage) == (None, (), 5, Usage(500, 50))
    assert "gave nothing usable" in found.error


@pytest.mark.parametrize(("votes", "varies", "problem"), [
    (2, True, "2 votes can tie: give an odd number, such as 3"), (0, True, "0 votes can tie"),
    (3, False, "told:x would vote alike each time: give it a temperature above 0 and no seed, or ask for one vote"),
])  # fmt: skip
def test_votes_that_cannot_decide_are_refused(votes: int, varies: bool, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        judged_by(in_turn("no"), votes=votes, varies=varies)


def test_an_unknown_rubric_is_refused() -> None:
    with pytest.raises(PluginError, match="there is no rubric 'checklists' \\(did you mean 'checklist'\\?\\)"):
        judged_by(in_turn("no"), rubric="checklists")


def test_the_identity_holds_all_that_decides() -> None:
    kinds = [("auto", 1, False), ("match", 1, False), ("checklist", 1, False), ("match", 3, False), ("match", 1, True)]
    judges = [judged_by(in_turn("no"), rubric, votes, pictures=pictures)[0] for rubric, votes, pictures in kinds]
    assert len({judge.id for judge in judges}) == len(kinds) and all(len(judge.id) == 8 for judge in judges)
    assert judges[0].id == judged_by(in_turn("yes"))[0].id and judges[0].label == "told:x"
    assert json.loads(json.dumps(judges[3].identity))["votes"] == 3


# failures and costs


async def test_failures_of_one_request_and_of_the_model() -> None:
    judge, _ = judged_by(lambda prompt, number: TransientError("too slow"))
    assert await judge.judge(ICE, SAID) == Judgement(None, error="told:x did not answer (too slow)", requests=1)
    judge, _ = judged_by(lambda prompt, number: RejectedError("too long"))
    assert await judge.judge(ICE, SAID) == Judgement(None, error="told:x refused (too long)", requests=1)
    judge, _ = judged_by(lambda prompt, number: ModelError("the key is wrong"), votes=3)
    with pytest.raises(ModelError, match="the key is wrong"):
        await judge.judge(ICE, SAID)
    judge, _ = judged_by(in_turn("no"), budget=Budget(max_requests=1))
    with pytest.raises(Stopped, match="stopped at --max-requests 1"):
        await judge.judge(ICE, SAID)


async def test_usage_and_cost_are_summed_and_the_cache_is_free(tmp_path: Path) -> None:
    prices = Prices({"told:x": Price(10_000, 100_000)})
    say = in_turn("no", marks("CODE", 1), marks("CODE", 1), marks("CODE", 1))
    with Caches("own", tmp_path) as cache:
        for asked, cost in ((4, 8.0), (0, 0.0)):
            judge, model = judged_by(say, votes=3, caches=cache, budget=Budget(prices=prices))
            found = await judge.judge(ICE, SAID)
            assert (found.value, found.requests, found.cached) == (1.0, asked, 4 - asked)
            assert (found.cost, found.currency) == (pytest.approx(cost), "USD")
            assert found.usage == Usage(100 * asked, 10 * asked)
            assert len(model.asked) == asked, "equal votes come out of the cache"
            await judge.close()
        judge, _ = judged_by(say, votes=3, caches=cache)
        assert (await judge.judge(ICE, SAID)).cost == 0.0, "nothing was sent"
        judge, _ = judged_by(say, votes=3)
        assert (await judge.judge(ICE, SAID)).cost is None, "no price, no cost"
        await judge.close()
