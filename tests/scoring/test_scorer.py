"""Replies become scores: statuses, partial credit by policy, and no credit for what only contains the answer."""

from __future__ import annotations

import msgspec
import pytest

from making import blank, choice, multi, open_ended, true_false
from mmdyn.errors import PluginError
from mmdyn.record import Reply, Score
from mmdyn.sample import Match, Sample
from mmdyn.scoring import Scorer
from mmdyn.scoring.scorer import SCORING_VERSION


def score(sample: Sample, text: str, policy: str = "mdk12", **reply: object) -> Score:
    return Scorer(policy).score(sample, Reply(text=text, **reply))  # type: ignore[arg-type]


def test_the_name_says_policy_and_version() -> None:
    assert Scorer().name == f"mdk12@{SCORING_VERSION}"
    assert Scorer("mdk12-lenient").name == f"mdk12_lenient@{SCORING_VERSION}"
    with pytest.raises(PluginError, match="did you mean 'strict'"):
        Scorer("strikt")


def test_statuses() -> None:
    sample = choice(answer="B")
    assert score(sample, "B") == Score("ok", 1.0, ["B"], "alone", confidence=1.0, chance=0.25)
    assert score(sample, "A") == Score("ok", 0.0, ["A"], "alone", confidence=1.0, chance=0.25)
    assert score(sample, "hm") == Score("unparsed", 0.0, None, "none", needs_judge=True, chance=0.25)
    assert score(sample, "") == Score("unparsed", 0.0, None, "empty", chance=0.25)
    refused = Score("refused", 0.0, None, "refused", needs_judge=True, chance=0.25)
    assert score(sample, "I'm sorry, I can't help with that.") == refused
    assert score(sample, "", error="timeout") == Score("failed", None, None, "failed", chance=0.25)
    assert score(sample, "Answer: B", error="connection lost").value is None
    cut_off = Score("unparsed", 0.0, None, "cut_off", needs_judge=True, chance=0.25)
    assert score(sample, "It goes on.\nB", finish_reason="length") == cut_off


def test_a_score_survives_json() -> None:
    for sample, text in ((multi(), "AC"), (blank(), "4"), (true_false(), "True"), (open_ended(), "x" * 5000)):
        got = score(sample, text)
        assert msgspec.json.decode(msgspec.json.encode(got), type=Score) == got


@pytest.mark.parametrize(("policy", "picked", "value"), [
    ("mdk12", "AC", 1.0), ("mdk12", "A", 0.5), ("mdk12", "AB", 0.0), ("mdk12", "ABCD", 0.0),
    ("mdk12_lenient", "AC", 1.0), ("mdk12_lenient", "A", 0.5), ("mdk12_lenient", "AB", 0.5),
    ("mdk12_lenient", "ABCD", 0.5), ("mdk12_lenient", "BD", 0.0), ("strict", "AC", 1.0), ("strict", "A", 0.0),
    ("strict", "ABC", 0.0), ("exam", "AC", 1.0), ("exam", "C", 0.5), ("exam", "AB", 0.0), ("exam", "ABC", 0.0),
])  # fmt: skip
def test_partial_credit_for_choices(policy: str, picked: str, value: float) -> None:
    assert score(multi(answer="AC"), f"Answer: {picked}", policy).value == value


def test_a_third_of_three() -> None:
    assert score(multi(answer="ABD"), "A", "mdk12").value == pytest.approx(1 / 3)
    assert score(multi(answer="ABD"), "A", "exam").value == 0.5
    assert score(multi(answer="ABD"), "AC", "mdk12_lenient").value == pytest.approx(1 / 3)


@pytest.mark.parametrize(("policy", "value"), [("mdk12", 0.5), ("mdk12_lenient", 0.5), ("exam", 0.5), ("strict", 0.0)])
def test_partial_credit_for_blanks(policy: str, value: float) -> None:
    sample = blank(answer=(("4", "four"), ("5",)))
    assert score(sample, "4; 6", policy) == Score(
        "ok", value, ["4", "6"], "separated", (1.0, 0.0), confidence=0.93, chance=0.0
    )
    assert score(sample, "4; 5", policy).value == 1.0
    assert score(sample, "4; 5; 6", policy).value == 0.0


def test_blanks_in_any_order() -> None:
    sample = blank(answer=(("4",), ("5",)), match=Match(ordered=False))
    assert score(sample, "5; 4").value == 1.0
    assert score(sample, "5; 5").parts == (0.0, 1.0)


