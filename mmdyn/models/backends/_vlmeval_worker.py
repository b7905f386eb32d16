"""Runs a model of VLMEvalKit for another process: `python -I _vlmeval_worker.py`, lines of JSON in, lines of JSON out.

One file, the standard library alone: the interpreter that runs it has vlmeval, and need not have mmdyn. What importing
vlmeval does to a process (it switches TLS verification and gradients off, seeds, overwrites the environment, configures
logging) stays in here. Requests are `{"id": …, "do": "hello" | "build" | "generate" | "list", …}`, each is answered
under its id by `{"id": …, "result": …}` or `{"id": …, "error": …, "kind": …}`. When the other process closes the pipe
or dies, this ends.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import difflib
import importlib.metadata
import inspect
import json
import os
import queue
import signal
import ssl
import sys
import textwrap
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ENDPOINTS = ("api_base", "base_url", "api_url", "url", "endpoint", "model")  # attributes: whom an API's object asks

SPARE = 4  # threads for each request under way: one that hangs keeps its thread, though nobody waits for it any more


class Failure(Exception):
    """Something to tell the other process: `kind` says what follows from it, `status` is an HTTP status or 0."""

    def __init__(self, kind: str, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.kind, self.status = kind, status


class Worker:
    """One model: looked up by `hello`, built by `build`, asked by `generate`.

    `hello` says, too, how answers begin that are none.
    """

    def __init__(self) -> None:
        self.failures: tuple[str, ...] = ()
        self.maker: Any = None
        self.model: Any = None
        self.keywords: dict[str, Any] = {}
        self.is_api = self.reads_system = False

    def hello(self, request: Any) -> dict[str, Any]:
        """Find the model. -> what it is; an API is built for it, because only its object knows whom it asks."""
        name, options = request["name"], request["options"]
        self.failures = tuple(request["failures"])
        self.maker, keywords = find(name)
        self.keywords = {**keywords, **options}
        kind = self.maker if isinstance(self.maker, type) else type(None)
        self.is_api = "BaseAPI" in [base.__name__ for base in kind.__mro__]
        if self.is_api:
            self.build(request)
        asked = vars(self.model) if self.is_api else {}
        return {
            "version": version(),
            "class": f"{self.maker.__module__}.{getattr(self.maker, '__qualname__', repr(self.maker))}",
            "keywords": keywords,
            "endpoint": {name: asked[name] for name in ENDPOINTS if name in asked},
            "api": self.is_api,
            "encodes": self.is_api and evaluates(kind, "encode_image_to_base64"),
            "interleaves": bool(getattr(kind, "INTERLEAVE", True)),
        }

    def build(self, request: Any) -> dict[str, Any]:
        """Make the object. An API tries once, unless told otherwise: who asks through this worker tries again."""
        if self.model is not None:
            return {}
        try:
            self.model = self.maker(**self.keywords)
        except BaseException as error:  # somebody else's code; whatever it raises is what the user needs to read
            raise Failure("unbuilt", sentence(error)) from None
        self.model.preproc_content = as_typed
        if self.is_api:
            self.model.verbose = "verbose" in request["options"] and self.model.verbose
            if "retry" not in request["options"]:
                self.model.retry = 1
        self.reads_system = evaluates(type(self.model), "self.system_prompt")
        return {}

    def generate(self, request: Any) -> dict[str, Any]:
        """One answer, `{"text", "finish_reason", "usage"}`. The message is typed parts; `system` is a system prompt or
        None."""
        parts, system = request["parts"], request["system"]
        if system is not None and not self.reads_system:
            parts, system = [{"type": "text", "value": system + "\n\n"}, *parts], None
        return (self._ask_api if self.is_api else self._ask_local)(merged(parts), system)

    def _ask_local(self, parts: list[dict[str, str]], system: str | None) -> dict[str, Any]:
        return {"text": self._text(call(self.model, parts, system)), "finish_reason": "", "usage": {}}

    def _ask_api(self, parts: list[dict[str, str]], system: str | None) -> dict[str, Any]:
        """On a copy, so that nothing which a call leaves on the object is there in the next, and several can go on at a
        time."""
        model, seen = copy.copy(self.model), list[Any]()
        inner = model.generate_inner

        def watched(*args: Any, **kwargs: Any) -> Any:
            seen[:] = [None]
            try:
                seen[:] = [inner(*args, **kwargs)]
            except BaseException as error:
                seen[:] = [error]
                raise
            return seen[0]

        model.generate_inner = watched
        answer = call(model, parts, system)
        return self._outcome(seen[0] if seen else None, answer)

    def _outcome(self, outcome: Any, answer: Any) -> dict[str, Any]:
        """What the last `generate_inner` of an API came to: (code, answer, log), an exception, or None where none was
        made."""
        if isinstance(outcome, BaseException):
            kind = "unreachable" if "ConnectionError" in [base.__name__ for base in type(outcome).__mro__] else "failed"
            raise Failure(kind, sentence(outcome)) from None
        code, inner, log = outcome if isinstance(outcome, tuple) and len(outcome) == 3 else (0, answer, None)
        if code != 0:
            said, status = getattr(log, "text", log), getattr(log, "status_code", 0)
            said = said if isinstance(said, str) and said.strip() else str(inner)
            raise Failure("failed", said, status if isinstance(status, int) else 0)
        reason, usage = read_completion(log)
        text = "" if inner == "" and reason else self._text(answer)
        return {"text": text, "finish_reason": reason, "usage": usage}

    def _text(self, answer: Any) -> str:
        """An answer's text. Raises Failure for a string that says that there is none, and for what is no string."""
        if isinstance(answer, dict):
            answer = answer.get("prediction")
        if not isinstance(answer, str):
            raise Failure("failed", f"it answered with a {type(answer).__name__}, not a text")
        own = str(getattr(self.model, "fail_msg", "")).strip()
        if (own and own in answer) or answer.strip().startswith(self.failures):
            raise Failure("failed", answer.strip())
        return answer


