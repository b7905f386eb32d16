"""`vlmeval:NAME`: any model of VLMEvalKit, in processes of its own and in an interpreter of the user's choice."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Mapping
from typing import ClassVar

import msgspec

from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json
from mmdyn.models.backends._vlmeval_process import (
    Process,
    Told,
    VlmevalOptions,
    WorkerGone,
    WorkerNames,
    WorkerPlace,
    failed,
    identified,
    parse,
    refused,
    resolve,
)
from mmdyn.models.model import ImagePart, Message, ModelLimits, RejectedError, Spec, TextPart, TransientError
from mmdyn.models.vendors import ALLOW
from mmdyn.record import Reply, Usage

VLMEVAL_FAILURES = (
    "Failed to obtain answer",
    "Fail to obtain answer",
    "Error: Bad Response Statuse Code.",
    "Error: Failed to parse the response.",
    "Image Decode Error",
)
"""How what its classes return in an answer's place begins."""

API_CONCURRENCY = 16
DEATHS = 3
"""Workers that may die before any has answered; then the model counts as one that cannot be asked."""


class Vlmeval:
    """A model of VLMEvalKit's list (`mmdyn list vlmeval`), or a class of it: `api.GPT4V`, `vlm.SmolVLM`.

    Options, after the name:
    python: an interpreter that has vlmeval; by default $MMDYN_VLMEVAL_PYTHON, or else the one that runs this.
    path: a folder that holds the package `vlmeval`, such as a checkout.
    devices: what CUDA_VISIBLE_DEVICES is for each worker, separated by semicolons: `0;1`, or `0,1;2,3`.
    workers: processes that hold the model; as many as `devices` by default, or 1.
    concurrency: requests at a time in a worker; 16 for an API, and 1 for a model that runs in the worker.
    timeout: seconds for one answer; then the request is asked again, and a worker that answered nobody for as long is
        replaced. load_timeout: seconds for importing vlmeval and loading the model.
    max_tries, label: as for every backend. system: a system prompt for every request that has none. Every other option
        is a keyword of the model's class (`model_path=…`, `temperature=0`), written as JSON or as plain text;
        `init.NAME` passes one whose name is among the above. `$NAME` is read from the environment: keys come from there
        alone.

    Pictures reach it as files; most API classes of VLMEvalKit encode them anew, as JPEG. Raises UserError for bad
    options and unknown names, ModelError where the model cannot be imported or made.
    """

    cached, weighs = True, False
    varied: ClassVar[Mapping[str, str]] = {}
    starts: ClassVar[tuple[str, ...]] = ("python", "path")

    def __init__(self, spec: Spec) -> None:
        options, keywords = parse(spec)
        self.label = options.label or f"vlmeval:{spec.name}"
        self._timeout, self._system = options.timeout, options.system
        self._names = WorkerNames(self.label, spec.name, options.interpreter)
        given = {name: resolve(value, name) for name, value in keywords.items()}
        model: dict[str, Json] = {"name": spec.name, "options": given, "path": options.folders}
        model["failures"] = list(VLMEVAL_FAILURES)
        seconds = options.load_timeout
        self._places = [WorkerPlace(self._names, environment, model, seconds) for environment in options.environments]
        self._close = weakref.finalize(self, _close, self._places)
        self._answers, self._dead = False, set[Process]()
        try:
            found = self._places[0].greet()
            self._threads = self._concurrency(options, is_api=found["api"])
        except BaseException:
            self._close()
            raise
        self._encodes, self._interleaves = found["encodes"], found["interleaves"]
        self.limits = ModelLimits(len(self._places) * self._threads, options.max_tries, hangs=False)
        drawn = {**found["keywords"], **keywords}
        self.varies = bool(drawn.get("do_sample")) or drawn.get("temperature") not in (None, 0)
        named: dict[str, Json] = {"backend": "vlmeval", "model": spec.name, "system": options.system}
        told = {"version": found["version"], "class": found["class"], "endpoint": identified(found["endpoint"])}
        self.identity = {**named, **told, "keywords": identified(drawn)}

    @classmethod
    def without_secrets(cls, spec: Spec) -> tuple[str, str]:
        """As `Model` describes it: the worker gets all environment variables, and any text may be an address. Raises
        UserError."""
        for option, value in parse(spec)[1].items():
            if b'"' in msgspec.json.encode(value):
                raise UserError(f"the model vlmeval:{spec.name} with {option}= could send a key anywhere: {ALLOW}")
        return spec.text, ""

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """Send one request. Raises TransientError, RejectedError, ModelError, and InputError for a picture that cannot
        be read."""
        system, parts = self._split(messages)
        place = min(self._places, key=lambda place: place.asks)
        place.asks += 1
        try:
            process = await place.process()
            told = await self._put(process, [_typed(part) for part in parts], system)
        finally:
            place.asks -= 1
        if told.error:
            raise failed(told, process, self._names, answers=self._answers)
        self._answers = True
        changed = self._changed(sum(isinstance(part, ImagePart) for part in parts))
        return Reply(told.result["text"], told.result["finish_reason"], Usage(**told.result["usage"]), changed=changed)

    async def close(self) -> None:
        """End the workers."""
        await asyncio.to_thread(self._close)

    async def _put(self, process: Process, parts: list[Json], system: str | None) -> Told:
        began = time.monotonic()
        asked = process.request("generate", parts=parts, system=system, concurrency=self._threads)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(asked), self._timeout)
        except TimeoutError:
            reason = f"no answer within {self._timeout:g} s"
            if process.last_answer < began:
                process.stop(reason)
            raise TransientError(reason, unanswered=True) from None
        except WorkerGone as error:
            if process.broken:
                self._dead.add(process)
            if self._answers or len(self._dead) < DEATHS:
                raise TransientError(f"the worker of {self.label} is gone: {error}") from None
            raise ModelError(
                f"{len(self._dead)} workers of {self.label} died and none has answered yet ({error}): mend its options,"
                f" or what {self._names.python} has installed"
            ) from None

    def _split(self, messages: tuple[Message, ...]) -> tuple[str | None, tuple[TextPart | ImagePart, ...]]:
        """The system prompt and the one turn. Raises RejectedError where there are more."""
        system = "\n\n".join(message.text for message in messages if message.role == "system") or self._system
        turns = [message for message in messages if message.role != "system"]
        shown = [turn.shown for turn in turns]
        if len(turns) != 1 or turns[0].role != "user":
            raise RejectedError(f"{self.label} takes one turn of the user's, and a system prompt", perhaps_all=True)
        return system, shown[0]

    def _changed(self, pictures: int) -> str:
        if pictures > 1 and not self._interleaves:
            return f"VLMEvalKit shows this model the first of {pictures} pictures, before the text"
        return "VLMEvalKit's API class encodes pictures anew, as JPEG" if pictures and self._encodes else ""

    def _concurrency(self, options: VlmevalOptions, *, is_api: bool) -> int:
        if not is_api and (options.concurrency or 1) > 1:
            raise UserError(f"{self.label} answers one request at a time in a worker: give workers= for more")
        return options.concurrency or (API_CONCURRENCY if is_api else 1)


def vlmeval_models(python: str = "", path: str = "", seconds: float = 600) -> list[str]:
    """Every model name that an interpreter's VLMEvalKit has.

    Raises:
        UserError: The interpreter cannot be used, or has no vlmeval.
        ModelError: VLMEvalKit cannot be imported, or its list cannot be read.
    """
    options = VlmevalOptions(python, path)
    process = Process(options.interpreter, {})
    try:
        told = process.request("list", path=options.folders).result(seconds)
        if told.error:
            raise refused(told, process, WorkerNames("vlmeval", "", options.interpreter))
    except (WorkerGone, TimeoutError) as error:
        raise ModelError(f"{options.interpreter} did not list VLMEvalKit's models ({error}): mend python=") from None
    finally:
        process.close()
    return [str(name) for name in told.result]


def _typed(part: TextPart | ImagePart) -> Json:
    if isinstance(part, TextPart):
        return {"type": "text", "value": part.text}
    part.read()  # to see that it is the one that was asked about
    return {"type": "image", "value": str(part.path.resolve())}


def _close(places: list[WorkerPlace]) -> None:
    for place in places:
        place.close()
