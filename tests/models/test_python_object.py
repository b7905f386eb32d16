"""Python objects that are asked: of a file, and as they are."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from asking import user

from mmdyn.errors import InputError, ModelError
from mmdyn.models import Message, RejectedError, TransientError, open_model
from mmdyn.record import Reply, Usage

SOLVER = """
from dataclasses import dataclass
from beside import suffix

@dataclass
class Solver:
    depth: int = 1
    name: str = "x"

    def ask(self, messages):
        return f"<think>{self.depth}</think>{self.name}{suffix} {messages[-1].text}"

class Patient(Solver):
    concurrency = 8
    identity = {"weights": 3}
    async def ask(self, messages):
        return super().ask(messages)
"""


@pytest.fixture
def solver(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("suffix = '!'")
    path = tmp_path / "solver.py"
    path.write_text(SOLVER)
    return path


async def test_a_class_of_a_file_with_its_options(solver: Path):
    model = open_model(f"{solver}:Solver,depth=3,name=Answer,label=mine,max_tries=2")
    assert (model.label, model.limits.max_tries, model.limits.concurrency) == ("mine", 2, 1)
    reply = await model.ask(user("2+2?"))
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Answer! 2+2?", "3", "stop")
    await model.close()
    assert open_model(f"python:{solver}:Solver").label == "python:solver.py:Solver"


def test_its_identity_is_the_file_and_the_options(solver: Path):
    one, other = open_model(f"{solver}:Solver"), open_model(f"{solver}:Solver,depth=2")
    assert one.cached and one.identity == open_model(f"{solver}:Solver,concurrency=4").identity != other.identity
    patient = open_model(f"{solver}:Patient")
    assert patient.identity["identity"] == {"weights": 3} and patient.limits.concurrency == 8
    assert asyncio.run(patient.ask(user("?"))).text == "x! ?"
    solver.write_text(SOLVER.replace("depth: int = 1", "depth: int = 5"))
    anew = open_model(f"{solver}:Solver")
    assert anew.identity != one.identity and asyncio.run(anew.ask(user("?"))).reasoning == "5"


class Saying:
    """Says or raises what it was made with."""

    def __init__(self, *said: Any) -> None:
        self.said = iter(said)

    def ask(self, messages: tuple[Message, ...]) -> Any:
        said = next(self.said)
        if isinstance(said, Exception):
            raise said
        return said


async def test_an_object_as_it_is():
    whole = Reply("Answer: B", "stop", Usage(5, 2), reasoning="why")
    model = open_model(Saying("Answer: A", whole))
    assert [await model.ask(user()) for _ in range(2)] == [Reply("Answer: A", "stop"), whole]
    assert (model.label, model.cached) == ("python:Saying", False)
    named = Saying()
    named.label, named.identity = "agent", "v2"  # type: ignore[attr-defined]
    model = open_model(named)
    assert (model.label, model.cached, model.identity["identity"]) == ("python:agent", True, "v2")


@pytest.mark.parametrize(("said", "kind", "says"), [
    (TransientError("later"), TransientError, "^later$"),
    (RejectedError("never"), RejectedError, "^never$"),
    (ModelError("no key: set one"), ModelError, "^no key: set one$"),
    (ConnectionResetError("gone"), TransientError, "^python:Saying: ConnectionResetError: gone$"),
    (TimeoutError("slow"), TransientError, "TimeoutError: slow"),
    (KeyError("x"), RejectedError, "^python:Saying: KeyError: 'x'$"),
    (StopIteration("none left"), RejectedError, "^python:Saying: StopIteration: none left$"),
    (StopAsyncIteration(), RejectedError, "^python:Saying: StopAsyncIteration"),
    (42, ModelError, "^python:Saying gave a int: let ask return a text, or a Reply$"),
    (None, ModelError, "gave a NoneType"),
])  # fmt: skip
async def test_what_goes_wrong_is_told(said: Any, kind: type[Exception], says: str):
    with pytest.raises(kind, match=says):
        await asyncio.wait_for(open_model(Saying(said)).ask(user()), 60)


async def test_a_plain_function_is_asked_one_thing_at_a_time_and_blocks_nobody():
    class Slow:
        def ask(self, messages: tuple[Message, ...]) -> str:
            time.sleep(0.2)
            return threading.current_thread().name

    model = open_model(Slow())
    began = time.monotonic()
    asks = [asyncio.create_task(model.ask(user())) for _ in range(3)]
    await asyncio.sleep(0.01)
    assert time.monotonic() - began < 0.2
    assert len({(await ask).text for ask in asks}) == 1 and time.monotonic() - began > 0.59


@pytest.mark.parametrize(("text", "name", "says"), [
    ("import no_such_thing_here", "A", r"a\.py:1: A cannot be had of it \(ModuleNotFoundError: .*\): mend it"),
    ("x = 1\ny = (", "A", r"a\.py:2: A cannot be had of it \(SyntaxError: "),
    ("class B: pass", "A", r"a\.py: A cannot be had of it \(AttributeError: .* has no attribute 'A'\)"),
    ("class A:\n    def __init__(self):\n        1 / 0", "A", r"a\.py:3: A cannot be had of it \(ZeroDivisionError"),
    ("class A: pass", "A", r"a\.py: A cannot be had of it \(AttributeError: .* has no .*ask"),
    (None, "A", r"a\.py: A cannot be had of it \(FileNotFoundError: "),
])  # fmt: skip
def test_a_file_that_cannot_be_loaded_is_told(tmp_path: Path, text: str | None, name: str, says: str):
    if text is not None:
        (tmp_path / "a.py").write_text(text)
    with pytest.raises(InputError, match=says):
        open_model(f"{tmp_path}/a.py:{name}")
