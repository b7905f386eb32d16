"""Where a worker is: started when it is needed, made ready, and replaced when it is gone; what its failures mean."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json
from mmdyn.models.backends._vlmeval_process import Process, Told, WorkerGone
from mmdyn.models.model import PASSING, RejectedError, TransientError


class WorkerNames(Struct, frozen=True):
    """What the sentences name: the model as reports do, its NAME, and the interpreter."""

    label: str
    name: str
    python: str


class WorkerPlace:
    """One worker of a model at a time. `model` is what every `hello` and `build` says; `asks` counts who is served
    here."""

    def __init__(
        self, names: WorkerNames, environment: Mapping[str, str], model: dict[str, Json], load_timeout: float
    ) -> None:
        self._names, self._environment, self._model, self._seconds = names, environment, model, load_timeout
        self._process: Process | None = None
        self._ready: asyncio.Future[Process] | None = None
        self.asks = 0

    def greet(self) -> Any:
        """Start a worker and hear what its model is. Raises UserError, ModelError."""
        process = self._process = Process(self._names.python, self._environment)
        with self._in_time(process):
            told = process.request("hello", **self._model).result(self._seconds)
        if told.error:
            raise refused(told, process, self._names)
        return told.result

    async def process(self) -> Process:
        """The worker with its model built. Raises ModelError."""
        usable = self._process is not None and self._process.usable
        if self._ready is None or (self._ready.done() and not usable):
            self._ready = asyncio.ensure_future(self._start())
        return await asyncio.shield(self._ready)

    def close(self) -> None:
        """End the worker, if there is one."""
        if self._process is not None:
            self._process.close()

    async def _start(self) -> Process:
        if self._process is None or not self._process.usable:
            await asyncio.to_thread(self.close)
            await asyncio.to_thread(self.greet)
        process = self._process
        assert process is not None
        with self._in_time(process):
            asked = asyncio.wrap_future(process.request("build", **self._model))
            told = await asyncio.wait_for(asked, self._seconds)
        if told.error:
            raise refused(told, process, self._names)
        return process

    @contextmanager
    def _in_time(self, process: Process) -> Iterator[None]:
        """Raises ModelError where a worker is late, or dies, before its model is ready."""
        names = self._names
        try:
            yield
        except TimeoutError:
            process.stop("it was not ready in time")
            late = f"{names.label} was not ready within {self._seconds:g} s"
            raise ModelError(f"{late}: give a longer load_timeout") from None
        except WorkerGone as error:
            died = f"the worker of {names.label} ended before its model was ready ({error})"
            raise ModelError(f"{died}: mend its options, or what {names.python} has installed") from None


def refused(told: Told, process: Process, names: WorkerNames) -> Exception:
    """Why a worker has no model to ask."""
    says = process.clean(told.error)
    if told.kind == "missing":
        return UserError(
            f"{names.python} has no vlmeval: make an environment for it (pip install ms-vlmeval==0.0.20), and give its "
            "interpreter as python=… or in $MMDYN_VLMEVAL_PYTHON"
        )
    if told.kind == "unknown":
        return UserError(f"VLMEvalKit {says}; `mmdyn list vlmeval` names its models")
    if told.kind == "unimportable":
        return ModelError(f"{names.python} cannot import vlmeval ({says}): mend that environment, or name another")
    return ModelError(f"VLMEvalKit cannot make {names.name} ({says}): mend its options, or the environment it runs in")


def failed(told: Told, process: Process, names: WorkerNames, *, answers: bool) -> Exception:
    """Why one request got no answer. `answers`: whether the model has answered any."""
    says = process.clean(told.error)
    heard = f"HTTP {told.status}: {says}" if told.status else says
    if told.kind == "raised":
        return RejectedError(f"VLMEvalKit's {names.name} failed ({heard})", perhaps_all=True)
    if told.kind == "unreachable" and not answers:
        return ModelError(f"{names.label} cannot reach its server ({heard}): start the server or mend its options")
    if told.status in (401, 403):
        return ModelError(
            f"the server of {names.label} refused the key ({heard}): put the right one into the environment"
        )
    if told.status == 404:
        return ModelError(f"the server of {names.label} has no such model or address ({heard}): mend its options")
    if 400 <= told.status < 500 and told.status not in PASSING:
        return RejectedError(f"the server of {names.label} refused the request ({heard})", perhaps_all=True)
    return TransientError(heard, slow_down=told.status == 429)
