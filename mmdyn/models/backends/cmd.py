"""`cmd:PROGRAM`: a program that finds a question in its folder and prints its report, contained while it runs."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Annotated, ClassVar

import msgspec
from msgspec import Meta, Struct

from mmdyn.errors import UserError
from mmdyn.keys import Json, digest
from mmdyn.models.backends import _cmd_supervisor as supervisor
from mmdyn.models.backends._http_options import SHORTEST_SECRET, Count
from mmdyn.models.backends._pictures import Pictures, SentPicture, plain_request
from mmdyn.models.backends._secrets import SECRET, clean
from mmdyn.models.checkpoint import fingerprint
from mmdyn.models.model import Message, ModelLimits, RejectedError, Spec, TransientError, read_options
from mmdyn.record import Reply
from mmdyn.text import split_thinking

PASSING_STATUS, KILLED = "75", "-9"
"""How a program ends whose failure may pass: by its own word (EX_TEMPFAIL of sysexits.h), or killed by somebody
else."""
LAST_WORDS = 4000
_MIB = 1024 * 1024
_OWN_FILE = re.compile(r"question\.txt|request\.json|image-\d+\.\w+")

Size = Annotated[float, Meta(gt=0, le=2**40)]


class _Options(Struct, frozen=True, kw_only=True):
    timeout: Count = 600
    memory: Size = 4096.0
    disk: Size = 1024.0
    output: Size = 4.0
    processes: Count = 256
    args: str = ""
    env: str = ""
    version: str = ""
    label: str = ""
    concurrency: Count = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    max_tries: Count | None = None


class Cmd:
    """Runs a program for each question, in a fresh folder; what it prints is the reply. docs/programs.md describes the
    files.

    No shell reads the command: its words are the program and its arguments. A file that one of them names is looked up
    from the folder where mmdyn was started.

    Options, after the command:
    args: More arguments, which may hold commas; put an argument with a comma and a later equals sign into a script.
    env: The environment variables that the program gets, by name: `env=API_KEY,MODEL`. Beside these it gets HOME,
        TMPDIR, PATH and LANG.
    timeout: Seconds for one question. memory, disk: MiB that the program and its children may hold. output: MiB that it
        may print. processes: The most processes at a time.
    concurrency: Programs at a time; the number of cores by default. max_tries: As for every backend.
    version: Set it anew where the program changed but its files did not: a reply is read from the cache where the
        command, the files that it names, the variables and the version are the same.
    label: Its name in reports; by default the names of the program and the files, and a digest of other arguments,
        which may hold a secret.

    Raises UserError where the program or a variable does not exist, and for bad options.
    """

    cached, varies, weighs = True, True, False
    varied: ClassVar[Mapping[str, str]] = {}
    starts: ClassVar[tuple[str, ...]] = ("",)

    def __init__(self, spec: Spec) -> None:
        self._options = options = read_options(spec, _Options)
        self._words, files = _command(f"{spec.name} {options.args}")
        self._named = _variables(options.env)
        self._secrets = [value for value in self._named.values() if len(value) >= SHORTEST_SECRET]
        names = dict.fromkeys([Path(self._words[0]).name, *[file.name for file in files.values()]])
        arguments = [word for word in self._words[1:] if word not in map(str, files.values())]
        told = f" ({digest(arguments, size=2)})" if arguments else ""
        self.label = options.label or f"cmd:{' '.join(names)}{told}"
        self.limits = ModelLimits(options.concurrency, options.max_tries, hangs=False)
        known = {name: value for name, value in self._named.items() if not SECRET.search(name)}
        digests = {word: fingerprint(file) for word, file in files.items()}
        command = digest([spec.name, options.args, known, digests])
        self.identity: dict[str, Json] = {"backend": "cmd", "command": command, "version": options.version}
        self._pictures, self._threads = Pictures(), ThreadPoolExecutor(options.concurrency, "mmdyn cmd")

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """Run the program once; it is ended where the request is cancelled.

        Raises:
            TransientError: It took too long, said that its failure may pass, or was killed by something else.
            RejectedError: It failed otherwise.
            InputError: A picture cannot be read.
        """
        request, pictures = plain_request(messages, await self._pictures.of(messages))
        ours, its = socket.socketpair()
        with ours:  # once it is closed the program is ended
            return await asyncio.wrap_future(self._threads.submit(self._run, request, pictures, ours, its))

    async def close(self) -> None:
        """Wait until all programs have ended."""
        await asyncio.to_thread(self._threads.shutdown)

    def _run(self, request: Json, pictures: dict[str, SentPicture], ours: socket.socket, its: socket.socket) -> Reply:
        folder, most = tempfile.mkdtemp(prefix="mmdyn-ask-"), int(self._options.output * _MIB)
        try:
            _write(Path(folder), request, pictures)
            with tempfile.TemporaryFile() as errors:
                with self._started(folder, its.fileno(), errors) as process, its:
                    assert process.stdout is not None
                    said, ended = _read(process.stdout, most, self._options.timeout + supervisor.END_SECONDS)
                    if len(said) > most:
                        process.terminate()
                    elif not ended:
                        _end(process.pid, folder)
                errors.seek(max(0, errors.seek(0, os.SEEK_END) - LAST_WORDS))
                words = clean(errors.read(LAST_WORDS).decode(errors="replace"), self._secrets, last=True)
            verdict = "output 0 0" if len(said) > most else "" if ended else "timeout 0 0"
            if not (verdict := verdict or ours.recv(64).decode()):
                _end(process.pid, folder)  # the supervisor was killed: nobody else ends what it watched
            how, code, left = (verdict or f"ended {KILLED} 0").split()
            return self._reply(how, code, left, said, f"; its last words: {words}" if words else "")
        except OSError as error:
            raise TransientError(f"{self.label} could not be run ({error})") from None
        finally:
            supervisor.remove(folder)

    def _started(self, folder: str, line: int, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        options, own = self._options, {"HOME": f"{folder}/home", "TMPDIR": f"{folder}/tmp", "LANG": "C.UTF-8"}
        sizes = int(options.memory * _MIB), int(options.disk * _MIB)
        numbers = [str(number) for number in (os.getpid(), options.timeout, *sizes, options.processes)]
        return subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor.__file__, *numbers, *self._words],
            stdin=line,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env={"PATH": os.environ.get("PATH", os.defpath), **own, **self._named},
            start_new_session=True,  # Ctrl-C is for who asks
        )

    def _reply(self, how: str, code: str, left: str, said: bytes, words: str) -> Reply:
        if how == "timeout":
            raise TransientError(f"{self.label} took more than {self._options.timeout} s{words}", unanswered=True)
        if how != "ended":
            limit = f"{how}={getattr(self._options, how):g}{'' if how == 'processes' else ' MiB'}"
            raise self._refused(f"passed its limit {limit}{words}")
        if code != "0":
            by = f"was ended by signal {code[1:]}" if code < "0" else f"ended with status {code}"
            passes = code in (PASSING_STATUS, KILLED)
            raise TransientError(f"{self.label} {by}{words}") if passes else self._refused(f"{by}{words}")
        if left != "0" and not said.strip():
            raise self._refused(f"left {left} processes behind and printed nothing")
        try:
            thought, text = split_thinking(said.decode())
        except UnicodeDecodeError:
            raise self._refused("printed what is no UTF-8") from None
        return Reply(text.strip(), "stop", reasoning=thought)

    def _refused(self, what: str) -> RejectedError:
        return RejectedError(f"{self.label} {what}", perhaps_all=True)


def _read(stream: IO[bytes], most: int, seconds: float) -> tuple[bytes, bool]:
    """What comes until the end, or a little more than `most` bytes of it; whether it did in so many seconds."""
    said, until, line = b"", time.monotonic() + seconds, select.poll()
    line.register(stream, select.POLLIN)
    while len(said) <= most:
        if not line.poll(1000 * max(0.0, until - time.monotonic())):
            return said, False
        if not (piece := os.read(stream.fileno(), 1 << 16)):
            break
        said += piece
    return said, True


def _end(pid: int, folder: str) -> None:
    """Kill a supervisor that its program has stopped or killed, what is below it, and what began in its folder."""
    for one in [*supervisor.descendants(pid), *supervisor.begun_in(folder), pid]:
        with suppress(OSError):  # it is gone
            os.kill(one, signal.SIGKILL)


def _command(text: str) -> tuple[list[str], dict[str, Path]]:
    """The words of a command, and the files among them; each word as it is run, from whatever folder.

    Raises UserError where it cannot be read, or there is no such program.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"the command {text!r} cannot be read ({error}): mend its quotation marks") from None
    named = words[0] if words else ""
    program = shutil.which(Path(named).expanduser().absolute() if os.sep in named else named)
    if program is None and os.path.isfile(Path(named).expanduser()):  # noqa: PTH113
        raise UserError(f"{named} is not executable: `chmod +x {named}`, or name what runs it before it")
    if program is None:
        raise UserError(f"there is no program {text.strip()!r}: install it, or give its path")
    paths = {word: Path(word).expanduser().absolute() for word in words[os.sep not in named :]}
    files = {word: path for word, path in paths.items() if os.path.isfile(path) and not _OWN_FILE.fullmatch(word)}  # noqa: PTH113
    return [str(program), *[str(files.get(word, word)) for word in words[1:]]], files


def _variables(names: str) -> dict[str, str]:
    """Variables of the environment by their names. Raises UserError where one is not set."""
    wanted = re.findall(r"[^\s,;]+", names)
    if missing := [name for name in wanted if name not in os.environ]:
        raise UserError(f"env names {missing[0]!r}, and the environment has no such variable: set it")
    return {name: os.environ[name] for name in wanted}


def _write(folder: Path, request: Json, pictures: Mapping[str, SentPicture]) -> None:
    assert isinstance(request, dict)
    (folder / "question.txt").write_text(str(request["question"]), encoding="utf-8")
    (folder / "request.json").write_bytes(msgspec.json.format(msgspec.json.encode(request)))
    for name, picture in pictures.items():
        (folder / name).write_bytes(base64.b64decode(picture.base64))
    for name in ("home", "tmp"):
        (folder / name).mkdir()
