"""vlmeval: the worker, what it keeps apart, and what becomes of failures, over a stand-in for VLMEvalKit's package."""

from __future__ import annotations

import ast
import asyncio
import json
import logging
import os
import random
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from models.asking import ask_all, asking, user
from models.making_vlmeval import make_vlmeval, opened, said
from running import QUIET

from making import choice, picture, write_set
from mmdyn.cli.list import command as list_command
from mmdyn.errors import InputError, ModelError, UserError
from mmdyn.models import ImagePart, Message, RejectedError, TextPart, TransientError, open_model
from mmdyn.models.backends import _vlmeval_worker
from mmdyn.models.backends.vlmeval import Vlmeval
from mmdyn.run import evaluate

SECRET = "sk-vlmeval-0123456789"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_vlmeval(tmp_path / "packages")


def with_system(system: str, text: str) -> tuple[Message, ...]:
    return (Message("system", (TextPart(system),)), *user(text))


def test_the_worker_needs_the_standard_library_alone() -> None:
    source = Path(str(_vlmeval_worker.__file__)).read_text()
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    named = {getattr(node, "module", None) or node.names[0].name for node in nodes}
    assert {name.partition(".")[0] for name in named} <= sys.stdlib_module_names


async def test_a_listed_model_is_known_by_its_class_and_keywords(path: Path) -> None:
    async with opened("Echo-7B", path, max_new_tokens=32) as model:
        assert model.label == "vlmeval:Echo-7B"
        named = {"backend": "vlmeval", "model": "Echo-7B", "version": "0.fake", "class": "vlmeval.vlm.Echo"}
        keywords = {"model_path": "org/echo", "max_new_tokens": 32}
        assert model.identity == {**named, "system": None, "keywords": keywords, "endpoint": {}}
        assert (model.limits.concurrency, model.varies) == (1, False)
        assert (await said(model, "hello"))["kw"] == {"max_new_tokens": 32}


