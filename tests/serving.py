"""The fake server for code that is not async, scripts of replies, and an environment without keys."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mmdyn.models.fake_server import FakeServer


@contextmanager
def serve(**settings: Any) -> Iterator[FakeServer]:
    """A fake server that runs in a thread until the end of the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = FakeServer(**settings)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(240)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(240)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(240)
        loop.close()


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, proxy or cache of the user's."""
    for name in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def script(folder: Path, *replies: str | dict[str, Any]) -> Path:
    """A file of replies: texts fit every request, dicts are whole lines."""
    path = folder / "replies.jsonl"
    lines = [reply if isinstance(reply, dict) else {"reply": reply} for reply in replies]
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), "utf-8")
    return path


def scripted(folder: Path, *replies: str | dict[str, Any], tries: int = 1) -> str:
    """The MODEL that answers from such a file; a request is sent so many times at most."""
    return f"scripted:{script(folder, *replies)},max_tries={tries}"
