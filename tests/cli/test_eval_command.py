"""The command line as a user types it: statuses, what is printed where, and a run that is killed and goes on."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from running import contents
from serving import hold, serve, wait_until
from shell import MMDYN, mmdyn as typed

from making import choice, image_ref, picture, write_set
from mmdyn.work import RunFolder


def mmdyn(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return typed(*arguments, folder=folder)


def make_set(folder: Path, count: int) -> None:
    data = picture()
    more = {"images": (image_ref(data),), "knowledge_points": ("Polygons",)}
    samples = [choice(f"q{n}", question=f"Question {n}?", **more) for n in range(count)]
    write_set(folder / "set", samples, images=[data])


def test_all_modes_against_a_server(tmp_path: Path) -> None:
    make_set(tmp_path, 4)
    done = mmdyn(tmp_path, "perturb", "set", "-o", "dyn", "--ops", "pad,pad+color", "--draws", "2", "--seed", "1")
    assert done.returncode == 0, done.stderr
    with serve() as server:
        asked = ["eval", "set", "dyn", "-m", f"openai:fake,base_url={server.url}", "--style", "direct,cot"]
        asked += ["--mode", "standard,dynamic,kprag,dynamic+kprag", "--cache", "shared"]
        done = mmdyn(tmp_path, *asked, "-o", "run")
        assert done.returncode == 0, done.stderr
        assert "openai:fake" in done.stdout and "dynamic pad+color" in done.stdout
        assert server.stats.total == 2 * 2 * (4 + 4 * 2 * 2)
        again = mmdyn(tmp_path, *asked, "-o", "elsewhere")
        assert again.returncode == 0 and server.stats.total == 80, "another run that shares the cache asked again"
    summary = json.loads(mmdyn(tmp_path, "report", "run", "--json").stdout)
    assert summary["schema"] == 1 and summary["complete"] is True
    (contrasts,) = (part["rows"] for part in summary["parts"] if (part["kind"], part["by"]) == ("contrasts", ""))
    assert {row["factors"]["factor"] for row in contrasts} == {"variant", "context", "style"}


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_and_asks_again_only_what_was_in_flight(tmp_path: Path) -> None:
    make_set(tmp_path, 300)
    with hold() as server:
        model = f"openai:fake,base_url={server.url}"
        command = ["eval", "set", "-m", model, "-o", "run", "--concurrency", "8", "--cache", "none"]
        kept_before = 0
        for part in (60, 70, 70):
            process = subprocess.Popen([*MMDYN, *command], cwd=tmp_path, stderr=subprocess.DEVNULL)
            until = server.stats.by_outcome["200"] + part
            server.let(part)
            wait_until(lambda until=until: server.stats.by_outcome["200"] == until, process)
            process.kill()
            process.wait()
            wait_until(lambda: not server.stats.in_flight)
            answered = count(tmp_path / "run")
            assert kept_before + part - 8 <= answered <= kept_before + part, "all but what was on the way"
            kept_before = answered
        server.let_all()
        done = mmdyn(tmp_path, *command)
        assert done.returncode == 0, done.stderr
        assert server.stats.by_outcome["200"] == 300 + server.stats.asked_again == 500 - kept_before
        calm = mmdyn(tmp_path, "eval", "set", "-m", model, "-o", "calm", "--cache", "none")
        assert calm.returncode == 0, calm.stderr
    assert contents(tmp_path / "run") == contents(tmp_path / "calm") and len(contents(tmp_path / "run")) == 300


def count(folder: Path) -> int:
    return sum(1 for _ in RunFolder(folder).records()) if (folder / "run.json").is_file() else 0


def test_a_dry_run_needs_no_key_and_says_what_it_would_cost(tmp_path: Path) -> None:
    make_set(tmp_path, 3)
    (tmp_path / "p.yaml").write_text("gpt-4o: {input: 1000000, output: 0}\n")
    models = ["-m", "openai:gpt-4o", "-m", "openai:gpt-5", "-m", "baseline:lexical"]
    done = mmdyn(tmp_path, "eval", "set", *models, "-o", "run", "--dry-run", "--prices", "p.yaml")
    assert done.returncode == 0 and not (tmp_path / "run").exists(), done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line]
    _, header, _line, gpt, gpt5, free, same, total = lines
    assert header == ["model", "mode", "asks", "cost"]
    tokens = same[-4].rstrip(",")
    assert int(tokens) > 3 * 64 and gpt[:3] == ["openai:gpt-4o", "standard", "3"]
    assert " ".join(same).startswith("in all rows: set small, there 0, in cache 0, to ask 3, tokens in ")
    assert gpt[3:] == [tokens, "USD"] and gpt5[3:] == ["unknown"] and free[3:] == ["0"]
    assert " ".join(total) == f"9 requests to send; cost about {tokens} USD; cost of openai:gpt-5 unknown (no price)"
    notes = done.stderr.splitlines()
    assert [note.partition(":")[0] for note in notes[:2]] == ["openai"] * 2
    assert all("what is answered already was not looked for" in note and "needs a key" in note for note in notes[:2])
    assert notes[2:] == ["tokens are estimated from characters and pictures; nothing was asked or written"]
    asking = ["-m", "baseline:lexical", "-o", "run", "--dry-run", "--prices", "p.yaml"]
    judged = mmdyn(tmp_path, "eval", "set", *asking, "--judge", "openai:gpt-4o", "--rubric", "votes=3")
    *_, models, judges, most = judged.stdout.splitlines()
    row = next(line.split() for line in judged.stdout.splitlines() if line.startswith(" judge openai:gpt-4o"))
    assert row[1:6] == ["openai:gpt-4o", "small", "standard", "9", "9"]
    assert models == "3 requests to send; nothing to pay"
    tokens = row[6].replace(",", "")
    assert judges == f"9 requests to judges where each is asked about every answer; cost about {float(tokens):.4g} USD"
    assert most == "27 requests to judges, and 3 times the cost, at most, where no verdict can be used"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["eval", "set", "-m", "openay:x", "-o", "run"], "there is no model 'openay' (did you mean 'openai'?)"),
        (["eval", "set", "-m", "lexical", "-o", "run"], "the model 'lexical' is not backend:name"),
        (["eval", "set", "-m", "baseline:lexical", "-o", "run", "--judge", "embedded"], "(`embedded` judges and rewrites variants, and answers nothing)"),
        (["eval", "nowhere", "-m", "baseline:lexical", "-o", "run"], "nowhere"),
        (["eval", "set", "-m", "baseline:lexical", "-o", "run", "--mode", "dynamic"], "a dynamic mode needs variants"),
        (["eval", "set", "-m", "baseline:lexical", "-o", "run", "--policy", "strikt"], "(did you mean 'strict'?)"),
        (["eval", "set", "-m", "baseline:lexical", "-o", "run", "--ops", "padd"], "did you mean"),
        (["eval", "set", "-m", "baseline:lexical", "-o", "run", "--prompt", "none.txt"], "none.txt: no such file or folder"),
        (["evil"], "there is no command 'evil' (did you mean 'eval'?)"),
        (["score", "set"], "no run.json in it, so it is no run"),
        (["run", "we_maths"], "there is no config 'we_maths' (did you mean 'we_math'?)"),
    ],
)  # fmt: skip
def test_a_users_mistake_is_one_sentence_and_status_2(tmp_path: Path, arguments: list[str], problem: str) -> None:
    make_set(tmp_path, 2)
    done = mmdyn(tmp_path, *arguments)
    assert done.returncode == 2
    assert problem in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_a_second_process_on_one_run_is_told_who_holds_it(tmp_path: Path) -> None:
    make_set(tmp_path, 300)
    with hold() as server:
        command = ["eval", "set", "-m", f"openai:fake,base_url={server.url}", "-o", "run", "--concurrency", "1"]
        quiet = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        first = subprocess.Popen([*MMDYN, *command], cwd=tmp_path, **quiet)
        try:
            wait_until(lambda: server.stats.in_flight, first)
            second = mmdyn(tmp_path, *command)
            assert second.returncode == 75 and f"is held by process {first.pid}" in second.stderr
            half = mmdyn(tmp_path, "report", "run", "--json")
            assert json.loads(half.stdout)["complete"] is False
            first.send_signal(signal.SIGINT)
            server.let_all()
            assert first.wait(240) == 130
        finally:
            first.kill()


def test_the_demo_ends_with_what_fell_and_what_to_type_next(tmp_path: Path) -> None:
    done = mmdyn(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    for word in ("baseline:lexical", "standard", "dynamic", "kprag"):
        assert word in done.stdout
    short, _, steps = done.stdout.partition("In short:\n")[2].partition("Next:\n")
    learned, guessed = short.splitlines()[0], short.splitlines()[2]
    assert learned.startswith("scripted:by_heart on demo: -57 ") and learned.endswith("The score fell.")
    assert guessed.startswith("baseline:lexical on demo: -4 ") and "No significant change" in guessed
    for step in re.findall(r"^  (mmdyn (?:report|data) .*)$", steps, re.MULTILINE):
        assert mmdyn(tmp_path, *step.split()[1:]).returncode == 0, step
    again = mmdyn(tmp_path, "demo")
    assert again.returncode == 0 and again.stdout == done.stdout


@pytest.mark.parametrize(
    ("kind", "name"),
    [("operators", "pad"), ("models", "openai"), ("formats", "tsv"), ("scorers", "mdk12_lenient"), ("benchmarks", "gaokao_mm")],
)  # fmt: skip
def test_list_names_what_there_is(tmp_path: Path, kind: str, name: str) -> None:
    done = mmdyn(tmp_path, "list", kind)
    assert done.returncode == 0 and name in [line.split()[0] for line in done.stdout.splitlines()]
    full = json.loads(mmdyn(tmp_path, "list", kind, "--json").stdout)
    assert name in {*full, *(long.rpartition(".")[2] for long in full)}


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    make_set(tmp_path, 50)
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); import signal;"
    limit += "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); from mmdyn.cli import main; sys.argv[0] = 'mmdyn'; main()"
    command = [sys.executable, "-c", limit, "data", "sample", "set", "-o", "out", "--limit", "45"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr and "File too large" in done.stderr


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    make_set(tmp_path, 200)
    line = f"{sys.executable} -m mmdyn data show set -n 200 | head -1"
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.stderr == "" and done.stdout.count("\n") == 1


def test_variants_that_fail_on_the_way_end_in_status_1(tmp_path: Path) -> None:
    make_set(tmp_path, 2)
    (file,) = (tmp_path / "set" / "images").rglob("*.png")
    file.write_bytes(file.read_bytes()[:60])
    done = mmdyn(tmp_path, "eval", "set", "-m", "baseline:majority", "-o", "run", "--ops", "pad,shuffle")
    assert done.returncode == 1
    assert "pad: 0 made, 2 failed" in done.stderr and "Traceback" not in done.stderr


def test_a_config_and_another_policy_from_the_shell(tmp_path: Path) -> None:
    make_set(tmp_path, 3)
    (tmp_path / "c.yaml").write_text("sets: [set]\nmodels: [baseline:majority]\nout: run\nconditions: {ops: pad}\n")
    done = mmdyn(tmp_path, "run", "c.yaml", "limits.n=2")
    assert done.returncode == 0 and "dynamic pad" in done.stdout, done.stderr
    scored = mmdyn(tmp_path, "score", "run", "--policy", "strict")
    assert scored.returncode == 0 and "strict is in force now" in scored.stderr
    assert json.loads((tmp_path / "run" / "run.json").read_text())["scorer"].startswith("strict@")


def test_what_a_set_brings_cannot_move_the_cursor(tmp_path: Path) -> None:
    write_set(tmp_path / "set", [choice("a")], "x\x1b[31m")
    write_set(tmp_path / "other", [choice("b")], "x\x1b[31m")
    done = mmdyn(tmp_path, "eval", "set", "other", "-m", "baseline:majority", "-o", "run")
    assert done.returncode == 2 and "\x1b" not in done.stderr and "\\x1b[31m" in done.stderr
