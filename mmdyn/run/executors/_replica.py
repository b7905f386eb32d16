"""A model in a process of its own on any machine, and what travels to it and back: bytes, so that nothing is
unpickled."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from mmdyn.errors import MmdynError, ModelError
from mmdyn.keys import Json
from mmdyn.models import Message, Model, RejectedError, TransientError, open_model
from mmdyn.record import Reply

Request = tuple[Message, ...]


class RemoteAnswer(Struct, frozen=True, omit_defaults=True):
    """What became of one request: a reply, or how it failed, with all that the error says."""

    reply: Reply | None = None
    failed: Literal["", "transient", "rejected", "fatal"] = ""
    reason: str = ""
    retry_after: float | None = None
    slow_down: bool = False
    unanswered: bool = False
    perhaps_all: bool = False
    for_all: str = ""

    def take(self) -> Reply:
        """The reply. Raises what the model raised."""
        if self.failed == "transient":
            raise TransientError(self.reason, self.retry_after, slow_down=self.slow_down, unanswered=self.unanswered)
        if self.failed == "rejected":
            raise RejectedError(self.reason, perhaps_all=self.perhaps_all, for_all=self.for_all)
        if self.reply is None:
            raise ModelError(self.reason)
        return self.reply


class Opened(Struct, frozen=True):
    """Whether a replica could open its model, and which one that is."""

    identity: dict[str, Json] = {}
    error: str = ""


class Replica:
    """Hosts the model that a MODEL names. `folder`: where relative paths in it begin, if this machine has it."""

    def __init__(self, text: str, folder: str) -> None:
        self._text = text
        if Path(folder).is_dir():
            os.chdir(folder)
        self._model: Model | None = None

    async def open(self) -> bytes:
        """An `Opened`."""
        try:
            self._model = open_model(self._text)
        except MmdynError as error:
            return msgspec.msgpack.encode(Opened(error=str(error)))
        return msgspec.msgpack.encode(Opened(self._model.identity))

    async def ask(self, requests: bytes) -> bytes:
        """An answer to each request, all asked at once."""
        assert self._model is not None
        batch = unpack(requests)
        return msgspec.msgpack.encode(await asyncio.gather(*(_answer(self._model, request) for request in batch)))


def pack(requests: Sequence[Request]) -> bytes:
    """Requests as they travel. Pictures travel as paths: the sets lie at the same place on every machine."""
    return msgspec.msgpack.encode(requests, enc_hook=str)


def unpack(data: bytes) -> list[Request]:
    """Requests out of their bytes."""
    return msgspec.msgpack.decode(data, type=list[Request], dec_hook=_path)


def answers(data: bytes) -> list[RemoteAnswer]:
    """Answers out of their bytes."""
    return msgspec.msgpack.decode(data, type=list[RemoteAnswer])


async def _answer(model: Model, request: Request) -> RemoteAnswer:
    try:
        return RemoteAnswer(await model.ask(request))
    except TransientError as error:
        return RemoteAnswer(None, "transient", str(error), error.retry_after, error.slow_down, error.unanswered)
    except RejectedError as error:
        return RemoteAnswer(failed="rejected", reason=str(error), perhaps_all=error.perhaps_all, for_all=error.for_all)
    except MmdynError as error:
        return RemoteAnswer(failed="fatal", reason=str(error))


def _path(kind: type[Any], value: str) -> Any:
    return kind(value)
