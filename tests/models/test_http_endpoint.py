"""Endpoints of the user's own: what they are sent, what of their answer counts, and how they are told to be wrong."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from asking import asking, user
from serving_questions import endpoint

from making import picture
from mmdyn.errors import ModelError, UserError
from mmdyn.keys import canonical
from mmdyn.models import Message, RejectedError, TextPart, TransientError, open_model
from mmdyn.record import Usage


async def test_it_is_sent_the_question_and_its_pictures(tmp_path: Path):
    (tmp_path / "a.gif").write_bytes(picture(format="JPEG"))
    seen = list[dict[str, Any]]()

    def answer(body: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
        seen.append({**body, "key": headers.get("Authorization")})
        usage = {"prompt_tokens": 9, "completion_tokens": 4, "reasoning_tokens": 2, "cached_tokens": 1}
        return 200, {"text": "Answer: B", "reasoning": "why", "usage": usage, "finish_reason": "length"}

    with endpoint(answer) as url:
        model = open_model(f"{url}?team=a,max_tokens=50")
        asked = (Message("system", (TextPart("Be brief."),)), *user("What?", tmp_path / "a.gif"))
        reply = await model.ask(asked)
        await model.close()
    assert seen[0].pop("pictures") == [
        {"name": "image-1.jpg", "media_type": "image/jpeg", "base64": base64.b64encode(picture(format="JPEG")).decode()}
    ]
    assert seen == [
        {
            "path": "/ask?team=a",
            "key": None,
            "question": "[system]\nBe brief.\n\n[user]\n[image-1.jpg]\nWhat?",
            "messages": [
                {"role": "system", "parts": [{"text": "Be brief."}]},
                {"role": "user", "parts": [{"image": "image-1.jpg"}, {"text": "What?"}]},
            ],
            "max_tokens": 50,
        }
    ]
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Answer: B", "why", "length")
    assert reply.usage == Usage(9, 4, 2, 1)


async def test_a_text_is_enough_and_a_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TEAM_KEY", "geheim-0123")
    came = list[str]()

    def say(body: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
        came.append(headers["Authorization"])
        return 200, {"text": "<think>so</think>A"}

    with endpoint(say) as url:
        model = open_model(f"http:{url},api_key_env=TEAM_KEY")
        reply = await model.ask(user())
        await model.close()
    assert came == ["Bearer geheim-0123"]
    assert (reply.text, reply.reasoning, reply.usage) == ("A", "so", Usage())
    assert model.label == f"http:{url}" and "geheim" not in canonical(model.identity).decode()


@pytest.mark.parametrize(("status", "said", "kind", "says"), [
    (404, {"error": "none"}, ModelError, r"http://127\S+/ask takes no questions \(HTTP 404\): mend the address"),
    (405, {}, ModelError, r"takes no questions \(HTTP 405\)"),
    (401, {"error": "who are you"}, ModelError, r"wants a key \(HTTP 401: who are you\): put it into \$MMDYN_HTTP_KEY"),
    (503, {"error": "busy"}, TransientError, "HTTP 503: busy"),
    (400, {"error": "too long"}, RejectedError, r"refused the request \(HTTP 400: too long\)"),
    (200, {"answer": "B"}, TransientError, r"an answer that is no reply \(Object missing required field `text`\)"),
    (200, {"text": None}, TransientError, "an answer that is no reply"),
])  # fmt: skip
async def test_what_goes_wrong_is_told(status: int, said: Any, kind: type[Exception], says: str):
    with endpoint(lambda body, headers: (status, said)) as url:
        model = open_model(url)
        with pytest.raises(kind, match=says):
            await model.ask(user())
        await model.close()


async def test_what_may_pass_is_asked_again():
    answers = iter([(500, {}), (429, {}), (200, {"text": "Answer: A"})])
    with endpoint(lambda body, headers: next(answers)) as url:
        async with asking(url) as asker:
            reply = await asker.ask(user())
    assert (reply.text, reply.attempts) == ("Answer: A", 3)


@pytest.mark.parametrize(("text", "says"), [
    ("http:127.0.0.1:8000", "base_url is not an address such as"),
    ("http://me:geheim@h/ask", "base_url holds a name or password"),
    ("http://h/ask,base_url=http://i", "has its address in its name: write http:URL without base_url"),
    ("http://h/ask,api_key_env=NOT_SET_HERE", r"http:http://h/ask needs a key: put it into \$NOT_SET_HERE"),
])  # fmt: skip
def test_bad_addresses_are_told(text: str, says: str):
    with pytest.raises(UserError, match=says) as caught:
        open_model(text)
    assert "geheim" not in str(caught.value)
