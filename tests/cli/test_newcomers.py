"""What someone new trips over: every mistake is told in the same words, and with its mend."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from rich.cells import cell_len
from shell import MMDYN, mmdyn

from mmdyn.cli import main
from mmdyn.data import SampleSet
from mmdyn.demo import make_demo
from mmdyn.testing import FakeServer
from mmdyn.work import RunFolder

ASKED = ("-m", "baseline:lexical", "-q")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a set, variants of it, and a run of both."""
    folder = tmp_path_factory.mktemp("new")
    make_demo(folder / "set")
    assert mmdyn("perturb", "set", "-o", "dynamic", "--ops", "pad,shuffle", "-q", folder=folder).returncode == 0
    assert mmdyn("eval", "set", "dynamic", *ASKED, "-o", "run", folder=folder).returncode == 0
    return folder


def error(*words: object, folder: Path) -> str:
    """The one sentence that a mistake ends in."""
    done = mmdyn(*words, folder=folder)
    assert done.returncode == 2
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("words", [
    "data show", "data convert -o x", "data sample -o x -n 1", "data audit -o x.html", "report",
    "score", "errors", "runs ls", "runs export -o x.csv", "grade", "judge", "extract", "compose -o x",
    "perturb -o x --ops pad", "eval -o x -m baseline:lexical", "run", "knowledge coverage", "knowledge search ice",
    "eval set -o x -m baseline:lexical --prices", "eval set -o x -m baseline:lexical --prompt",
    "eval set -o x -m baseline:lexical --mode kprag --base", "report run --pivot model --models",
    "report run --correct ppi++ --labels", "perturb set -o x --ops", "fake-server --media", "build screen -o x",
])  # fmt: skip
def test_a_missing_path_is_one_error_in_the_same_words_everywhere(words: str, place: Path) -> None:
    told = error(*words.split(), "not-there-at-all.yaml", folder=place)
    assert "not-there-at-all.yaml: no such file or folder: check the path" in told
    assert "\x1b" not in told and not (place / "x").exists()


def test_a_path_a_sample_and_a_config_that_are_nearly_right_are_named(place: Path) -> None:
    assert "set: no such" not in error("report", "runn", folder=place)
    assert error("report", "runn", folder=place).endswith("(did you mean 'run'?): check the path")
    hint = "there is no sample 'en-trangle' (did you mean 'en-triangle'?) in {}: `mmdyn data show {}` prints"
    for shown in ("set", "dynamic"):
        assert hint.format(shown, shown) in error("data", "show", shown, "en-trangle", folder=place)
    assert "there is no config 'gaokao_m' (did you mean 'gaokao_mm'?)" in error("run", "gaokao_m", folder=place)


def test_what_a_variant_differs_in_is_listed_and_nothing_else(place: Path) -> None:
    shown = mmdyn("data", "show", "dynamic", "en-triangle~shuffle~0", folder=place).stdout
    differing = [line for line in shown.splitlines() if "[-" in line]
    assert "  answer: [-A-]{+" in "\n".join(differing) and not any("question" in line for line in differing)
    padded = mmdyn("data", "show", "dynamic", "en-triangle~pad~0", folder=place).stdout
    assert "  image 1: 320x240 before, " in padded and "[-" not in padded


def test_flips_say_how_to_see_what_a_variant_changed(place: Path) -> None:
    done = mmdyn("report", "run", "--flips", folder=place)
    (told,) = (line for line in done.stderr.splitlines() if line.startswith("what a variant changed: "))
    shown = shlex.split(told.partition(": `mmdyn ")[2].rstrip("`"))
    assert f"{shown[-1]} " in mmdyn(*shown, folder=place).stdout and f"  {shown[-1].split('~')[0]} " in done.stdout
    assert "what a variant changed" not in done.stdout


