"""What guessing earns: every guess counted out, under every policy, and against the guesser that it is told of."""

from __future__ import annotations

from itertools import product
from statistics import fmean

import pytest
from msgspec.structs import replace

from making import blank, choice, open_ended, true_false
from mmdyn.keys import stream
from mmdyn.models import TextPart, open_model
from mmdyn.models.model import Message
from mmdyn.record import Reply
from mmdyn.sample import Match, Option, Sample
from mmdyn.scoring import Cascade, Scorer

POLICIES = ("mdk12", "mdk12_lenient", "strict", "exam")


def several(options: str, right: str) -> Sample:
    texts = tuple(Option(label, f"the {label} one") for label in options)
    return Sample("m", "Which?", "multi_select", tuple(right), options=texts)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("options", "right"), [("AB", "A"), ("ABCD", "AC"), ("ABCD", "ABCD"), ("ABCDEF", "B")])
def test_a_multi_select_counts_every_guess(policy: str, options: str, right: str) -> None:
    sample, scorer = several(options, right), Scorer(policy)

    def credit(picked: str) -> float:
        value = scorer.score(sample, Reply(f"Answer: {picked}")).value
        assert value is not None
        return value

    def guess(coins: tuple[int, ...]) -> float:
        picked = "".join(label for label, coin in zip(options, coins, strict=True) if coin)
        return credit(picked) if picked else fmean(credit(label) for label in options)

    expected = fmean(guess(coins) for coins in product((0, 1), repeat=len(options)))
    assert scorer.chance(sample) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("options", "right"), [("AB", "A"), ("ABCD", "AC"), ("ABCD", "ABCD"), ("ABCDEF", "B")])
def test_where_each_option_counts_no_policy_matters(policy: str, options: str, right: str) -> None:
    """The share of options that are rightly picked or left, whatever is picked; what is not read earns nothing."""
    sample, scorer = replace(several(options, right), match=Match(each=True)), Scorer(policy)
    for coins in product((False, True), repeat=len(options)):
        picked = "".join(label for label, coin in zip(options, coins, strict=True) if coin)
        judged_right = sum((label in picked) == (label in right) for label in options)
        score = scorer.score(sample, Reply(f"Answer: {picked}" if picked else "Answer: none"))
        assert score.value == (judged_right / len(options) if picked else 0.0) and score.weight == 1.0
        assert score.status == ("ok" if picked else "unparsed")
    guesses = product((False, True), repeat=len(options))
    expected = [share(options, right, coins) for coins in guesses]
    assert scorer.chance(sample) == pytest.approx(fmean(expected), abs=1e-12)
    single = replace(choice(), match=Match(each=True))
    assert scorer.score(single, Reply("Answer: B")).value == 1.0 and scorer.chance(single) == 0.25


def share(options: str, right: str, coins: tuple[bool, ...]) -> float:
    """What a guess earns; one that picks nothing picks any one."""
    picks = [[label for label, coin in zip(options, coins, strict=True) if coin]]
    picks = picks if picks[0] else [[label] for label in options]
    return fmean(sum((label in pick) == (label in right) for label in options) / len(options) for pick in picks)


def test_the_other_forms_and_what_is_given_by_metrics() -> None:
    scorer = Scorer()
    in_picture = Sample("p", "Which?", "single_choice", ("A",), options=(Option("A"), Option("B"), Option("C")), options_in_image=True)  # fmt: skip
    samples = (choice(), in_picture, true_false(), blank(), open_ended())
    assert [scorer.chance(sample) for sample in samples] == [0.25, pytest.approx(1 / 3), 0.5, 0.0, 0.0]
    assert scorer.chance(several("ABCD", "AC")) == pytest.approx((0.5 + 0.5 + 1 + (0.5 + 0.5) / 4) / 16)
    assert Scorer("strict").chance(several("ABCD", "AC")) == 1 / 16
    assert Scorer("metric.f1").chance(open_ended()) == 0.0


def test_every_score_says_it() -> None:
    scorer, sample = Scorer(), choice()
    replies = (Reply("Answer: A"), Reply("hm"), Reply(finish_reason="refusal"), Reply(error="timeout"))
    scores = [scorer.score(sample, reply) for reply in replies]
    assert [(score.status, score.chance) for score in scores] == [
        ("ok", 0.25), ("unparsed", 0.25), ("refused", 0.25), ("failed", 0.25)
    ]  # fmt: skip
    assert Cascade(scorer).combined(replies[0], scores[0], []) == scores[0]


async def test_the_guesser_is_the_random_baseline() -> None:
    """Within four standard errors of 2,000 guesses."""
    baseline, scorer, earned = open_model("baseline:random"), Scorer("mdk12_lenient"), list[float]()
    sample, random = several("ABCD", "AB"), stream("guesses")
    for _ in range(2000):
        asked = f"{random.random()}\n\nA. one\nB. two\nC. three\nD. four\n\nEnd with: Answer: and the letters."
        reply = await baseline.ask((Message("user", (TextPart(asked),)),))
        earned.append(scorer.score(sample, reply).value or 0.0)
    assert fmean(earned) == pytest.approx(scorer.chance(sample), abs=4 * 0.5 / 2000**0.5)
