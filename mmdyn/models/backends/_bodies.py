"""The bodies in which answers come: JSON under any type, with small faults, or as a stream of events."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import msgspec

_BOM = b"\xef\xbb\xbf"


def holds_answer(body: bytes) -> bool:
    """Whether a body may hold JSON or events, by its first letters."""
    return body.removeprefix(_BOM).lstrip().startswith((b"{", b"[", b"data:", b"event:", b"id:", b":"))


def pieces(body: bytes) -> list[dict[str, Any]]:
    """The objects of a stream of events or of a list, and where it says that it is done; none where it is neither."""
    text = body.removeprefix(_BOM).lstrip()
    lines = [text] if text.startswith(b"[") else text.splitlines()
    events = [line.removeprefix(b"data:").strip() for line in lines if line.startswith((b"[", b"data:"))]
    found = list[Any]()
    for event in events:
        with suppress(ValueError, RecursionError):
            value = {"done": True} if event == b"[DONE]" else msgspec.json.decode(mended(event))
            found += value if isinstance(value, list) else [value]
    return [part for part in found if isinstance(part, dict)]


def mended(body: bytes) -> bytes:
    """JSON as the standard has it, out of what is nearly so: without a byte order mark, letters that are none, NaN and
    nulls, for which the defaults stand. Raises ValueError."""
    text = body.decode("utf-8-sig", errors="replace")
    value = _without_nulls(json.loads(text, strict=False, parse_constant=lambda _: None))
    whole = json.dumps(value, ensure_ascii=False)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_nulls(part) for part in value if part is not None]
    return value