def test_printed_commands_can_be_pasted(place: Path) -> None:
    done = mmdyn("eval", "set", *ASKED, "-o", "my run", "-n", "3", folder=place)
    assert "again: `mmdyn report 'my run'`" in done.stderr
    (place / "a set").symlink_to(place / "set")
    assert "`mmdyn data show 'a set'` prints" in error("data", "show", "a set", "x", folder=place)


def test_a_config_is_changed_and_checked_before_anything_is_written(place: Path) -> None:
    source = "{benchmark: gaokao_mm, path: nowhere}"
    (place / "c.yaml").write_text(f"sets: [{source}]\nmodels: [baseline:lexical]\nout: made\n")
    (place / "files").mkdir(exist_ok=True)
    moved = "sets.0.path=files"
    for wrong, told in {
        "models.0=baseline:lexicl": "there is no baseline 'lexicl' (did you mean 'lexical'?)",
        "sets.0.benchmark=gaokao_m": "there is no benchmark 'gaokao_m' (did you mean 'gaokao_mm'?)",
        "conditions.ops=padd": "there is no operator 'padd' (did you mean 'pad'?)",
        "conditions.modes=dynamc": "there is no mode 'dynamc' (did you mean 'dynamic'?)",
        "scoring.policy=exm": "there is no scorer 'exm' (did you mean 'exam'?)",
        "scoring.judges=[opnai:x]": "there is no model 'opnai' (did you mean 'openai'?)",
        "sets.1.path=x": "'1' is no entry of the list: give a number from 0 to 0",
        "sets.0.pth=x": "unknown key 'pth' in sets[0] (did you mean 'path'?)",
        "limits.max_cost=.nan": "max_cost is nan",
    }.items():
        assert told in error("run", "c.yaml", moved, wrong, folder=place)
    assert "nowhere: no such file or folder" in error("run", "c.yaml", folder=place)
    assert not (place / "made").exists()
    asked = mmdyn("run", "c.yaml", "sets.0=set", "limits.n=2", "execution.quiet=true", folder=place)
    assert asked.returncode == 0 and RunFolder(place / "made").config.planned == 2


def test_the_help_of_run_names_keys_and_configs(place: Path) -> None:
    shown = mmdyn("run", "--help").stdout
    for said in (
        "sets, models, out, by",
        "modes, contexts, styles",
        "n, skip_bad, max_cost",
        "gaokao_mm",
        "sets.0.path=",
    ):
        assert said in " ".join(shown.split())


def test_modes_that_nobody_asks_make_no_variants(place: Path) -> None:
    asked = mmdyn("eval", "set", *ASKED, "-o", "plain", "--mode", "standard", "--ops", "pad", "-n", 2, folder=place)
    assert asked.returncode == 0 and not (place / "plain" / "sets").exists()
    assert mmdyn("eval", "set", *ASKED, "-o", "both", "--ops", "pad", "-n", 2, folder=place).returncode == 0
    assert (place / "both" / "sets" / "demo-dynamic").is_dir()


def test_a_limit_may_shrink_while_nothing_was_answered(place: Path) -> None:
    away = ("-m", "openai:x,base_url=http://127.0.0.1:9/v1,max_tries=1", "-q", "-o", "away")
    for limit in (9, 3):
        assert "start the server or mend base_url" in error("eval", "set", *away, "-n", limit, folder=place)
        assert RunFolder(place / "away").config.planned == limit
    told = error("eval", "set", "dynamic", *ASKED, "-o", "run", "-n", "3", folder=place)
    assert "holds a run with other (larger) limit" in told


def test_a_limit_may_shrink_with_variants_too_while_nothing_was_answered(place: Path) -> None:
    asked = ("-m", "openai:x,base_url=http://127.0.0.1:9/v1,max_tries=1", "-q", "-o", "varied", "--ops", "shuffle")
    for limit in (9, 3):
        assert "start the server or mend base_url" in error("eval", "set", *asked, "-n", limit, folder=place)
        assert SampleSet(place / "varied" / "sets" / "demo-dynamic").manifest.made["limit"] == limit
    assert "cannot change where --ops makes them" in error("eval", "set", *asked, "-n", 5, folder=place)


