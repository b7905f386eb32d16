"""Scripts of replies, as the model `scripted:FILE` and the fake server's `reply=FILE` read them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mmdyn.keys import canonical


def write_script(file: str | Path, *replies: str | Mapping[str, str]) -> Path:
    """Write a script; the first line that fits a request is what it gets.

    Args:
        file: Where to write it.
        replies: A text is the reply to every request. A mapping is a whole line: `{"match": …, "reply": …}` answers
            requests whose text holds `match`, and `{"match": …, "error": "transient"}` (or `"fatal"`) fails them.

    Returns:
        The file, so that `f"scripted:{write_script(…)}"` is a MODEL.
    """
    lines = [canonical({"reply": reply} if isinstance(reply, str) else dict(reply)) for reply in replies]
    Path(file).write_bytes(b"\n".join(lines))
    return Path(file)
