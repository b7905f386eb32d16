"""The server that misbehaves on request."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from making import picture
from mmdyn.errors import UserError
from mmdyn.keys import sha256
from mmdyn.testing import FakeServer
from mmdyn.testing.fake_server_faults import Fault, parse_faults


def chat(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


async def post(server: FakeServer, body: Any, **more: Any) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/chat/completions", json=body, **more) as response,
    ):
        return response.status, await response.json()


async def get(server: FakeServer, path: str) -> tuple[int, Any]:
    url = server.url.removesuffix("/v1") + path
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, await response.json()


async def test_it_answers_in_the_shape_of_a_completion_and_counts():
    async with FakeServer() as server:
        status, reply = await post(server, chat("What?\n\nA. x\nB. y\n\nletter: Answer: X"))
        assert (status, reply["choices"][0]["message"]["content"], reply["choices"][0]["finish_reason"]) == (
            200,
            "Answer: A",
            "stop",
        )
        assert (
            reply["usage"]["total_tokens"] == reply["usage"]["prompt_tokens"] + reply["usage"]["completion_tokens"] > 0
        )
        await post(server, chat())
        await post(server, chat())
        status, stats = await get(server, "/stats")
        assert (status, stats["total"], stats["asked_again"], stats["max_in_flight"]) == (200, 3, 1, 1)
        assert stats["by_outcome"] == {"200": 3} and sorted(stats["requests"].values()) == [1, 2]
        assert (await get(server, "/v1/models"))[1]["data"][0]["id"] == "fake"
        assert (await get(server, "/nowhere"))[0] == 404


async def test_replies_by_hash_and_by_file(tmp_path: Path):
    prompt = "Which {}?\n\nA. x\nB. y\nC. z\nD. w\n\nPut its letter: Answer: X"
    async with FakeServer(reply="hashed") as server:
        said = [(await post(server, chat(prompt.format(n))))[1]["choices"][0]["message"]["content"] for n in range(30)]
        assert set(said) == {f"Answer: {label}" for label in "ABCD"}
    path = tmp_path / "replies.jsonl"
    path.write_text('{"match": "sky", "reply": "blue"}\n{"match": "bad", "error": "transient"}')
    async with FakeServer(reply=str(path)) as server:
        assert (await post(server, chat("sky")))[1]["choices"][0]["message"]["content"] == "blue"
        assert (await post(server, chat("bad")))[0] == 503
        assert (await post(server, chat("else")))[0] == 400


async def test_a_key_is_asked_for():
    async with FakeServer(key="k") as server:
        assert (await post(server, chat()))[0] == 401
        assert (await post(server, chat(), headers={"Authorization": "Bearer k"}))[0] == 200


def with_image(url: str) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}


async def test_pictures_are_checked_and_counted():
    data = picture()
    encoded = base64.b64encode(data).decode()
    async with FakeServer() as server:
        assert (await post(server, with_image(f"data:image/png;base64,{encoded}")))[0] == 200
        assert dict(server.stats.images) == {sha256(data): 1}
        for url, says in {
            f"data:image/jpeg;base64,{encoded}": "a picture is not the image/jpeg that it is said to be",
            "data:image/png;base64,@@": "a picture is not valid base64",
            "data:image/png;base64,aGk=": "not a picture that can be read",
            "https://h/p.png": "a picture must be a data URL",
        }.items():
            status, reply = await post(server, with_image(url))
            assert status == 400 and reply["error"]["message"].startswith(says)


@pytest.mark.parametrize(
    "body", [{}, [], {"model": "m"}, {"model": "m", "messages": [{"role": "king", "content": ""}]}]
)
async def test_what_is_no_request_is_refused(body: Any):
    async with FakeServer() as server:
        assert (await post(server, body))[0] == 400


def test_faults_are_read_and_bad_ones_told():
    assert parse_faults("429=0.1, 503@2=.05,drop=1e0".replace("1e0", "0.5")) == (
        Fault("429", 0.1, 429),
        Fault("503", 0.05, 503, "2"),
        Fault("drop", 0.5),
    )
    assert parse_faults("") == ()
    for text, says in {
        "drip=0.1": (
            "there is no fault 'drip' (did you mean 'drop'?): a status or drop, hang, truncate, cut, empty, blank, html"
        ),
        "200=0.1": "there is no fault '200'",
        "drop": "the fault 'drop' is not kind=rate, such as 429=0.1, 503@2=0.05 or drop=0.01",
        "drop=x": "the fault 'drop=x' is not kind=rate",
        "drop=0.6,500=0.5": "the faults' rates add up to more than 1: lower them",
    }.items():
        with pytest.raises(UserError) as caught:
            parse_faults(text)
        assert says in str(caught.value)


async def outcomes(seed: int, count: int = 200) -> list[int]:
    async with FakeServer(faults="500=0.3,429=0.1", seed=seed) as server, aiohttp.ClientSession() as session:
        found = []
        for number in range(count):
            async with session.post(f"{server.url}/chat/completions", json=chat(f"{number // 2}")) as response:
                found.append(response.status)
        return found


async def test_faults_are_the_same_for_the_same_seed_and_come_at_their_rates():
    one = await outcomes(1)
    assert one == await outcomes(1) != await outcomes(2)
    assert 40 <= one.count(500) <= 80 and 8 <= one.count(429) <= 35
    assert any(first != second for first, second in zip(one[::2], one[1::2], strict=True))


async def test_request_digests_are_those_of_the_bytes():
    async with FakeServer() as server, aiohttp.ClientSession() as session:
        data = b'{"model":"m","messages":[{"role":"user","content":"x"}]}'
        async with session.post(f"{server.url}/chat/completions", data=data) as response:
            assert response.status == 200
        assert dict(server.stats.requests) == {hashlib.blake2b(data, digest_size=16).hexdigest(): 1}


async def test_a_port_that_is_taken_and_a_reply_that_is_nothing_are_told():
    async with FakeServer() as server:
        port = int(server.url.rpartition(":")[2].partition("/")[0])
        with pytest.raises(UserError, match=f"cannot listen on 127.0.0.1:{port} .*: choose another --port"):
            await FakeServer(port=port).__aenter__()
    with pytest.raises(
        UserError, match=r"'frist' is neither first nor hashed nor a file of replies \(did you mean 'first'"
    ):
        FakeServer(reply="frist")


async def ask(server: FakeServer, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    url = server.url.removesuffix("/v1") + path
    async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=headers) as response:
        return response.status, await response.json()


MESSAGES = "/v1/messages"
GENERATE = "/v1beta/models/m:generateContent"


def said(text: str = "hello", *blocks: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}, *blocks]
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": content}]}


def contents(text: str = "hello", *parts: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": text}, *parts]}]}


async def test_it_speaks_the_three_apis_and_gives_the_same_replies():
    prompt = "What?\n\nA. x\nB. y\nC. z\nD. w\n\nletter: Answer: X"
    async with FakeServer(reply="hashed") as server:
        _, completion = await post(server, chat(prompt))
        _, message = await ask(server, MESSAGES, said(prompt))
        _, generated = await ask(server, GENERATE, contents(prompt))
        text = completion["choices"][0]["message"]["content"]
        assert message["content"] == [{"type": "text", "text": text}] and message["stop_reason"] == "end_turn"
        assert generated["candidates"][0]["content"]["parts"] == [{"text": text}]
        assert generated["candidates"][0]["finishReason"] == "STOP"
        assert message["usage"]["output_tokens"] == generated["usageMetadata"]["candidatesTokenCount"] > 0
        assert server.stats.by_outcome == {"200": 3}


async def test_each_api_has_its_own_errors_keys_and_checks_of_pictures():
    picture_twice = base64.b64encode(picture()).decode()
    source = {"type": "base64", "media_type": "image/jpeg", "data": picture_twice}
    async with FakeServer(key="k") as server:
        status, reply = await ask(server, MESSAGES, said(), Authorization="Bearer k")
        assert (status, reply["error"]["type"]) == (401, "authentication_error")
        status, reply = await ask(server, MESSAGES, {"model": "m"}, **{"x-api-key": "k"})
        assert (status, reply["type"], reply["error"]["type"]) == (400, "error", "invalid_request_error")
        body = said("look", {"type": "image", "source": source})
        status, reply = await ask(server, MESSAGES, body, **{"x-api-key": "k"})
        assert (status, reply["error"]["message"]) == (400, "a picture is not the image/jpeg that it is said to be")
        status, reply = await ask(server, GENERATE, contents(), **{"x-api-key": "k"})
        assert (status, reply["error"]["status"], reply["error"]["code"]) == (401, "UNAUTHENTICATED", 401)
        body = contents("look", {"inlineData": {"mimeType": "image/png", "data": "@@"}})
        status, reply = await ask(server, GENERATE, body, **{"x-goog-api-key": "k"})
        assert (status, reply["error"]["message"]) == (400, "a picture is not valid base64")
        assert (await ask(server, GENERATE, contents(), **{"x-goog-api-key": "k"}))[0] == 200
    async with FakeServer(faults="529=1") as server:
        assert (await ask(server, MESSAGES, said()))[1]["error"]["type"] == "overloaded_error"
    async with FakeServer(faults="empty=1") as server:
        assert (await ask(server, MESSAGES, said()))[1]["content"] == []
        assert (await ask(server, GENERATE, contents()))[1] == {"candidates": []}


@pytest.mark.parametrize(
    ("settings", "text", "status", "says"),
    [
        ({"models": ("a", "b")}, "x", 404, "the model 'm' does not exist"),
        ({"models": ("m",)}, "x", 200, ""),
        ({"context": 5}, "123456", 400, "prompt is too long: 6 characters, 5 are the model's context length"),
        ({"context": 6}, "123456", 200, ""),
    ],
)
async def test_it_refuses_what_a_real_server_would(settings: dict[str, Any], text: str, status: int, says: str):
    async with FakeServer(**settings) as server:
        for answer in (
            await post(server, chat(text)),
            await ask(server, MESSAGES, said(text)),
            await ask(server, GENERATE, contents(text)),
        ):
            assert answer[0] == status and answer[1].get("error", {}).get("message", "") == says
        listed = [item["id"] for item in (await get(server, "/v1/models"))[1]["data"]]
        assert listed == list(settings.get("models", ["fake"]))


async def test_a_blind_one_takes_no_pictures():
    encoded = base64.b64encode(picture()).decode()
    async with FakeServer(blind=True) as server:
        assert (await post(server, chat("x")))[0] == 200
        status, reply = await post(server, with_image(f"data:image/png;base64,{encoded}"))
        assert (status, reply["error"]["message"]) == (400, "this model does not support image input")


async def test_files_are_read_only_below_the_folder_of_media(tmp_path: Path):
    inside, outside = tmp_path / "media" / "p.png", tmp_path / "p.png"
    inside.parent.mkdir()
    for path in (inside, outside):
        path.write_bytes(picture())
    (inside.parent / "link.png").symlink_to(outside)
    async with FakeServer(media=inside.parent) as server:
        assert (await post(server, with_image(inside.as_uri())))[0] == 200
        for path in (outside, inside.parent / "link.png", inside.parent / ".." / "p.png"):
            status, reply = await post(server, with_image(f"file://{path}"))
            assert status == 400 and reply["error"]["message"].startswith("local files are not read")
        status, reply = await post(server, with_image((inside.parent / "gone.png").as_uri()))
        assert (status, reply["error"]["message"]) == (
            400,
            "a picture's file cannot be read (No such file or directory)",
        )
