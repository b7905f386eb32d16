"""Where a worker is: started when it is needed, greeted, made ready, and replaced when it is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import TimeoutError as TooLong
from typing import Any

from mmdyn.errors import ModelError
from mmdyn.keys import Json
from mmdyn.models.backends._vlmeval_errors import Names, refused
from mmdyn.models.backends._vlmeval_process import Process, WorkerGone


class Place:
    """One worker of a model at a time. `model` is what every `hello` and `build` says; `asks` counts who is served
    here."""

    def __init__(
        self, names: Names, environment: Mapping[str, str], model: dict[str, Json], load_timeout: float
    ) -> None:
        self._names, self._environment, self._model, self._seconds = names, environment, model, load_timeout
        self._process: Process | None = None
        self._ready: asyncio.Future[Process] | None = None
        self.asks = 0

    def greet(self) -> Any:
        """Start a worker and hear what its model is. Raises UserError, ModelError."""
        process = self._process = Process(self._names.python, self._environment)
        try:
            told = process.request("hello", **self._model).result(self._seconds)
        except TooLong:
            raise self._late(process) from None
        except WorkerGone as error:
            raise self._died(error) from None
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
        try:
            asked = asyncio.wrap_future(process.request("build", **self._model))
            told = await asyncio.wait_for(asked, self._seconds)
        except TimeoutError:
            raise self._late(process) from None
        except WorkerGone as error:
            raise self._died(error) from None
        if told.error:
            raise refused(told, process, self._names)
        return process

    def _late(self, process: Process) -> ModelError:
        process.stop("it was not ready in time")
        return ModelError(f"{self._names.label} was not ready within {self._seconds:g} s: give a longer load_timeout")

    def _died(self, error: WorkerGone) -> ModelError:
        return ModelError(
            f"the worker of {self._names.label} ended before its model was ready ({error}): mend its options, or "
            f"what {self._names.python} has installed"
        )