def test_a_run_that_asked_sets_that_are_not_named_any_more_says_which(place: Path) -> None:
    told = error("eval", "set", *ASKED, "-o", "run", folder=place)
    assert "it asked of " in told and told.endswith("dynamic, too: name that among the sets)")


def test_options_in_one_column_of_a_tsv_are_answered_with_ours(place: Path) -> None:
    for name in ("choices", "options"):
        (place / "mine.tsv").write_text(f"index\tquestion\tanswer\t{name}\n1\tWhich?\tA\t['ice', 'fire']\n")
        told = mmdyn("data", "validate", "mine.tsv", folder=place).stdout
        assert f"the column '{name}' is not read: call the options A, B, C, … and give each a column" in told
    (place / "mine.tsv").write_text("index\tquestion\tanswer\tchoices\tA\tB\n1\tWhich?\tA\tx\tice\tfire\n")
    assert mmdyn("data", "validate", "mine.tsv", folder=place).returncode == 0


BANK = [{"id": f"s{n}", "text": f"Statement number {n} is told.", "label": n % 2 == 0} for n in range(40)]


def test_composing_shows_progress_names_who_skips_and_is_not_replayed(place: Path) -> None:
    (place / "bank.jsonl").write_text("".join(json.dumps(one) + "\n" for one in BANK))
    done = mmdyn("compose", "bank.jsonl", "-o", "composed", "--questions", 2, folder=place)
    assert re.search(r"^composing: 2/2 \(\S+/s, 0 s left\)$", done.stderr, re.MULTILINE)
    told = error("data", "show", "composed", "--replay", folder=place)
    assert "composed was made by `mmdyn compose`, which is not replayed: call it again with another -o" in told
    (place / "bank.jsonl").write_text('{"id": "s"}\n' + (place / "bank.jsonl").read_text())
    assert "`mmdyn build bank` makes a set without such lines" in error(
        "compose", "bank.jsonl", "-o", "x", folder=place
    )
    done = mmdyn("build", "bank", "bank.jsonl", "-o", "bank", "--skip-bad", folder=place)
    assert done.returncode == 0 and re.search(r"^bank: 41 \(\S+/s\)$", done.stderr, re.MULTILINE), done.stderr
    assert mmdyn("compose", "bank", "-o", "composed2", "--questions", 2, folder=place).returncode == 0


def test_steps_leave_bad_rows_out_and_cap_takes_an_empty_set(place: Path) -> None:
    row = {"id": "q", "question": "Is ice cold?", "task_type": "true_false", "answer": True, "fields": {"subject": "x"}}
    (place / "bad.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row | {'answer': 4})}\n")
    assert "`build STEP` and `eval` leave such rows out" in error("build", "cap", "bad.jsonl", "-o", "c", folder=place)
    done = mmdyn("build", "cap", "bad.jsonl", "-o", "capped", "--skip-bad", folder=place)
    assert done.returncode == 0 and re.search(r"^cap: 1 \(", done.stderr, re.MULTILINE)
    refused = mmdyn("build", "dedup", "bad.jsonl", "-o", "fewer", "--skip-bad", folder=place)
    assert refused.returncode == 0
    (place / "empty").mkdir()
    for file in (place / "capped").iterdir():
        if file.is_file():
            (place / "empty" / file.name).write_bytes(b"" if file.name == "samples.jsonl" else file.read_bytes())
    assert "has the field" not in mmdyn("build", "cap", "empty", "-o", "still", folder=place).stderr


def test_scoring_again_adds_to_the_log_of_the_run(place: Path) -> None:
    assert mmdyn("eval", "set", *ASKED, "-o", "scored", "-n", 2, folder=place).returncode == 0
    assert mmdyn("score", "scored", "--policy", "exam", "-q", folder=place).returncode == 0
    assert "2 answers are scored by exam" in (place / "scored" / "log.txt").read_text()


