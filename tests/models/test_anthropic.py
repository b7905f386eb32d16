"""What the anthropic backend sends, and what it makes of what comes back."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from asking import CHOICE, ask_all, asking, texts, user

from making import picture
from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json, canonical, sha256
from mmdyn.models import ImagePart, Message, Spec, TextPart, TransientError, open_model
from mmdyn.models.backends._anthropic_reply import read_reply
from mmdyn.models.backends._http_errors import Server
from mmdyn.models.backends.anthropic import Anthropic
from mmdyn.record import Reply, Usage
from mmdyn.testing import FakeServer

SERVER = Server("http://h", "m", "ANTHROPIC_API_KEY", "", ())


def body(options: str, messages: tuple[Message, ...]) -> dict[str, Json]:
    model = Anthropic(Spec.parse(f"anthropic:m,base_url=http://h{options}"))
    parts = [part for message in messages for part in message.parts if isinstance(part, ImagePart)]
    return model._body(messages, {part.digest: model._pictures.get(part) for part in parts})


def test_the_body_has_the_system_apart_and_pictures_as_blocks(tmp_path: Path):
    path = tmp_path / "p.png"
    path.write_bytes(picture())
    turns = (
        Message("system", (TextPart("be brief"),)),
        *user("look", path),
        Message("assistant", (TextPart("Answer: B"),)),
        Message("user", (TextPart(""), TextPart("and now?"))),
    )
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(picture()).decode()}
    assert body("", turns) == {
        "model": "m",
        "system": "be brief",
        "messages": [
            {"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": "look"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Answer: B"}]},
            {"role": "user", "content": [{"type": "text", "text": "and now?"}]},
        ],
        "max_tokens": 4096,
        "temperature": 0.0,
    }


def test_options_are_sent_and_identify():
    sent = body(',system=s,temperature=none,top_p=0.5,max_tokens=9,extra_body={"top_k":3}', user("a"))
    assert sent.pop("messages") and sent == {"model": "m", "system": "s", "top_p": 0.5, "max_tokens": 9, "top_k": 3}
    model = open_model("anthropic:m,base_url=http://h,thinking_budget=2000,temperature=0.7")
    assert model.varies
    assert model.identity == {
        "backend": "anthropic",
        "endpoint": "http://h",
        "model": "m",
        "system": None,
        "parameters": {"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 2000}},
    }
    assert not open_model("anthropic:m,base_url=http://h").varies
    assert open_model("anthropic:m,base_url=http://h", varied=True).varies


@pytest.mark.parametrize("url", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/messages"])
def test_the_endpoint_is_one_however_it_is_written(url: str):
    assert open_model(f"anthropic:m,base_url={url}").identity["endpoint"] == "http://h:1"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("", "anthropic:m needs a key: put it into $ANTHROPIC_API_KEY, or give base_url="),
        (",base_url=http://h,thinking_budget=4096", "thinking_budget=4096 is not below max_tokens=4096: raise max_tok"),
        (",base_url=http://h,thinking_budget=100", "the option thinking_budget of anthropic:m: expected `int` >= 1024"),
        (",base_url=http://h,max_tokens=none", "anthropic wants max_tokens: give a number"),
        (",base_url=http://h,seed=1", "anthropic has no option 'seed'"),
        (',base_url=http://h,extra_body={"system":"x"}', "extra_body sets 'system'"),
    ],
)
def test_bad_options_are_told_at_once(options: str, says: str):
    with pytest.raises(UserError) as caught:
        open_model(f"anthropic:m{options}")
    assert says in str(caught.value)


def answer(*content: Json, reason: str | None = "end_turn", **more: Json) -> bytes:
    return canonical({"type": "message", "content": list(content), "stop_reason": reason, **more})


def text(said: str) -> Json:
    return {"type": "text", "text": said, "citations": None}


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        (answer(text("A")), Reply("A", "stop")),
        (answer(text("A"), text("B"), reason="stop_sequence"), Reply("AB", "stop")),
        (answer(text("A"), reason="max_tokens"), Reply("A", "length")),
        (answer(text("A"), reason="model_context_window_exceeded"), Reply("A", "length")),
        (answer(reason="end_turn"), Reply("", "stop")),
        (answer(reason="refusal"), Reply("", "refusal")),
        (answer(text("A"), reason="pause_turn"), Reply("A", "pause_turn")),
        (
            answer({"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "redacted_thinking"}, text("A")),
            Reply("A", "stop", reasoning="hm"),
        ),
        (
            answer(
                text("A"),
                usage={
                    "input_tokens": 5,
                    "output_tokens": 9,
                    "cache_creation_input_tokens": 20,
                    "cache_read_input_tokens": 100,
                    "output_tokens_details": {"thinking_tokens": 4},
                },
            ),
            Reply("A", "stop", Usage(125, 9, 4, 100)),
        ),
        (
            answer(text("A"), usage={"input_tokens": 5, "output_tokens": 9, "cache_read_input_tokens": None}),
            Reply("A", "stop", Usage(5, 9)),
        ),
        (answer(text("A"), usage=None), Reply("A", "stop")),
        (
            answer(text("A"), usage={"input_tokens": 5.0, "output_tokens": "9", "output_tokens_details": [4]}),
            Reply("A", "stop", Usage(5)),
        ),
    ],
)
def test_what_counts_as_an_answer(given: bytes, reply: Reply):
    assert read_reply(given, SERVER) == reply


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (answer(reason=None), "an empty or unfinished answer (stop reason none)"),
        (answer(text(""), reason="tool_use"), "an empty or unfinished answer (stop reason tool_use)"),
        (b"{", "an answer that is no message"),
        (b"[]", "an answer that is no message"),
        (b"\xff", "an answer that is no message"),
        (b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', "HTTP 502: Overloaded"),
    ],
)
def test_what_is_no_answer_is_asked_for_again(given: bytes, says: str):
    with pytest.raises(TransientError) as caught:
        read_reply(given, SERVER)
    assert says in str(caught.value)


async def test_it_is_answered_with_the_pictures_unchanged(tmp_path: Path):
    path = tmp_path / "p.jpg"
    path.write_bytes(picture(format="JPEG") + b"trailing bytes")
    async with FakeServer() as server, asking(f"anthropic:m,base_url={server.url}") as asker:
        reply = await asker.ask(user(CHOICE, path))
        assert (reply.text, reply.finish_reason, reply.error) == ("Answer: A", "stop", "")
        assert reply.usage.prompt_tokens > 0 and dict(server.stats.images) == {sha256(path.read_bytes()): 1}


FAULTS = "429=0.05,529=0.05,500=0.05,503=0.02,drop=0.05,truncate=0.05,cut=0.05,empty=0.05,blank=0.05,html=0.05"


async def test_faults_are_asked_through():
    async with (
        FakeServer(faults=FAULTS, seed=3) as server,
        asking(f"anthropic:m,base_url={server.url}", max_tries=20, backoff=0.002) as asker,
    ):
        replies = await ask_all(asker, texts(100))
        assert {reply.text for reply in replies} == {"Answer: 1"} and not any(reply.error for reply in replies)
        assert server.stats.asked_again == 0 and len(server.stats.by_outcome) >= 10


async def test_a_wrong_key_and_an_unknown_model_are_told_at_once(monkeypatch: pytest.MonkeyPatch):
    async with FakeServer(key="right", models=("claude",)) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-wrong-0123456789")
        endpoint = server.url.removesuffix("/v1")
        for model, says in (
            ("anthropic:claude", f"{endpoint} refused the key in $ANTHROPIC_API_KEY (HTTP 401: the key is wrong)"),
            (
                "anthropic:other,header.x-api-key=right",
                "has no model 'other' (HTTP 404: the model 'other' does not exi",
            ),
        ):
            async with asking(f"{model},base_url={server.url}") as asker:
                with pytest.raises(ModelError) as caught:
                    await asker.ask(user())
            assert says in str(caught.value) and "0123456789" not in str(caught.value)
