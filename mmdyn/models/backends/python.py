"""`FILE.py:CLASS`: a Python object with `ask`, of a file or handed to `evaluate`, which answers in this process."""

from __future__ import annotations

import asyncio
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar, cast

from msgspec import Struct

from mmdyn.errors import InputError, MmdynError, ModelError
from mmdyn.keys import Json, digest, sha256
from mmdyn.models.backends._http_options import Count
from mmdyn.models.backends._secrets import clean
from mmdyn.models.model import (
    Asks,
    Message,
    ModelLimits,
    RejectedError,
    Spec,
    TransientError,
    json_or_text,
    read_options,
)
from mmdyn.record import Reply
from mmdyn.text import split_thinking


class _Options(Struct, frozen=True):
    label: str = ""
    concurrency: Count | None = None
    max_tries: Count | None = None


class Python:
    """Asks a Python object (its method `ask(messages)`) or a function; docs/programs.md. The object returns a text or a
    Reply, or a coroutine for one.

    Options, after FILE.py:CLASS: `label`, `concurrency` and `max_tries` as for every backend; every other option is a
    keyword argument of the class, read as JSON where it is JSON, else as text. A plain function gets one request at a
    time, in a thread, unless `concurrency` allows more.

    The object may have a `label`, a `concurrency`, and an `identity`: any JSON that identifies what its file does not.
    An object passed to `evaluate` has no file, so its replies are cached only where it has an `identity`.

    Raises InputError for a file or a class that cannot be loaded.
    """

    weighs, varies = False, True
    varied: ClassVar[Mapping[str, str]] = {}
    starts: ClassVar[tuple[str, ...]] = ("",)

    def __init__(self, given: Spec | Asks | Callable[..., Any]) -> None:
        options, known = _Options(), dict[str, Json]()
        made: object = given
        if isinstance(given, Spec):
            own = {key: value for key, value in given.options.items() if key in _Options.__struct_fields__}
            keywords = {key: json_or_text(value) for key, value in given.options.items() if key not in own}
            options, (file, _, name) = read_options(given, _Options, own), given.name.rpartition(":")
            path = Path(file).expanduser().absolute()
            made, ask, code = _made(path, name, keywords)
            name, known = f"{path.name}:{name}", {"file": code, "options": digest(keywords)}
        else:
            ask = getattr(given, "ask", None) or cast("Callable[..., Any]", given)
            name = getattr(given, "__name__", type(given).__qualname__)
        identity = getattr(made, "identity", None)
        self.identity: dict[str, Json] = {"backend": "python", "object": name, **known, "identity": identity}
        self.label = options.label or f"python:{getattr(made, 'label', name)}"
        self.cached = bool(known) or identity is not None
        most = options.concurrency or getattr(made, "concurrency", None if inspect.iscoroutinefunction(ask) else 1)
        self.limits = ModelLimits(most, options.max_tries, hangs=False)
        self._ask, self._threads = ask, ThreadPoolExecutor(most, "mmdyn python")

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """Return the object's answer.

        Raises:
            TransientError: The object raised TimeoutError or ConnectionError.
            RejectedError: It raised another error that is none of mmdyn's.
            ModelError: It returned neither a text nor a Reply.
        """
        for message in messages:
            _ = message.shown
        try:
            said = await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, messages)
            said = await said if inspect.isawaitable(said) else said
        except (MmdynError, TransientError, RejectedError):
            raise
        except (TimeoutError, ConnectionError) as error:
            raise TransientError(f"{self.label}: {_told(error)}") from None
        except Exception as error:
            raise RejectedError(f"{self.label}: {_told(error)}", perhaps_all=True) from None
        if isinstance(said, Reply):
            return said
        if not isinstance(said, str):
            raise ModelError(f"{self.label} gave a {type(said).__name__}: let ask return a text, or a Reply")
        thought, text = split_thinking(said)
        return Reply(text, "stop", reasoning=thought)

    def _answer(self, messages: tuple[Message, ...]) -> Any:
        """What the object gives, in a thread. A future cannot carry StopIteration: it becomes a RejectedError."""
        try:
            return self._ask(messages)
        except StopIteration as error:
            raise RejectedError(f"{self.label}: {_told(error)}", perhaps_all=True) from None

    async def close(self) -> None:
        """Cancels calls that have not begun; the object belongs to its owner, and threads are not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Uncached(SourceFileLoader):
    """Compiles the file itself: a compiled one of the same size and second would pass for it."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _made(path: Path, name: str, keywords: dict[str, Json]) -> tuple[Asks, Callable[..., object], str]:
    """An object of a class of a file, its `ask`, and the file's digest. The file may import what lies beside it."""
    try:
        name_of_module = f"mmdyn_{(code := sha256(path.read_bytes()))}"
        found = spec_from_file_location(name_of_module, path, loader=_Uncached(name_of_module, str(path)))
        assert found is not None and found.loader is not None
        module = sys.modules[name_of_module] = module_from_spec(found)
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))
        found.loader.exec_module(module)
        made: Asks = getattr(module, name)(**keywords)
        return made, made.ask, code
    except MmdynError:
        raise
    except Exception as error:
        raise InputError(path, _line(error, path), f"{name} cannot be had of it ({_told(error)}): mend it") from None


def _line(error: Exception, path: Path) -> int | None:
    """Where in a file an error arose, if it did there."""
    frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return frames[-1] if frames else getattr(error, "lineno", None)


def _told(error: Exception) -> str:
    return clean(f"{type(error).__name__}: {error}", ())