def find(name: str) -> tuple[Any, dict[str, Any]]:
    """A name of vlmeval.config.supported_VLM, or api.CLASS or vlm.CLASS. -> what makes the object, its keywords."""
    package, _, wanted = name.partition(".")
    if package in ("api", "vlm"):
        kind = getattr(importlib.import_module(f"vlmeval.{package}"), wanted, None)
        if isinstance(kind, type):
            return kind, {}
    elif (maker := importlib.import_module("vlmeval.config").supported_VLM.get(name)) is not None:
        return getattr(maker, "func", maker), dict(getattr(maker, "keywords", {}))
    by_lower = {other.lower(): other for other in list_models()}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    hint = f" (did you mean {by_lower[near[0]]!r}?)" if near else ""
    raise Failure("unknown", f"has no model {name!r}{hint}")


def version() -> str:
    """The distribution's version, or a checkout's own."""
    module = sys.modules["vlmeval"]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        found = importlib.metadata.distribution("ms-vlmeval")
        if Path(str(found.locate_file(""))) == Path(str(module.__file__)).parent.parent:
            return found.version
    return str(getattr(module, "__version__", "unknown"))


def evaluates(kind: type, expression: str) -> bool:
    """Whether any method of a class, but those that only set it up, evaluates `self.NAME` or `NAME`; to assign it does
    not count."""
    setters, wanted = ("__init__", "preprocess_message_with_role"), ast.parse(expression, mode="eval").body
    for base in kind.__mro__:
        source = ""
        with contextlib.suppress(OSError, TypeError):  # a class without one is no class of VLMEvalKit's
            source = textwrap.dedent(inspect.getsource(base))
        methods = [part for each in ast.parse(source).body for part in getattr(each, "body", ())]
        nodes = (node for part in methods if getattr(part, "name", "") not in setters for node in ast.walk(part))
        if any(type(node) is type(wanted) and ast.dump(node) == ast.dump(wanted) for node in nodes):
            return True
    return False


@contextlib.contextmanager
def prompted(model: Any, system: str | None) -> Iterator[None]:
    """With a system prompt after the model's own; afterwards it has the one that it had."""
    before = getattr(model, "system_prompt", None)
    if system is not None:
        model.system_prompt = f"{before}\n{system}" if before else system
    try:
        yield
    finally:
        if getattr(model, "system_prompt", None) != before:
            model.system_prompt = before


def call(model: Any, parts: list[dict[str, str]], system: str | None) -> Any:
    """Its `generate`, with no data set's name where it asks for one."""
    named = inspect.signature(model.generate).parameters.get("dataset")
    needed = named is not None and named.default is inspect.Parameter.empty
    with prompted(model, system):
        try:
            return model.generate(parts, dataset=None) if needed else model.generate(parts)
        except BaseException as error:  # somebody else's code, as above
            raise Failure("raised", sentence(error)) from None


def as_typed(parts: list[dict[str, str]]) -> list[dict[str, str]]:
    """In place of `preproc_content`, which takes a text for a file where one of that name exists, and downloads one
    that is a URL."""
    return parts


