"""Nothing is paid twice."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from asking import ask_all, asking, open_cache, texts, until, user
from msgspec.structs import replace
from serving import HoldingServer

from mmdyn.errors import UserError
from mmdyn.models import Caches, cache_folder, cache_key, read_listings
from mmdyn.models.cache import CACHED_REPLY
from mmdyn.testing import FakeServer
from mmdyn.work import Reader

CONCURRENCY = 4
WORKER = """
import asyncio, sys
from asking import ask_all, asking, open_cache, texts

async def main():
    async with asking(f"openai:m,base_url={sys.argv[1]}", concurrency=int(sys.argv[2]), cache=open_cache()) as asker:
        await ask_all(asker, texts(300))

asyncio.run(main())
"""


async def test_a_second_asker_asks_nothing_again_and_gets_the_same():
    async with FakeServer(reply="hashed") as server:
        model = f"openai:m,base_url={server.url}"
        with open_cache() as cache:
            async with asking(model, cache=cache) as asker:
                first = await ask_all(asker, texts(10))
        with open_cache() as cache:
            async with asking(model, cache=cache) as asker:
                again = await ask_all(asker, texts(10))
                assert again == [replace(reply, cached=True) for reply in first] and all(reply.made for reply in again)
                assert (asker.asked, asker.cached) == (0, 10)
                await asker.ask(texts(1)[0], epoch=1)
                assert (asker.asked, asker.cached) == (1, 10)
        assert server.stats.total == 11


async def test_equal_requests_at_the_same_time_are_asked_once():
    async with HoldingServer() as server:
        with open_cache() as cache:
            async with asking(f"openai:m,base_url={server.url}", cache=cache) as asker:
                asks = asyncio.create_task(ask_all(asker, [user("the same")] * 20))
                await until(lambda: server.stats.in_flight)
                server.let_all()
                await asks
                assert (server.stats.total, asker.asked, asker.cached) == (1, 1, 19)


async def test_without_a_cache_everything_is_asked():
    async with FakeServer() as server, asking(f"openai:m,base_url={server.url}") as asker:
        await ask_all(asker, [user("the same")] * 3)
        assert server.stats.total == 3


async def test_what_costs_nothing_is_not_kept():
    with open_cache() as cache:
        async with asking("baseline:random", cache=cache) as asker:
            await ask_all(asker, texts(3))
            assert (asker.asked, asker.cached) == (3, 0)
    with Reader(cache_folder()) as reader:
        assert list(reader.items(CACHED_REPLY)) == []


async def test_a_cache_that_is_only_read_keeps_nothing(tmp_path: Path):
    async with FakeServer() as server:
        model = f"openai:m,base_url={server.url}"
        with open_cache() as cache:
            async with asking(model, cache=cache) as asker:
                await ask_all(asker, texts(3))
        before = {file: file.stat().st_mtime_ns for file in cache_folder().iterdir()}
        with Caches("shared", read_only=True) as cache:
            async with asking(model, cache=cache) as asker:
                await ask_all(asker, texts(5))
                assert (asker.asked, asker.cached) == (2, 3)
        assert {file: file.stat().st_mtime_ns for file in cache_folder().iterdir()} == before
        with Caches("own", tmp_path / "out", read_only=True) as cache:
            async with asking(model, cache=cache) as asker:
                await ask_all(asker, texts(1))
        assert not (tmp_path / "out").exists()


async def test_a_reply_is_saved_even_if_nothing_follows():
    async with FakeServer() as server:
        with open_cache() as cache:
            async with asking(f"openai:m,base_url={server.url}", cache=cache) as asker:
                await asker.ask(user())
                assert any(file.stat().st_size for file in cache_folder().glob("*.tail*"))
                await until(lambda: not any(file.stat().st_size for file in cache_folder().glob("*.tail*")))
                with Reader(cache_folder()) as reader:
                    assert len(list(reader.items(CACHED_REPLY))) == 1


async def test_two_processes_share_what_was_saved():
    async with FakeServer() as server:
        model = f"openai:m,base_url={server.url}"
        with open_cache() as one, open_cache() as other:
            async with asking(model, cache=one) as asker:
                await ask_all(asker, texts(5))
            async with asking(model, cache=other) as asker:
                await ask_all(asker, texts(5))
                assert (asker.asked, asker.cached) == (0, 5)


async def test_after_kill_9_no_answer_that_came_is_asked_again():
    async with HoldingServer(200) as server:
        command = sys.executable, "-c", WORKER, server.url, str(CONCURRENCY)
        worker = await asyncio.create_subprocess_exec(*command, cwd=Path(__file__).parent)
        await until(lambda: server.stats.by_outcome["200"] == 200)
        worker.kill()
        await worker.wait()
        await until(lambda: not server.stats.in_flight)
        server.let_all()
        with open_cache() as cache:
            async with asking(f"openai:m,base_url={server.url}", cache=cache) as asker:
                assert not any(reply.error for reply in await ask_all(asker, texts(300)))
        assert 200 - CONCURRENCY <= asker.cached <= 200, "all but what was on the way"
        assert asker.asked == 300 - asker.cached and server.stats.asked_again == 200 - asker.cached


async def test_a_damaged_reply_is_told():
    async with FakeServer() as server:
        with open_cache() as cache:
            async with asking(f"openai:m,base_url={server.url}", cache=cache) as asker:
                await read_listings([asker.model])
                store = cache.of(asker.model)
                assert store
                store.put(CACHED_REPLY, cache_key(asker.model, asker.request_key(user())), b'{"text": 3}')
                with pytest.raises(UserError, match=r"holds a damaged reply .*: move the folder away"):
                    await asker.ask(user())


def test_the_environment_says_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert cache_folder() == tmp_path / "cache" / "replies"
    monkeypatch.delenv("MMDYN_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder().name == "replies" and cache_folder().is_relative_to(tmp_path)
