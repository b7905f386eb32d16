"""The worker of `vlmeval:NAME`: its options, its process with pipes to it, and where it is started."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError, UserError
from mmdyn.keys import Json, canonical, digest
from mmdyn.models.backends._secrets import HEADERS, SECRET, USERINFO, clean
from mmdyn.models.checkpoint import Form, find_checkpoint
from mmdyn.models.model import RejectedError, Spec, TransientError, json_or_text, may_pass, read_options

PYTHON = "MMDYN_VLMEVAL_PYTHON"

FORM = Form("transformers", "config.json", ("**/*",))

_QUERY = re.compile(r"(://[^\s?]{1,2000})\?(\S*)")


class VlmevalOptions(Struct, frozen=True):
    """The worker's options; `Vlmeval` says what they mean."""

    python: str = ""
    path: str = ""
    workers: int | None = None
    devices: str = ""
    concurrency: int | None = None
    timeout: float = 600
    load_timeout: float = 3600
    max_tries: int | None = None
    label: str | None = None
    system: str | None = None

    @property
    def interpreter(self) -> str:
        """The one that is named, or $MMDYN_VLMEVAL_PYTHON, or the one that runs this."""
        return str(Path(self.python or os.environ.get(PYTHON) or sys.executable).expanduser())

    @property
    def folders(self) -> list[Json]:
        """Folders that go before the interpreter's packages."""
        return [str(Path(self.path).expanduser().resolve())] if self.path else []

    @property
    def environments(self) -> list[dict[str, str]]:
        """What is set in the environment of each worker."""
        devices = [device.strip() for device in self.devices.split(";") if device.strip()]
        count = self.workers or max(1, len(devices))
        return [{"CUDA_VISIBLE_DEVICES": devices[n % len(devices)]} if devices else {} for n in range(count)]


def parse(spec: Spec) -> tuple[VlmevalOptions, dict[str, Json]]:
    """The worker's options, and the rest as typed keywords. Raises UserError, also for a key in plain sight."""
    own = {key: value for key, value in spec.options.items() if key in VlmevalOptions.__struct_fields__}
    options = read_options(spec, VlmevalOptions, own)
    for name in ("workers", "concurrency", "timeout", "load_timeout", "max_tries"):
        if (value := getattr(options, name)) is not None and not value > 0:
            raise UserError(f"the option {name} of vlmeval:{spec.name} is {value}: give more than 0")
    keywords = dict[str, Json]()
    for key in [key for key in spec.options if key not in own]:
        name, value = key.removeprefix("init."), json_or_text(spec.options[key])
        if _in_sight(name, value):
            nested = isinstance(value, dict | list)
            told = f"the option {key} {'has' if nested else 'is'} a secret: put it into a variable of the environment"
            write = "'$VARIABLE' in its place" if nested else f"'{key}=$VARIABLE'"
            raise UserError(f"{told} and write {write}")
        keywords[name] = value
    return options, keywords


