"""The fake server for code that is not async, one that holds requests back, scripts of replies, and no keys of the
user's."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import pytest
from aiohttp import web

from mmdyn.testing import FakeServer, write_script

serve = FakeServer
"""A fake server that runs in a thread until the end of the block."""


class HoldingServer(FakeServer):
    """Answers so many requests and holds all others back until it lets them through, so that it is sure who is in
    flight.

    Give fewer than 20 (`hangs.ENOUGH`) where `concurrency` is to be the most in flight: after that many answers a
    request that is held back counts as hanging, and lends its place to another.
    """

    def __init__(self, answers: int = 0, **settings: Any) -> None:
        super().__init__(**settings)
        self._through = asyncio.Semaphore(answers)
        self._all = False

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        await super().__aenter__()
        return self

    def let(self, answers: int) -> None:
        """Let so many more through, those first that came first. From any thread."""
        for _ in range(answers):
            self._loop.call_soon_threadsafe(self._through.release)

    def let_all(self) -> None:
        """Hold nobody back any more. From any thread."""
        self._all = True
        self.let(1)

    async def _respond(self, *asked: Any) -> Any:
        await self._through.acquire()
        if self._all:
            self._through.release()
        return await super()._respond(*asked)


hold = HoldingServer
"""The same, one that holds requests back."""


def wait_until(true: Callable[[], Any], process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until something is so; four minutes, or a process that has ended before, are a failure."""
    deadline = time.monotonic() + 240
    while True:
        ended = process is not None and process.poll() is not None  # looked at first: what it did last is seen below
        if true():
            return
        assert process is None or not ended, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, proxy or cache of the user's."""
    keys = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
    proxies = ("http_proxy", "https_proxy", "no_proxy")
    for name in (*keys, *proxies, *map(str.upper, proxies)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def script(folder: Path, *replies: str | dict[str, Any]) -> Path:
    """A file of replies in a folder."""
    return write_script(folder / "replies.jsonl", *replies)


def scripted(folder: Path, *replies: str | dict[str, Any], tries: int = 1) -> str:
    """The MODEL that answers from such a file; a request is sent so many times at most."""
    return f"scripted:{script(folder, *replies)},max_tries={tries}"


class OtherServer(FakeServer):
    """One that answers otherwise: `change` is handed each answer, and `entry` is what it lists of its model, beside what
    vLLM makes anew for every list; None: it has no list."""

    def __init__(
        self,
        change: Callable[[dict[str, Any]], None] = lambda answer: None,
        entry: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.change, self.entry, self.lists = change, entry, 0

    async def _handle(self, request: Any) -> Any:
        if request.method != "GET":
            return await super()._handle(request)
        self.lists += 1
        if self.entry is None:
            return web.Response(text="<html>no such page</html>", status=404, content_type="text/html")
        listed = {"id": "m", "object": "model", "created": time.time_ns(), "permission": [{"id": str(uuid4())}]}
        return web.json_response({"object": "list", "data": [{"id": "lora"}, {**listed, **self.entry}]})

    def _answer(self, *asked: Any) -> bytes:
        answer = json.loads(super()._answer(*asked))
        self.change(answer)
        return json.dumps(answer).encode()