def merged(parts: list[dict[str, str]]) -> list[dict[str, str]]:
    """Parts with texts that follow each other as one; some classes put a new line between two."""
    result: list[dict[str, str]] = []
    for part in parts:
        if result and part["type"] == result[-1]["type"] == "text":
            result[-1] = {"type": "text", "value": result[-1]["value"] + part["value"]}
        else:
            result.append(dict(part))
    return result


def read_completion(log: Any) -> tuple[str, dict[str, int]]:
    """Finish reason and tokens, where the log is an HTTP answer that holds a chat completion."""
    try:
        body = json.loads(log.text)
        reason, usage = body["choices"][0].get("finish_reason"), body.get("usage") or {}
        counts = {name: usage[name] for name in ("prompt_tokens", "completion_tokens") if usage.get(name)}
    except (AttributeError, TypeError, ValueError, LookupError):
        return "", {}
    counts = {name: count for name, count in counts.items() if isinstance(count, int)}
    return reason if isinstance(reason, str) else "", counts


def sentence(error: BaseException) -> str:
    """An exception on a line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def mend_torchvision() -> None:
    """Where torchvision was built for another torch, importing it fails for want of its compiled operators; an empty
    module in the place of the one that needs them lets everything else of it work.
    """
    meta = "torchvision._meta_registrations"
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        sys.modules[meta] = types.ModuleType(meta)
        importlib.import_module("torchvision")
        print(f"torchvision's compiled operators do not work here ({error})", file=sys.stderr)
    except ImportError:
        pass


def import_vlmeval(path: list[str]) -> None:
    """Import it from `path` or from the interpreter's own packages. TLS stays verified."""
    sys.path[:0] = path
    verified = ssl._create_default_https_context
    try:
        mend_torchvision()
        importlib.import_module("vlmeval")
    except ModuleNotFoundError as error:
        if error.name != "vlmeval":
            raise
        raise Failure("missing", "has no vlmeval") from None
    finally:
        ssl._create_default_https_context = verified


def list_models() -> list[str]:
    """Every name, and the classes that can be named with keywords of one's own."""
    names, bases = sorted(importlib.import_module("vlmeval.config").supported_VLM), ("BaseAPI", "BaseModel")
    for package in ("api", "vlm"):
        module = importlib.import_module(f"vlmeval.{package}")
        names += sorted(
            f"{package}.{key}"
            for key, value in vars(module).items()
            if isinstance(value, type) and key not in bases and any(base.__name__ in bases for base in value.__mro__)
        )
    return names


def serve(requests: queue.SimpleQueue[Any], say: Callable[[object], None]) -> None:
    """Answer requests until the process is ended; those to an API several at a time."""
    worker = Worker()
    pool: ThreadPoolExecutor | None = None
    while True:
        request = requests.get()
        if request["do"] == "generate" and worker.is_api:
            pool = pool or ThreadPoolExecutor(SPARE * request["concurrency"])
            pool.submit(answer, worker, request, say)
        else:
            answer(worker, request, say)


def answer(worker: Worker, request: Any, say: Callable[[object], None]) -> None:
    """Do what a request asks and say what came of it."""
    try:
        if request["do"] in ("hello", "list"):
            import_vlmeval(request["path"])
        result = list_models() if request["do"] == "list" else getattr(worker, request["do"])(request)
        say({"id": request["id"], "result": result})
    except Failure as failure:
        say({"id": request["id"], "error": str(failure)[:4000], "kind": failure.kind, "status": failure.status})
    except BaseException as error:  # an import that fails for any reason of somebody else's code
        say({"id": request["id"], "error": sentence(error)[:4000], "kind": "unimportable", "status": 0})


def end() -> None:
    """End this process and those that it started."""
    if os.getpid() == os.getpgrp():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(0)


def main() -> None:
    """Keep the two pipes to itself, so that nothing which is printed or read in here gets between the lines."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    one_at_a_time = threading.Lock()

    def receive() -> None:
        for line in incoming:
            requests.put(json.loads(line))
        end()

    def say(reply: object) -> None:
        line = json.dumps(reply, skipkeys=True, default=lambda value: f"<{type(value).__name__}>").encode() + b"\n"
        with one_at_a_time:
            try:
                outgoing.write(line)
                outgoing.flush()
            except BrokenPipeError:
                end()

    threading.Thread(target=receive, daemon=True).start()
    serve(requests, say)


if __name__ == "__main__":
    main()
