"""The backends behind an API on the line: faults, keys that show nowhere, proxies, addresses, and when asking stops."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from answering import OK, answering
from asking import CHOICE, ask_all, asking, texts, user

from making import picture
from mmdyn.errors import ModelError
from mmdyn.keys import canonical, sha256
from mmdyn.models import Spec, TransientError, open_model
from mmdyn.testing import FakeServer

KEY = "sk-very-secret-0123456789"
FAULTS = "429=0.05,529=0.05,500=0.05,503=0.02,drop=0.05,truncate=0.05,cut=0.05,empty=0.05,blank=0.05,html=0.05"


@pytest.mark.parametrize("backend", OK)
async def test_faults_are_asked_through(backend: str):
    async with FakeServer(faults=FAULTS, seed=3) as server:
        async with asking(f"{backend}:m,base_url={server.url}", max_tries=20, backoff=0.002) as asker:
            replies = await ask_all(asker, texts(100))
        assert {(reply.text, reply.error) for reply in replies} == {("Answer: 1", "")}
        assert server.stats.asked_again == 0 and len(server.stats.by_outcome) >= 10


@pytest.mark.parametrize("backend", OK)
async def test_it_is_answered_with_the_pictures_unchanged(backend: str, tmp_path: Path):
    path = tmp_path / "p.jpg"
    path.write_bytes(picture(format="JPEG") + bytes(3_000_000))
    async with FakeServer() as server, asking(f"{backend}:m,base_url={server.url}") as asker:
        reply = await asker.ask(user(CHOICE, path))
        assert (reply.text, reply.finish_reason, reply.error) == ("Answer: A", "stop", "")
        assert reply.usage.prompt_tokens > 0 and dict(server.stats.images) == {sha256(path.read_bytes()): 1}


@pytest.mark.parametrize(
    ("backend", "header"), [("openai", "Authorization"), ("anthropic", "x-api-key"), ("gemini", "x-goog-api-key")]
)
async def test_a_wrong_key_and_an_unknown_model_are_told_at_once(
    backend: str, header: str, monkeypatch: pytest.MonkeyPatch
):
    variable, right = f"{backend.upper()}_API_KEY", "Bearer right" if backend == "openai" else "right"
    monkeypatch.setenv(variable, KEY)
    async with FakeServer(key="right", models=("m",)) as server:
        for model, says in (
            (f"{backend}:m", f"refused the key in ${variable} (HTTP 401: the key is wrong)"),
            (f"{backend}:x,header.{header}={right}", "has no model 'x' (HTTP 404: the model 'x' does not exist)"),
        ):
            async with asking(f"{model},base_url={server.url}") as asker:
                with pytest.raises(ModelError) as caught:
                    await asker.ask(user())
            assert says in str(caught.value) and KEY not in str(caught.value)


@pytest.mark.parametrize("options", [
    "",
    ",api_key_env=MY_KEY",
    f",header.Authorization=Bearer {KEY}",
    f',headers={{"Authorization":"Bearer {KEY}","X-Team":"geheim"}}',
    ",header.Authorization=$WHOLE",
])  # fmt: skip
async def test_a_key_opens_the_server_and_shows_nowhere(
    options: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    for name, value in (("OPENAI_API_KEY", f" {KEY}\n"), ("MY_KEY", KEY), ("WHOLE", f"Bearer {KEY}")):
        monkeypatch.setenv(name, value)
    caplog.set_level(logging.DEBUG)
    seen = []
    async with FakeServer(key=KEY) as server:
        spec = Spec.parse(f"openai:m,base_url={server.url}{options}")
        model = open_model(spec.text)
        assert (await model.ask(user())).text == "Answer: A"
        await model.close()
        seen += [repr(spec), repr(model), model.label, canonical(model.identity).decode(), repr(server.stats)]
    async with FakeServer(key="another") as server, asking(f"openai:m,base_url={server.url}{options}") as asker:
        with pytest.raises(ModelError, match=r"refused the (key in \$|headers Authorization)") as caught:
            await asker.ask(user())
        seen += ["".join(traceback.format_exception(caught.value)), repr(asker)]
    seen.append(caplog.text)
    assert not any(KEY in text or "geheim" in text for text in seen)


async def test_what_must_not_show_is_cut_out_of_what_the_server_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    said = f"{KEY} or 'Bearer {KEY}' at ?key=ge%2Fheim or ge/heim, v=1 to http://a:b@h/x by long@password, API key: x"
    async with answering({"error": {"message": said}}, 500) as (url, _):
        monkeypatch.setenv("http_proxy", url.replace("//", "//me:long%40password@"))
        model = open_model("openai:m,base_url=http://far.invalid/v1?key=ge%2Fheim&v=1,header.X-Empty=")
        with pytest.raises(TransientError) as caught:
            await model.ask(user())
        await model.close()
    shown = "HTTP 500: *** or '***' at ?key=*** or ***, v=1 to http://***@h/x by ***, API key: ***"
    assert str(caught.value) == shown


async def test_nothing_listening_is_told_at_once_and_later_waited_for():
    async with FakeServer() as server:
        async with asking(f"openai:m,base_url={server.url}", max_tries=2) as asker:
            assert (await asker.ask(user("one"))).error == ""
            await server.__aexit__()
            assert (await asker.ask(user("two"))).error.startswith("no connection (")
        for url in (server.url, "http://no-such-host.invalid/v1"):
            async with asking(f"openai:m,base_url={url}") as asker:
                with pytest.raises(ModelError) as caught:
                    await asker.ask(user("two"))
            assert str(caught.value).startswith(f"cannot reach {url} (")
            assert str(caught.value).endswith("): start the server or mend base_url")


async def test_the_environments_proxy_is_used_unless_it_is_ruled_out(monkeypatch: pytest.MonkeyPatch):
    async with FakeServer() as server:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        async with asking("openai:m,base_url=http://no-such-host.invalid/v1") as asker:
            assert (await asker.ask(user())).text == "Answer: A"
        monkeypatch.setenv("no_proxy", "no-such-host.invalid")
        async with asking("openai:m,base_url=http://no-such-host.invalid/v1") as asker:
            with pytest.raises(ModelError):
                await asker.ask(user())


@asynccontextmanager
async def listening(answer: bytes) -> AsyncIterator[tuple[asyncio.Server, int, asyncio.Event]]:
    """A server that sends an answer to every request, or none at all where it is empty; its port, and whether a request
    came."""
    asked = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        writer.write(answer)
        if not answer:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    yield server, server.sockets[0].getsockname()[1], asked
    server.close()


@pytest.mark.parametrize(
    ("status", "kind", "mend"),
    [(407, ModelError, ": mend https_proxy"), (403, ModelError, ": mend https_proxy"), (503, TransientError, "")],
)
async def test_a_proxy_that_refuses_is_named_without_its_password(
    status: int, kind: type[Exception], mend: str, monkeypatch: pytest.MonkeyPatch
):
    async with listening(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode()) as (_, port, _):
        monkeypatch.setenv("https_proxy", f"http://me:PW@127.0.0.1:{port}")
        model = open_model("openai:m,base_url=https://far.invalid/v1")
        with pytest.raises(kind) as caught:
            await model.ask(user())
        await model.close()
        assert str(caught.value) == f"the proxy 127.0.0.1:{port} answered HTTP {status}{mend}"


async def test_one_refused_connection_passes_where_another_stands_and_waits_for_its_answer():
    async with listening(b"") as (server, port, asked):
        model = open_model(f"openai:m,base_url=http://127.0.0.1:{port}/v1")
        waiting = asyncio.ensure_future(model.ask(user("one")))
        await asked.wait()
        server.close()
        with pytest.raises(TransientError, match=r"no connection \("):
            await model.ask(user("two"))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await model.close()


async def test_an_address_that_gives_nothing_but_pages_is_told_and_a_page_now_and_then_is_not():
    says = r"gives an answer of type text/html, not JSON, and nothing else: mend base"
    async with FakeServer(faults="html=1") as server, asking(f"openai:m,base_url={server.url}") as asker:
        with pytest.raises(ModelError, match=says):
            await ask_all(asker, texts(200))
    async with FakeServer(faults="html=0.5", seed=4) as server, asking(f"openai:m,base_url={server.url}", max_tries=50) as asker:  # fmt: skip
        assert not any(reply.error for reply in await ask_all(asker, texts(40)))


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
    async with FakeServer(context=12) as server, asking(f"openai:m,base_url={server.url}", max_tries=3) as asker:
        replies = await ask_all(asker, [*texts(5), user("much too long"), *texts(5)])
        assert [bool(reply.error) for reply in replies] == [False] * 5 + [True] + [False] * 5
        assert replies[5].error.startswith(f"a request is too long for 'm' at {server.url} (HTTP 400: prompt is too")
        assert replies[5].attempts == 1


async def test_a_model_that_refuses_everything_is_stopped_soon_and_one_that_answers_is_not():
    async with FakeServer(faults="400=1") as server:
        async with asking(f"openai:m,base_url={server.url}", concurrency=1) as asker:
            with pytest.raises(ModelError, match="10 times with no answer to any: mend the model's options"):
                await ask_all(asker, texts(50))
        assert server.stats.total == 10
        async with asking(f"openai:m,base_url={server.url}", concurrency=1) as asker:
            asker.answers = True
            failed = await ask_all(asker, texts(50))
    refused = f"the server at {server.url} refused the request (HTTP 400: a fault that was asked for)"
    assert {reply.error for reply in failed} == {refused}


async def test_log_probabilities_come_back_from_a_server():
    async with FakeServer() as server, asking(f"openai:m,base_url={server.url},logprobs=true") as asker:
        assert (await asker.ask(user())).logprobs == (-0.5, -0.5)