async def test_pictures_go_as_files_and_a_text_that_is_a_path_or_an_address_stays_a_text(
    path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "p.png"
    file.write_bytes(picture())
    async with opened("vlm.Echo", path) as model:
        seen = await said(model, "what?", file)
        assert seen["parts"] == [{"type": "image", "value": str(file)}, {"type": "text", "value": "what?"}]
        for text in (str(file), "/", "https://example.org/a.png"):
            assert (await said(model, text))["parts"] == [{"type": "text", "value": text}]
        broken = (Message("user", (ImagePart(file, "0" * 64),)),)
        with pytest.raises(InputError, match="the picture was changed while it was in use"):
            await model.ask(broken)


async def test_what_is_done_to_pictures_is_in_the_reply(path: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.png", "b.png")]
    for file in files:
        file.write_bytes(picture())
    async with opened("vlm.FirstPicture", path) as model:
        assert (await model.ask(user("x", files[0]))).changed == ""
        changed = (await model.ask(user("x", *files))).changed
        assert changed == "VLMEvalKit shows this model the first of 2 pictures, before the text"
    async with opened("api.Chat", path) as model:
        assert (await model.ask(user("letter"))).changed == ""
        both = (Message("user", (TextPart("x"), *user("", files[0])[0].parts)),)
        assert (await model.ask(both)).changed == "VLMEvalKit's API class encodes pictures anew, as JPEG"


async def test_a_system_prompt_is_gone_with_its_sample(path: Path) -> None:
    async with opened("vlm.Prompted", path) as model:
        assert (await model.ask(with_system("S1", "a"))).text == "['Own.\\nS1', ['a']]"
        assert (await model.ask(user("b"))).text == "['Own.', ['b']]"
    async with opened("vlm.Decorated", path) as model:
        assert (await model.ask(with_system("S1", "a"))).text == "['Own.\\nS1', ['a']]"
    async with opened("vlm.Processed", path) as model:
        told = (await model.ask(with_system("S1", "a"))).text
        assert told == "['S1\\n\\na']", "to set another's is not to read its own"
    async with opened("vlm.Echo", path) as model:
        assert (await said(model, "b"))["parts"] == [{"type": "text", "value": "b"}]
        seen = json.loads((await model.ask(with_system("S1", "a"))).text)
        assert seen["parts"] == [{"type": "text", "value": "S1\n\na"}], "a class without one reads it before the text"


async def test_system_prompts_of_requests_at_a_time_stay_apart(path: Path) -> None:
    async with opened("api.Chat", path, system="S", concurrency=8) as model:
        asked = [with_system(f"S{n}", f"t{n}") if n % 2 else user(f"t{n}") for n in range(24)]
        replies = await asyncio.gather(*map(model.ask, asked))
        wanted = [[f"S{n}" if n % 2 else "S", f"t{n}", ""] for n in range(24)]
        assert [json.loads(reply.text) for reply in replies] == wanted


async def test_an_api_tells_tokens_and_finish_reason_where_the_server_does(path: Path) -> None:
    async with opened("Chat-4", path) as model:
        assert model.limits.concurrency == 16
        reply = await model.ask(user("x"))
        assert (reply.finish_reason, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("stop", 3, 5)
        cut = await model.ask(user("cut off"))
        assert (cut.text, cut.finish_reason, cut.usage.completion_tokens) == ("", "length", 4)


@pytest.mark.parametrize(("text", "kind", "message"), [
    ("quiet", TransientError, "Failed to obtain answer via API."),
    ("said", TransientError, "Input string longer than context window."),
    ("code", TransientError, "Error: something odd"),
    ("status 500", TransientError, r'HTTP 500: {"error": "the server says sk-\*\*\*"}'),
    ("status 429", TransientError, "HTTP 429"),
    ("status 400", RejectedError, r"the server of vlmeval:Chat-4 refused the request \(HTTP 400"),
    ("status 401", ModelError, r"refused the key \(HTTP 401: .*\): put the right one into the environment"),
    ("status 404", ModelError, "has no such model or address"),
    ("refused", ModelError, r"cannot reach its server \(ConnectionError: connection refused\): start the server"),
])  # fmt: skip
async def test_an_apis_failures_are_no_answers(path: Path, text: str, kind: type[Exception], message: str) -> None:
    async with opened("Chat-4", path) as model:
        with pytest.raises(kind, match=message) as failed:
            await model.ask(user(text))
        assert SECRET not in str(failed.value) and "sk-built-in" not in str(failed.value)
        assert getattr(failed.value, "slow_down", False) == (text == "status 429")


async def test_a_server_that_answered_once_may_come_back(path: Path) -> None:
    async with opened("Chat-4", path) as model:
        await model.ask(user("letter"))
        with pytest.raises(TransientError, match="connection refused"):
            await model.ask(user("refused"))


async def test_what_a_model_raises_is_about_the_request(path: Path) -> None:
    async with opened("vlm.Echo", path) as model:
        with pytest.raises(RejectedError, match=r"VLMEvalKit's vlm.Echo failed \(ValueError: size mismatch\)"):
            await model.ask(user("RAISE"))
        with pytest.raises(RejectedError, match=r"takes one turn of the user's"):
            await model.ask((*user("a"), Message("assistant", (TextPart("b"),)), *user("c")))
        assert (await said(model, "on it goes"))["parts"]
    async with opened("vlm.Odd", path) as model:
        with pytest.raises(TransientError, match="it answered with a list, not a text"):
            await model.ask(user("a"))


async def test_a_worker_that_dies_is_replaced_and_three_are_enough_where_none_answered(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    async with opened("vlm.Echo", path) as model:
        first = await said(model, "a")
        says = r"is gone: it ended with status 7; its last words: .*CUDA error"
        with pytest.raises(TransientError, match=says) as died:
            await model.ask(user("DIE"))
        assert SECRET not in str(died.value) and "\x1b" not in str(died.value) and "\n" not in str(died.value)
        assert (await said(model, "a"))["process"] != first["process"]
        for _ in range(3):
            with pytest.raises(TransientError):
                await model.ask(user("DIE"))
    async with opened("vlm.Echo", path) as model:
        for _ in range(2):
            with pytest.raises(TransientError):
                await model.ask(user("DIE"))
        with pytest.raises(ModelError, match=r"^3 workers of vlmeval:vlm.Echo died and none has answered yet"):
            await model.ask(user("DIE"))


async def test_a_hung_worker_is_killed_and_the_request_asked_again(path: Path) -> None:
    async with opened("vlm.Echo", path, timeout=3) as model:
        with pytest.raises(TransientError, match=r"no answer within 3 s"):
            await model.ask(user("HANG"))
        assert (await said(model, "a"))["parts"]
    async with asking(f"vlmeval:vlm.Echo,path={path},python={sys.executable}") as asker:
        replies = await ask_all(asker, [user(text) for text in ("a", "RAISE", "DIE", "b")])
        assert [reply.attempts for reply in replies] == [1, 1, 6, 1]
        assert [bool(reply.error) for reply in replies] == [False, True, True, False]


async def test_a_request_that_hangs_among_others_costs_the_worker_nothing(path: Path, tmp_path: Path) -> None:
    async with opened("api.Chat", path, timeout=3, concurrency=2) as model:
        before = await model.ask(user("process"))
        hangs = asyncio.create_task(model.ask(user(f"hang {tmp_path / 'hangs'}")))
        await asyncio.to_thread(_await, (tmp_path / "hangs").exists)
        await model.ask(user("letter"))
        with pytest.raises(TransientError, match=r"no answer within 3 s"):
            await hangs
        assert await model.ask(user("process")) == before


async def test_a_worker_that_stops_reading_holds_nobody_up(path: Path) -> None:
    long = "x" * 200_000
    async with opened("vlm.Echo", path, timeout=3) as model:
        first = (await said(model, "a"))["process"]
        os.kill(first, signal.SIGSTOP)
        asked = [asyncio.create_task(model.ask(user(long))) for _ in range(2)]
        await asyncio.sleep(0.1)
        assert not any(task.done() for task in asked)
        with pytest.raises(TransientError, match="no answer within 3 s"):
            await asked[0]
        await asyncio.gather(*asked, return_exceptions=True)
        second = (await said(model, "a"))["process"]
        assert second != first
        os.kill(second, signal.SIGSTOP)
        task = asyncio.create_task(model.ask(user(long)))
        await asyncio.sleep(0.1)
        async with asyncio.timeout(60):
            await model.close()
        assert not _runs(second)
        with pytest.raises(TransientError, match=r"it was closed|no answer within 3 s"):
            await task


async def test_what_a_killed_worker_started_ends_with_it(path: Path, tmp_path: Path) -> None:
    async with opened("vlm.Echo", path, timeout=60) as model:
        await said(model, "a")
        with pytest.raises(TransientError, match="is gone: signal 9 ended it"):
            await model.ask(user(f"FORK {tmp_path / 'child'}"))
        _await(lambda: not _runs(int((tmp_path / "child").read_text())))
        assert (await said(model, "a"))["parts"]


async def test_each_worker_has_its_devices(path: Path) -> None:
    async with opened("vlm.Echo", path, devices="0,1;2") as model:
        assert model.limits.concurrency == 2
        seen = await asyncio.gather(*(said(model, f"t{n}") for n in range(2)))
        assert {one["device"] for one in seen} == {"0,1", "2"} and seen[0]["process"] != seen[1]["process"]


@pytest.mark.parametrize(("text", "message"), [
    ("Echo-7b", r"^VLMEvalKit has no model 'Echo-7b' \(did you mean 'Echo-7B'\?\); `mmdyn list vlmeval` names"),
    ("vlm.Ecko", r"has no model 'vlm.Ecko' \(did you mean 'vlm.Echo'\?\)"),
    ("Echo-7B,concurrency=2", "answers one request at a time in a worker: give workers= for more"),
    ("Echo-7B,workers=0", "the option workers of vlmeval:Echo-7B is 0: give more than 0"),
    ("Chat-4,key=sk-123", r"the option key is a secret: put it into a variable .* write 'key=\$VARIABLE'"),
    ("Chat-4,app_code=123", r"the option app_code is a secret: .* write 'app_code=\$VARIABLE'"),
    ('Chat-4,extra_headers={"X":"Bearer sk"}', r"option extra_headers has a secret: .* write '\$VARIABLE' in"),
    ('Chat-4,more=[{"secret_id":"1"}]', r"the option more has a secret: .* write '\$VARIABLE' in its place"),
    ("Chat-4,key=$NOT_THERE", r"the environment has no variable NOT_THERE, which the option key names"),
    ("Chat-4,concurrency=many", "the option concurrency of vlmeval:Chat-4: expected `int | null`, got `str`"),
])  # fmt: skip
def test_mistakes_end_in_one_sentence(path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        open_model(f"vlmeval:{text},path={path},python={sys.executable}")


@pytest.mark.parametrize(("weights", "message"), [
    ("org/missing", r"cannot make vlm.Echo \(FileNotFoundError: there are no weights in org/missing\)"),
    ("org/exits", r"\(SystemExit: please install flash-attn\)"),
])  # fmt: skip
async def test_a_model_that_cannot_be_made(path: Path, weights: str, message: str) -> None:
    async with opened("vlm.Echo", path, model_path=weights) as model:
        with pytest.raises(ModelError, match=message):
            await model.ask(user("a"))


def test_an_interpreter_that_is_none_or_has_no_vlmeval(path: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"/no/python cannot be started \(No such file or directory\)"):
        open_model("vlmeval:x,python=/no/python")
    says = r"has no vlmeval: make an environment for it \(pip install ms-vlmeval==0.0.20\)"
    with pytest.raises(UserError, match=says):
        open_model(f"vlmeval:x,python={sys.executable}")
    bad = {"echo oops; cat": "answered 'oops'", "echo no >&2; exit 3": "status 3; its last words: no"}
    for text, message in bad.items():
        script = tmp_path / "python"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        with pytest.raises(ModelError, match=f"ended before its model was ready .*{message}"):
            open_model(f"vlmeval:x,python={script}")
    (path / "vlmeval" / "vlm.py").write_text("import nothing_like_it")
    with pytest.raises(ModelError, match=r"cannot import vlmeval .*No module named 'nothing_like_it'"):
        open_model(f"vlmeval:Echo-7B,path={path},python={sys.executable}")


async def test_this_process_stays_as_it_was(path: Path) -> None:
    def state() -> list[object]:
        context = ssl._create_default_https_context
        return [dict(os.environ), random.getstate(), context, Path.cwd(), logging.root.handlers[:], logging.root.level]

    before = state()
    async with opened("vlm.Echo", path) as model:
        assert (await said(model, "a"))["verified"], "TLS stays verified in the worker, too"
    assert state() == before
    assert not [name for name in sys.modules if name.partition(".")[0] == "vlmeval"]


def test_workers_end_with_the_process_that_asks(path: Path) -> None:
    script = (
        "import asyncio, json, sys, time\n"
        "from mmdyn.models.model import open_model\n"
        "from mmdyn.models.model import Message, TextPart\n"
        "model = open_model(sys.argv[1])\n"
        "reply = asyncio.run(model.ask((Message('user', (TextPart('a'),)),)))\n"
        "print(json.loads(reply.text)['process'], flush=True)\n"
        "time.sleep(60)\n"
    )
    asks = subprocess.Popen(
        [sys.executable, "-c", script, f"vlmeval:vlm.Echo,path={path},python={sys.executable}"], stdout=subprocess.PIPE
    )
    assert asks.stdout is not None
    worker = int(asks.stdout.readline())
    os.kill(worker, 0)
    asks.send_signal(signal.SIGKILL)
    asks.communicate()
    _await(lambda: not _runs(worker))


def _await(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)


def _runs(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def test_a_run_over_a_set(path: Path, tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice("a"), choice("b", answer="A")])
    model = f"vlmeval:Echo-7B,path={path},python={sys.executable}"
    run = evaluate(source, model, tmp_path / "run", execution=QUIET)
    found = {record.sample: (record.reply.text, record.score and record.score.value) for record in run.records()}
    assert found == {"a": ("Answer: B", 1.0), "b": ("Answer: B", 0.0)}
    written = (tmp_path / "run" / "run.json").read_text()
    assert str(sys.executable) not in written, "where the interpreter lies is no setting"


def test_the_names_of_models_are_listed(path: Path) -> None:
    done = CliRunner().invoke(list_command, ["vlmeval", "--python", sys.executable, "--path", str(path)])
    classes = [f"vlm.{name}" for name in ("Decorated", "Echo", "FirstPicture", "Odd", "Processed", "Prompted")]
    assert done.output.split() == ["Chat-4", "Echo-7B", "Keyed", "api.Chat", "api.Headed", *classes]
    assert Vlmeval.__doc__ and "mmdyn list vlmeval" in Vlmeval.__doc__
