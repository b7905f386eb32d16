"""mmdyn fake-server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mmdyn.models.fake_server import FakeServer


@click.command("fake-server")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=0, show_default="any free one", type=click.IntRange(0, 65535), help="Port to listen on."
)
@click.option("--latency", default=0.0, type=click.FloatRange(0), metavar="MS", help="Milliseconds before each answer.")
@click.option("--reply", default="first", show_default=True, metavar="first|hashed|FILE", help="What it answers.")
@click.option("--faults", default="", metavar="KIND=RATE,…", help="How it misbehaves, and how often (0 to 1).")
@click.option("--seed", default=0, show_default=True, help="Draws the faults.")
@click.option("--key", default="", help="The bearer token that it wants.")
def command(host: str, port: int, latency: float, reply: str, faults: str, seed: int, key: str) -> None:
    """An OpenAI-compatible server that answers without a model, and misbehaves on request.

    It prints its base_url when it is ready and runs until it is interrupted or terminated; GET /stats counts what came in.

    A fault is an HTTP status (429, 500, …; 503@2 adds "Retry-After: 2") or one of drop, hang, truncate, cut, empty, blank and
    html. Replies come from the options in the prompt (their first, or one by a hash of the prompt), or from a JSONL FILE of
    {"match": "…", "reply": "…"}.

    \b
    mmdyn fake-server --port 8000 --latency 100 --faults 429@1=0.05,500=0.02,hang=0.01
    mmdyn eval SET -m openai:fake,base_url=http://127.0.0.1:8000/v1,timeout=5 -o RUN
    """
    import asyncio

    from mmdyn.models.fake_server import FakeServer

    server = FakeServer(host=host, port=port, latency=latency / 1000, reply=reply, faults=faults, seed=seed, key=key)
    asyncio.run(_serve(server))


async def _serve(server: FakeServer) -> None:
    import asyncio
    import signal

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with server:
        click.echo(server.url)
        await stop.wait()
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(server.stats.by_outcome.items()))
    click.echo(f"{server.stats.total} requests ({counts or 'none'})", err=True)