def resolve(value: Json, option: str) -> Json:
    """An option's value with `$NAME` read from the environment. Raises UserError where a variable is not set."""
    if isinstance(value, dict):
        return {name: resolve(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, option) for item in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    if value[1:] not in os.environ:
        raise UserError(f"the environment has no variable {value[1:]}, which the option {option} names: set it")
    return os.environ[value[1:]]


def identified(keywords: dict[str, Json]) -> dict[str, Json]:
    """Keywords as an identity holds them: without those that are secrets by their name, and with what a variable holds
    for `$NAME`.

    Where one names a checkpoint's folder, its digest stands for the path. Addresses are without credentials; digests
    stand for their queries, without what is a secret by its name, and for headers.
    """
    found = dict[str, Json]()
    for name, value in keywords.items():
        if HEADERS.search(name) and isinstance(value, dict):
            found |= {name: digest(headers)} if (headers := identified(value)) else {}
        elif not SECRET.search(name):
            found[name] = _identified(value)
    return found


def _identified(value: Json) -> Json:
    if isinstance(value, dict):
        return identified(value)
    if isinstance(value, list):
        return [_identified(item) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith("$") and not SECRET.search(value[1:]):
        value = os.environ.get(value[1:], value)
    return _checkpoint(value)


def _in_sight(name: str, value: Json) -> bool:
    """Whether a keyword is a secret, or holds one, that is no `$NAME`."""
    if isinstance(value, dict):
        return any(_in_sight(name if SECRET.search(name) else key, item) for key, item in value.items())
    if isinstance(value, list):
        return any(_in_sight(name, item) for item in value)
    return bool(SECRET.search(name)) and not (isinstance(value, str) and value.startswith("$"))


def _checkpoint(value: str) -> Json:
    folder = Path(value)
    try:
        there = (folder / FORM.index).is_file()
    except (OSError, ValueError):  # a text that can be no path
        there = False
    return find_checkpoint(value, FORM).identity if there else _QUERY.sub(_digested, USERINFO.sub("://***@", value))


def _digested(address: re.Match[str]) -> str:
    pairs = parse_qsl(address[2], keep_blank_values=True)
    kept = sorted(pair for pair in pairs if not SECRET.search(pair[0]))
    return f"{address[1]}?{digest(kept)}" if kept else address[1]


WORKER = Path(__file__).with_name("_vlmeval_worker.py")

CLOSE_SECONDS = 2.0
LAST_WORDS = 4000
"""Bytes of a worker's standard error that are kept."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.I)


class Told(Struct, frozen=True):
    """What a worker answered: `result`, or `error` with its `kind` and the HTTP `status` that it came of, if any."""

    id: int
    result: Any = None
    error: str = ""
    kind: str = ""
    status: int = 0


class WorkerGone(Exception):
    """The process ended, or was ended, before it answered; the message says how and gives its last words."""


class Process:
    """One worker. Several requests may be under way; what it prints on standard error is kept to its last words.

    python: the interpreter. environment: variables set for it beside those that this process has. Raises UserError
        where the interpreter cannot be started. `broken` says that it ended though nobody here wanted it to.
    """

    def __init__(self, python: str, environment: Mapping[str, str]) -> None:
        everything = {**os.environ, **environment}
        self._secrets = [value for name, value in everything.items() if _SECRET_NAME.search(name) and len(value) >= 8]
        try:
            self._process = subprocess.Popen(
                [python, "-I", str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=everything,
                start_new_session=True,  # Ctrl-C is for who asks, and what the worker starts ends with it
            )
        except OSError as error:
            raise UserError(f"{python} cannot be started ({error.strerror}): python= names an interpreter") from None
        self._numbers, self._guard = itertools.count(1), threading.Lock()
        self._waiting: dict[int, Future[Told]] = {}
        self._words, self._stopped_for = b"", ""
        self._gone = self.broken = False
        self.last_answer = time.monotonic()
        self._lines = queue.SimpleQueue[bytes | None]()
        self._reading, self._hearing, self._writing, self._ending = self._threads = [
            threading.Thread(target=target, daemon=True)
            for target in (self._read, self._hear_words, self._write, self._see_end)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def usable(self) -> bool:
        """Whether it can be asked: it has neither ended nor been told to."""
        return not self._gone and not self._stopped_for

    def request(self, do: str, **body: Json) -> Future[Told]:
        """Ask the worker to `do` something. The Future fails with WorkerGone where the process ends first."""
        asked = Future[Told]()
        asked.set_running_or_notify_cancel()  # from here on nobody but the threads below settles it
        with self._guard:
            number = next(self._numbers)
            if not self._gone:
                self._waiting[number] = asked
                self._lines.put(canonical({"id": number, "do": do, **body}) + b"\n")
                return asked
        asked.set_exception(WorkerGone(self._epitaph()))
        return asked

    def stop(self, reason: str) -> None:
        """Kill it and what it started; whoever waits for an answer is told the reason."""
        self._stopped_for = self._stopped_for or reason
        if not self._gone:  # afterwards its number may be somebody else's
            self._kill()

    def close(self) -> None:
        """Let it end by itself, and else kill it."""
        self._lines.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_SECONDS)
        self.stop("it was closed")
        for thread in self._threads:
            thread.join(CLOSE_SECONDS)
        self._process.wait()

    def clean(self, text: str, *, last: bool = False) -> str:
        """What the worker says, fit to be shown: its first words, or its `last` ones."""
        return clean(text, self._secrets, last=last)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _write(self) -> None:
        """Pass requests on, for as long as it takes, and then close the pipe."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it died
            while (line := self._lines.get()) is not None:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def _read(self) -> None:
        """Settle futures until the pipe ends, and the process with it."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                told = msgspec.json.decode(line, type=Told)
            except (msgspec.DecodeError, UnicodeDecodeError):
                self.broken = True
                said = self.clean(line[:200].decode(errors="replace"))
                self.stop(f"it answered {said!r}, which is not what it should")
                break
            self.last_answer = time.monotonic()
            with self._guard:
                asked = self._waiting.pop(told.id, None)
            if asked is not None:
                asked.set_result(told)
        self._process.stdout.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_SECONDS)
            return
        self._kill()

    def _see_end(self) -> None:
        """End what it started when it has ended, which may hold the pipes; then settle the futures that are left."""
        self._process.wait()
        self._kill()
        self._lines.put(None)
        for thread in (self._reading, self._hearing):
            thread.join(CLOSE_SECONDS)
        with self._guard:
            self._gone, left = True, [*self._waiting.values()]
            self.broken = self.broken or not self._stopped_for
            self._waiting.clear()
        for asked in left:
            asked.set_exception(WorkerGone(self._epitaph()))

    def _hear_words(self) -> None:
        assert self._process.stderr is not None
        while piece := self._process.stderr.read1(LAST_WORDS):  # type: ignore[attr-defined]
            self._words = (self._words + piece)[-LAST_WORDS:]
        self._process.stderr.close()

    def _epitaph(self) -> str:
        code = self._process.returncode
        ended = f"signal {-code} ended it" if code < 0 else f"it ended with status {code}"
        words = self.clean(self._words.decode(errors="replace"), last=True)
        return f"{self._stopped_for or ended}{'; its last words: ' if words else ''}{words}"


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
    if told.status >= 400 and not may_pass(told.status):
        return RejectedError(f"the server of {names.label} refused the request ({heard})", perhaps_all=True)
    return TransientError(heard, slow_down=told.status == 429)
