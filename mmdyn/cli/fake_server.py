"""mmdyn fake-server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mmdyn.cli._shared import InPath, Number
from mmdyn.errors import counted

if TYPE_CHECKING:
    from mmdyn.testing import FakeServer


@click.command("fake-server")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=0, show_default="any free one", type=click.IntRange(0, 65535), help="Port to listen on."
)
@click.option("--latency", default=0.0, type=Number(0), metavar="MS", help="Milliseconds before each answer.")
@click.option("--reply", default="first", show_default=True, metavar="first|hashed|FILE", help="What it answers.")
@click.option("--faults", default="", metavar="KIND=RATE,…", help="How it misbehaves, and how often (0 to 1).")
@click.option("--seed", default=0, show_default=True, help="Draws the faults.")
@click.option("--key", default="", help="The key that it wants.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="A model that it has; any where none is named.")
@click.option("--context", type=click.IntRange(1), metavar="N", help="Characters of text that it takes for a request.")
@click.option("--blind", is_flag=True, help="It takes no pictures.")
@click.option("--media", type=InPath(), metavar="FOLDER", help="Where it reads pictures that come as file URLs.")
def command(latency: float, **settings: Any) -> None:
    """A server that answers without a model and misbehaves on request, in the APIs of OpenAI, Anthropic and Gemini.

    \b
    mmdyn fake-server --port 8000 --faults 429@1=0.05,500=0.02,hang=0.01
    mmdyn eval mmdyn-demo/set -o runs/openai \\
        -m openai:fake,base_url=http://127.0.0.1:8000/v1,timeout=5
    mmdyn eval mmdyn-demo/set -o runs/anthropic \\
        -m anthropic:fake,base_url=http://127.0.0.1:8000,timeout=5
    mmdyn eval mmdyn-demo/set -o runs/gemini \\
        -m gemini:fake,base_url=http://127.0.0.1:8000,timeout=5
    mmdyn eval mmdyn-demo/set -o runs/judged -m baseline:random \\
        --judge openai:fake,base_url=http://127.0.0.1:8000/v1,timeout=5

    It prints its base_url when it is ready and runs until it is interrupted or terminated; GET /stats counts what came
    in.

    Faults: an HTTP status (429, 500, 503, 529, …; 503@2 adds "Retry-After: 2"), or

    \b
    drop      closes the connection without an answer
    hang      never answers
    truncate  sends half of the JSON
    cut       closes the connection in the middle of the body
    empty     sends a completion without choices
    blank     sends a completion without text and finish reason
    html      sends a page of HTML

    Replies come from the options in the prompt (their first, or one by a hash of the prompt), or from a JSONL FILE of
    {"match": "…", "reply": "…"}. Without a FILE it judges, too: a prompt for a judge gets a valid verdict (the best
    one, or one by a hash of the prompt). --key, --model, --context and --blind refuse requests as the real servers do.
    """
    import asyncio

    from mmdyn.testing import FakeServer

    server = FakeServer(latency=latency / 1000, **settings)
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
    click.echo(f"{counted(server.stats.total, 'request')} ({counts or 'none'})", err=True)
