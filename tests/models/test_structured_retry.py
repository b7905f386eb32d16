"""Asking until a reply can be used: async, and from a thread through a client, in the same way."""

from __future__ import annotations

from typing import Any

import pytest
from asking import user

from mmdyn.errors import NotNow, UserError
from mmdyn.keys import digest
from mmdyn.models import TRIES, Message, ask_and_wait, ask_until_usable, identity, nonces, prompts_digest, text_of
from mmdyn.record import Reply

(PROMPT,) = user("How many?")


class Recorder:
    """Answers in turn, from a thread or not, and keeps what it was asked."""

    label = "recorder:x"

    def __init__(self, *replies: str) -> None:
        self.replies, self.asked = replies, list[tuple[tuple[Message, ...], int]]()

    def ask(self, messages: tuple[Message, ...], nonce: int = 0) -> str:
        self.asked.append((messages, nonce))
        return self.replies[(len(self.asked) - 1) % len(self.replies)]

    async def waited(self, messages: tuple[Message, ...], nonce: int) -> str:
        return self.ask(messages, nonce)


async def both(*replies: str, language: str = "en", nonce: int = 0) -> tuple[Recorder, list[Any]]:
    """What comes of asking for a number in both ways, which is the same."""
    results, asked = list[Any](), list[Recorder]()
    for way in ("waits", "blocks"):
        recorder = Recorder(*replies)
        try:
            if way == "waits":
                results.append(await ask_until_usable(recorder.waited, recorder.label, PROMPT, language, int, nonce))
            else:
                results.append(ask_and_wait(recorder, PROMPT, language, int, nonce))  # type: ignore[arg-type]
        except ValueError as error:
            results.append(str(error))
        asked.append(recorder)
    assert results[0] == results[1] and asked[0].asked == asked[1].asked
    return asked[0], results


async def test_a_usable_reply_is_read_at_once() -> None:
    recorder, (found, _) = await both("3", nonce=7)
    assert found == 3 and recorder.asked == [((PROMPT,), 7)]


@pytest.mark.parametrize(("language", "words"), [("en", "That reply cannot be used: "), ("zh", "这个回复无法使用")])
async def test_a_reply_that_cannot_be_used_is_shown_with_its_problem_under_another_nonce(
    language: str, words: str
) -> None:
    recorder, (found, _) = await both("x" * 5000, "  ", "4", language=language, nonce=10)
    assert found == 4 and [nonce for _, nonce in recorder.asked] == [10, 11, 12]
    (_, second, third) = (messages for messages, _ in recorder.asked)
    assert second[0] == third[0] == PROMPT and second[1].text == "x" * 4000 and third[1].text == "-"
    assert second[2].text.startswith(words) and "invalid literal for int() with base 10" in second[2].text


async def test_after_three_tries_it_is_an_error() -> None:
    recorder, (found, _) = await both("a\nb")
    assert found == "recorder:x gave nothing usable in 3 tries (invalid literal for int() with base 10: 'a\\nb')"
    assert len(recorder.asked) == TRIES


async def test_the_requests_are_these_to_the_byte() -> None:
    """Replies that were kept under their keys are found again."""
    recorder, _ = await both("no", "3", nonce=3)
    assert digest([identity(messages) for messages, _ in recorder.asked]) == "a2101969d3e984453873c0742d202e8a"


def test_what_a_reply_without_text_is() -> None:
    assert text_of("m", Reply(text="x")) == "x"
    with pytest.raises(NotNow, match=r"m did not answer \(late\)"):
        text_of("m", Reply(error="late"))
    with pytest.raises(ValueError, match=r"m refused \(long\)") as refused:
        text_of("m", Reply(error="long", final=True))
    assert not isinstance(refused.value, NotNow)


def test_votes_have_nonces_apart_from_each_other() -> None:
    assert list(nonces(1, "m", varies=False)) == [0] and list(nonces(3, "m", varies=True)) == [0, 3, 6]
    for votes, varies, problem in ((2, True, "can tie"), (-1, True, "can tie"), (3, False, "m would vote alike")):
        with pytest.raises(UserError, match=problem):
            nonces(votes, "m", varies=varies)


def test_a_digest_of_prompts_is_of_those_that_are_named() -> None:
    whole, one, other = (
        prompts_digest("rubrics"),
        prompts_digest("rubrics", "match"),
        prompts_digest("rubrics", "checklist"),
    )
    assert whole != one != other and one == prompts_digest("rubrics", "match")
    assert isinstance(whole, list) and isinstance(one, list) and whole[1] == one[1]
