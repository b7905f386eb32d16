"""What holds for every model backend."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from making_models import saying
from models.making_vllm import vllm_installed
from models.making_vlmeval import make_vlmeval
from serving_questions import endpoint

from mmdyn import plugins
from mmdyn.errors import ModelError, UserError
from mmdyn.keys import canonical
from mmdyn.models import Asker, ChoicesPart, Message, Model, Spec, TextPart, open_model
from mmdyn.models.model import ModelLimits
from mmdyn.models.pace import Retry
from mmdyn.record import Reply
from mmdyn.testing import FakeServer, write_script

SECRET = "sk-contract-0123456789"

FAIL = {"anthropic", "cmd", "gemini", "http", "openai", "python", "scripted"}
"""What fails on request in the examples below: models that others run. They take max_tries."""

MESSAGES = tuple(
    (Message("user", (TextPart(f'Question {number}?\n\nA. one\nB. two\n\nPut its letter: "Answer: X".'),)),)
    for number in range(5)
)


PASSING = "fail in passing"

SOLVER = f"""
from mmdyn.models import RejectedError, TransientError

class Solver:
    def ask(self, messages):
        if "{PASSING}" in messages[-1].text:
            raise TransientError("it may pass")
        if "fail" in messages[-1].text:
            raise RejectedError("it will not")
        return "Answer: B"
"""

PROGRAM = f"""#!{sys.executable} -IS
import os, sys
question = open("question.txt").read()
if "fail" in question:
    print("the key is", os.environ["CONTRACT_KEY"], file=sys.stderr)
    sys.exit(75 if "{PASSING}" in question else 1)
