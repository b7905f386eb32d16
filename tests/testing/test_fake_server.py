"""The server that misbehaves on request."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from making import picture
from mmdyn.errors import UserError
from mmdyn.keys import sha256
from mmdyn.testing import FakeServer, write_script

CHAT, MESSAGES, GENERATE = "/v1/chat/completions", "/v1/messages", "/v1beta/models/m:generateContent"
CHOICE = "What?\n\nA. x\nB. y\nC. z\nD. w\n\nPut its letter: Answer: X"
ENCODED = base64.b64encode(picture()).decode()


def chat(text: str = "hello", *parts: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}, *parts] if parts else text
    return {"model": "m", "messages": [{"role": "user", "content": content}]}


def shown(url: str) -> dict[str, Any]:
    return chat("", {"type": "image_url", "image_url": {"url": url}})


def message(text: str = "hello", *blocks: Any) -> dict[str, Any]:
    return {"max_tokens": 9, **chat(text, {"type": "text", "text": ""}, *blocks)}


def contents(text: str = "hello", *parts: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": text}, *parts]}]}


async def ask(server: FakeServer, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    """Status and JSON; a body that is None is a GET."""
    url, how = server.url.removesuffix("/v1") + path, "GET" if body is None else "POST"
    async with aiohttp.ClientSession() as session, session.request(how, url, json=body, headers=headers) as response:
        return response.status, await response.json()


async def said(server: FakeServer, text: str) -> str:
    _, reply = await ask(server, CHAT, chat(text))
    return str(reply["choices"][0]["message"]["content"])


async def refused(server: FakeServer, path: str, body: Any, **headers: str) -> tuple[int, str]:
    status, reply = await ask(server, path, body, **headers)
    return status, reply["error"]["message"]


async def test_it_answers_in_the_shape_of_a_completion_and_counts():
    async with FakeServer() as server:
        status, reply = await ask(server, CHAT, chat("What?\n\nA. x\nB. y\n\nletter: Answer: X"))
        (choice,), usage = reply["choices"], reply["usage"]
        assert (status, choice["message"]["content"], choice["finish_reason"]) == (200, "Answer: A", "stop")
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0
        for _ in range(2):
            await ask(server, CHAT, chat())
        status, stats = await ask(server, "/stats", None)
        assert (status, stats["total"], stats["asked_again"], stats["max_in_flight"]) == (200, 3, 1, 1)
        assert stats["by_outcome"] == {"200": 3} and sorted(stats["requests"].values()) == [1, 2]
        assert hashlib.blake2b(json.dumps(chat()).encode(), digest_size=16).hexdigest() in stats["requests"]
        assert (await ask(server, "/v1/models", None))[1]["data"][0]["id"] == "fake"
        assert (await ask(server, "/nowhere", None))[0] == 404


async def test_replies_by_hash_and_by_file(tmp_path: Path):
    async with FakeServer(reply="hashed") as server:
        found = {await said(server, f"{number} {CHOICE}") for number in range(30)}
        assert found == {f"Answer: {label}" for label in "ABCD"}
    lines = {"match": "sky", "reply": "blue"}, {"match": "bad", "error": "transient"}
    async with FakeServer(reply=write_script(tmp_path / "replies.jsonl", *lines)) as server:
        assert await said(server, "sky") == "blue"
        assert [(await ask(server, CHAT, chat(text)))[0] for text in ("bad", "else")] == [503, 400]


async def test_pictures_are_checked_and_counted():
    async with FakeServer() as server:
        assert (await ask(server, CHAT, shown(f"data:image/png;base64,{ENCODED}")))[0] == 200
        assert dict(server.stats.images) == {sha256(picture()): 1}
        for url, says in {
            f"data:image/jpeg;base64,{ENCODED}": "a picture is not the image/jpeg that it is said to be",
            "data:image/png;base64,@@": "a picture is not valid base64",
            "data:image/png;base64,aGk=": "not a picture that can be read",
            "https://h/p.png": "a picture must be a data URL",
        }.items():
            status, told = await refused(server, CHAT, shown(url))
            assert status == 400 and told.startswith(says)


@pytest.mark.parametrize(
    "body", [{}, [], {"model": "m"}, {"model": "m", "messages": [{"role": "king", "content": ""}]}]
)
async def test_what_is_no_request_is_refused(body: Any):
    async with FakeServer() as server:
        assert (await ask(server, CHAT, body))[0] == 400


@pytest.mark.parametrize(("faults", "says"), [
    ("drip=0.1", "no fault 'drip' (did you mean 'drop'?): a status or drop, hang, truncate, cut, empty, blank, html"),
    ("200=0.1", "there is no fault '200'"),
    ("drop", "the fault 'drop' is not kind=rate, such as 429=0.1, 503@2=0.05 or drop=0.01"),
    ("drop=x", "the fault 'drop=x' is not kind=rate"),
    ("drop=0.6,500=0.5", "the faults' rates add up to more than 1: lower them"),
])  # fmt: skip
def test_bad_faults_are_told(faults: str, says: str):
    with pytest.raises(UserError, match=re.escape(says)):
        FakeServer(faults=faults)


async def outcomes(seed: int, count: int = 200) -> list[int]:
    async with FakeServer(faults="500=0.3, 429@2=.1", seed=seed) as server, aiohttp.ClientSession() as session:
        found = []
        for number in range(count):
            async with session.post(f"{server.url}/chat/completions", json=chat(f"{number // 2}")) as response:
                found.append(response.status)
                assert response.headers.get("Retry-After") == ("2" if response.status == 429 else None)
        return found


async def test_faults_are_the_same_for_the_same_seed_and_come_at_their_rates():
    one = await outcomes(1)
    assert one == await outcomes(1) != await outcomes(2)
    assert 40 <= one.count(500) <= 80 and 8 <= one.count(429) <= 35
    assert any(first != second for first, second in zip(one[::2], one[1::2], strict=True))


def test_a_port_that_is_taken_and_a_reply_that_is_nothing_are_told():
    with FakeServer() as server:
        port = int(server.url.rpartition(":")[2].partition("/")[0])
        says = f"cannot listen on 127.0.0.1:{port} .*: choose another --port"
        with pytest.raises(UserError, match=says), FakeServer(port=port):
            pass
    says = r"'frist' is neither first nor hashed nor a file of replies \(did you mean 'first'"
    with pytest.raises(UserError, match=says):
        FakeServer(reply="frist")


async def test_it_speaks_the_three_apis_and_gives_the_same_replies():
    async with FakeServer(reply="hashed") as server:
        text = await said(server, CHOICE)
        _, answer = await ask(server, MESSAGES, message(CHOICE))
        _, generated = await ask(server, GENERATE, contents(CHOICE))
        assert answer["content"] == [{"type": "text", "text": text}] and answer["stop_reason"] == "end_turn"
        assert generated["candidates"][0]["content"]["parts"] == [{"text": text}]
        assert generated["candidates"][0]["finishReason"] == "STOP"
        assert answer["usage"]["output_tokens"] == generated["usageMetadata"]["candidatesTokenCount"] > 0
        assert server.stats.by_outcome == {"200": 3}


async def test_each_api_has_its_own_errors_keys_and_checks_of_pictures():
    bad_type = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": ENCODED}}
    bad_data = {"inlineData": {"mimeType": "image/png", "data": "@@"}}
    async with FakeServer(key="k") as server:
        assert (await ask(server, CHAT, chat()))[0] == 401
        assert (await ask(server, CHAT, chat(), Authorization="Bearer k"))[0] == 200
        status, reply = await ask(server, MESSAGES, message(), Authorization="Bearer k")
        assert (status, reply["error"]["type"]) == (401, "authentication_error")
        status, reply = await ask(server, MESSAGES, {"model": "m"}, **{"x-api-key": "k"})
        assert (status, reply["type"], reply["error"]["type"]) == (400, "error", "invalid_request_error")
        told = await refused(server, MESSAGES, message("look", bad_type), **{"x-api-key": "k"})
        assert told == (400, "a picture is not the image/jpeg that it is said to be")
        status, reply = await ask(server, GENERATE, contents(), **{"x-api-key": "k"})
        assert (status, reply["error"]["status"], reply["error"]["code"]) == (401, "UNAUTHENTICATED", 401)
        told = await refused(server, GENERATE, contents("look", bad_data), **{"x-goog-api-key": "k"})
        assert told == (400, "a picture is not valid base64")
        assert (await ask(server, GENERATE, contents(), **{"x-goog-api-key": "k"}))[0] == 200
    async with FakeServer(faults="529=1") as server:
        assert (await ask(server, MESSAGES, message()))[1]["error"]["type"] == "overloaded_error"
    async with FakeServer(faults="empty=1") as server:
        assert (await ask(server, MESSAGES, message()))[1]["content"] == []
        assert (await ask(server, GENERATE, contents()))[1] == {"candidates": []}


@pytest.mark.parametrize(("settings", "text", "status", "says"), [
    ({"models": ("a", "b")}, "x", 404, "the model 'm' does not exist"),
    ({"models": ("m",)}, "x", 200, ""),
    ({"context": 5}, "123456", 400, "prompt is too long: 6 characters, 5 are the model's context length"),
    ({"context": 6}, "123456", 200, ""),
])  # fmt: skip
async def test_it_refuses_what_a_real_server_would(settings: dict[str, Any], text: str, status: int, says: str):
    async with FakeServer(**settings) as server:
        for path, body in ((CHAT, chat(text)), (MESSAGES, message(text)), (GENERATE, contents(text))):
            answered, reply = await ask(server, path, body)
            assert answered == status and reply.get("error", {}).get("message", "") == says
        listed = [item["id"] for item in (await ask(server, "/v1/models", None))[1]["data"]]
        assert listed == list(settings.get("models", ["fake"]))


async def test_a_blind_one_takes_no_pictures():
    async with FakeServer(blind=True) as server:
        assert (await ask(server, CHAT, chat("x")))[0] == 200
        told = await refused(server, CHAT, shown(f"data:image/png;base64,{ENCODED}"))
        assert told == (400, "this model does not support image input")


async def test_files_are_read_only_below_the_folder_of_media(tmp_path: Path):
    inside, outside = tmp_path / "media" / "p.png", tmp_path / "p.png"
    inside.parent.mkdir()
    for path in (inside, outside):
        path.write_bytes(picture())
    (inside.parent / "link.png").symlink_to(outside)
    async with FakeServer(media=inside.parent) as server:
        assert (await ask(server, CHAT, shown(inside.as_uri())))[0] == 200
        for path in (outside, inside.parent / "link.png", inside.parent / ".." / "p.png"):
            status, told = await refused(server, CHAT, shown(f"file://{path}"))
            assert status == 400 and told.startswith("local files are not read")
        told = await refused(server, CHAT, shown((inside.parent / "gone.png").as_uri()))
        assert told == (400, "a picture's file cannot be read (No such file or directory)")


def test_the_example_of_the_documentation_runs(tmp_path: Path):
    text = (Path(__file__).parents[2] / "docs" / "asking.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(from mmdyn.*?)```", text, re.DOTALL)
    (tmp_path / "test_example.py").write_text(example, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_example.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout
