"""What the backends behind an API send, what of it identifies a model, and bad options."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from answering import sent
from asking import user

from making import picture
from mmdyn.errors import UserError
from mmdyn.keys import Json, canonical
from mmdyn.models import Message, TextPart, open_model

SECRET = "sk-secret-0123456789"


def turns(path: Path) -> tuple[Message, ...]:
    path.write_bytes(picture())
    return (
        Message("system", (TextPart("be brief"),)),
        *user("look", path),
        Message("assistant", (TextPart("Answer: B"),)),
        Message("user", (TextPart(""), TextPart("and now?"))),
    )


ENCODED = base64.b64encode(picture()).decode()
URL: Json = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{ENCODED}"}}
IMAGE: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ENCODED}}
BLOB: Json = {"inlineData": {"mimeType": "image/png", "data": ENCODED}}


def said(role: str, content: Json, key: str = "content") -> Json:
    return {"role": role, key: content}


def text(*texts: str) -> list[Json]:
    return [{"type": "text", "text": text} for text in texts]


OPENAI = [
    said("system", "be brief"),
    said("user", [URL, *text("look")]),
    said("assistant", "Answer: B"),
    said("user", "and now?"),
]
ANTHROPIC = [said("user", [IMAGE, *text("look")]), said("assistant", text("Answer: B")), said("user", text("and now?"))]
GEMINI = [
    said("user", [BLOB, {"text": "look"}], "parts"),
    said("model", [{"text": "Answer: B"}], "parts"),
    said("user", [{"text": ""}, {"text": "and now?"}], "parts"),
]
BRIEF: Json = {"parts": [{"text": "be brief"}]}
BODIES: dict[str, tuple[str, Json]] = {
    "openai": ("/chat/completions", {"model": "m", "messages": OPENAI, "temperature": 0.0}),
    "anthropic": ("/v1/messages", {"model": "m", "system": "be brief", "messages": ANTHROPIC, "max_tokens": 4096, "temperature": 0.0}),
    "gemini": ("/v1beta/models/m:generateContent", {"systemInstruction": BRIEF, "contents": GEMINI, "generationConfig": {"temperature": 0.0}}),
}  # fmt: skip


@pytest.mark.parametrize("backend", BODIES)
async def test_turns_and_pictures_are_sent_as_the_api_has_them(backend: str, tmp_path: Path):
    assert await sent(f"{backend}:m", turns(tmp_path / "p.png")) == BODIES[backend]


FULL = "system=s,temperature=0.5,top_p=0.9,max_tokens=9"


@pytest.mark.parametrize(("model", "body"), [
    (f"openai:m,{FULL},seed=3,reasoning_effort=low,logprobs=true", {"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}], "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "seed": 3, "reasoning_effort": "low", "logprobs": True}),
    ('openai:m,temperature=none,extra_body={"top_k":20}', {"model": "m", "messages": [{"role": "user", "content": "a"}], "top_k": 20}),
    (f'anthropic:m,{FULL},extra_body={{"top_k":3}}', {"model": "m", "system": "s", "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}], "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "top_k": 3}),
    (f"gemini:m,{FULL},seed=3,thinking_budget=128", {"systemInstruction": {"parts": [{"text": "s"}]}, "contents": [{"role": "user", "parts": [{"text": "a"}]}], "generationConfig": {"temperature": 0.5, "topP": 0.9, "maxOutputTokens": 9, "seed": 3, "thinkingConfig": {"thinkingBudget": 128, "includeThoughts": True}}}),
])  # fmt: skip
async def test_options_are_sent(model: str, body: Json):
    assert (await sent(model, user("a")))[1] == body


LEVEL = '{"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}},"safetySettings":[]}'


@pytest.mark.parametrize(("model", "parameters", "varies"), [
    ("openai:m", {"temperature": 0.0}, False),
    ("openai:m,temperature=none", {}, True),
    ('openai:m,extra_body={"temperature":1},seed=3', {"temperature": 1, "seed": 3}, False),
    ('openai:m,extra_body={"a":{"b":false}},temperature=1', {"temperature": 1.0, "a": {"b": False}}, True),
    ("anthropic:m", {"max_tokens": 4096, "temperature": 0.0}, False),
    ("anthropic:m,thinking_budget=2000,temperature=0.7", {"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 2000}}, True),
    ("gemini:m", {"generationConfig": {"temperature": 0.0}}, False),
    (f"gemini:m,extra_body={LEVEL}", {"generationConfig": {"temperature": 0.0, "thinkingConfig": {"thinkingLevel": "low"}}, "safetySettings": []}, False),
])  # fmt: skip
def test_what_decides_a_reply_identifies_the_model(model: str, parameters: Json, varies: bool):
    opened = open_model(f"{model},base_url=http://h")
    backend = model.partition(":")[0]
    identity = {"backend": backend, "endpoint": "http://h", "model": "m", "system": None, "parameters": parameters}
    assert opened.identity == identity and opened.varies is varies
    assert open_model(f"{backend}:m,base_url=http://h", varied=True).varies


def test_only_what_decides_a_reply_is_in_the_identity():
    def identity(options: str = "") -> bytes:
        return canonical(open_model(f"openai:m,base_url=http://h{options}").identity)

    assert identity() == identity(",images=file,timeout=3,label=x,concurrency=2,max_tries=1")
    for options in (",think=keep", ",max_side=100", ",max_pixels=100", ",reasoning_effort=low", ",logprobs=true"):
        assert identity() != identity(options)


@pytest.mark.parametrize(("backend", "endpoint", "urls"), [
    ("openai", "http://h:1/v1", ("http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/chat/completions")),
    ("anthropic", "http://h:1", ("http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/messages")),
    ("gemini", "http://h:1", ("http://h:1", "http://h:1/v1beta", "http://h:1/v1/")),
])  # fmt: skip
def test_the_endpoint_is_one_however_it_is_written(backend: str, endpoint: str, urls: tuple[str, ...]):
    assert {open_model(f"{backend}:m,base_url={url}").identity["endpoint"] for url in urls} == {endpoint}


HERE = "base_url=http://h"


@pytest.mark.parametrize(("model", "says"), [
    ("openai:m,base_url=ftp://h", "base_url is not an address such as http://127.0.0.1:8000/v1: mend it"),
    ("openai:m,base_url=localhost:8000", "base_url is not an address"),
    ("openai:m,base_url=http://:x", "base_url is not an address"),
    ("openai:m,base_url=http://a:b@h/v1", "base_url holds a name or password: put it into a variable"),
    (f"openai:m,{HERE},temprature=1", "openai has no option 'temprature' (did you mean 'temperature'?)"),
    (f"openai:m,{HERE},temperature=-1", "the option temperature of openai:m: expected"),
    (f"openai:m,{HERE},headers=[1]", "headers is not a JSON object of strings"),
    (f"openai:m,{HERE},header.X=$NOT_SET", "the header X is to hold $NOT_SET, which is not set: set it"),
    (f"openai:m,{HERE},header.X=a\nb", "the header 'X' holds characters that a header cannot: mend it"),
    (f"openai:m,{HERE},api_key_env={SECRET}", "api_key_env is not the name of a variable: put the key into one"),
    (f"openai:m,{HERE},api_key_env=MY_KEY", "openai:m needs a key: put it into $MY_KEY"),
    (f"openai:m,{HERE},api_key_env=ODD_KEY", "$ODD_KEY holds characters that no key has: set it anew"),
    (f'openai:m,{HERE},extra_body={{"model":"x"}}', "extra_body sets 'model', which belongs to the requests"),
    (f'openai:m,{HERE},extra_body={{"stream":true}}', "extra_body sets 'stream'"),
    (f"openai:m,{HERE},extra_body=[1]", 'extra_body is not a JSON object, such as {"top_k": 20}: mend it'),
    (f"openai:m,{HERE},extra_body={{", "extra_body is not a JSON object"),
    (f'openai:m,{HERE},extra_body={{"n":2}}', "extra_body asks for n=2 answers, and one is read: `mmdyn eval --epochs 2` asks again"),
    (f'gemini:m,{HERE},extra_body={{"generationConfig":{{"candidateCount":3}}}}', "extra_body asks for candidateCount=3 answers"),
    (f"openai:m,{HERE},max_tokens=9,max_completion_tokens=9", "max_tokens and max_completion_tokens are one limit by two names"),
    (f'openai:m,{HERE},max_tokens=9,extra_body={{"max_completion_tokens":9}}', "are one limit by two names: leave out one"),
    (f"openai:m,{HERE},images=url", "the option images of openai:m: invalid enum value 'url'"),
    (f"openai:m,{HERE},images=file,max_side=9", "images=file sends pictures as they lie: leave max_pixels and"),
    (f"openai:m,{HERE},max_pixels=0", "the option max_pixels of openai:m: expected `int` >= 1"),
    (f"openai:m,{HERE},logprobs=perhaps", "the option logprobs of openai:m: expected `bool | null`, got `str`"),
    ("openai:m", "openai:m needs a key: put it into $OPENAI_API_KEY, or give base_url=… for a server of your own"),
    ("anthropic:m", "anthropic:m needs a key: put it into $ANTHROPIC_API_KEY, or give base_url="),
    (f"anthropic:m,{HERE},thinking_budget=4096", "thinking_budget=4096 is not below max_tokens=4096: raise max_tok"),
    (f"anthropic:m,{HERE},thinking_budget=100", "the option thinking_budget of anthropic:m: expected `int` >= 1024"),
    (f"anthropic:m,{HERE},max_tokens=none", "anthropic wants max_tokens: give a number"),
    (f"anthropic:m,{HERE},seed=1", "anthropic has no option 'seed'"),
    (f'anthropic:m,{HERE},extra_body={{"system":"x"}}', "extra_body sets 'system'"),
    ("gemini:m", "gemini:m needs a key: put it into $GEMINI_API_KEY, or give base_url="),
    (f"gemini:m,{HERE},thinking_budget=-2", "the option thinking_budget of gemini:m: expected `int` >= -1"),
    (f'gemini:m,{HERE},extra_body={{"contents":[]}}', "extra_body sets 'contents'"),
])  # fmt: skip
def test_bad_options_are_told_at_once(model: str, says: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ODD_KEY", "schlüssel")
    with pytest.raises(UserError) as caught:
        open_model(model)
    assert says in str(caught.value) and SECRET not in str(caught.value)
