"""What servers list of a model, and which servers' replies are shared."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from asking import asking, user
from serving import OtherServer

from mmdyn.models import Caches, cache_folder, cache_key, open_model, read_listings
from mmdyn.testing import FakeServer

A = {"id": "m", "root": "/models/a", "parent": None, "max_model_len": 4096, "owned_by": "vllm", "created": 1}


@asynccontextmanager
async def listing(body: str, status: int = 200, seen: list[Any] | None = None) -> AsyncIterator[str]:
    """A server that has nothing but a list."""

    async def handle(request: web.BaseRequest) -> web.Response:
        (seen if seen is not None else []).append((request.path, request.headers.get("Authorization")))
        more = {"Location": "/elsewhere"} if status == 302 else {}
        return web.Response(text=body, status=status, content_type="application/json", headers=more)

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def entry_of(backend: str, url: str, more: str = "") -> dict[str, Any]:
    model: Any = open_model(f"{backend}:m,base_url={url}{more}")
    await read_listings([model])
    await model.close()
    found: dict[str, Any] = model.listing.entry
    return found


@pytest.mark.parametrize(
    ("body", "entry"),
    [
        (
            {"data": [{"id": "other", "root": "/models/b"}, A]},
            {"root": "/models/a", "max_model_len": 4096, "owned_by": "vllm"},
        ),
        (
            {"data": [{"id": "/models/a.gguf", "owned_by": "llamacpp"}]},
            {"root": "/models/a.gguf", "owned_by": "llamacpp"},
        ),
        ({"data": [{"id": "m", "object": "model"}, {"id": "n"}]}, {}),
        ({"data": [{"id": "a"}, {"id": "b"}]}, {}),
        ({"data": [{"id": "m", "root": "r" * 9999, "parent": {"a": 1}, "max_model_len": 8}]}, {"max_model_len": 8}),
        ({"data": []}, {}),
        ({"data": None}, {}),
        ({"models": [{"name": "models/m"}]}, {}),
        ({"data": [{"id": 3}]}, {}),
        (["m"], {}),
        ("gone", {}),
    ],
)
async def test_of_a_list_what_tells_weights_apart_is_kept(body: Any, entry: dict[str, Any]) -> None:
    async with listing(json.dumps(body)) as url:
        for backend in ("openai", "completions", "anthropic", "gemini"):
            assert await entry_of(backend, url) == entry


@pytest.mark.parametrize(
    ("body", "status"), [("<html>", 200), (json.dumps({"data": [A]}), 500), ("", 302), ("[" * 10**6, 200)]
)
async def test_a_list_that_cannot_be_read_says_nothing(body: str, status: int) -> None:
    async with listing(body, status) as url:
        assert await entry_of("openai", url) == {}
    assert await entry_of("openai", url) == {}, "nobody listens there any more"


async def test_an_endless_list_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listing(json.dumps({"data": [A, {"id": "x" * 5_000_000}]})) as url:
        assert await entry_of("openai", url) == {}


async def test_the_list_is_asked_for_once_with_what_requests_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", "sk-of-this-server")
    seen = list[Any]()
    async with listing(json.dumps({"data": [A]}), seen=seen) as url:
        model: Any = open_model(f"openai:m,base_url={url}/chat/completions,header.Authorization=$OTHER_KEY")
        await read_listings([model])
        await read_listings([model])
        await model.close()
    assert seen == [("/v1/models", "sk-of-this-server")]


async def test_many_asks_at_once_wait_for_the_one_list() -> None:
    async with OtherServer(entry={"root": "/models/a"}) as server:
        with Caches("shared") as caches:
            async with asking(f"openai:m,base_url={server.url}", cache=caches) as asker:
                await asyncio.gather(*(asker.ask(user(f"Question {n}")) for n in range(20)))
                key = cache_key(asker.model, asker.request_key(user("Question 3")))
                store = caches.of(asker.model)
                assert store and store.get("reply:2", key) is not None
        assert (server.lists, server.stats.total) == (1, 20)


async def test_without_a_cache_no_list_is_asked_for() -> None:
    async with OtherServer() as server:
        async with asking(f"openai:m,base_url={server.url}") as asker:
            await asker.ask(user())
        assert server.lists == 0


SHARED = [
    "openai:gpt-4o",
    "anthropic:claude",
    "gemini:flash",
    "openai:m,base_url=https://openrouter.ai/api/v1",
    "openai:m,base_url=https://team.openai.azure.com/openai/v1",
]
OWN = [
    "openai:m,base_url=http://127.0.0.1:8000/v1",
    "openai:gpt-4o,base_url=https://gateway.example.org/v1",
    "openai:gpt-4o,base_url=http://api.openai.com/v1",
    "completions:m,base_url=http://gpu3:8000/v1",
    "anthropic:claude,base_url=http://127.0.0.1:4000",
    "gemini:flash,base_url=https://proxy.example.org",
    "http://127.0.0.1:9000/ask",
]


@pytest.mark.parametrize("model", [*SHARED, *OWN])
def test_whose_replies_are_shared(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, "sk-fake-key")
    opened, own = open_model(model), tmp_path / "out/replies"
    assert Caches(out=tmp_path / "out").folder(opened) == (cache_folder() if model in SHARED else own)
    assert Caches().folder(opened) == (cache_folder() if model in SHARED else None)
    choices = {"shared": cache_folder(), "own": own, "none": None}
    assert {choice: Caches(choice, tmp_path / "out").folder(opened) for choice in choices} == choices
    assert Caches("own").folder(opened) is None


def test_nothing_is_written_before_the_first_request(tmp_path: Path) -> None:
    with FakeServer() as server, Caches(out=tmp_path / "out") as caches:
        model = open_model(f"openai:m,base_url={server.url}")
        caches.folder(model)
        assert not (tmp_path / "out").exists()
