"""A MODEL out of what a run keeps of it: it opens the same model again, and says where it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from mmdyn.models import Model, open_model
from mmdyn.plugins import load

URL = "http://127.0.0.1:9/v1"
KEPT = {"temperature": 0.7, "max_new_tokens": 1024, "top_p": 1.0, "seed": None, "max_pixels": None}
WEIGHTS: dict[str, Any] = {
    "backend": "hf",
    "dtype": "bfloat16",
    "system": None,
    "attention": "sdpa",
    "parameters": KEPT,
}

WHOLE = (
    "baseline:lexical",
    f"openai:m,base_url={URL}",
    f"openai:m,base_url={URL},temperature=0.7,max_tokens=64,seed=3,logprobs=true,think=keep",
    f"openai:m,temperature=none,base_url={URL},system=Be brief, and kind.,max_side=512,label=mine",
    f'openai:m,base_url={URL},extra_body={{"top_k":20,"stop":["a","b"],"reasoning_effort":"none"}}',
    f"completions:m,base_url={URL}",
    f"anthropic:m,base_url={URL},max_tokens=9000",
    f"anthropic:m,base_url={URL},max_tokens=9000,thinking_budget=2000",
    f"gemini:m,base_url={URL},max_tokens=99,thinking_budget=0",
    f'gemini:m,base_url={URL},extra_body={{"safetySettings":[],"generationConfig":{{"topK":4}}}}',
    f"{URL}/ask,temperature=0.5",
)


def typed(model: Model) -> tuple[str, bool]:
    """How it is typed again, and whether that is all of it."""
    found: tuple[str, bool] = load("models", str(model.identity["backend"])).typed(model.label, model.identity)
    return found


@pytest.mark.parametrize("text", WHOLE)
def test_it_opens_the_same_model_again(text: str) -> None:
    model = open_model(text)
    found, whole = typed(model)
    again = open_model(found)
    assert whole
    assert (again.label, again.identity) == (model.label, model.identity)
    assert typed(again) == (found, True)


def test_defaults_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody-0123456789")
    assert typed(open_model("openai:gpt-4o,max_tokens=9,timeout=5")) == ("openai:gpt-4o,max_tokens=9", True)


def test_weights_of_a_repository_are_those_of_its_commit() -> None:
    repository = {**WEIGHTS, "checkpoint": {"repository": "own/er", "revision": "c0ffee"}}
    words = "hf:own/er,revision=c0ffee,dtype=bf16,attn=sdpa,temperature=0.7"
    assert load("models", "hf").typed("hf:own/er", repository) == (words, True)
    assert load("models", "hf").typed("hf:weights", {**WEIGHTS, "checkpoint": {"digest": "12"}}) == (
        "hf:weights",
        False,
    )


@pytest.mark.parametrize("more", ["", ",header.X-Deployment=$DEPLOYMENT", ',headers={"X-Team":"blue"}'])
def test_headers_and_queries_are_not_known(more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOYMENT", "blue")
    model = open_model(f"openai:m,base_url={URL}{more or '?version=2'}")
    assert typed(model) == (f"openai:m,base_url={URL}", False)


def test_what_cannot_be_typed_is_left_out() -> None:
    identity = open_model(f"openai:m,base_url={URL}").identity | {"system": "Reply with this, x=5"}
    assert load("models", "openai").typed("openai:m", identity) == (f"openai:m,base_url={URL}", False)
