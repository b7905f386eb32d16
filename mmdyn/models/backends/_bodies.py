"""The bodies in which answers come: JSON under any type, with small faults, or as a stream of events."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import msgspec

_BOM = b"\xef\xbb\xbf"
_GROWING = {"content", "text", "thinking", "reasoning", "reasoning_content", "refusal"}
"""Texts that a stream goes on with; all others are told again whole."""


def holds_answer(body: bytes) -> bool:
    """Whether a body may hold JSON or events, by its first letters."""
    return body.removeprefix(_BOM).lstrip().startswith((b"{", b"[", b"data:", b"event:", b"id:", b":"))


def joined(body: bytes) -> dict[str, Any]:
    """One object out of a stream of events, or of a list, in which an answer comes in pieces; an error among them
    stands alone. Empty where the body is neither."""
    text = body.removeprefix(_BOM).lstrip()
    lines = [text] if text.startswith(b"[") else text.splitlines()
    whole = dict[str, Any]()
    for event in [line.removeprefix(b"data:").strip() for line in lines if line.startswith((b"[", b"data:"))]:
        with suppress(ValueError, AttributeError, RecursionError):
            value = {"done": True} if event == b"[DONE]" else msgspec.json.decode(mended(event))
            for piece in value if isinstance(value, list) else [value]:
                begun = piece.get("message")
                _append(whole, {**begun, **piece} if isinstance(begun, dict) else piece)
    return {"error": whole["error"]} if "error" in whole else whole


def _append(whole: dict[str, Any], piece: dict[str, Any]) -> None:
    """Add a piece to what came before it: texts grow, lists go on, and the first of several answers counts."""
    for name, value in piece.items():
        before: Any = whole.get(name)
        if name in ("choices", "candidates") and value and before:
            _append(before[0], value[0])
        elif isinstance(value, dict) and isinstance(before, dict):
            _append(before, value)
        elif type(value) is type(before) and (isinstance(value, list) or name in _GROWING):
            whole[name] = before + value
        else:
            whole[name] = value


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
