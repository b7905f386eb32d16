"""A base model behind /completions: what is sent, what is read, and a run with examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from answering import answering
from asking import user
from running import evaluated
from serving import script, serve

from making import choice, image_ref, picture, write_set
from mmdyn.keys import Json
from mmdyn.models import Message, RejectedError, TextPart, TransientError, open_model
from mmdyn.record import Reply, Usage

PAIRS = (*user("Question:\n\nWhich?"), Message("assistant", (TextPart("Answer:"),)))


async def asked(answer: Json, messages: tuple[Message, ...] = PAIRS, options: str = "") -> tuple[Reply, Json]:
    async with answering(answer) as (url, came):
        model = open_model(f"completions:m,base_url={url}/v1{options}")
        try:
            reply = await model.ask(messages)
        finally:
            await model.close()
        ((path, body),) = came
        assert path == "/v1/completions"
        return reply, body


def completion(text: str, finish: str | None = "stop") -> Json:
    usage: Json = {"prompt_tokens": 7, "completion_tokens": 2}
    return {"choices": [{"text": text, "finish_reason": finish}], "usage": usage}


async def test_the_prompt_is_one_text_and_the_reply_begins_as_it_was_begun() -> None:
    reply, body = await asked(completion(" B\n\nQuestion:"), options=",seed=3,system=Be brief.")
    assert body == {"model": "m", "prompt": "Be brief.\n\nQuestion:\n\nWhich?\n\nAnswer:", "temperature": 0.0, "seed": 3, "max_tokens": 1024}  # fmt: skip
    assert (reply.text, reply.finish_reason, reply.usage) == ("Answer: B\n\nQuestion:", "stop", Usage(7, 2))
    reply, body = await asked(completion("B"), user("Which?"), ",max_tokens=5")
    assert body == {"model": "m", "prompt": "Which?", "temperature": 0.0, "max_tokens": 5} and reply.text == "B"
    ended, _ = await asked(completion("", "length"))
    assert ended.text == "Answer:"


async def test_what_it_cannot_do_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture())
    with pytest.raises(RejectedError, match="a model that completes texts reads none"):
        await asked(completion("B"), user("Which?", tmp_path / "a.png"))
    with pytest.raises(TransientError, match="empty or unfinished"):
        await asked(completion("", None))
    with pytest.raises(TransientError, match="without choices"):
        await asked({"choices": []})


def test_it_is_another_model_than_a_chat() -> None:
    chat, base = (open_model(f"{backend}:m,base_url=http://127.0.0.1:1/v1") for backend in ("openai", "completions"))
    assert base.label == "completions:m" and base.identity["backend"] == "completions"
    assert base.identity["parameters"] == {"temperature": 0.0, "max_tokens": 1024}
    assert chat.identity["endpoint"] == base.identity["endpoint"] == "http://127.0.0.1:1/v1"


def test_five_shots_of_a_base_model_over_a_server(tmp_path: Path, bare_environment: None) -> None:
    data = picture()
    questions = [choice(f"q{n}", answer="ABCD"[n % 4], question=f"Question {n}?") for n in range(8)]
    seen = choice("seen", question="What is drawn?", images=(image_ref(data),))
    source = write_set(tmp_path / "set", [*questions, seen], images=[data])
    replies = [{"match": f"Question {n}?\n\nA. two\nB. three\nC. four\nD. five\n\nAnswer:", "reply": f" {'ABCD'[n % 4]}\n\nQuestion:\n\nNext?\n\nAnswer: A"} for n in range(8)]  # fmt: skip
    with serve(reply=str(script(tmp_path, *replies[::-1], " C"))) as server:
        model = f"completions:base,base_url={server.url},max_tries=1"
        run = evaluated(source, model, tmp_path / "run", shots="0:base,5:base")
    found = {(record.condition.shot_name, record.sample): record for record in run.records()}
    failed = {name for name, record in found.items() if record.reply.error}
    assert failed == {("0:base", "seen"), ("5:base", "seen")}, "it reads no pictures, and none is sent"
    zero = [record for (shots, id), record in found.items() if shots == "0:base" and id != "seen"]
    assert all(record.reply.text == f"Answer: {'ABCD'[int(record.sample[1]) % 4]}" for record in zero)
    assert all(record.score and record.score.value == 1.0 for record in zero) and len(zero) == 8
    five = [record for (shots, id), record in found.items() if shots == "5:base" and id != "seen"]
    assert all(len(record.examples) == 5 and "Next?" not in record.reply.text for record in five)
