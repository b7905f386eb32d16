"""`scripted:FILE`: replies out of a file, for tests and dry runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from msgspec import Struct

from mmdyn.errors import InputError, ModelError, unreadable
from mmdyn.keys import Json, sha256
from mmdyn.models.model import ImagePart, Message, ModelLimits, Spec, TransientError, read_options
from mmdyn.record import Reply
from mmdyn.sample import from_json


class _Options(Struct, frozen=True):
    """max_tries: how often a request that fails is put at most."""

    max_tries: int | None = None


class _Line(Struct, frozen=True, forbid_unknown_fields=True):
    match: str = ""
    reply: str = ""
    error: Literal["", "transient", "fatal"] = ""


class Scripted:
    """Replies from a JSONL file of {"match": "…", "reply": "…"}: the first line whose `match` is in the messages' text,
    or in the SHA-256 of a picture that is shown.

    A line without `match` matches every request. {"match": "…", "error": "transient"} (or "fatal") fails instead.

    Raises:
        InputError: The file cannot be read, or a line is none of these.
    """

    cached = False
    varied: ClassVar[Mapping[str, str]] = {}
    varies = weighs = False

    def __init__(self, spec: Spec) -> None:
        self.limits = ModelLimits(max_tries=read_options(spec, _Options).max_tries)
        path = Path(spec.name).expanduser()
        try:
            data = path.read_bytes()
        except OSError as error:
            raise unreadable(path, error, "name a JSONL file of replies") from None
        self._path = path
        self._lines = [_line(path, number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
        self.label = f"scripted:{path.name}"
        self.identity: dict[str, Json] = {"backend": "scripted", "script": sha256(data)}

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """Return the scripted reply.

        Raises:
            TransientError: The line says so.
            ModelError: The line says `fatal`, or no line matches.
        """
        return Reply(text=self.reply(messages), finish_reason="stop")

    def reply(self, messages: tuple[Message, ...]) -> str:
        """Return the scripted reply as plain text."""
        text = "\n".join(message.text for message in messages)
        shown = [part.digest for message in messages for part in message.parts if isinstance(part, ImagePart)]
        line = next((line for line in self._lines if any(line.match in one for one in (text, *shown))), None)
        if line is None:
            raise ModelError(
                f"no line of {self._path} fits {text[:60]!r}: add one without match, which fits everything"
            )
        if line.error == "transient":
            raise TransientError(f"a failure scripted in {self._path.name}")
        if line.error == "fatal":
            raise ModelError(f"a failure scripted in {self._path}: take the line out")
        return line.reply

    async def close(self) -> None:
        """Nothing to close."""


def _line(path: Path, number: int, line: bytes) -> _Line:
    try:
        return from_json(line, _Line)
    except ValueError as error:
        raise InputError(path, number, f"{error}") from None
