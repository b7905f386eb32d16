"""mmdyn runs: what it lists and exports, and how it ends where something cannot be read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from running import evaluated
from serving import script, serve
from shell import mmdyn as typed

from making import choice, open_ended, write_set
from mmdyn.keys import canonical
from mmdyn.record import Judgement
from mmdyn.work import RunFolder, Store, judged_kind


def mmdyn(folder: Path, *arguments: str) -> CompletedProcess[str]:
    return typed(*arguments, folder=folder)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a run, a set and, in two of its folders, what is no run of ours."""
    write_set(tmp_path / "set", [choice("a"), choice("b")])
    evaluated(tmp_path / "set", "baseline:majority", tmp_path / "run")
    for name in ("alien\x1b[31m", "broken"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text('{"job": 1}' if name != "broken" else "{")
    return tmp_path


def test_a_folder_that_cannot_be_read_is_listed_with_what_is_wrong(runs: Path) -> None:
    done = mmdyn(runs, "runs", "ls")
    assert done.returncode == 1 and done.stderr == ""
    first, *_, alien, broken = done.stdout.splitlines()
    assert first.startswith("run  finished: 2 of 2 answered; ")
    assert alien.startswith("alien\ufffd[31m  unreadable: alien\ufffd[31m/run.json: unknown key 'job'")
    assert broken.startswith("broken  unreadable: broken/run.json: not valid JSON (")


def test_the_same_as_json(runs: Path) -> None:
    done = mmdyn(runs, "runs", "ls", "--json", "run", ".")
    assert done.returncode == 1
    run, alien, broken = json.loads(done.stdout)
    assert (run["folder"], run["state"], run["answered"], run["problem"]) == ("run", "finished", 2, "")
    assert (alien["state"], broken["state"], broken["name"]) == ("unreadable", "unreadable", "broken")
    assert broken["problem"].startswith("broken/run.json: not valid JSON (")
    assert mmdyn(runs, "runs", "ls", "run").returncode == 0


def test_tokens_and_cost_stand_below_a_run(tmp_path: Path) -> None:
    write_set(tmp_path / "set", [choice("a"), choice("b")])
    (tmp_path / "prices.yaml").write_text("fake: {input: 10, output: 10}\n")
    with serve() as server:
        model = f"openai:fake,base_url={server.url}"
        prices = {"prices": tmp_path / "prices.yaml", "cache": "none"}
        evaluated(tmp_path / "set", [model, f"{model},label=twin"], tmp_path / "run", **prices)
        evaluated(tmp_path / "set", model, tmp_path / "unpriced", cache="none")
    listed = mmdyn(tmp_path, "runs", "ls", "unpriced", "run")  # those of one second keep this order
    assert listed.returncode == 0
    unpriced, models, sets, modes, scores, tokens, priced, *_, twin = listed.stdout.splitlines()
    assert re.fullmatch(r"unpriced  finished: 2 of 2 answered; \d{4}-\d\d-\d\d \S+ UTC", unpriced)
    assert (models, sets, modes) == ("    models openai:fake", "    sets small", "    modes standard")
    assert re.fullmatch(r"    scores mdk12@\d+", scores)
    assert re.fullmatch(r"    openai:fake: \d+ tokens in, \d+ out, cost unknown", tokens)
    assert priced.startswith("run  finished: 4 of 4 answered; ")
    assert re.fullmatch(r"    twin: \d+ tokens in, \d+ out, cost 0\.0\d+ USD", twin)


def test_what_a_judge_took_stands_there_too(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text("fake: {input: 10, output: 10}\n")
    write_set(tmp_path / "set", [open_ended("a"), open_ended("b")])
    with serve(reply=str(script(tmp_path, "no verdict"))) as server:
        judge = f"openai:fake,base_url={server.url},label=strong"
        settings = {"prices": tmp_path / "prices.yaml", "judges": judge, "quiet": True}
        evaluated(tmp_path / "set", "baseline:majority", tmp_path / "run", **settings)
    (entry,) = RunFolder(tmp_path / "run").config.all_judges
    with Store(tmp_path / "run" / "records") as store:  # as of an empty reply, about which nobody is asked
        store.put(judged_kind(entry.id), "k", canonical(Judgement(0.0)))
    *_, rules, judged, line = mmdyn(tmp_path, "runs", "ls", "run").stdout.splitlines()
    assert re.fullmatch(r"    scores mdk12@\d+: 2 answers need a judge", rules)
    assert re.fullmatch(rf"    scores mdk12@\d+\+unsure\({entry.id}\), not in force yet: 2 answers have none", judged)
    assert re.fullmatch(r"    judge strong: [\d,]+ tokens in, \d+ out, cost 0\.\d+ USD", line)
    (run,) = json.loads(mmdyn(tmp_path, "runs", "ls", "run", "--json").stdout)
    (spent,) = run["judges"]
    assert (spent["model"], spent["replies"]) == ("strong", 2)


def test_a_folder_of_compare_is_called_one(runs: Path) -> None:
    (runs / "pairs").mkdir()
    (runs / "pairs" / "compare.json").write_text("{}")
    listed = mmdyn(runs, "runs", "ls", "pairs")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout == "pairs  a comparison of two models, made by `mmdyn compare`\n"
    told = mmdyn(runs, "report", "pairs")
    said = "mmdyn: pairs: it holds a comparison, which `mmdyn compare` shows when"
    assert told.returncode == 2 and told.stderr.startswith(said)


def test_where_no_run_is(runs: Path) -> None:
    none = mmdyn(runs, "runs", "ls", "set")
    assert (none.returncode, none.stderr) == (0, "there are no runs here: name a folder that has some\n")
    missing = mmdyn(runs, "runs", "ls", "sets")
    assert missing.returncode == 2
    assert missing.stderr == "mmdyn: sets: no such file or folder (did you mean 'set'?): check the path\n"


def test_records_are_exported(runs: Path) -> None:
    done = mmdyn(runs, "runs", "export", "run", "-o", "out.csv", "--samples", "-q")
    assert (done.returncode, done.stderr) == (0, "wrote 2 records to out.csv\n")
    told = mmdyn(runs, "runs", "export", "run", "-o", "told.csv").stderr
    assert told.startswith("export: 2/2 (") and told.endswith("\nwrote 2 records to told.csv\n")
    assert (runs / "out.csv").read_text().startswith("key,request,digest,model,")
