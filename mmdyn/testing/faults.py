"""How the fake server misbehaves: its kinds of faults, how they are written, and what they do to an answer."""

from __future__ import annotations

import asyncio
import re

from aiohttp import web
from msgspec import Struct

from mmdyn.errors import UserError, did_you_mean

FAULTS = {
    "drop": "closes the connection without an answer",
    "hang": "never answers",
    "truncate": "sends half of the JSON",
    "cut": "closes the connection in the middle of the body",
    "empty": "sends a completion without choices",
    "blank": "sends a completion without text and finish reason",
    "html": "sends a page of HTML",
}
"""What a fault may be, besides an HTTP status."""


class Fault(Struct, frozen=True):
    """One kind of misbehaviour and the share of requests that meet it. `status` is 0 for the kinds in FAULTS."""

    kind: str
    rate: float
    status: int = 0
    retry_after: str = ""


def parse_faults(text: str) -> tuple[Fault, ...]:
    """Read `429=0.1,503@2=0.05,drop=0.01`: a kind or an HTTP status (`@` adds a Retry-After in seconds), and its rate
    in [0, 1].

    Raises UserError.
    """
    faults = []
    for item in filter(None, text.split(",")):
        found = re.fullmatch(r"\s*(?:([3-5]\d\d)(?:@(\d+(?:\.\d+)?))?|(\w+))\s*=\s*(\d*\.?\d+)\s*", item)
        if not found:
            raise UserError(f"the fault {item!r} is not kind=rate, such as 429=0.1, 503@2=0.05 or drop=0.01")
        status, after, kind, rate = found.groups()
        if kind and kind not in FAULTS:
            raise UserError(f"there is no fault {kind!r}{did_you_mean(kind, FAULTS)}: a status or {', '.join(FAULTS)}")
        faults.append(Fault(kind or status, float(rate), int(status or 0), after or ""))
    if sum(fault.rate for fault in faults) > 1:
        raise UserError("the faults' rates add up to more than 1: lower them")
    return tuple(faults)


async def misbehave(kind: str, request: web.BaseRequest, answer: bytes) -> web.StreamResponse:
    """What a request meets for a fault that is no status: `answer` spoilt, or in its place (for `empty` and
    `blank`)."""
    if kind == "hang":
        await asyncio.Event().wait()
    if kind == "truncate":
        answer = answer[: len(answer) // 2]
    if kind in ("truncate", "empty", "blank"):
        return web.Response(body=answer, content_type="application/json")
    if kind == "html":
        return web.Response(text="<html><body>Bad gateway</body></html>", content_type="text/html")
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(answer))})
    if kind == "cut":
        await response.prepare(request)
        await response.write(answer[: len(answer) // 2])
    if request.transport is not None:
        request.transport.close()
    return response
