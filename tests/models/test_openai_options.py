"""The openai backend's further options: reasoning, logprobs, extra bodies, file URLs, smaller pictures, several
turns."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import CHOICE, ask_all, asking, texts, user
from PIL import Image

from making import picture
from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json, canonical, sha256
from mmdyn.models import Message, Spec, TextPart, open_model
from mmdyn.models.backends._http_errors import Server
from mmdyn.models.backends._openai_reply import read_reply
from mmdyn.models.backends.openai import OpenAI
from mmdyn.record import Reply, Usage
from mmdyn.testing import FakeServer

SERVER = Server("http://h/v1", "m", "KEY", "", ())


def parameters(options: str) -> Json:
    return open_model(f"openai:m,base_url=http://h/v1,{options}").identity["parameters"]


def test_what_decides_a_reply_is_sent_and_identifies_it():
    assert parameters("reasoning_effort=low,logprobs=true,temperature=none") == {
        "reasoning_effort": "low",
        "logprobs": True,
    }
    assert parameters('extra_body={"top_k":20,"chat_template_kwargs":{"enable_thinking":false}},seed=1') == {
        "temperature": 0.0,
        "seed": 1,
        "top_k": 20,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    assert parameters('extra_body={"temperature":0.5}') == {"temperature": 0.5}
    sent = OpenAI(Spec.parse('openai:m,base_url=http://h/v1,extra_body={"top_k":20}'))._body(user("a"), {})
    assert sent["top_k"] == 20 and sent["model"] == "m"


def test_an_extra_bodys_temperature_makes_answers_vary():
    assert not open_model("openai:m,base_url=http://h").varies
    assert open_model('openai:m,base_url=http://h,extra_body={"temperature":1}').varies
    assert not open_model('openai:m,base_url=http://h,extra_body={"temperature":1,"seed":3}').varies


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ('extra_body={"model":"x"}', "extra_body sets 'model', which belongs to the requests themselves: leave it out"),
        ('extra_body={"messages":[]}', "extra_body sets 'messages'"),
        ('extra_body={"stream":true}', "extra_body sets 'stream'"),
        ("extra_body=[1]", 'extra_body is not a JSON object, such as {"top_k": 20}: mend it'),
        ("extra_body={", "extra_body is not a JSON object"),
        ("images=url", "the option images of openai:m: invalid enum value 'url'"),
        ("images=file,max_side=9", "images=file sends pictures as they lie: leave max_pixels and max_side out"),
        ("max_pixels=0", "the option max_pixels of openai:m: expected `int` >= 1"),
        ("logprobs=perhaps", "the option logprobs of openai:m: expected `bool | null`, got `str`"),
    ],
)
def test_bad_values_are_told_at_once(options: str, says: str):
    with pytest.raises(UserError) as caught:
        open_model(f"openai:m,base_url=http://h,{options}")
    assert says in str(caught.value)


def test_only_what_decides_a_reply_is_in_the_identity():
    def identity(options: str = "") -> bytes:
        return canonical(open_model(f"openai:m,base_url=http://h{options}").identity)

    assert identity() == identity(",images=file,timeout=3,label=x,concurrency=2,max_tries=1")
    for options in (",think=keep", ",max_side=100", ",max_pixels=100", ",reasoning_effort=low", ",logprobs=true"):
        assert identity() != identity(options)


def read(message: dict[str, Json], finish: str | None = "stop", *, keep: bool = False, **more: Json) -> Reply:
    body = canonical({"choices": [{"message": message, "finish_reason": finish, **more}]})
    return read_reply(body, SERVER, keep_thinking=keep)


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "A", "reasoning_content": "hm"}, "A", "hm"),
        ({"content": "A", "reasoning": "hm"}, "A", "hm"),
        ({"content": "A", "reasoning": {"odd": 1}, "reasoning_content": None}, "A", ""),
        ({"content": "<think>hm</think>\nA"}, "A", "hm"),
        ({"content": "<think>hm</think>A", "reasoning": "so"}, "A", "so\nhm"),
        ({"content": "<think>on and on"}, "", "on and on"),
        ({"content": None, "reasoning_content": "on and on"}, "", "on and on"),
    ],
)
def test_thinking_is_kept_apart(message: dict[str, Json], text: str, reasoning: str):
    reply = read(message, "length")
    assert (reply.text, reply.reasoning, reply.finish_reason) == (text, reasoning, "length")


def test_thinking_stays_in_the_text_where_that_is_asked_for():
    assert read({"content": "<think>hm</think>A"}, keep=True) == Reply("<think>hm</think>A", "stop")


def test_log_probabilities_and_details_of_usage_are_kept():
    tokens: Json = [{"token": "A", "logprob": -0.25, "top_logprobs": []}, {"token": "?", "logprob": None}]
    assert read({"content": "A"}, logprobs={"content": tokens}).logprobs == (-0.25,)
    assert read({"content": "A"}, logprobs=None).logprobs == read({"content": "A"}, logprobs={}).logprobs == ()
    usage: Json = {
        "prompt_tokens": 10,
        "completion_tokens": 8,
        "completion_tokens_details": {"reasoning_tokens": 6, "audio_tokens": None},
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    for given, expected in (
        (usage, Usage(10, 8, 6, 4)),
        ({**usage, "completion_tokens_details": None, "prompt_tokens_details": None}, Usage(10, 8)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}, Usage(9, 0, 0, 5)),
        ({**usage, "completion_tokens": 2}, Usage(10, 8, 6, 4)),
        ({**usage, "prompt_tokens": 3}, Usage(3, 8, 6, 3)),
        ({**usage, "completion_tokens": 32.0, "prompt_tokens": 1.5}, Usage(0, 32, 6)),
        ({**usage, "completion_tokens_details": [1], "prompt_tokens": "10"}, Usage(0, 8)),
        ({**usage, "completion_tokens": -8, "prompt_tokens": True}, Usage(0, 6, 6)),
        ([], Usage()),
    ):
        body = canonical({"choices": [{"message": {"content": "A"}}], "usage": given})
        assert read_reply(body, SERVER).usage == expected


async def test_log_probabilities_come_back_from_a_server():
    async with FakeServer() as server, asking(f"openai:m,base_url={server.url},logprobs=true") as asker:
        assert (await asker.ask(user())).logprobs == (-0.5, -0.5)


async def test_several_turns_are_sent_as_they_are():
    turns = (
        Message("system", (TextPart("s"),)),
        *user("first"),
        Message("assistant", (TextPart("Answer: B"),)),
        *user(CHOICE),
    )
    sent = OpenAI(Spec.parse("openai:m,base_url=http://h/v1"))._body(turns, {})["messages"]
    assert [turn["role"] for turn in sent] == ["system", "user", "assistant", "user"]
    async with FakeServer() as server, asking(f"openai:m,base_url={server.url}") as asker:
        assert (await asker.ask(turns)).error == ""


async def test_pictures_go_as_file_urls_to_a_server_that_may_read_them(tmp_path: Path):
    path = tmp_path / "a #1.png"
    path.write_bytes(picture())
    async with FakeServer(media=tmp_path) as server, asking(f"openai:m,base_url={server.url},images=file") as asker:
        assert (await asker.ask(user("Which?", path))).error == ""
        assert dict(server.stats.images) == {sha256(picture()): 1}
    async with FakeServer() as server, asking(f"openai:m,base_url={server.url},images=file") as asker:
        with pytest.raises(ModelError, match=r"may not read files .* or leave images=file out"):
            await asker.ask(user("Which?", path))


async def test_a_smaller_picture_is_sent_where_that_is_asked_for_and_the_reply_says_so(tmp_path: Path):
    small, large = tmp_path / "small.png", tmp_path / "large.jpg"
    small.write_bytes(picture(width=30, height=20))
    Image.new("RGB", (400, 200), "blue").save(large)
    async with FakeServer() as server:
        async with asking(f"openai:m,base_url={server.url},max_side=100") as asker:
            reply = await asker.ask(user("Which?", small, large))
            assert reply.changed == "a picture was made smaller, from 400x200 to 100x50"
            assert (await asker.ask(user("Which?", small))).changed == ""
        digests = set(server.stats.images)
        assert sha256(small.read_bytes()) in digests and sha256(large.read_bytes()) not in digests
        async with asking(f"openai:m,base_url={server.url}") as asker:
            assert (await asker.ask(user("Which?", large))).changed == ""
        assert sha256(large.read_bytes()) in server.stats.images


async def test_what_no_request_gets_past_stops_at_once(tmp_path: Path):
    path = tmp_path / "p.png"
    path.write_bytes(picture())
    async with FakeServer(key="k", models=("m",), blind=True) as server:
        for model, messages, says in (
            (f"openai:m,base_url={server.url}", user(), f"at {server.url} wants a key"),
            (f"openai:x,base_url={server.url},header.Authorization=Bearer k", user(), f"{server.url}/models names"),
            (f"openai:m,base_url={server.url}/v2,header.Authorization=Bearer k", user("?", path), "takes no pictures"),
        ):
            before = server.stats.total
            async with asking(model, concurrency=1) as asker:
                with pytest.raises(ModelError) as caught:
                    await ask_all(asker, [messages] * 20)
            assert says in str(caught.value) and server.stats.total <= before + 2


async def test_a_request_that_is_too_long_fails_alone():
    async with (
        FakeServer(context=12) as server,
        asking(f"openai:m,base_url={server.url}", max_tries=3) as asker,
    ):
        replies = await ask_all(asker, [*texts(5), user("much too long"), *texts(5)])
        assert [bool(reply.error) for reply in replies] == [False] * 5 + [True] + [False] * 5
        assert replies[5].error.startswith(f"a request is too long for 'm' at {server.url} (HTTP 400: prompt is too")
        assert replies[5].attempts == 1


async def test_an_address_that_gives_nothing_but_pages_is_told_and_a_page_now_and_then_is_not():
    async with (
        FakeServer(faults="html=1") as server,
        asking(f"openai:m,base_url={server.url}", concurrency=64) as asker,
    ):
        with pytest.raises(
            ModelError, match=r"gives an answer of type text/html, not JSON, and nothing else: mend base"
        ):
            await ask_all(asker, texts(200))
    async with (
        FakeServer(faults="html=0.6", seed=4) as server,
        asking(f"openai:m,base_url={server.url}", max_tries=50, backoff=0.001) as asker,
    ):
        assert not any(reply.error for reply in await ask_all(asker, texts(100)))