def test_other_sets_names_and_nan_are_answered_with_ours(place: Path) -> None:
    row = {"id": "q", "question": "?", "task_type": "open_ended", "answer": "4"}
    for more, told in {
        '"choices": ["x", "y"]': "unknown key 'choices' (did you mean 'options'?)",
        '"points": NaN': "NaN is no JSON, write null",
        '"meta": {"x": [-Infinity]}': "-Infinity is no JSON, write null",
    }.items():
        (place / "mine.jsonl").write_text(json.dumps(row)[:-1] + f", {more}}}\n")
        assert told in mmdyn("data", "validate", "mine.jsonl", folder=place).stdout
    assert "nan is not a number: give one" in error("fake-server", "--latency", "nan", folder=place)
    assert "nan is not a number" in error("grade", "mine.jsonl", "--calibrate", "--threshold", "nan", folder=place)


def test_bad_rows_are_left_out_by_perturb_and_eval(place: Path) -> None:
    row = {"id": "q", "question": "Is ice cold?", "task_type": "true_false", "answer": True}
    (place / "bad.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row | {'answer': 4})}\n")
    for command in (("perturb", "bad.jsonl", "--ops", "paraphrase", "-q"), ("eval", "bad.jsonl", *ASKED)):
        out = f"bad-{command[0]}"
        assert "leave such rows out with --skip-bad" in error(*command, "-o", out, folder=place)
        assert mmdyn(*command, "-o", out, "--skip-bad", folder=place).returncode == 0
        assert len([*(place / out).rglob("rejected.jsonl")]) == 1


@pytest.mark.parametrize(
    "command", ["data show", "data validate", "eval -m baseline:lexical -o x", "perturb --ops pad -o x"]
)
def test_a_set_that_was_killed_halfway_says_so(command: str, place: Path) -> None:
    half = place / "half"
    half.mkdir(exist_ok=True)
    (half / "samples.jsonl.part").write_text("{}\n")
    done = mmdyn(*command.split(), "half", folder=place)
    assert done.returncode == 2
    assert "half: the set in it is unfinished: run the command that makes it again" in done.stdout + done.stderr


def test_a_run_that_was_killed_before_it_was_asked_says_so(place: Path) -> None:
    (place / "begun" / "records").mkdir(parents=True)
    for command in ("report", "score", "errors"):
        assert "begun: the run in it is unfinished: run the command that makes" in error(command, "begun", folder=place)


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def on_terminal(folder: Path, *words: str) -> list[str]:
    """The lines that a command prints on a terminal of 80 columns."""
    with (
        chdir(folder),
        redirect_stdout(Terminal()) as shown,
        redirect_stderr(io.StringIO()),
        pytest.MonkeyPatch.context() as patched,
        pytest.raises(SystemExit) as ended,
    ):
        patched.setenv("COLUMNS", "80")
        patched.setenv("TERM", "dumb")
        patched.setattr(sys, "argv", ["mmdyn", *words])
        main()
    assert ended.value.code in (None, 1)
    return shown.getvalue().splitlines()


@pytest.mark.parametrize("words", [
    "report run --by discipline,difficulty", "report run --pivot discipline,variant", "data show dynamic",
    "eval set dynamic -m baseline:lexical -o none --dry-run", "errors run", "report run --pivot context,variant",
])  # fmt: skip
def test_every_table_fits_80_columns(words: str, place: Path) -> None:
    lines = on_terminal(place, *words.split())
    tables = [line for line in lines if line.startswith((" ", "│"))]  # a terminal breaks sentences by itself
    assert len(tables) > 2 and max(map(len, tables)) <= 80