def test_parts_follow_the_gold() -> None:
    assert score(multi(answer="AC"), "C").parts == (0.0, 1.0)
    assert score(choice(), "B").parts == ()


def test_only_the_exam_weighs_by_points() -> None:
    assert score(choice(points=6), "B", "exam").weight == 6.0
    assert score(choice(points=6), "hm", "exam").weight == 6.0
    assert score(choice(points=6), "", "exam", error="gone").weight == 6.0
    assert score(choice(points=6), "B", "mdk12").weight == 1.0


@pytest.mark.parametrize("policy", ["mdk12", "mdk12_lenient", "strict", "exam"])
@pytest.mark.parametrize(("sample", "text"), [
    (choice(answer="A"), "ABCD"), (choice(answer="A"), "Answer: ABCD"), (choice(answer="A"), "A, B, C, D"),
    (blank(answer=(("1",),)), "12345"), (blank(answer=(("12345",),)), "1"), (blank(answer=(("5",),)), "-5"),
    (blank(answer=(("-5",),)), "5"), (blank(answer=(("correct",),)), "incorrect"), (blank(answer=(("4",),)), "3, 4, 5"),
    (blank(answer=(("4",),)), "4 or 5"), (blank(answer=(("4",),)), "4; 5"), (true_false(answer=True), "incorrect"),
    (true_false(answer=True), "not correct"), (true_false(answer=True), "不正确"),
    (true_false(answer=True), "true or false"), (open_ended(answer="correct"), "incorrect"),
    (open_ended(answer="5"), "-5"), (open_ended(answer="1"), "12345"),
])  # fmt: skip
def test_containing_the_answer_earns_nothing(sample: Sample, text: str, policy: str) -> None:
    assert score(sample, text, policy).value == 0.0


def test_open_answers_by_rules_are_a_lower_bound() -> None:
    found = score(open_ended(answer="5 m/s"), "Answer: 5 m·s^{-1}")
    assert found == Score("ok", 1.0, "5 m·s^{-1}", "slot", confidence=0.99, chance=0.0)
    for response, rule in (("Answer: a lower density", "no_rule_match"), ("Ice has a lower density.", "none")):
        missed = score(open_ended(), response)
        assert (missed.rule, missed.value, missed.lower_bound, missed.needs_judge) == (rule, 0.0, True, True)
    assert score(open_ended(answer="a lower density"), "Answer: a lower density").value == 1.0


def test_tolerance_and_unit_of_the_sample_count() -> None:
    sample = blank(answer=(("9.81",),), match=Match(tolerance=0.02, unit="m/s^2"))
    assert score(sample, "9.7 m/s²").value == 1.0
    assert score(sample, "9.7 km").value == 0.0


def test_what_the_server_says_was_declined_or_held_back_is_refused() -> None:
    sample, refused = choice(answer="B"), Score("refused", 0.0, None, "withheld", chance=0.25)
    for finish in ("refusal", "refusal: SAFETY"):
        assert score(sample, "", finish_reason=finish) == refused
        assert score(sample, "B", finish_reason=finish) == refused
    assert score(sample, "\n", finish_reason="content_filter") == refused
    assert score(sample, "B", finish_reason="content_filter") == Score(
        "ok", 1.0, ["B"], "alone", confidence=1.0, chance=0.25
    )
    assert score(sample, "", finish_reason="stop") == Score("unparsed", 0.0, None, "empty", chance=0.25)
    assert score(sample, "", finish_reason="refusal", error="timeout") == Score(
        "failed", None, None, "failed", chance=0.25
    )


@pytest.mark.parametrize("golden", [
    "It floats because ice is less dense than water.", "Two steps:\n1. Heat it.\n2. Let it cool, since it is hot.",
    "Yes, if n is even, and no otherwise", "Answer either of the two. Why not?", "因为冰的密度小于水。\n所以浮起来。",
    "Let $x=1$. Then $f(x)=2$; so the sum is 12.", "words " * 500,
])  # fmt: skip
def test_a_golden_answer_given_back_earns_all(golden: str) -> None:
    sample = open_ended(answer=golden.strip())
    for reply in (golden, f"Answer: {golden}", f"<think>hm</think>\n{golden}\n", f"**{golden.strip()}**"):
        found = Scorer().score(sample, Reply(reply))
        assert (found.value, found.needs_judge, found.status) == (1.0, False, "ok"), reply
    other = Scorer().score(sample, Reply(f"{golden} And more."))
    assert (other.value, other.needs_judge) == (0.0, True)