print("Answer: B")
"""


def command(folder: Path, url: str) -> str:
    path = folder / "solve"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return f"cmd:{path} --key {SECRET},env=CONTRACT_KEY"


def python(folder: Path, url: str) -> str:
    path = folder / "solver.py"
    path.write_text(SOLVER)
    return f"{path}:Solver"


def scripted(folder: Path, url: str) -> str:
    failing = {"match": PASSING, "error": "transient"}, {"match": "fail", "error": "fatal"}
    return f"scripted:{write_script(folder / 'script.jsonl', *failing, 'Answer: B')}"


def vlmeval(folder: Path, url: str) -> str:
    return f"vlmeval:Echo-7B,python={sys.executable},path={make_vlmeval(folder)}"


def keyed(body: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
    """What the endpoint of `http:` answers."""
    if headers.get("Authorization") != f"Bearer {SECRET}":
        return 401, {"error": f"not {headers.get('Authorization')}"}
    if "fail" in body["question"]:
        return (503 if PASSING in body["question"] else 400), {"error": f"refused with {headers['Authorization']}"}
    return 200, {"text": "Answer: B"}


EXAMPLES: dict[str, list[Callable[[Path, str], str]]] = {
    "anthropic": [lambda folder, url: f"anthropic:m,base_url={url},api_key_env=CONTRACT_KEY"],
    "baseline": [
        lambda folder, url: "baseline:random",
        lambda folder, url: "baseline:majority",
        lambda folder, url: "baseline:lexical",
    ],
    "cmd": [command],
    "completions": [lambda folder, url: f"completions:m,base_url={url},api_key_env=CONTRACT_KEY"],
    "gemini": [lambda folder, url: f"gemini:m,base_url={url},api_key_env=CONTRACT_KEY"],
    "hf": [lambda folder, url: f"hf:{saying(folder / 'saying')},max_new_tokens=20"],
    "http": [lambda folder, url: f"{url},api_key_env=CONTRACT_KEY"],
    "openai": [lambda folder, url: f"openai:m,base_url={url},api_key_env=CONTRACT_KEY"],
    "python": [python],
    "scripted": [scripted],
    "vllm": [lambda folder, url: f"vllm:{saying(folder / 'saying')},seed=1"],
    "vlmeval": [vlmeval],
}
"""How each backend is opened, with a folder and a server of its own."""

CASES = [(backend, number) for backend, examples in EXAMPLES.items() for number in range(len(examples))]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}{case[1]}")
async def text(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    monkeypatch.setenv("CONTRACT_KEY", SECRET)
    backend, number = request.param
    script = tmp_path / "server.jsonl"
    write_script(script, {"match": PASSING, "error": "transient"}, {"match": "fail", "error": "fatal"}, "Answer: B")
    with endpoint(keyed) as url:
        async with FakeServer(key=SECRET, reply=script) as server:
            with vllm_installed():
                yield EXAMPLES[backend][number](tmp_path, url if backend == "http" else server.url)


def test_every_backend_is_in_this_contract():
    assert set(plugins.names("models")) == set(EXAMPLES)


async def test_it_is_named_and_identified_without_secrets(text: str):
    model = open_model(text)
    backend = Spec.parse(text).backend
    assert model.label.startswith(f"{backend}:") and "\n" not in model.label
    assert model.identity and model.identity["backend"] == backend
    assert isinstance(model.cached, bool) and isinstance(model.limits, ModelLimits)
    seen = [model.label, canonical(model.identity).decode(), repr(model), repr(vars(type(model)))]
    assert not any(SECRET in item for item in seen)
    assert canonical(model.identity) == canonical(open_model(text).identity)
    assert msgspec.json.decode(canonical(model.identity)) == model.identity
    await model.close()


async def test_it_replies_and_the_same_each_time(text: str):
    model: Model = open_model(text)
    first = [await model.ask(messages) for messages in MESSAGES]
    assert all(isinstance(reply, Reply) and reply.text and not reply.error for reply in first)
    again = open_model(text)
    assert [await again.ask(messages) for messages in reversed(MESSAGES)] == first[::-1]
    for opened in (model, again):
        await opened.close()


async def test_many_asked_at_once_reply_as_one_by_one(text: str):
    model = open_model(text)
    together = await asyncio.gather(*(model.ask(messages) for messages in MESSAGES))
    assert together == [await model.ask(messages) for messages in MESSAGES]
    await model.close()


async def test_its_limits_are_numbers_and_can_be_set(text: str):
    model = open_model(text)
    assert model.limits.concurrency is None or model.limits.concurrency >= 1
    if Spec.parse(text).backend in FAIL:
        assert open_model(f"{text},max_tries=3").limits.max_tries == 3
    with pytest.raises(UserError):
        open_model(f"{text},max_tries=many")
    await model.close()


async def test_who_cannot_weigh_options_says_so(text: str):
    model = open_model(text)
    if not model.weighs and Spec.parse(text).backend != "scripted":  # whose lines fit any request
        with pytest.raises(ModelError, match="cannot weigh options"):
            await model.ask((*MESSAGES[0], Message("assistant", (ChoicesPart(("A", "B")),))))
    await model.close()


@pytest.mark.parametrize(("asked", "final"), [(PASSING, False), ("please fail", True)])
async def test_a_failure_is_the_request_s_and_shows_no_key(text: str, asked: str, final: bool):
    """As an asker sees it: what may pass is tried again, what may not is final or ends the asking."""
    if Spec.parse(text).backend not in FAIL:
        pytest.skip("its example answers whatever it is asked")
    asker = Asker(open_model(text), retry=Retry(max_tries=2, backoff=0.01))
    try:
        reply = await asker.ask((Message("user", (TextPart(asked),)),))
    except ModelError as error:
        assert final and SECRET not in str(error) and "\n" not in str(error)
    else:
        assert reply.error and SECRET not in reply.error and "\n" not in reply.error
        assert (reply.final, reply.attempts, reply.text) == (final, 1 if final else 2, "")
        assert (await asker.ask(MESSAGES[0])).text == "Answer: B"
    await asker.close()


async def test_closing_twice_or_unused_does_no_harm(text: str):
    model = open_model(text)
    await model.close()
    await model.close()
    assert model.label == open_model(text).label
