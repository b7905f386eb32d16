"""What replies tell of their server, and what they do not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from mmdyn.record import Reply, Usage
from mmdyn.work import CacheUse, ReplyTally

LENGTHS = [40, 55, 80, 120, 200, 320, 500, 800, 1300, 2100, 3400, 5500, 6200, 7100, 9000]


def reply(estimate: int, counted: float, pictures: int = 0, text: str = "Answer: A") -> Reply:
    return Reply(text, "stop", Usage(prompt_tokens=round(counted)), estimate=estimate, image_count=pictures)


def doubts(replies: Iterable[Reply]) -> str:
    tally = ReplyTally()
    for one in replies:
        tally.add(one)
    return "; ".join(tally.doubts())


@pytest.mark.parametrize("context", [600, 2048, 4096])
@pytest.mark.parametrize("scale", [0.7, 1.0, 1.6], ids=["verbose", "as estimated", "formulas"])
def test_prompts_that_a_server_cuts_are_found(context: int, scale: float) -> None:
    counted = [(length, min(scale * length + 15, context)) for length in LENGTHS]
    assert f"seem cut to {context:,} tokens" in doubts(reply(*one) for one in counted)


@pytest.mark.parametrize("scale", [0.6, 1.0, 1.7])
@pytest.mark.parametrize("pictures", [0, 1])
def test_whole_prompts_are_not_called_cut(scale: float, pictures: int) -> None:
    assert not doubts(reply(length, scale * length + 15 + 576 * pictures, pictures) for length in LENGTHS * 3)


def test_prompts_of_one_length_are_not_called_cut() -> None:
    assert not doubts(reply(length, 700) for length in [690, 700, 710] * 20)
    assert not doubts(reply(1200, 700) for _ in range(20)), "one prompt, asked again and again"


@pytest.mark.parametrize("tokens", [0, 2])
@pytest.mark.parametrize("scale", [0.7, 1.0, 1.5])
def test_pictures_that_cost_nothing_are_called_unread(tokens: int, scale: float) -> None:
    with_and_without = [
        reply(e, scale * e + 20 + tokens * shown, shown) for e in range(60, 200, 10) for shown in (0, 1)
    ]
    assert "pictures seem not to have been read" in doubts(with_and_without)


@pytest.mark.parametrize("tokens", [16, 64, 576, 2800])
@pytest.mark.parametrize("scale", [0.7, 1.0, 1.5])
@pytest.mark.parametrize("shown", [1, 3])
def test_pictures_that_cost_tokens_are_not(tokens: int, scale: float, shown: int) -> None:
    both = [reply(e, scale * e + 20 + tokens * n, n) for e in range(60, 200, 10) for n in (0, shown)]
    assert not doubts(both)


def test_without_requests_for_texts_alone_the_estimate_serves_where_texts_are_short() -> None:
    assert "unread" in doubts(reply(e, 0.85 * e + 12, 1) for e in range(60, 140, 10)).replace(
        "not to have been read", "unread"
    )
    assert not doubts(reply(e, 0.85 * e + 12 + 64, 1) for e in range(60, 140, 10))
    assert not doubts(reply(e, 0.85 * e + 12, 1) for e in range(400, 900, 50)), "an estimate of so many is too rough"


def test_few_replies_say_nothing() -> None:
    assert not doubts(reply(100, 100, 1) for _ in range(4))
    assert not doubts(Reply("", "stop", reasoning="So it is A.") for _ in range(4))


def test_answers_that_stayed_in_the_reasoning() -> None:
    kept, cut_off = Reply("", "stop", reasoning="So it is A."), Reply("", "length", reasoning="Let me see")
    assert "reasoning parser kept the answer: all 9 replies" in doubts([kept] * 9)
    assert not doubts([kept] * 9 + [Reply("A", "stop", reasoning="So it is A.")])
    assert not doubts([cut_off] * 9), "what was cut off is told elsewhere"


def test_servers_that_count_nothing_are_left_alone() -> None:
    assert not doubts(Reply("A", "stop", estimate=100, image_count=1) for _ in range(20))


def test_the_days_of_cached_replies() -> None:
    use = CacheUse()
    for made, cached in ((1_700_000_000, True), (1_700_200_000, True), (1_700_900_000, False)):
        use.add(Reply("A", made=made, cached=cached))
    use.add(Reply(error="lost"))
    assert str(use) == "2 of 3 replies from the cache, made on 2023-11-14 to 2023-11-17"
    assert str(CacheUse()) == ""