@pytest.fixture(scope="module")
def wide(place: Path) -> Path:
    """A run whose ids and fields are long, and in Chinese."""
    rows = [json.loads(line) for line in (place / "set" / "samples.jsonl").read_text().splitlines()][:6]
    for number, row in enumerate(rows):
        field = {"discipline": f"数学与应用几何学以及其他学科的很长名称{number % 2}"}
        id = f"三角形几何题目的非常长的编号-with-a-rather-long-english-tail-{number:06d}"
        rows[number] = row | {"id": id, "images": [], "fields": field}
    (place / "long.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = mmdyn("perturb", "long.jsonl", "-o", "long-dynamic", "--ops", "paraphrase,shuffle", "-q", folder=place)
    assert made.returncode == 0, made.stderr
    models = ("-m", "baseline:lexical", "-m", "baseline:random", "-q")
    assert mmdyn("eval", "long.jsonl", "long-dynamic", *models, "-o", "wide", folder=place).returncode == 0
    return place


@pytest.mark.parametrize("words", [
    "report wide", "report wide --flips", "report wide --brief", "report wide --by discipline",
    "report wide --pivot discipline,variant", "report wide --pivot model,variant",
    "errors wide", "runs ls wide", "data show long-dynamic", "knowledge coverage set",
    "knowledge search triangle set --retriever lexical", "list operators", "list benchmarks", "list steps",
])  # fmt: skip
def test_every_line_fits_80_columns_with_long_ids_in_chinese(words: str, wide: Path) -> None:
    lines = on_terminal(wide, *words.split())
    assert max(map(cell_len, lines), default=0) <= 80


def test_baselines_cost_nothing_in_a_dry_run(place: Path) -> None:
    done = mmdyn("eval", "set", "-m", "baseline:lexical", "-o", "none", "--dry-run", folder=place)
    assert "24 requests to send; nothing to pay" in done.stdout and "unknown" not in done.stdout


def test_the_log_tells_what_was_tried_again_and_holds_no_key(place: Path) -> None:
    with FakeServer(faults="500=0.4", key="sk-very-secret-key") as server:
        model = f"openai:fake,base_url={server.url},api_key_env=NEW_KEY"
        env = os.environ | {"NEW_KEY": "sk-very-secret-key"}
        command = [*MMDYN, "-v", "eval", "set", "-m", model, "-o", "logged", "-n", "8", "-q"]
        done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True)
    log = (place / "logged" / "log.txt").read_text()
    assert done.returncode == 0 and "8 asks of ['openai:fake'] in the modes ['standard']" in log
    assert "openai:fake: try 1 failed (" in log and log.endswith("INFO done\n") and "very-secret" not in log
    assert "openai:fake: try 1 failed (" in done.stderr and "very-secret" not in done.stderr


def test_tokens_of_the_fake_server_are_of_texts_and_not_of_encoded_pictures(place: Path) -> None:
    with FakeServer() as server:
        mmdyn("eval", "set", "-m", f"openai:fake,base_url={server.url}", "-q", "-o", "told", folder=place)
    for record in RunFolder(place / "told").records():
        assert 10 < record.reply.usage.prompt_tokens < 1500 and 1 <= record.reply.usage.completion_tokens < 50


def test_knowledge_takes_the_base_by_position_and_defaults_to_the_sets_own(place: Path) -> None:
    own = mmdyn("knowledge", "coverage", "set", folder=place).stdout
    assert own == mmdyn("knowledge", "coverage", "set", "set", folder=place).stdout and "touched" in own
    found = mmdyn("knowledge", "eval", "set", "--retriever", "lexical", "-q", folder=place)
    assert found.returncode == 0 and found.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str) -> None:
    done = mmdyn("completion", shell)
    assert done.returncode == 0 and f"_MMDYN_COMPLETE={shell}_complete" in done.stdout
    if shell == "bash":
        env = os.environ | {"_MMDYN_COMPLETE": "bash_complete", "COMP_WORDS": "mmdyn eval --skip", "COMP_CWORD": "2"}
        found = subprocess.run(MMDYN, env=env, capture_output=True, text=True).stdout
        assert found == "plain,--skip-bad\n"
