"""A server that gives every request one answer, and what the three APIs make of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web
from asking import user

from mmdyn.keys import Json
from mmdyn.models import Message, open_model
from mmdyn.record import Reply


@asynccontextmanager
async def answering(
    answer: Json | bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[str, list[tuple[str, Any]]]]:
    """Its address, and path and body of each request that came."""
    asked = list[tuple[str, Any]]()
    body = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)

    async def handle(request: web.BaseRequest) -> web.Response:
        asked.append((str(request.rel_url), await request.json()))
        return web.Response(body=body, status=status, content_type="application/json", headers=headers)

    runner = web.ServerRunner(web.Server(handle, access_log=None))  # type: ignore[arg-type]
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


OK: dict[str, Json] = {
    "openai": {"choices": [{"message": {"content": "A"}}]},
    "anthropic": {"type": "message", "content": [{"type": "text", "text": "A"}], "stop_reason": "end_turn"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}]},
}


async def read(
    backend: str, answer: Json | bytes, options: str = "", status: int = 200, headers: Mapping[str, str] | None = None
) -> Reply:
    """What a backend makes of an answer."""
    async with answering(answer, status, headers) as (url, _):
        model = open_model(f"{backend}:m,base_url={url}{options}")
        try:
            return await model.ask(user("a"))
        finally:
            await model.close()


async def sent(model: str, messages: tuple[Message, ...]) -> tuple[str, Any]:
    """The path and the body of the request that a model (backend:name,options) is asked with."""
    async with answering(OK[model.partition(":")[0]]) as (url, asked):
        opened = open_model(f"{model},base_url={url}")
        await opened.ask(messages)
        await opened.close()
        (request,) = asked
        return request
