"""What the gemini backend sends, and what it makes of what comes back."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from asking import CHOICE, ask_all, asking, texts, user

from making import picture
from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json, canonical, sha256
from mmdyn.models import ImagePart, Message, Spec, TextPart, TransientError, open_model
from mmdyn.models.backends._gemini_reply import read_reply
from mmdyn.models.backends._http_errors import Server
from mmdyn.models.backends.gemini import Gemini
from mmdyn.record import Reply, Usage
from mmdyn.testing import FakeServer

SERVER = Server("http://h", "m", "GEMINI_API_KEY", "", ())


def body(options: str, messages: tuple[Message, ...]) -> dict[str, Json]:
    model = Gemini(Spec.parse(f"gemini:m,base_url=http://h{options}"))
    parts = [part for message in messages for part in message.parts if isinstance(part, ImagePart)]
    return model._body(messages, {part.digest: model._pictures.get(part) for part in parts})


def test_the_body_has_the_system_apart_and_pictures_inline(tmp_path: Path):
    path = tmp_path / "p.png"
    path.write_bytes(picture())
    turns = (
        Message("system", (TextPart("be brief"),)),
        *user("look", path),
        Message("assistant", (TextPart("Answer: B"),)),
        *user("and now?"),
    )
    blob = {"mimeType": "image/png", "data": base64.b64encode(picture()).decode()}
    assert body("", turns) == {
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "contents": [
            {"role": "user", "parts": [{"inlineData": blob}, {"text": "look"}]},
            {"role": "model", "parts": [{"text": "Answer: B"}]},
            {"role": "user", "parts": [{"text": "and now?"}]},
        ],
        "generationConfig": {"temperature": 0.0},
    }


def test_options_are_sent_and_identify():
    options = ",system=s,temperature=0.5,top_p=0.9,max_tokens=9,seed=3,thinking_budget=128"
    assert body(options, user("a")) == {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [{"role": "user", "parts": [{"text": "a"}]}],
        "generationConfig": {
            "temperature": 0.5,
            "topP": 0.9,
            "maxOutputTokens": 9,
            "seed": 3,
            "thinkingConfig": {"thinkingBudget": 128, "includeThoughts": True},
        },
    }
    level = ',extra_body={"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}},"safetySettings":[]}'
    model = open_model(f"gemini:m,base_url=http://h{level}")
    assert model.identity["parameters"] == {
        "generationConfig": {"temperature": 0.0, "thinkingConfig": {"thinkingLevel": "low"}},
        "safetySettings": [],
    }
    assert not model.varies and open_model("gemini:m,base_url=http://h", varied=True).varies


def test_the_address_has_the_models_name_and_never_the_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GEMINI_API_KEY", "sk-secret-0123456789")
    for url in ("http://h:1", "http://h:1/v1beta", "http://h:1/v1/"):
        model = Gemini(Spec.parse(f"gemini:gemini-pro,base_url={url}"))
        assert str(model._line._url) == "http://h:1/v1beta/models/gemini-pro:generateContent"
        assert model.identity["endpoint"] == "http://h:1"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("", "gemini:m needs a key: put it into $GEMINI_API_KEY, or give base_url="),
        (",base_url=http://h,thinking_budget=-2", "the option thinking_budget of gemini:m: expected `int` >= -1"),
        (',base_url=http://h,extra_body={"contents":[]}', "extra_body sets 'contents'"),
    ],
)
def test_bad_options_are_told_at_once(options: str, says: str):
    with pytest.raises(UserError) as caught:
        open_model(f"gemini:m{options}")
    assert says in str(caught.value)


def answer(*parts: Json, reason: str = "STOP", **more: Json) -> bytes:
    return canonical({"candidates": [{"content": {"parts": list(parts)}, "finishReason": reason}], **more})


USAGE: Json = {
    "promptTokenCount": 50,
    "candidatesTokenCount": 7,
    "thoughtsTokenCount": 30,
    "cachedContentTokenCount": 40,
    "totalTokenCount": 87,
}


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        (answer({"text": "A"}), Reply("A", "stop")),
        (answer({"text": "A"}, {"text": "B"}, reason="MAX_TOKENS"), Reply("AB", "length")),
        (answer(reason="MAX_TOKENS"), Reply("", "length")),
        (b'{"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}]}', Reply("", "length")),
        (answer({"text": "hm", "thought": True}, {"text": "A"}), Reply("A", "stop", reasoning="hm")),
        (answer(reason="SAFETY"), Reply("", "refusal: SAFETY")),
        (answer({"text": "part"}, reason="RECITATION"), Reply("part", "refusal: RECITATION")),
        (b'{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}', Reply("", "refusal: PROHIBITED_CONTENT")),
        (answer({"text": "A"}, usageMetadata=USAGE), Reply("A", "stop", Usage(50, 37, 30, 40))),
        (answer({"text": "A"}, usageMetadata=None), Reply("A", "stop")),
        (
            answer({"text": "A"}, usageMetadata={"promptTokenCount": 5, "cachedContentTokenCount": 7.0}),
            Reply("A", "stop", Usage(5, 0, 0, 5)),
        ),
    ],
)
def test_what_counts_as_an_answer(given: bytes, reply: Reply):
    assert read_reply(given, SERVER) == reply


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (answer(reason="OTHER"), "an empty or unfinished answer (finish reason OTHER)"),
        (answer({"text": ""}, reason=""), "an empty or unfinished answer (finish reason none)"),
        (b"{}", "an answer without candidates"),
        (b"[]", "an answer that cannot be read"),
        (b"{", "an answer that cannot be read"),
        (b'{"error": {"code": 503, "message": "overloaded"}}', "HTTP 502: overloaded"),
    ],
)
def test_what_is_no_answer_is_asked_for_again(given: bytes, says: str):
    with pytest.raises(TransientError) as caught:
        read_reply(given, SERVER)
    assert says in str(caught.value)


async def test_it_is_answered_with_the_pictures_unchanged(tmp_path: Path):
    path = tmp_path / "p.webp"
    path.write_bytes(picture(format="WEBP"))
    async with FakeServer() as server, asking(f"gemini:m,base_url={server.url}") as asker:
        reply = await asker.ask(user(CHOICE, path))
        assert (reply.text, reply.finish_reason, reply.error) == ("Answer: A", "stop", "")
        assert reply.usage.prompt_tokens > 0 and dict(server.stats.images) == {sha256(path.read_bytes()): 1}


FAULTS = "429=0.05,529=0.05,500=0.05,503=0.02,drop=0.05,truncate=0.05,cut=0.05,empty=0.05,blank=0.05,html=0.05"


async def test_faults_are_asked_through():
    async with (
        FakeServer(faults=FAULTS, seed=3) as server,
        asking(f"gemini:m,base_url={server.url}", max_tries=20, backoff=0.002) as asker,
    ):
        replies = await ask_all(asker, texts(100))
        assert {reply.text for reply in replies} == {"Answer: 1"} and not any(reply.error for reply in replies)
        assert server.stats.asked_again == 0 and len(server.stats.by_outcome) >= 10


async def test_a_wrong_key_and_an_unknown_model_are_told_at_once(monkeypatch: pytest.MonkeyPatch):
    async with FakeServer(key="right", models=("gemini-pro",)) as server:
        monkeypatch.setenv("GEMINI_API_KEY", "sk-wrong-0123456789")
        endpoint = server.url.removesuffix("/v1")
        for model, says in (
            ("gemini:gemini-pro", f"{endpoint} refused the key in $GEMINI_API_KEY (HTTP 401: the key is wrong)"),
            (
                "gemini:x,header.x-goog-api-key=right",
                f"has no model 'x' (HTTP 404: the model 'x' does not exist): {endpoint}",
            ),
        ):
            async with asking(f"{model},base_url={server.url}") as asker:
                with pytest.raises(ModelError) as caught:
                    await asker.ask(user())
            assert says in str(caught.value) and "0123456789" not in str(caught.value)
