"""What holds for every model backend."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from making_models import saying
from models.making_vllm import vllm_installed
from models.making_vlmeval import make_vlmeval

from mmdyn import plugins
from mmdyn.keys import canonical
from mmdyn.models import Message, Model, TextPart, open_model
from mmdyn.models.model import ModelLimits
from mmdyn.record import Reply
from mmdyn.testing import FakeServer

SECRET = "sk-contract-0123456789"

MESSAGES = tuple(
    (Message("user", (TextPart(f'Question {number}?\n\nA. one\nB. two\n\nPut its letter: "Answer: X".'),)),)
    for number in range(5)
)


def scripted(folder: Path, url: str) -> str:
    path = folder / "script.jsonl"
    path.write_text('{"reply": "Answer: B"}')
    return f"scripted:{path}"


def vlmeval(folder: Path, url: str) -> str:
    return f"vlmeval:Echo-7B,python={sys.executable},path={make_vlmeval(folder)}"


EXAMPLES: dict[str, list[Callable[[Path, str], str]]] = {
    "anthropic": [lambda folder, url: f"anthropic:m,base_url={url},api_key_env=CONTRACT_KEY"],
    "baseline": [
        lambda folder, url: "baseline:random",
        lambda folder, url: "baseline:majority",
        lambda folder, url: "baseline:lexical",
    ],
    "completions": [lambda folder, url: f"completions:m,base_url={url},api_key_env=CONTRACT_KEY"],
    "gemini": [lambda folder, url: f"gemini:m,base_url={url},api_key_env=CONTRACT_KEY"],
    "hf": [lambda folder, url: f"hf:{saying(folder / 'saying')},max_new_tokens=20"],
    "openai": [lambda folder, url: f"openai:m,base_url={url},api_key_env=CONTRACT_KEY"],
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
    async with FakeServer(key=SECRET, reply="hashed") as server:
        with vllm_installed():
            yield EXAMPLES[backend][number](tmp_path, server.url)


def test_every_backend_is_in_this_contract():
    assert set(plugins.names("models")) == set(EXAMPLES)


async def test_it_is_named_and_identified_without_secrets(text: str):
    model = open_model(text)
    backend = text.partition(":")[0]
    assert model.label.startswith(f"{backend}:") and "\n" not in model.label
    assert model.identity and model.identity["backend"] == backend
    assert isinstance(model.cached, bool) and isinstance(model.limits, ModelLimits)
    seen = [model.label, canonical(model.identity).decode(), repr(model), repr(vars(type(model)))]
    assert not any(SECRET in item for item in seen)
    assert canonical(model.identity) == canonical(open_model(text).identity)
    await model.close()


async def test_it_replies_and_the_same_each_time(text: str):
    model: Model = open_model(text)
    first = [await model.ask(messages) for messages in MESSAGES]
    assert all(isinstance(reply, Reply) and reply.text.startswith("Answer: ") and not reply.error for reply in first)
    again = open_model(text)
    assert [await again.ask(messages) for messages in reversed(MESSAGES)] == first[::-1]
    for opened in (model, again):
        await opened.close()


async def test_closing_twice_or_unused_does_no_harm(text: str):
    model = open_model(text)
    await model.close()
    await model.close()
    assert model.label == open_model(text).label
