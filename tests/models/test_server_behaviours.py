"""How servers behave: a table of bodies, errors and streams, each answered over a real socket to the real client."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from asking import asking, user

from mmdyn.errors import ModelError

BEHAVIOURS = yaml.safe_load((Path(__file__).parent / "server_behaviours.yaml").read_text("utf-8"))
TRIES = 2


def message(answer: Any) -> bytes:
    """The bytes of an HTTP response."""
    plain = answer if isinstance(answer, dict) and {"body", "raw"} & answer.keys() else {"body": answer}
    said = plain.get("body")
    body = said.encode() if isinstance(said, str) else json.dumps(said).encode()
    body = bytes.fromhex(plain["raw"]) if "raw" in plain else body
    kind = plain.get("type", "application/json")
    headers = {"Content-Type": kind} if kind != "none" else {}
    headers |= plain.get("headers", {})
    if "Transfer-Encoding" not in headers and plain.get("status") != 204:
        headers["Content-Length"] = str(len(body))
    head = [f"HTTP/1.1 {plain.get('status', 200)} Told", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*head, "Connection: close", "", ""]).encode() + body[: plain.get("cut")]


@asynccontextmanager
async def behaving(answers: list[Any]) -> AsyncIterator[tuple[str, list[float]]]:
    """The address of a server that gives these answers in turn, the last one ever again, and when it was asked."""
    asked = list[float]()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
        asked.append(time.monotonic())
        writer.write(message(answers[min(len(asked), len(answers)) - 1]))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


@pytest.mark.parametrize("case", BEHAVIOURS, ids=[case["name"].replace(" ", "-") for case in BEHAVIOURS])
async def test_a_behaviour(case: dict[str, Any]):
    async with behaving(case["answers"]) as (url, asked):
        model = f"{case.get('backend', 'openai')}:m,base_url={url}{case.get('options', '')}"
        async with asking(model, max_tries=TRIES) as asker:
            if "ends" in case:
                with pytest.raises(ModelError) as caught:
                    await asker.ask(user())
                assert case["ends"] in str(caught.value) and "\n" not in str(caught.value)
            else:
                reply = await asker.ask(user())
                assert case.get("error", "") in reply.error and bool(reply.error) is ("error" in case), reply
                told = {name: getattr(reply, name, None) for name in reply.__struct_fields__}
                told |= {"prompt_tokens": reply.usage.prompt_tokens, "completion_tokens": reply.usage.completion_tokens}
                told["logprobs"] = list(reply.logprobs)
                expected = case.get("reply", {})
                assert {name: told[name] for name in expected} == expected
    assert len(asked) == case.get("requests", 1)
    assert asked[-1] - asked[0] >= case.get("seconds", 0)


def test_the_table_is_as_large_as_it_says_and_no_behaviour_stands_there_twice():
    names = [case["name"] for case in BEHAVIOURS]
    assert len(set(names)) == len(names) >= 60
