"""Programs that are asked: what they find, what becomes of what they print, and that none gets away."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import until, user
from running_programs import Program

from making import picture
from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.models import Message, RejectedError, TextPart, TransientError, open_model
from mmdyn.record import Reply

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="whole trees of processes are contained on Linux alone")


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where folders of asks are made; empty at the end."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


async def ask(text: str, messages: tuple[Message, ...] = ()) -> Reply:
    model = open_model(text)
    try:
        return await model.ask(messages or user("What is 6 times 7?"))
    finally:
        await model.close()


async def test_it_finds_the_question_and_its_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NAMED", "passed on")
    monkeypatch.setenv("SECRET_KEY", "sk-unnamed-0123456789")
    (tmp_path / "a.gif").write_bytes(picture(format="JPEG"))
    program = Program(
        tmp_path,
        """
import json
files = {name: [os.stat(name).st_mode & 0o777, open(name, "rb").read(3).hex()] for name in os.listdir() if os.path.isfile(name)}
print(json.dumps({"files": files, "question": open("question.txt").read(), "request": json.load(open("request.json")),
    "here": os.getcwd(), "mode": os.stat(".").st_mode & 0o777, "variables": dict(os.environ), "in": sys.stdin.read()}))
""",
    )
    asked = (Message("system", (TextPart("Be brief."),)), *user("What is this?", tmp_path / "a.gif"))
    found = json.loads((await ask(f"{program.command},env=NAMED", asked)).text)
    assert found["question"] == "[system]\nBe brief.\n\n[user]\n[image-1.jpg]\nWhat is this?"
    assert found["request"] == {
        "question": found["question"],
        "messages": [
            {"role": "system", "parts": [{"text": "Be brief."}]},
            {"role": "user", "parts": [{"image": "image-1.jpg"}, {"text": "What is this?"}]},
        ],
    }
    assert sorted(found["files"]) == ["image-1.jpg", "question.txt", "request.json"]
    assert found["files"]["image-1.jpg"][1] == "ffd8ff" and found["mode"] == 0o700
    variables, here = found["variables"], found["here"]
    assert sorted(variables) == ["HOME", "LANG", "NAMED", "PATH", "TMPDIR"]
    assert (variables["NAMED"], variables["HOME"], variables["TMPDIR"]) == ("passed on", f"{here}/home", f"{here}/tmp")
    assert found["in"] == "" and not os.path.exists(here)  # noqa: PTH110, ASYNC240


async def test_a_question_alone_is_its_text(tmp_path: Path):
    assert (await ask("cmd:cat question.txt", user("2 < 3 & ümlaut\n"))).text == "2 < 3 & ümlaut"


async def test_no_shell_reads_the_command(tmp_path: Path):
    assert (await ask("""cmd:printf '%s|' '$HOME; ls' * > x,args='a,b' `ls`""")).text == "$HOME; ls|*|>|x|a,b|`ls`|"


async def test_thinking_is_parted_from_the_report(tmp_path: Path):
    reply = await ask("cmd:printf '<think>6 by 7</think>Answer: 42'")
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Answer: 42", "6 by 7", "stop")
    assert await ask("cmd:true") == Reply("", "stop")


FAILURES = {
    "hangs": ("time.sleep(60)", "timeout=1", TransientError, "took more than 1 s"),
    "hangs and ignores": (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\nprint('Answer: B', flush=True)\ntime.sleep(60)",
        "timeout=1", TransientError, "took more than 1 s",
    ),
    "closes its output and stays": ("os.close(1)\ntime.sleep(60)", "timeout=1", TransientError, "took more than 1 s"),
    "dies": ("sys.exit('no key')", "", RejectedError, "ended with status 1; its last words: no key"),
    "dies by a signal": ("os.kill(os.getpid(), signal.SIGSEGV)", "", RejectedError, "was ended by signal 11"),
    "is killed by somebody": ("os.kill(os.getpid(), signal.SIGKILL)", "", TransientError, "was ended by signal 9"),
    "says it may pass": ("sys.exit(75)", "", TransientError, "ended with status 75"),
    "forks away": ("away()", "", RejectedError, r"left \d processes behind and printed nothing"),
    "leaves a session behind in time": ("away()\naway()\ntime.sleep(60)", "timeout=1", TransientError, "took more than 1 s"),
    "calls setsid itself": ("subprocess.Popen(['setsid', 'sleep', '60'])\nos.fork() or os.setsid()\ntime.sleep(60)", "timeout=1", TransientError, "took more"),
    "prints 50 MB": ("away()\n[os.write(1, b'x' * 1000000) for _ in range(50)]", "", RejectedError, "passed its limit output=4 MiB"),
    "complains 300 MB": ("while True: os.write(2, b'x' * 1000000)", "disk=50", RejectedError, "passed its limit disk=50 MiB; its last words: …xxx"),
    "eats memory": ("away()\nhoard = []\nwhile True: hoard.append(b'x' * 10000000)", "memory=200", RejectedError, "passed its limit memory=200 MiB"),
    "eats memory in its children": (
        "for _ in range(4):\n    if not os.fork():\n        note()\n        hoard = b'x' * 100000000\n        time.sleep(60)\ntime.sleep(60)",
        "memory=250", RejectedError, "passed its limit memory=250 MiB",
    ),
    "fills the disk": ("away()\nwhile True: open(f'{time.time_ns()}', 'wb').write(b'x' * 10000000)", "disk=50", RejectedError, "passed its limit disk=50 MiB"),
    "fills the disk at a stroke": ("open('f', 'wb').write(b'x' * 100000000)\nprint('Answer: B')", "disk=50", RejectedError, "passed its limit disk=50 MiB"),
    "fills the disk unseen": (
        "held = open(os.environ['TMPDIR'] + '/f', 'wb')\nos.unlink(held.name)\nwhile True: held.write(b'x' * 10000000)",
        "disk=50", RejectedError, "passed its limit disk=50 MiB",
    ),
    "forks without end": ("while True:\n    if not os.fork():\n        note()\n        time.sleep(60)\n    time.sleep(0.002)", "processes=20", RejectedError, "passed its limit processes=20"),
    "prints no text": (r"os.write(1, b'Answer: \xff\xfe')", "", RejectedError, "printed what is no UTF-8"),
    "digs deep": ("for _ in range(1050):\n    os.mkdir('d')\n    os.chdir('d')\nos.fork() or time.sleep(60)\ntime.sleep(0.5)\nsys.exit(3)", "", RejectedError, "ended with status 3"),
    "takes rights away": ("os.makedirs('a/b')\nopen('a/b/c', 'w')\nos.chmod('a', 0)\nos.symlink('/', 'root')\nsys.exit(3)", "", RejectedError, "ended with status 3"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", FAILURES.values(), ids=list(FAILURES))
async def test_a_program_that_misbehaves_is_contained(tmp_path: Path, case: tuple[str, str, type[Exception], str]):
    text, options, kind, says = case
    program = Program(tmp_path, text)
    with pytest.raises(kind, match=rf"^cmd:python\S* program\.py \([0-9a-f]{{4}}\) {says}"):
        await ask(f"{program.command},{options}" if options else program.command)
    assert program.noted and program.left() == []


async def test_memory_that_processes_share_counts_once(tmp_path: Path):
    program = Program(
        tmp_path,
        "shared = b'x' * 80000000\nfor _ in range(4):\n    if not os.fork(): time.sleep(60)\ntime.sleep(0.6)\nprint('Answer: B')",
    )
    assert (await ask(f"{program.command},memory=200")).text == "Answer: B"


async def test_what_it_leaves_behind_is_ended_and_its_report_counts(tmp_path: Path):
    program = Program(tmp_path, "away()\nprint('Answer: B', flush=True)\ntime.sleep(0.2)")
    assert (await ask(program.command)).text == "Answer: B"
    assert len(program.noted) == 2 and program.left() == []


async def test_an_ask_that_is_cut_off_ends_it_at_once(tmp_path: Path):
    program = Program(tmp_path, "away()\ntime.sleep(60)")
    model = open_model(program.command)
    asking = asyncio.create_task(model.ask(user("?")))
    await until(lambda: len(program.noted) == 2)
    asking.cancel()
    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await model.close()
    assert program.left() == [] and time.monotonic() - began < 2


ASKING = """
import asyncio, sys
from mmdyn.models import Message, TextPart, open_model
async def main():
    model = open_model(sys.argv[1])
    await asyncio.gather(*(model.ask((Message("user", (TextPart(str(n)),)),)) for n in range(3)))
asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("ends", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_who_asks(tmp_path: Path, scratch: Path, ends: signal.Signals):
    program = Program(tmp_path, "away()\ntime.sleep(60)")
    asks = [sys.executable, "-c", ASKING, f"{program.command},concurrency=3"]
    with subprocess.Popen(asks, env={**os.environ, "TMPDIR": str(scratch)}, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 20
        while len(program.noted) < 6 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(ends)
    assert len(program.noted) == 6 and program.left(seconds=2) == []
    while list(scratch.iterdir()) and time.monotonic() < until:
        time.sleep(0.01)


async def test_so_many_run_at_a_time(tmp_path: Path):
    program = Program(tmp_path, "began = time.time()\ntime.sleep(0.2)\nprint(began, time.time())")
    model = open_model(f"{program.command},concurrency=2")
    assert model.limits.concurrency == 2 and not model.limits.hangs
    times = [reply.text.split() for reply in await asyncio.gather(*(model.ask(user("?")) for _ in range(5)))]
    await model.close()
    running = [sum(began <= moment < ended for began, ended in times) for moment, _ in times]
    assert max(running) == 2
    assert open_model("cmd:true").limits.concurrency == len(os.sched_getaffinity(0))


def test_its_identity_is_the_command_with_its_files_and_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEPTH", "1")
    monkeypatch.setenv("API_KEY", "sk-0123456789")
    Path("solve.py").write_text("print(1)")
    text = "cmd:python3 solve.py --key sk-0123456789,env=DEPTH API_KEY"
    model = open_model(text)
    assert re.fullmatch(r"cmd:python3 solve\.py \([0-9a-f]{4}\)", model.label)
    assert "0123456789" not in canonical(model.identity).decode()
    labels = [
        open_model(f"cmd:python3 solve.py{words}").label for words in ("", " --depth 1", " --depth 2", " solve.py")
    ]
    assert labels[0] == labels[3] == "cmd:python3 solve.py" and len({*labels}) == 3

    def differs(text: str = text) -> bool:
        return open_model(text).identity != model.identity

    monkeypatch.setenv("API_KEY", "sk-another-key")
    assert (
        not differs()
        and differs(f"{text},version=2")
        and differs(f"{text},args=x")
        and not differs(f"{text},timeout=5")
    )
    monkeypatch.setenv("DEPTH", "2")
    assert differs()
    monkeypatch.setenv("DEPTH", "1")
    Path("solve.py").write_text("print(2)")
    assert differs()


async def test_a_key_that_is_passed_on_is_shown_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("API_KEY", "geheim-0123")
    program = Program(tmp_path, "sys.exit('refused ' + os.environ['API_KEY'])")
    with pytest.raises(RejectedError, match=r"its last words: refused \*\*\*$"):
        await ask(f"{program.command},env=API_KEY")


def test_a_file_is_found_from_where_mmdyn_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("question.txt").write_text("another")
    Path("solve").write_text("#!/bin/sh\ncat question.txt\n")
    with pytest.raises(UserError, match=r"\./solve is not executable: `chmod \+x"):
        open_model("cmd:./solve")
    Path("solve").chmod(0o755)
    assert [
        asyncio.run(ask(text, user("mine"))).text for text in ("cmd:./solve", "cmd:sh solve", "cmd:cat question.txt")
    ] == ["mine"] * 3


async def test_what_cannot_be_started_is_told(tmp_path: Path):
    (tmp_path / "solve").write_text("#!/no/such/interpreter\n")
    (tmp_path / "solve").chmod(0o755)
    with pytest.raises(
        RejectedError, match=r"status 127; its last words: it cannot be started \(No such file or directory\)"
    ):
        await ask(f"cmd:{tmp_path}/solve")


@pytest.mark.parametrize(("text", "says"), [
    ("cmd:no-such-program-here", "there is no program 'no-such-program-here': install it, or give its path"),
    ("cmd:echo 'a", r"the command \"echo 'a \" cannot be read \(No closing quotation\): mend its quotation marks"),
    ("cmd:true,env=NOT_SET_HERE", "env names 'NOT_SET_HERE', and the environment has no such variable: set it"),
    ("cmd:true,memory=0", "the option memory of cmd:true: expected `float` > 0.0"),
    ("cmd:true,tiemout=5", r"cmd has no option 'tiemout' \(did you mean 'timeout'\?\)"),
])  # fmt: skip
def test_bad_commands_are_told(text: str, says: str):
    with pytest.raises(UserError, match=says):
        open_model(text)


AGAINST = {
    "kills it": ("os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)", "was ended by signal 9"),
    "kills it, and leaves one away": ("away()\ntime.sleep(0.3)\nos.kill(os.getppid(), signal.SIGKILL)", "took more than 1 s"),
    "stops it": ("os.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(60)", "took more than 1 s"),
    "stops it and ends": ("os.kill(os.getppid(), signal.SIGSTOP)", "took more than 1 s"),
    "stops it, and leaves one away": ("away()\ntime.sleep(0.3)\nos.kill(os.getppid(), signal.SIGSTOP)", "took more than 1 s"),
    "stops it and prints without an end": ("os.kill(os.getppid(), signal.SIGSTOP)\nwhile True: print('x' * 99, flush=True), time.sleep(0.1)", "took more than 1 s"),
}  # fmt: skip


@pytest.mark.parametrize("kind", AGAINST)
async def test_one_that_turns_on_its_supervisor_ends_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("mmdyn.models.backends._cmd_supervisor.END_SECONDS", 1.0)
    text, says = AGAINST[kind]
    program, began = Program(tmp_path, text), time.monotonic()
    with pytest.raises(TransientError, match=says):
        await ask(f"{program.command},timeout=1")
    assert time.monotonic() - began < 15 and program.noted and program.left(5) == []
